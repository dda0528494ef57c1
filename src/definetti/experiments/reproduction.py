"""What an experiment writes: a table, pictures in the arrangement of the paper, a summary."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from definetti._system.checks import checked_limit, checked_number
from definetti._system.files import replace_file
from definetti.experiments.methods import PROMISED, Rows, group_by_method, summarise_methods

NOT_EXACT = "as published"  # makes no promise that it could break


@dataclass(frozen=True)
class Reproduction:
    """The outcome of an experiment.

    Attributes
    ----------
    name : of the figure or table
    rows : the table, as in the CSV file
    summary : one line a method: its cells, and how many are short of the promised coverage
    files : what was written
    """

    name: str
    rows: Rows
    summary: Rows
    files: list[Path]

    @property
    def keeps_promise(self) -> bool:
        """Whether no method that is exact was found short of its promise."""
        return not any(line["short"] for line in self.summary
                       if not line["method"].startswith(NOT_EXACT))  # fmt: skip

    def to_json(self) -> str:
        """Return the summary, for programs."""
        files = [str(path) for path in self.files]
        return json.dumps({"name": self.name, "summary": self.summary, "files": files})

    def __str__(self) -> str:
        width = max(len(line["method"]) for line in self.summary)
        lines = [
            f"{self.name}: coverage promised {PROMISED}",
            f"{'method':<{width}}  cells  short  mean cov.  least cov.  mean size  / oracle",
        ]
        for line in self.summary:
            ratio = line.get("mean_size_over_oracle")
            lines.append(
                f"{line['method']:<{width}}  {line['cells']:5d}  {line['short']:5d}"
                f"  {line['mean_coverage']:9.3f}  {line['least_coverage']:10.3f}"
                f"  {line['mean_scaled_size']:9.3f}" + ("" if ratio is None else f"  {ratio:8.2f}")
            )
        lines.append("short: cells under the promise beyond Monte Carlo error (exact test, 5 % "
                     "for all cells of a method)")  # fmt: skip
        lines += [
            f"{row['method']:<{width}}  {row['series']:<11}  coverage {row['coverage']:.2f}"
            f" (paper {row['paper_coverage']:.2f})  scaled size {row['scaled_size']:.2f}"
            f" (paper {row['paper_size']:.2f})"
            for row in self.rows
            if "series" in row  # few enough to be shown one by one
        ]
        return "\n".join([*lines, *(f"wrote {path}" for path in self.files)])


def check_experiment(output: Path | str, repetitions: int, seed: int) -> Path:
    """Check what every experiment is asked for, and return its folder."""
    checked_number(repetitions, "repetitions")
    checked_limit(seed, "seed")
    check_matplotlib()
    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"output {str(folder)!r} is a file; name a folder, new or old")
    return folder


def write_reproduction(
    name: str,
    rows: Rows,
    folder: Path,
    draw: Callable[[Rows], Any],
    records: Rows | None = None,
) -> Reproduction:
    """Write and draw the rows, or the records in their place, one picture a method; sum up rows."""
    table = rows if records is None else records
    path = folder / f"{name}.csv"
    replace_file(path, lambda part: write_csv(part, table))
    files = [path]
    for method, own in group_by_method(table).items():
        figure = draw(own)
        picture = folder / f"{name}_{make_file_name(method)}.png"
        replace_file(picture, partial(figure.savefig, format="png", dpi=150))
        files.append(picture)
    return Reproduction(name, rows, summarise_methods(rows), files)


def make_file_name(method: str) -> str:
    """Turn the name of a method into a part of a file's name."""
    words = "".join(c if c.isalnum() or c == "." else " " for c in method)
    return "_".join(words.split()).lower()


def write_csv(path: Path, rows: Rows) -> None:
    """Write rows with all columns that any of them has."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)


# Coverage is dark and filled, size is light and hollow: told apart without colour as well.
COVERAGE = {"color": "#0b5d1e", "markersize": 5}
SIZE = {"color": "#a05fc0", "markersize": 5, "markerfacecolor": "none"}
ORACLE = {"color": "0.55", "linewidth": 0.8, "markersize": 3, "marker": "x"}
MARKERS, STYLES = "so^Dv", ("--", "-.", ":", "-", (0, (1, 3)))


def check_matplotlib() -> None:
    """Find out whether pictures can be drawn, before any work is done."""
    if find_spec("matplotlib") is None:
        raise ImportError(
            "the pictures need matplotlib; install it with pip install 'definetti-hmm[plot]'"
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
