"""Plots of sets, evaluations, checks and monitors, drawn into ``ax=`` or a new figure."""

from definetti.plots.checks import plot_check, plot_residuals, plot_statistic
from definetti.plots.evaluations import plot_backtest, plot_compare, plot_coverage, plot_sizes
from definetti.plots.monitors import plot_monitor
from definetti.plots.sets import plot_set

__all__ = [
    "plot_backtest",
    "plot_check",
    "plot_compare",
    "plot_coverage",
    "plot_monitor",
    "plot_residuals",
    "plot_set",
    "plot_sizes",
    "plot_statistic",
]
