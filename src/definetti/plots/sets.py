"""Plot a prediction set: the states in the set at each step, and their transitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from definetti.levels.by_state import write_at_least
from definetti.plots._axes import draw_cells, draw_legend_below, draw_rows, draw_truth, take_axes
from definetti.sets import StepSets
from definetti.sets.base import coded
from definetti.sets.wording import short

MOST_EDGES = 400  # maximal number of lines between states


def plot_set(s: Any, truth: Any = None, ax: Any = None) -> Any:
    """Plot a prediction set over its horizon; return the axes.

    Parameters
    ----------
    s : PredictionSet, LatticeSet or StepSets
    truth : (h,) labels, optional
        The true states, drawn as a line, with crosses at states outside of the set.
    ax : matplotlib axes, optional

    Notes
    -----
    A cell is a state in the set at a step, darker for a larger p-value of the best sequence
    through it (for sets made step by step, a larger probability). Lines join states that follow
    each other in a sequence of the set.

    Examples
    --------
    >>> from definetti import ConformalHMM
    >>> from definetti.simulate import weather
    >>> y, x = weather(203, random_state=0)
    >>> s = ConformalHMM(random_state=0).fit(y[:200], x[:200]).predict_set(y[200:])
    >>> ax = plot_set(s, truth=x[200:])
    >>> ax.get_xlabel()
    'step'
    """
    ax = take_axes(ax, min(4 + 0.12 * s.horizon, 14), min(1.4 + 0.35 * len(s.states), 8))
    stepwise = isinstance(s, StepSets)
    shade = np.where(s.nodes, s.marginals if stepwise else s.step_p_values, np.nan)
    cells = draw_cells(ax, shade)
    if s.horizon > 1 and not stepwise:
        steps, before, after = np.nonzero(s.edges)
        if len(steps) <= MOST_EDGES:
            from matplotlib.patheffects import withStroke

            seen_on_dark = withStroke(linewidth=1.8, foreground="white")
            for k, i, j in zip(steps.tolist(), before.tolist(), after.tolist(), strict=True):
                ax.plot([k + 1, k + 2], [i, j], color="0.25", linewidth=0.8, zorder=2,
                        path_effects=[seen_on_dark])  # fmt: skip
    draw_rows(ax, s.states, 1, s.horizon)
    if truth is not None:
        path = coded(truth, s.states, s.horizon)
        if path is None:
            raise ValueError(
                f"truth must be {s.horizon} labels, each one of the states of the set, got "
                f"{short(truth)}"
            )
        draw_truth(ax, path, s.nodes[np.arange(s.horizon), path])
        draw_legend_below(ax)
    level, sure = s.confidence_level, "" if s.exact else ", not guaranteed"
    if level is None:
        title = "all candidates"
    elif isinstance(level, Mapping):
        title = f"set at {write_at_least(level, '')}{sure}"
    else:
        title = f"{level:g} set{sure}"
    ax.set(xlabel="step", title=title)
    bar = ax.figure.colorbar(cells, ax=ax, ticks=[0, 0.5, 1], aspect=12)
    bar.ax.set(ylim=(0, 1), ylabel="probability" if stepwise else "p-value")
    return ax
