"""The outcome of a comparison: table, verdicts and picture."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle, product
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np

from definetti.evaluation.intervals import exact_interval
from definetti.evaluation.results import find_worst_state, split_by_last_state
from definetti.experiments.contestants import CONTESTANTS, Contestant
from definetti.experiments.reproduction import PROMISED, Rows, average, group_rows
from definetti.experiments.worlds import Drawn, Recorded

PLACE = ("world", "horizon")
ENOUGH = 10  # the fewest windows that end in a state for its coverage to be shown
GUARANTEED = {True: "yes", None: "if Markov", False: "lost"}  # by `markov` of a world


def row(world: Drawn | Recorded, contestant: Contestant, records: Sequence[Any]) -> dict[str, Any]:
    """Summarise the records of `judge_contestant`, none if the method cannot run in the world."""
    n, horizon, oracle = len(world.labels), world.horizon, world.oracle
    common: dict[str, Any] = {
        "world": world.name,
        "horizon": horizon,
        "method": contestant.name,
        "by": contestant.by,
        "guaranteed": GUARANTEED[world.markov] if contestant.exact else "no",
        "states": n,
        "repetitions": len(records),
    }
    if not records:
        return {**common, "note": contestant.cannot(world.kind, n**horizon)}
    covered, sizes, lasts, seconds = (np.array(column) for column in zip(*records, strict=True))
    own = split_by_last_state(covered, lasts, ENOUGH)
    worst, state = find_worst_state(own)
    # One interval per state: the error probability is divided among them.
    sure = 1 - 0.05 / max(len(own), 1)
    highs = [exact_interval(int(part.sum()), len(part), sure)[1] for part in own.values()]
    low, high = exact_interval(int(covered.sum()), len(covered))
    size = float(sizes.mean()) / n**horizon
    return {
        **common,
        "covered": int(covered.sum()),
        "coverage": float(covered.mean()),
        "low": low,
        "high": high,
        "worst": worst,
        "worst_state": None if state is None else world.labels[state],
        "worst_windows": int((lasts == state).sum()),
        "by_state": min(highs) >= PROMISED if highs else None,
        "scaled_size": size,
        "oracle_size": oracle,
        "size_over_oracle": None if oracle is None else size / oracle,
        "seconds": float(np.median(seconds)),  # the very first prediction compiles
    }


@dataclass(frozen=True)
class Standings:
    """The outcome of a comparison."""

    rows: Rows  # the table, as in the CSV file: one row per world, horizon and method
    verdicts: Rows  # one row per world and horizon: the method with the smallest sets
    left_out: list[str]  # messages about worlds without data
    files: list[Path]  # the files written

    @property
    def keeps_promise(self) -> bool:
        """Whether no method was found short where its coverage is guaranteed."""
        return not any(row["short"] for row in self._ran if row["guaranteed"] == "yes")

    @property
    def _ran(self) -> Rows:
        return [row for row in self.rows if row["repetitions"]]

    @property
    def summary(self) -> Rows:
        """One line per method: its worlds, where it falls short, and how large its sets are.

        Sizes are those of worlds where the method reaches the level, as small sets are no merit
        elsewhere; ratios are averaged by the geometric mean.
        """
        lines = []
        for name, own in group_rows(self._ran, "method").items():
            reached = [r for r in own if r["high"] >= PROMISED and r["size_over_oracle"]]
            logs = [log(r["size_over_oracle"]) for r in reached]
            lines.append({
                "method": name,
                "worlds": len(own),
                "below": sum(r["high"] < PROMISED for r in own),
                "below_by_state": sum(r["by_state"] is False for r in own),
                "smallest": sum(line["smallest"] == name for line in self.verdicts),
                "least_coverage": min(r["coverage"] for r in own),
                "size_over_oracle": exp(average(logs)) if logs else None,
            })  # fmt: skip
        return lines

    def to_json(self) -> str:
        """Return all attributes as JSON."""
        return json.dumps({"rows": self.rows, "verdicts": self.verdicts, "summary": self.summary,
                           "left_out": self.left_out,
                           "files": [str(path) for path in self.files]})  # fmt: skip

    def __str__(self) -> str:
        width = max(len(row["method"]) for row in self.rows)
        lines = [f"coverage promised {PROMISED}; worst: given the last state, of states with "
                 f"{ENOUGH} windows or more; size: share of all sequences"]  # fmt: skip
        for verdict, own in zip(self.verdicts, group_rows(self.rows, *PLACE).values(), strict=True):
            windows = max(row["repetitions"] for row in own)
            lines += ["", f"{verdict['world']}, h = {verdict['horizon']}: {windows} windows",
                      f"  {'method':<{width}}  guaranteed  coverage  [95 % interval]  worst   size"
                      "  / oracle  seconds"]  # fmt: skip
            lines += [_line(r, width, r["method"] == verdict["smallest"]) for r in own]
            lines.append(f"  {say_verdict(verdict)}")
        head = "worlds  below  given state  smallest  least cov.  / oracle"
        lines += ["", f"{'method':<{width}}  {head}"]
        lines += [f"{s['method']:<{width}}  {s['worlds']:6d}  {s['below']:5d}  "
                  f"{s['below_by_state']:11d}  {s['smallest']:8d}"
                  f"  {s['least_coverage']:10.3f}  {_number(s['size_over_oracle'], 8, 2)}"
                  for s in self.summary]  # fmt: skip
        lines.append("below: worlds where the whole interval is below the level; given state: "
                     "where it is so given some last state; / oracle: geometric mean over worlds "
                     "where it is not below")  # fmt: skip
        return "\n".join([*lines, *self.left_out, *(f"wrote {path}" for path in self.files)])


def _line(row: dict[str, Any], width: int, smallest: bool) -> str:
    begin = f"{'*' if smallest else ' '} {row['method']:<{width}}  {row['guaranteed']:<10}"
    if not row["repetitions"]:
        return f"{begin}  {row['note']}"
    return (
        f"{begin}  {row['coverage']:8.3f}  [{row['low']:.3f}, {row['high']:.3f}]  "
        f"{_number(row['worst'], 5, 2)}  {row['scaled_size']:5.3f}"
        f"  {_number(row['size_over_oracle'], 8, 2)}  {row['seconds']:7.4f}"
    )


def _number(value: float | None, width: int, digits: int) -> str:
    return f"{'–':>{width}}" if value is None else f"{value:{width}.{digits}f}"


PROMISES = {
    "yes": "guaranteed",
    "if Markov": "guaranteed if the data are an HMM",
    "lost": "its guarantee is lost here",
    "no": "not guaranteed",
}


def verdicts(rows: Rows) -> Rows:
    """Return for each world the method with the smallest sets of those that reach the level.

    A method reaches the level if the exact 95 % interval of its coverage does: validity is not
    refuted, which is less than a guarantee. "guaranteed" says whether the method has a guarantee,
    which decides ties. "ours" is the smallest of ours that reach the level. "by_state" is the
    smallest of those that reach the level given each last state as well, as far as there are enough
    windows; our methods, and the paper's theorem, promise this.
    """
    lines = []
    for (world, horizon), own in group_rows(rows, *PLACE).items():
        valid = sorted(
            (r for r in own if r.get("high", 0.0) >= PROMISED),
            key=lambda r: (r["scaled_size"], r["guaranteed"] == "no"),
        )
        best = valid[0] if valid else {}
        ours = next((r for r in valid if r["by"] == "ours"), {})
        ratio = ours["scaled_size"] / max(best["scaled_size"], 1e-300) if ours else None
        lines.append({
            "world": world, "horizon": horizon, "smallest": best.get("method"),
            "guaranteed": best.get("guaranteed"), "ours": ours.get("method"),
            "ours_over_smallest": ratio,
            "by_state": next((r["method"] for r in valid if r.get("by_state")), None),
        })  # fmt: skip
    return lines


def say_verdict(verdict: dict[str, Any]) -> str:
    """Return a verdict in words."""
    if verdict["smallest"] is None:
        return "no method reaches the level"
    promise = PROMISES[verdict["guaranteed"]]
    words = f"smallest that reaches the level: {verdict['smallest']} ({promise})"
    if verdict["ours"] is None:
        words += "; none of ours reaches it"
    elif verdict["ours"] != verdict["smallest"]:
        words += f"; {verdict['ours']} is {verdict['ours_over_smallest']:.2f} times as large"
    if verdict["by_state"] not in (None, verdict["smallest"]):
        words += f"; given each last state: {verdict['by_state']}"
    return words


# Ours are black, the paper's grey and filled, the others hollow: distinct without colour, as long
# as the markers of each suffice. Then markers begin again, in the next colour.
MARKERS = {"ours": "o*sD^v<>", "the paper": "D^osv<>*", "others": "ov^sD<>phPX"}
COLOURS = {
    "ours": ("black", "tab:purple", "tab:brown"),
    "the paper": ("0.55", "tab:green", "tab:olive"),
    "others": ("0.35", "tab:blue", "tab:red"),
}
ACROSS = 4


def assign_looks(contestants: Iterable[Contestant]) -> dict[str, dict[str, Any]]:
    """Return a marker and a colour for each method, by name."""
    looks: dict[str, dict[str, Any]] = {}
    ahead = {by: cycle(product(COLOURS[by], MARKERS[by])) for by in MARKERS}
    for contestant in contestants:
        colour, marker = next(ahead[contestant.by])
        looks[contestant.name] = {"marker": marker, "linestyle": "none", "color": colour}
        if contestant.by == "others":
            looks[contestant.name]["markerfacecolor"] = "none"
    return looks


def picture(rows: Rows) -> Any:
    """Draw coverage against size, relative to the oracle where there is one, world by world."""
    from matplotlib.figure import Figure  # not pyplot: nothing global, no window

    places = group_rows([row for row in rows if row["repetitions"]], *PLACE)
    across = max(1, min(ACROSS, len(places)))
    down = max(1, -(-len(places) // across))
    figure = Figure(figsize=(3.0 * across, 2.5 * down + 1.2), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False)
    handles, looks = {}, assign_looks(CONTESTANTS.values())
    for ax, ((world, horizon), own) in zip(axes.flat, places.items(), strict=False):
        ax.axhline(PROMISED, color="0.2", linewidth=1, zorder=0)
        ax.set_title(f"{world}, h = {horizon}", fontsize=9)
        ax.grid(color="0.92", linewidth=0.5)
        relative = own[0]["oracle_size"] is not None
        for record in own:
            size = record["size_over_oracle"] if relative else record["scaled_size"]
            error = [[record["coverage"] - record["low"]], [record["high"] - record["coverage"]]]
            handles[record["method"]] = ax.errorbar(
                size, record["coverage"], yerr=error, markersize=6, elinewidth=0.5,
                **looks[record["method"]])  # fmt: skip
        ax.set_xlabel("size / oracle's" if relative else "share of all sequences", fontsize=8)
    for ax in axes[:, 0]:
        ax.set_ylabel("coverage", fontsize=8)
    for ax in axes.flat[len(places) :]:
        ax.set_axis_off()
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=min(ACROSS, across),
                  fontsize=8, frameon=False)  # fmt: skip
    return figure
