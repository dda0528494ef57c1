"""Methods and output of experiments: the paper's methods and ours, tables, plots, summaries."""

from __future__ import annotations

import csv
import json
import warnings
from collections.abc import Callable, Hashable, Iterable
from dataclasses import asdict, dataclass
from functools import partial
from importlib.util import find_spec
from itertools import product
from math import sqrt
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from definetti._system.cells import Settings
from definetti._system.checks import checked_limit, checked_number
from definetti._system.files import replace_file
from definetti.conformal import ConformalHMM
from definetti.engine.pvalues import miscoverage
from definetti.exceptions import NotExactWarning
from definetti.models import HMM

Rows = list[dict[str, Any]]
PROMISED = 0.8  # the coverage that the paper promises throughout
NOT_EXACT = "as published"  # begins the names of methods without a guarantee
CHANCE = 0.05  # probability that a valid method is found short anywhere in a table


@dataclass(frozen=True)
class Method:
    """A method for prediction sets.

    Attributes
    ----------
    name : name in tables
    symmetry, score, prior : as for `ConformalHMM` and `HMM`
    smoothed : whether sets with ties broken at random are computed, too
    level : the confidence level
    observed : whether observations are used, or the chain of states alone
    """

    name: str
    symmetry: str
    score: str
    prior: float
    smoothed: bool = True
    level: float = PROMISED
    observed: bool = True

    @property
    def settings(self) -> Settings:
        """All parameters that the sets depend on."""
        return tuple((key, value) for key, value in asdict(self).items() if key != "name")

    @property
    def variants(self) -> tuple[str, ...]:
        """Names of the kinds of sets, in the order of `make_sets`."""
        return (self.name, f"{self.name}, smoothed") if self.smoothed else (self.name,)


# The authors' public program breaks no ties, and estimates without a prior: docs/reproduction.md
# has what else it does.
PUBLISHED = Method("as published", "published", "filter", 0.0, smoothed=False)
PAIRS = Method("Algorithm 1", "pairs", "filter", 0.0)
OURS = Method("ours", "full", "path", 0.5)
METHODS = (PUBLISHED, PAIRS, OURS)


def make_sets(
    method: Method, observations: Any, states: Any, new: Any, n_states: int, rng: Any
) -> list[list[tuple[Hashable, ...]]]:
    """Return the sets of a method for the steps after a labelled history, one for each variant.

    All sets come from one ranking, the slow step, and may be empty, as in the paper.
    """
    cp = ConformalHMM(
        HMM(prior=method.prior),
        conformity_score=method.score,
        symmetry=method.symmetry,
        confidence_level=method.level,
        states=list(range(n_states)),
        random_state=rng,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotExactWarning)  # the experiment shows it
        cp.fit(observations if method.observed else None, states)
    seen = new if method.observed else None
    ranks = cp.predict_ranks(seen, horizon=None if method.observed else len(new))
    alpha, uniform = miscoverage(method.level), float(rng.random())
    kept = [s for s, r in ranks.items() if r.exceeds(alpha, uniform if r.randomised else None)]
    if not method.smoothed:
        return [kept]
    return [kept, [s for s, r in ranks.items() if r.exceeds(alpha, uniform)]]


def count_covered(covered: int, repetitions: int) -> dict[str, Any]:
    """Return the coverage columns of a table, with the standard error."""
    share = covered / repetitions
    return {
        "repetitions": repetitions,
        "covered": covered,
        "coverage": share,
        "coverage_error": sqrt(share * (1 - share) / repetitions),
    }


def mark_short(rows: Rows) -> Rows:
    """Add to each row whether its coverage is short of the promise beyond Monte Carlo error.

    By the exact binomial test, with the level divided among the cells of a method: a method that
    keeps its promise in all cells is found short in any with probability 1/20 at most.
    """
    from scipy.stats import binom  # slow to import

    numbers = {name: len(own) for name, own in group_rows(rows, "method").items()}
    for row in rows:
        chance = float(binom.cdf(row["covered"], row["repetitions"], PROMISED))
        row["short"] = chance < CHANCE / numbers[row["method"]]
    return rows


def group_rows(rows: Rows, *columns: str) -> dict[Any, Rows]:
    """Group rows by the values of some columns, in order of first appearance."""
    groups: dict[Any, Rows] = {}
    for row in rows:
        groups.setdefault(itemgetter(*columns)(row), []).append(row)
    return groups


def summarise_methods(rows: Rows) -> Rows:
    """Summarise a table, with one line per method."""
    lines = []
    for name, own in group_rows(rows, "method").items():
        ratios = [row["size_over_oracle"] for row in own if "size_over_oracle" in row]
        lines.append({
            "method": name,
            "cells": len(own),
            "short": sum(row["short"] for row in own),
            "mean_coverage": average(row["coverage"] for row in own),
            "least_coverage": min(row["coverage"] for row in own),
            "mean_scaled_size": average(row["scaled_size"] for row in own),
            **({"mean_size_over_oracle": average(ratios)} if ratios else {}),
        })  # fmt: skip
    return lines


def average(values: Iterable[float]) -> float:
    """Return the mean of some numbers."""
    listed = list(values)
    return sum(listed) / len(listed)


@dataclass(frozen=True)
class Reproduction:
    """The outcome of an experiment.

    Attributes
    ----------
    name : name of the figure or table
    rows : the table, as in the CSV file
    summary : one line per method: its cells, and how many are short of the promised coverage
    files : the files written
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
        """Return the name, the summary and the files as JSON."""
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
    """Check the arguments of an experiment before any work is done, and return its folder."""
    checked_number(repetitions, "repetitions")
    checked_limit(seed, "seed")
    if find_spec("matplotlib") is None:
        raise ImportError(
            "the pictures need matplotlib; install it with pip install 'definetti-hmm[plot]'"
        )
    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"output {str(folder)!r} is a file; name a folder, new or old")
    return folder


def write_reproduction(
    name: str, rows: Rows, folder: Path, draw: Callable[[Rows], Any], records: Rows | None = None
) -> Reproduction:
    """Write and draw the rows, or `records` in their place, one picture per method."""
    table = rows if records is None else records
    path = folder / f"{name}.csv"
    replace_file(path, lambda part: write_csv(part, table))
    files = [path]
    for method, own in group_rows(table, "method").items():
        figure = draw(own)
        words = "".join(c if c.isalnum() or c == "." else " " for c in method).lower().split()
        picture = folder / f"{name}_{'_'.join(words)}.png"
        replace_file(picture, partial(figure.savefig, format="png", dpi=150))
        files.append(picture)
    return Reproduction(name, rows, summarise_methods(rows), files)


def write_csv(path: Path, rows: Rows) -> None:
    """Write rows with all columns that any of them has."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)


# Coverage is dark and filled, size is light and hollow: distinct without colour as well.
COVERAGE = {"color": "#0b5d1e", "markersize": 5}
SIZE = {"color": "#a05fc0", "markersize": 5, "markerfacecolor": "none"}
ORACLE = {"color": "0.55", "linewidth": 0.8, "markersize": 3, "marker": "x"}
MARKERS, STYLES = "so^Dv", ("--", "-.", ":", "-", (0, (1, 3)))


def draw_figure1(rows: Rows) -> Any:
    """Draw one method on the two-state grid: T down, horizon across, p along each axis."""
    lengths, horizons = _list_values(rows, "T"), _list_values(rows, "horizon")
    figure, axes = _make_panels(len(lengths), len(horizons), (2.6, 2.4), rows[0]["method"])
    for ax, (length, horizon) in zip(axes.flat, product(lengths, horizons), strict=True):
        _draw_lines(ax, [r for r in rows if (r["T"], r["horizon"]) == (length, horizon)], "p")
        ax.set_title(f"$T$ = {length}, $T_1$ = {horizon}", fontsize=10)
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
    for key, name, paper, theirs, style in (
        ("coverage", "coverage", "paper_coverage", None, COVERAGE),
        ("scaled_size", "scaled size", "paper_size", "the paper's Table 1", SIZE),
    ):
        ax.plot(places, [r[key] for r in rows], "o", label=name, **style)
        ax.plot(places, [r[paper] for r in rows], "_", markersize=18, color="0.3", label=theirs)
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
        ax.plot(*np.reshape(cells, (-1, 2)).T, "s", color="0.8", markersize=4, label="in the set")
        ax.plot([r["step"] for r in own], [r["truth"] for r in own], "-", color="#1f4e9c",
                linewidth=1, label="true state")  # fmt: skip
        ax.plot(*np.reshape(missed, (-1, 2)).T, "x", color="black", markersize=5, label="missed")
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
        for key, name, look in (
            ("coverage", "coverage", {**COVERAGE, "marker": marker}),
            ("scaled_size", "scaled size", {**SIZE, "marker": marker}),
            ("oracle_size", "oracle's size", ORACLE),
        ):
            look = {**look, "linestyle": style, "label": f"{name}, b = {b:.3g}"}
            ax.plot([r[along] for r in own], [r[key] for r in own], **look)
    ax.axhline(PROMISED, color="0.2", linewidth=1.2, zorder=0)
    ax.axhspan(PROMISED - 0.05, PROMISED + 0.05, color="0.93", zorder=-1)  # the paper's margins
    ax.set(ylim=(0, 1.02), xticks=_list_values(rows, along))
    ax.grid(color="0.9", linewidth=0.5)


def _draw_legend(figure: Any, ax: Any) -> None:
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8, frameon=False)


def _list_values(rows: Rows, key: str) -> list[Any]:
    return sorted({row[key] for row in rows})
