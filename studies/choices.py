"""Which symmetry, and which memory, keeps its level on recorded data.

`python -m studies.choices --data ../shared/data --output choices.csv` prints the table; cells that
the file has already are not worked out again.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import numpy as np
from rich.console import Console
from rich.table import Table

from definetti import HMM, ConformalHMM
from definetti.emissions import Gaussian, Words
from definetti.evaluation.intervals import exact_interval
from definetti.evaluation.window_loop import roll_levels
from definetti.experiments.recorded_series import read_series
from definetti.experiments.worlds import Recording, read_sleep, read_words
from definetti.memory import Age, Memory, Order
from definetti.symmetry import Full
from studies.data import FOLDER, LABELLED, SLEEP, TRAINED, WORDS, missing

LEVELS = (0.8, 0.9, 0.95)
HORIZONS = (1, 3, 10, 30)
LISTED = 20_000  # candidates that may be listed, at most, for a symmetry that needs a list
MEMORIES: dict[str, Memory] = {"1": Order(1), "2": Order(2), "age": Age(20)}
FEW = 8  # states, for tokens to be drawn at a bearable cost
SYMMETRIES = ("full", "spaced", "departures")  # `returns` is `spaced` one step ahead


class RecordedKind(NamedTuple):
    """Histories of one kind, and the model for them; none for a plain chain."""

    name: str
    histories: list[Recording]
    model: Any


class Combination(NamedTuple):
    """One line of the table.

    Attributes
    ----------
    model : "refitted" or "fixed"
    coverage, low, high : the share of windows whose set held the truth, and its exact interval
    width : how many states were possible at a step, on average
    seconds : per prediction, the labels learned since the one before included
    """

    data: str
    model: str
    symmetry: str
    memory: str
    horizon: int
    level: float
    windows: int
    coverage: float
    low: float
    high: float
    width: float
    seconds: float

    @property
    def short(self) -> bool:
        """Whether the level lies above the interval."""
        return self.high < self.level


def read(folder: Path) -> list[RecordedKind]:
    """Read all that there is."""
    series = [
        RecordedKind(one.name, [Recording(None, list(one.states), one.name)], "auto")
        for one in read_series(folder / "paper")
    ]
    return [
        RecordedKind("sleep", read_sleep(folder / SLEEP), HMM(emission=Gaussian("full"))),
        RecordedKind("words", read_words(folder / WORDS), HMM(emission=Words())),
        *series,
    ]


def cells(every: Sequence[RecordedKind]) -> Iterator[tuple[RecordedKind, str, str, str, int]]:
    """List what can be worked out: short horizons first, lists while they are short."""
    for horizon in HORIZONS:
        for data in every:
            labels = {state for one in data.histories for state in one.states}
            for model in ("fixed", "refitted"):
                for symmetry in SYMMETRIES:
                    for memory in MEMORIES:
                        if symmetry == "full" and memory != "1" and len(labels) > FEW:
                            continue
                        threshold = symmetry == "departures" or (symmetry, memory) == (
                            "spaced",
                            "1",
                        )
                        if model == "refitted" or not threshold:
                            most = LISTED if model == "fixed" else 200
                            if len(labels) ** horizon > most:
                                continue
                        yield data, model, symmetry, memory, horizon


def work_out(
    data: RecordedKind, model: str, symmetry: str, memory: str, horizon: int, windows: int
) -> list[Combination]:
    """Judge one way of making sets on all histories, at all levels."""
    labels = sorted({state for one in data.histories for state in one.states})
    each = max(1, round(windows / len(data.histories)))
    covered, widths, seconds = [], [], []
    for history in data.histories:
        length = len(history.states)
        first = int(LABELLED * length)
        stop = min(length, first + each * horizon)
        if stop - first < horizon:
            continue
        cp = ConformalHMM(
            data.model,
            symmetry=Full(n_resamples=199) if symmetry == "full" else symmetry,
            memory=MEMORIES[memory],
            states=labels,
            train_size=int(TRAINED * length) if model == "fixed" else None,
            allow_empty=True,
            random_state=0,
        )
        cp.fit(*history.piece(0, first))
        started = time.perf_counter()
        found = roll_levels(cp, *history.piece(first, stop), LEVELS, horizon, by_p_values=True)
        judged = [found.evaluation(place) for place in range(len(LEVELS))]
        seconds.append((time.perf_counter() - started) / len(judged[0].covered))
        covered.append([one.covered for one in judged])
        widths.append([one.widths for one in judged])
    right = np.concatenate(covered, axis=1)
    wide = np.concatenate(widths, axis=1)
    return [
        Combination(
            data.name, model, symmetry, memory, horizon, level, right.shape[1],
            float(right[k].mean()), *exact_interval(int(right[k].sum()), right.shape[1]),
            float(wide[k].mean()), float(np.mean(seconds)),
        )
        for k, level in enumerate(LEVELS)
    ]  # fmt: skip


def print_choices(console: Console, rows: Sequence[Combination]) -> None:
    """Print a line a way, its three levels side by side; bold where it is short."""
    table = Table(title="Coverage / states per step, by level", pad_edge=False)
    for name in ("data", "model", "symmetry", "memory", "steps", "windows", *map(str, LEVELS)):
        table.add_column(name, justify="left" if name in ("data", "model") else "right")
    for k in range(0, len(rows), len(LEVELS)):
        group = rows[k : k + len(LEVELS)]
        one = group[0]
        cells = [
            f"{'[bold]' * row.short}{row.coverage:.3f}{'[/bold]' * row.short} / {row.width:.2f}"
            for row in group
        ]
        last = k + len(LEVELS) >= len(rows) or rows[k + len(LEVELS)].data != one.data
        names = one.data, one.model, one.symmetry, one.memory, str(one.horizon), str(one.windows)
        table.add_row(*names, *cells, end_section=last)
    console.print(table)


def main(arguments: Sequence[str] | None = None) -> int:
    """Work all cells out, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m studies.choices", description=__doc__)
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--windows", type=int, default=400, help="per row, about; default 400")
    parser.add_argument("--output", type=Path, help="read and write this CSV file, too")
    parser.add_argument("--horizons", type=int, nargs="*", help="these alone")
    parser.add_argument("--only", nargs="*", help="these data alone, such as sleep or Delhi")
    given = parser.parse_args(arguments)
    if message := missing(given.data):
        print(message, file=sys.stderr)
        return 2
    known: dict[tuple[Any, ...], list[Combination]] = {}
    if given.output and given.output.is_file():
        with given.output.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                kinds = get_type_hints(Combination)
                made = Combination(*(kinds[name](row[name]) for name in Combination._fields))
                known.setdefault(made[:5], []).append(made)
    rows = []
    for cell in cells(read(given.data)):
        if given.horizons and cell[-1] not in given.horizons:
            continue
        if given.only and cell[0].name not in given.only:
            continue
        key = (cell[0].name, *cell[1:])
        if key not in known:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                known[key] = work_out(*cell, windows=given.windows)
            if given.output:
                new = not given.output.is_file()
                with given.output.open("a", newline="", encoding="utf-8") as file:
                    csv.writer(file).writerows([Combination._fields] * new + known[key])
        rows += known[key]
    console = Console()
    print_choices(console if console.is_terminal else Console(width=140), rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
