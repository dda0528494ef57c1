"""Predictors side by side: who covers, and at what size."""

from __future__ import annotations

from typing import Any

from definetti.plots._axes import take_axes
from definetti.plots._names import escape_name

ROOM = 6.0  # inches


def plot_compare(comparison: Any, ax: Any = None) -> Any:
    """Draw coverage, with its interval, against scaled size.

    Parameters
    ----------
    comparison : Comparison, what `compare_predictors` returns
    ax : matplotlib axes, optional

    Returns
    -------
    the axes
    """
    ax = take_axes(ax, 6, 4)
    for marker, row in zip("os^Dv<>pPX*hd" * len(comparison.rows), comparison.rows, strict=False):
        error = [[row.coverage - row.low], [row.high - row.coverage]]
        name = escape_name(row.label)
        ax.errorbar(row.scaled_size, row.coverage, yerr=error, fmt=marker, capsize=3, label=name)
    ax.axhline(comparison.confidence_level, color="0.4", linestyle="--", linewidth=1)
    ax.set(xlabel="mean scaled size of the set", ylabel="coverage", xlim=(0, None))
    # Clear of the bars: beside them where there is room, else below.
    if ax.figure.get_figwidth() >= ROOM:
        ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    else:
        ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(0, -0.2))
    return ax
