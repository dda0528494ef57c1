"""Helpers of all plots: axes, rows of states, and verbatim labels."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray

MOST_LABELS = 24  # maximal number of state names on the axis
# Invisible prefix: matplotlib leaves names that begin with an underscore out of a legend.
NOTHING = "\N{ZERO WIDTH SPACE}"


def take_axes(ax: Any, width: float, height: float) -> Any:
    """Return the given axes, or new ones."""
    if ax is not None:
        return ax
    return take_pyplot().subplots(figsize=(width, height), layout="constrained")[1]


def take_pyplot() -> Any:
    """Import pyplot, or raise ImportError with the command that installs it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plots need matplotlib; pip install 'definetti-hmm[plot]'") from None
    return plt


def draw_legend_below(ax: Any) -> None:
    """Put the legend below the axes."""
    height = max(ax.get_position().height * ax.figure.get_figheight(), 0.5)
    ax.legend(
        loc="upper left", bbox_to_anchor=(0, -0.5 / height), ncols=2, frameon=False, borderaxespad=0
    )


def draw_rows(ax: Any, states: Sequence[Hashable], first: float, last: float) -> None:
    """Set the axes to one row per state, the first at the top, with steps from left to right."""
    n = len(states)
    ax.set(xlim=(first - 0.5, last + 0.5), ylim=(n - 0.5, -0.5))
    shown = np.unique(np.linspace(0, n - 1, min(n, MOST_LABELS)).astype(int))
    ax.set_yticks(shown, [escape_name(states[k]) for k in shown])
    ax.xaxis.get_major_locator().set_params(integer=True)


def draw_cells(ax: Any, shade: FloatArray, first: float = 1) -> Any:
    """Draw a cell for each step and state, darker for larger numbers, none for NaN."""
    steps, n = shade.shape
    return ax.pcolormesh(
        np.arange(steps + 1) + first - 0.5,
        np.arange(n + 1) - 0.5,
        np.ma.masked_invalid(shade.T),
        cmap="Greys",
        vmin=-0.25,  # so that the palest cell differs from the background
        vmax=1.25,
        rasterized=steps * n > 2_000,
        edgecolors="white" if steps <= 60 else "none",
        linewidth=1.0,
    )


def draw_truth(ax: Any, codes: Any, inside: Any, first: float = 1) -> None:
    """Draw the true states, and mark those outside of the set of their step."""
    from matplotlib.patheffects import withStroke

    places = np.arange(len(codes)) + first
    few, many = len(codes) <= 80, len(codes) > 300
    line, *_ = ax.plot(places, codes, color="#d95f02", linewidth=0.6 if many else 1.4,
                       drawstyle="steps-mid" if many else "default", marker="o" if few else None,
                       markersize=5, label="true state", zorder=3)  # fmt: skip
    if not many:  # in greyscale, orange equals the middle of the scale
        line.set_path_effects([withStroke(linewidth=3.4, foreground="white")])
    missed = ~np.asarray(inside)
    if missed.any():
        ax.plot(places[missed], np.asarray(codes)[missed], "x", color="black",
                markersize=3 if many else 8, markeredgewidth=1 if many else 2,
                label="not in the set", zorder=4)  # fmt: skip


def escape_name(name: object) -> str:
    """Escape a label that matplotlib would read as a formula or leave out of a legend."""
    text = str(name).replace("$", r"\$")
    return NOTHING + text if text.startswith("_") else text
