"""Coverage and size on real data, against calibration that ignores time.

`python -m studies.real_data --data ../shared/data` prints the table.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from definetti import HMM, ConformalHMM
from definetti.emissions import Gaussian, Words
from definetti.experiments.worlds import Recording, read_sleep, read_words
from definetti.memory import Age, Memory
from definetti.symmetry import Symmetry
from studies.calibration import AllWindows
from studies.data import SLEEP, WORDS, missing
from studies.report import explain, print_table
from studies.rolling import TRAINED, StudiedMethod, rank_windows
from studies.rows import StudyRow, sum_up_windows

HERE = Path(__file__).resolve().parents[1]
HORIZONS = (1, 3)
MEMORIES = ((1, ""), (2, ", memory 2"), (Age(20), ", age"))


class Data(NamedTuple):
    """Histories of one kind and the model for them.

    Attributes
    ----------
    refitted : the horizons at which refitting for every candidate is affordable
    fewer : by how much to divide the number of windows at horizons above one
    """

    name: str
    histories: list[Recording]
    model: HMM
    refitted: tuple[int, ...]
    fewer: int


def read(folder: Path) -> list[Data]:
    """Read both data sets."""
    nights, text = read_sleep(folder / SLEEP), read_words(folder / WORDS)
    return [
        Data("sleep", nights, HMM(emission=Gaussian("full")), HORIZONS, 1),
        Data("words", text, HMM(emission=Words()), HORIZONS[:1], 2),
    ]


def methods(data: Data, horizon: int) -> list[list[StudiedMethod]]:
    """List the ways to make sets; those in one list differ in how they treat ties only."""
    labels = sorted({state for history in data.histories for state in history.states})

    def split(symmetry: str | Symmetry, memory: int | Memory = 1) -> StudiedMethod:
        def make(length: int) -> ConformalHMM:
            return ConformalHMM(
                data.model,
                symmetry=symmetry,
                memory=memory,
                train_size=int(TRAINED * length),
                states=labels,
                random_state=0,
            )

        return StudiedMethod("", make)

    ours, classical = split("spaced"), split(AllWindows())
    found = [
        [ours._replace(name="spaced"), ours._replace(name="spaced, smoothed", smoothed=True)],
        [classical._replace(name="classical")],
        *(
            [split("departures", memory)._replace(name=f"departures{words}")]
            for memory, words in MEMORIES
        ),
    ]
    if horizon in data.refitted:
        for symmetry in ("full", "spaced", "departures"):
            refit = partial(
                ConformalHMM, data.model, symmetry=symmetry, states=labels, random_state=0
            )
            found.append([StudiedMethod(f"{symmetry}, refitted", lambda _, refit=refit: refit())])
    return found


def run(every: Sequence[Data], windows: int, only: str = "") -> list[StudyRow]:
    """Evaluate all methods on all data, on about so many windows each.

    Parameters
    ----------
    only : what the name of a method must begin with
    """
    table = []
    for data in every:
        for horizon in HORIZONS:
            total = windows if horizon == 1 else windows // data.fewer
            each = max(1, round(total / len(data.histories)))
            for group in methods(data, horizon):
                if not group[0].name.startswith(only):
                    continue
                outcomes = [
                    outcome
                    for history in data.histories
                    for outcome in rank_windows(history, group[0], horizon, each)
                ]
                for method in group:
                    table += sum_up_windows(data.name, method, horizon, outcomes)
    return table


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, and say in words what it shows."""
    parser = argparse.ArgumentParser(prog="python -m studies.real_data", description=__doc__)
    parser.add_argument("--data", type=Path, default=HERE.parent / "shared" / "data")
    parser.add_argument("--windows", type=int, default=400, help="per row, about; default 400")
    parser.add_argument("--only", default="", help="methods whose names begin so")
    parser.add_argument("--output", type=Path, help="write the table to this CSV file, too")
    given = parser.parse_args(arguments)
    if message := missing(given.data):
        print(message, file=sys.stderr)
        return 2
    every = read(given.data)
    table = run(every, given.windows, given.only)
    console = Console()
    if not console.is_terminal:  # nothing to fit into: tables stay whole
        console = Console(width=160)
    print_table(console, table)
    for data in every:
        console.print(explain(data.name, data.histories, table), highlight=False)
    if given.output:
        with given.output.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([StudyRow._fields, *table])
    return 0


if __name__ == "__main__":
    sys.exit(main())
