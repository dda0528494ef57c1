"""Who covers, how small, how fast: the whole outcome of a comparison, and how it is told."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from typing import Any

from definetti.contest.rows import ENOUGH, Rows
from definetti.contest.verdicts import told
from definetti.paper.methods import PROMISED
from definetti.paper.shortfalls import average, group_by_method


@dataclass(frozen=True)
class Standings:
    """The outcome of a comparison.

    Attributes
    ----------
    rows : the table, as in the CSV file: one row a world, horizon and method
    verdicts : one row a world and horizon: whose sets are smallest
    left_out : what is to be said of worlds that could not be had
    files : what was written
    """

    rows: Rows
    verdicts: Rows
    left_out: list[str]
    files: list[Path]

    @property
    def keeps_promise(self) -> bool:
        """Whether no method was found short where its coverage is guaranteed."""
        return not any(row["short"] for row in self._ran if row["guaranteed"] == "yes")

    @property
    def _ran(self) -> Rows:
        return [row for row in self.rows if row["repetitions"]]

    @property
    def summary(self) -> Rows:
        """One line a method: its worlds, where it falls short, and how large its sets are.

        Sizes are those of worlds where it reaches the level, for small sets are no merit
        elsewhere; ratios are averaged as ratios, by the geometric mean.
        """
        lines = []
        for name, own in group_by_method(self._ran).items():
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
        """Return all of it, for programs."""
        return json.dumps({"rows": self.rows, "verdicts": self.verdicts, "summary": self.summary,
                           "left_out": self.left_out,
                           "files": [str(path) for path in self.files]})  # fmt: skip

    def __str__(self) -> str:
        width = max(len(row["method"]) for row in self.rows)
        lines = [f"coverage promised {PROMISED}; worst: given the last state, of states with "
                 f"{ENOUGH} windows or more; size: share of all sequences"]  # fmt: skip
        for verdict in self.verdicts:
            place = verdict["world"], verdict["horizon"]
            own = [row for row in self.rows if (row["world"], row["horizon"]) == place]
            windows = max(row["repetitions"] for row in own)
            lines += ["", f"{place[0]}, h = {place[1]}: {windows} windows",
                      f"  {'method':<{width}}  guaranteed  coverage  [95 % interval]  worst   size"
                      "  / oracle  seconds"]  # fmt: skip
            lines += [_line(r, width, r["method"] == verdict["smallest"]) for r in own]
            lines.append(f"  {told(verdict)}")
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
