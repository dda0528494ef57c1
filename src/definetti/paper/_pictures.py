"""The paper's figures, in the paper's arrangement, readable in grey."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from definetti.paper.methods import PROMISED

Rows = list[dict[str, Any]]
# Coverage is dark and filled, size is light and hollow: told apart without colour as well.
COVERAGE = {"color": "#0b5d1e", "markersize": 5}
SIZE = {"color": "#a05fc0", "markersize": 5, "markerfacecolor": "none"}
ORACLE = {"color": "0.55", "linewidth": 0.8, "markersize": 3, "marker": "x"}
MARKERS, STYLES = "so^Dv", ("--", "-.", ":", "-", (0, (1, 3)))


def check_matplotlib() -> None:
    """Find out whether pictures can be drawn, before any work is done."""
    if find_spec("matplotlib") is None:
        raise ImportError(
            "the pictures need matplotlib; install it with pip install 'definetti[plot]'"
        )


def draw_figure1(rows: Rows) -> Any:
    """Draw one method on the two-state grid: T down, horizon across, p along each axis."""
    lengths, horizons = _list_values(rows, "T"), _list_values(rows, "horizon")
    figure, axes = _make_panels(len(lengths), len(horizons), (2.6, 2.4), rows[0]["method"])
    for i, length in enumerate(lengths):
        for j, horizon in enumerate(horizons):
            own = [r for r in rows if (r["T"], r["horizon"]) == (length, horizon)]
            _draw_lines(axes[i, j], own, "p")
            axes[i, j].set_title(f"$T$ = {length}, $T_1$ = {horizon}", fontsize=10)
    for ax in axes[-1]:
        ax.set_xlabel("$p$ (probability to stay)")
    _draw_legend(figure, axes[0, 0])
    return figure


def draw_figure2(rows: Rows) -> Any:
    """Draw one method on the three-state grid: Markov and i.i.d., T along each axis."""
    chains = [name for name in ("markov", "iid") if any(r["chain"] == name for r in rows)]
    figure, axes = _make_panels(1, len(chains), (4.2, 3.6), rows[0]["method"])
    titles = {"markov": "(a) Markov chain", "iid": "(b) independent states"}
    for ax, chain in zip(axes[0], chains, strict=True):
        _draw_lines(ax, [r for r in rows if r["chain"] == chain], "T")
        ax.set(xlabel="$T$ (labelled steps)")
        ax.set_title(titles[chain], fontsize=10)
    _draw_legend(figure, axes[0, 0])
    return figure


def draw_table1(rows: Rows) -> Any:
    """Draw one method on the four series: coverage and size beside the paper's numbers."""
    figure, axes = _make_panels(1, 1, (6.0, 3.2), rows[0]["method"])
    ax, places = axes[0, 0], list(range(len(rows)))
    for key, paper, style in (("coverage", "paper_coverage", COVERAGE),
                              ("scaled_size", "paper_size", SIZE)):  # fmt: skip
        name = "coverage" if key == "coverage" else "scaled size"
        ax.plot(places, [r[key] for r in rows], "o", label=name, **style)
        ax.plot(places, [r[paper] for r in rows], "_", markersize=18, color="0.3",
                label=None if key == "coverage" else "the paper's Table 1")  # fmt: skip
    ax.axhline(PROMISED, color="0.2", linewidth=1)
    ax.set(xticks=places, xticklabels=[r["series"] for r in rows], ylim=(0, 1.02),
           xlim=(-0.5, len(rows) - 0.5))  # fmt: skip
    _draw_legend(figure, ax)
    return figure


def draw_figure3(rows: Rows) -> Any:
    """Draw the steps of one method: the true state as a line, its set as squares behind it."""
    names = list(dict.fromkeys(row["series"] for row in rows))
    figure, axes = _make_panels(len(names), 1, (9.0, 1.9), rows[0]["method"])
    for ax, name in zip(axes[:, 0], names, strict=True):
        own = [row for row in rows if row["series"] == name]
        cells = [(r["step"], int(x)) for r in own for x in r["set"].split()]
        missed = [(r["step"], r["truth"]) for r in own if not r["covered"]]
        ax.plot(*_split_pairs(cells), "s", color="0.8", markersize=4, label="in the set")
        ax.plot([r["step"] for r in own], [r["truth"] for r in own], "-", color="#1f4e9c",
                linewidth=1, label="true state")  # fmt: skip
        ax.plot(*_split_pairs(missed), "x", color="black", markersize=5, label="missed")
        ax.set(yticks=range(own[0]["states"]), ylim=(-0.5, own[0]["states"] - 0.5), ylabel="state")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set_title(name, fontsize=10)
    axes[-1, 0].set_xlabel("step")
    _draw_legend(figure, axes[0, 0])
    return figure


def _make_panels(down: int, across: int, size: tuple[float, float], title: str) -> tuple[Any, Any]:
    from matplotlib.figure import Figure  # not pyplot: nothing global, no window

    figure = Figure(figsize=(size[0] * across, size[1] * down + 0.9), layout="constrained")
    figure.suptitle(title)
    return figure, figure.subplots(down, across, squeeze=False)


def _draw_lines(ax: Any, rows: Rows, along: str) -> None:
    """Draw coverage, size and the oracle's size, one line for each b."""
    for marker, style, b in zip(MARKERS, STYLES, _list_values(rows, "b"), strict=False):
        own = sorted((r for r in rows if r["b"] == b), key=lambda r: float(r[along]))
        places, line = [r[along] for r in own], {"marker": marker, "linestyle": style}
        ax.plot(places, [r["coverage"] for r in own], label=f"coverage, b = {b:.3g}",
                **COVERAGE, **line)  # fmt: skip
        ax.plot(places, [r["scaled_size"] for r in own], label=f"scaled size, b = {b:.3g}",
                **SIZE, **line)  # fmt: skip
        ax.plot(places, [r["oracle_size"] for r in own], label=f"oracle's size, b = {b:.3g}",
                **ORACLE, linestyle=style)  # fmt: skip
    ax.axhline(PROMISED, color="0.2", linewidth=1.2, zorder=0)
    ax.axhspan(PROMISED - 0.05, PROMISED + 0.05, color="0.93", zorder=-1)  # the paper's margins
    ax.set(ylim=(0, 1.02), xticks=_list_values(rows, along))
    ax.grid(color="0.9", linewidth=0.5)


def _draw_legend(figure: Any, ax: Any) -> None:
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8, frameon=False)


def _list_values(rows: Rows, key: str) -> list[Any]:
    return sorted({row[key] for row in rows})


def _split_pairs(pairs: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [a for a, _ in pairs], [b for _, b in pairs]
