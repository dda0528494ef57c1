"""Plot evaluated sets over time, and compare predictors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from definetti.evaluation.intervals import share
from definetti.evaluation.results import Evaluation
from definetti.levels.by_state import write_at_least
from definetti.plots._axes import (
    draw_cells,
    draw_legend_below,
    draw_rows,
    draw_truth,
    escape_name,
    take_axes,
)

MOST_CELLS = 1_500  # maximal number of steps in one plot
CELLS_AN_INCH = 140
ROOM = 6.0  # width in inches from which the legend is beside the plot


def plot_backtest(evaluation: Evaluation, ax: Any = None) -> Any:
    """Plot the true states, the sets and the misses, step by step; return the axes.

    Parameters
    ----------
    evaluation : Evaluation
    ax : matplotlib axes, optional

    Notes
    -----
    Only the last 1,500 steps are drawn, or as many as fit; `plot_coverage` shows all.
    """
    if evaluation.truth is None or evaluation.nodes is None:
        raise ValueError("evaluation has no record of its sets; take one of ConformalHMM.evaluate")
    ax = take_axes(ax, 11, min(1.6 + 0.35 * len(evaluation.states), 8))
    most = int(min(MOST_CELLS, CELLS_AN_INCH * ax.figure.get_figwidth()))
    first = max(len(evaluation.truth) - most, 0)
    truth, nodes = evaluation.truth[first:], evaluation.nodes[first:]
    draw_cells(ax, np.where(nodes, 0.25, np.nan), first + 1)
    draw_rows(ax, evaluation.states, first + 1, first + len(truth))
    inside = nodes[np.arange(len(truth)), truth] & (truth >= 0)
    draw_truth(ax, np.where(truth < 0, np.nan, truth), inside, first + 1)
    level, title = evaluation.confidence_level, "true states and sets"
    if level is not None:
        title += f" at {write_at_least(level, '') if isinstance(level, Mapping) else f'{level:g}'}"
    ax.set(xlabel="step", title=title + _write_filled(evaluation))
    draw_legend_below(ax)
    return ax


def plot_coverage(evaluation: Evaluation, ax: Any = None) -> Any:
    """Plot the share of windows covered so far, with 95 % intervals, over time; return the axes.

    Parameters
    ----------
    evaluation : Evaluation
    ax : matplotlib axes, optional
    """
    ax = take_axes(ax, 8, 3.5)
    covered = evaluation.kept_shares
    number = np.arange(1, len(covered) + 1)
    shown = np.unique(np.linspace(0, len(covered) - 1, min(len(covered), 400)).astype(int))
    intervals = [share(covered[: k + 1]) for k in shown]
    bounds = np.array([(interval["low"], interval["high"]) for interval in intervals])
    ax.fill_between(number[shown], bounds[:, 0], bounds[:, 1], color="0.85", label="95 % interval")
    so_far = covered.cumsum() / number
    ax.plot(number, so_far, color="black", linewidth=1.4, label="coverage so far")
    if evaluation.levels is not None:  # the average level, if levels differ by state
        promised = float(np.nanmean(evaluation.levels))
        ax.axhline(promised, color="#d95f02", linestyle="--", label="promised")
    ax.set(xlabel="window", ylabel="share covered", ylim=(0, 1.02), xlim=(1, max(len(covered), 2)))
    if filled := _write_filled(evaluation):
        ax.set_title(f"before filling{filled}")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(frameon=False, loc="lower right")
    return ax


def plot_sizes(evaluation: Evaluation, ax: Any = None) -> Any:
    """Plot the share of steps with one, two, … states in the set; return the axes.

    Parameters
    ----------
    evaluation : Evaluation
    ax : matplotlib axes, optional
    """
    ax = take_axes(ax, 6, 3.5)
    widths = evaluation.widths if evaluation.nodes is None else evaluation.nodes.sum(axis=1)
    sizes, times = np.unique(np.round(widths).astype(int), return_counts=True)
    bars = ax.bar(sizes, times / times.sum(), color="0.6", edgecolor="black")
    ax.bar_label(bars, fmt="{:.2f}")
    ax.margins(y=0.12)  # space for the labels of the bars
    ax.set(xlabel="states in the set at a step", ylabel="share of steps", xticks=sizes)
    return ax


def _write_filled(evaluation: Evaluation) -> str:
    """Return text with the share of empty sets that were filled; empty if there is none."""
    share_filled = 0.0 if evaluation.filled is None else float(evaluation.filled.mean())
    return f"; {share_filled:.3f} of the sets filled" if share_filled else ""


def plot_compare(comparison: Any, ax: Any = None) -> Any:
    """Plot coverage, with its interval, against scaled size; return the axes.

    Parameters
    ----------
    comparison : Comparison
    ax : matplotlib axes, optional
    """
    ax = take_axes(ax, 6, 4)
    for marker, row in zip("os^Dv<>pPX*hd" * len(comparison.rows), comparison.rows, strict=False):
        error = [[row.coverage - row.low], [row.high - row.coverage]]
        name = escape_name(row.label)
        ax.errorbar(row.scaled_size, row.coverage, yerr=error, fmt=marker, capsize=3, label=name)
    ax.axhline(comparison.confidence_level, color="0.4", linestyle="--", linewidth=1)
    ax.set(xlabel="mean scaled size of the set", ylabel="coverage", xlim=(0, None))
    # Keep the legend off the bars: beside them if the figure is wide, else below.
    anchor = (1, 1) if ax.figure.get_figwidth() >= ROOM else (0, -0.2)
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=anchor)
    return ax
