"""Pictures where pictures say more; all take ``ax=`` and return the axes."""

from definetti.plots.comparisons import plot_compare
from definetti.plots.evaluations import plot_backtest, plot_coverage, plot_sizes
from definetti.plots.sets import plot_set

__all__ = ["plot_backtest", "plot_compare", "plot_coverage", "plot_set", "plot_sizes"]
