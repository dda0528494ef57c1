"""Pictures where pictures say more: into ``ax=``, or a figure of many."""

from definetti.plots.checks import plot_check, plot_residuals, plot_statistic
from definetti.plots.comparisons import plot_compare
from definetti.plots.evaluations import plot_backtest, plot_coverage, plot_sizes
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
