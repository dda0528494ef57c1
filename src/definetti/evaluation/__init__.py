"""Sets judged by the truth: the rolling loop, the backtest, and what they amount to."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from definetti.evaluation.backtest import Backtest, run_backtest
    from definetti.evaluation.compare import Comparison, compare_predictors
    from definetti.evaluation.series import (
        SeriesEvaluation,
        SeriesRecord,
        SeriesWork,
        backtest_series,
    )
    from definetti.evaluation.summarize import exact_interval, summary

# Of every backtest: the share of the labelled rows before its first window, and the most windows.
START, WINDOWS = 0.5, 500

# Loaded on first use: commands read these two numbers before they load anything.
_HOMES = {
    "Backtest": "backtest",
    "Comparison": "compare",
    "SeriesEvaluation": "series",
    "SeriesRecord": "series",
    "SeriesWork": "series",
    "backtest_series": "series",
    "compare_predictors": "compare",
    "exact_interval": "summarize",
    "run_backtest": "backtest",
    "summary": "summarize",
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
        return getattr(import_module(f"definetti.evaluation.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'definetti.evaluation' has no attribute {name!r}")
