"""Sets judged by the truth: the rolling loop, the backtest, and what they amount to."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from definetti.judging.backtest import Backtest, run_backtest
    from definetti.judging.compare import Comparison, compare_predictors
    from definetti.judging.intervals import exact_interval
    from definetti.judging.series import SeriesEvaluation, SeriesRecord, backtest_series
    from definetti.judging.summing import summary
    from definetti.judging.work import SeriesWork

# Of every backtest: the share of the labelled rows before its first window, and the most windows.
START, WINDOWS = 0.5, 500

# Loaded on first use: commands read these two numbers before they load anything.
_HOMES = {
    "Backtest": "backtest",
    "Comparison": "compare",
    "SeriesEvaluation": "series",
    "SeriesRecord": "series",
    "SeriesWork": "work",
    "backtest_series": "series",
    "compare_predictors": "compare",
    "exact_interval": "intervals",
    "run_backtest": "backtest",
    "summary": "summing",
}

__all__ = [
    "START",
    "WINDOWS",
    "Backtest",
    "Comparison",
    "SeriesEvaluation",
    "SeriesRecord",
    "SeriesWork",
    "backtest_series",
    "compare_predictors",
    "exact_interval",
    "run_backtest",
    "summary",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"definetti.judging.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'definetti.judging' has no attribute {name!r}")
