"""Coverage against size, world by world, every method with a look of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from definetti.contest.contestants import CONTESTANTS, Contestant
from definetti.contest.rows import Rows
from definetti.paper.methods import PROMISED

# Ours are black, the paper's grey and filled, the others hollow: told apart without colour, as long
# as the markers of each suffice. Then they begin again, in the next colour.
MARKERS = {"ours": "o*sD^v<>", "the paper": "D^osv<>*", "others": "ov^sD<>phPX"}
COLOURS = {
    "ours": ("black", "tab:purple", "tab:brown"),
    "the paper": ("0.55", "tab:green", "tab:olive"),
    "others": ("0.35", "tab:blue", "tab:red"),
}
ACROSS = 4


def told_apart(contestants: Iterable[Contestant]) -> dict[str, dict[str, Any]]:
    """Give each of however many methods a marker and a colour, by its name.

    >>> looks = told_apart(Contestant(f"method {k}", "others") for k in range(12))
    >>> [looks[f"method {k}"]["marker"] for k in (0, 1, 11)]
    ['o', 'v', 'o']
    >>> [looks[f"method {k}"]["color"] for k in (0, 1, 11)]
    ['0.35', '0.35', 'tab:blue']
    """
    looks: dict[str, dict[str, Any]] = {}
    before: Counter[str] = Counter()
    for one in contestants:
        markers, colours = MARKERS[one.by], COLOURS[one.by]
        turn, place = divmod(before[one.by], len(markers))
        before[one.by] += 1
        colour = colours[turn % len(colours)]
        looks[one.name] = {"marker": markers[place], "linestyle": "none", "color": colour}
        if one.by == "others":
            looks[one.name]["markerfacecolor"] = "none"
    return looks


def picture(rows: Rows) -> Any:
    """Draw coverage against size, relative to the oracle where there is one, world by world."""
    from matplotlib.figure import Figure  # not pyplot: nothing global, no window

    ran = [row for row in rows if row["repetitions"]]
    places = list(dict.fromkeys((row["world"], row["horizon"]) for row in ran))
    across = max(1, min(ACROSS, len(places)))
    down = max(1, -(-len(places) // across))
    figure = Figure(figsize=(3.0 * across, 2.5 * down + 1.2), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False)
    handles, looks = {}, told_apart(CONTESTANTS.values())
    for ax, (world, horizon) in zip(axes.flat, places, strict=False):
        ax.axhline(PROMISED, color="0.2", linewidth=1, zorder=0)
        ax.set_title(f"{world}, h = {horizon}", fontsize=9)
        ax.grid(color="0.92", linewidth=0.5)
        own = [row for row in ran if (row["world"], row["horizon"]) == (world, horizon)]
        relative = own[0]["oracle_size"] is not None
        for one in own:
            size = one["size_over_oracle"] if relative else one["scaled_size"]
            error = [[one["coverage"] - one["low"]], [one["high"] - one["coverage"]]]
            handles[one["method"]] = ax.errorbar(
                size, one["coverage"], yerr=error, markersize=6, elinewidth=0.5,
                **looks[one["method"]])  # fmt: skip
        ax.set_xlabel("size / oracle's" if relative else "share of all sequences", fontsize=8)
    for ax in axes[:, 0]:
        ax.set_ylabel("coverage", fontsize=8)
    for ax in axes.flat[len(places) :]:
        ax.set_axis_off()
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=min(ACROSS, across),
                  fontsize=8, frameon=False)  # fmt: skip
    return figure
