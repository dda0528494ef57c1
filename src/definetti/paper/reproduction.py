"""What an experiment leaves: a table, pictures, and a summary to read."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from definetti._system.checks import checked_limit, checked_number
from definetti._system.files import replace_file
from definetti.paper import _pictures
from definetti.paper.methods import PROMISED
from definetti.paper.shortfalls import group_by_method, summarise_methods

Rows = list[dict[str, Any]]
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
    _pictures.check_matplotlib()
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
    """Write the table and one picture a method, and sum up.

    Parameters
    ----------
    rows : the table that is summed up
    draw : function from the rows of one method to a matplotlib figure
    records : what to write and draw, where that is not `rows`
    """
    table = rows if records is None else records
    path = folder / f"{name}.csv"
    replace_file(path, lambda part: _write_csv(part, table))
    files = [path]
    for method, own in group_by_method(table).items():
        figure = draw(own)
        picture = folder / f"{name}_{make_file_name(method)}.png"
        replace_file(picture, partial(figure.savefig, format="png", dpi=150))
        files.append(picture)
    return Reproduction(name, rows, summarise_methods(rows), files)


def make_file_name(method: str) -> str:
    """Turn the name of a method into a part of a file's name.

    >>> make_file_name("ours, smoothed")
    'ours_smoothed'
    """
    words = "".join(c if c.isalnum() or c == "." else " " for c in method)
    return "_".join(words.split()).lower()


def _write_csv(path: Path, rows: Rows) -> None:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)
