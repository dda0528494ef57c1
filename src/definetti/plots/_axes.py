"""What all pictures share: axes, states as rows, and names drawn as they are."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray

MOST_LABELS = 24  # states that have room for a name each
# Drawn as nothing: matplotlib leaves out of a legend what begins with an underscore.
NOTHING = "\N{ZERO WIDTH SPACE}"


def take_axes(ax: Any, width: float, height: float) -> Any:
    """Return the axes given, or new ones."""
    if ax is not None:
        return ax
    return take_pyplot().subplots(figsize=(width, height), layout="constrained")[1]


def take_pyplot() -> Any:
    """Return what makes figures, if it is installed."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            "pictures need matplotlib; install it with: pip install definetti-hmm[plot]"
        ) from None
    return plt


def draw_legend_below(ax: Any) -> None:
    """Put the legend below the axes, however tall these are."""
    height = max(ax.get_position().height * ax.figure.get_figheight(), 0.5)
    ax.legend(
        loc="upper left", bbox_to_anchor=(0, -0.5 / height), ncols=2, frameon=False, borderaxespad=0
    )


def draw_rows(ax: Any, states: Sequence[Hashable], first: float, last: float) -> None:
    """Make each state a row, the first at the top, and steps run from left to right."""
    n = len(states)
    ax.set(xlim=(first - 0.5, last + 0.5), ylim=(n - 0.5, -0.5))
    shown = np.unique(np.linspace(0, n - 1, min(n, MOST_LABELS)).astype(int))
    ax.set_yticks(shown, [escape_name(states[k]) for k in shown])
    ax.xaxis.get_major_locator().set_params(integer=True)


def draw_cells(ax: Any, shade: FloatArray, first: float = 1) -> Any:
    """Draw a cell for each step and state, dark where the number is large, none where it is NaN."""
    steps, n = shade.shape
    return ax.pcolormesh(
        np.arange(steps + 1) + first - 0.5,
        np.arange(n + 1) - 0.5,
        np.ma.masked_invalid(shade.T),
        cmap="Greys",
        vmin=-0.25,  # so that the palest member can be told from no member
        vmax=1.25,
        rasterized=steps * n > 2_000,
        edgecolors="white" if steps <= 60 else "none",
        linewidth=1.0,
    )


def draw_truth(ax: Any, codes: Any, inside: Any, first: float = 1) -> None:
    """Draw the true states, and mark those that are outside of the set of their step."""
    from matplotlib.patheffects import withStroke

    places = np.arange(len(codes)) + first
    few, many = len(codes) <= 80, len(codes) > 300
    line, *_ = ax.plot(places, codes, color="#d95f02", linewidth=0.6 if many else 1.4,
                       drawstyle="steps-mid" if many else "default", marker="o" if few else None,
                       markersize=5, label="truth", zorder=3)  # fmt: skip
    if not many:  # orange and the middle of the scale are the same grey
        line.set_path_effects([withStroke(linewidth=3.4, foreground="white")])
    missed = ~np.asarray(inside)
    if missed.any():
        ax.plot(
            places[missed],
            np.asarray(codes)[missed],
            "x",
            color="black",
            markersize=3 if many else 8,
            markeredgewidth=1 if many else 2,
            label="not in the set",
            zorder=4,
        )


def escape_name(name: object) -> str:
    r"""Write a name so that matplotlib draws it letter by letter.

    Between two dollar signs it would read a formula, which not every name is.

    >>> print(escape_name("a$b$c"))
    a\$b\$c
    """
    text = str(name).replace("$", r"\$")
    return NOTHING + text if text.startswith("_") else text
