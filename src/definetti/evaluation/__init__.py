"""Rolling evaluation: window loops, the backtest, comparisons and verdicts."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from definetti.evaluation.backtest import Backtest, run_backtest
    from definetti.evaluation.compare import Comparison, compare_predictors
    from definetti.evaluation.results import Evaluation, StateCoverage
    from definetti.evaluation.series import SeriesEvaluation, SeriesRecord
    from definetti.evaluation.series_backtest import SeriesWork, backtest_series
    from definetti.evaluation.summarize import exact_interval, summary
    from definetti.evaluation.verdict import Verdict

# Of every backtest: the share of the labelled rows before its first window, and the most windows.
START, WINDOWS = 0.5, 500

# Loaded on first use: commands read these two numbers before they load anything.
_HOMES = {
    "Backtest": "backtest",
    "Comparison": "compare",
    "Evaluation": "results",
    "SeriesEvaluation": "series",
    "SeriesRecord": "series",
    "SeriesWork": "series_backtest",
    "StateCoverage": "results",
    "Verdict": "verdict",
    "backtest_series": "series_backtest",
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
    "Evaluation",
    "SeriesEvaluation",
    "SeriesRecord",
    "SeriesWork",
    "StateCoverage",
    "Verdict",
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
