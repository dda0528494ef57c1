"""Do the remedies help? Coverage and size before and after, on recorded data.

`python -m studies.remedies --data ../shared/data` tests the labelled part of every history, applies
what the tests that fail name, and judges sets one step ahead on what follows: a fixed model, the
`full` symmetry, which leans on the assumption most, and its remedies one at a time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from definetti import ConformalHMM
from definetti.check import Diagnosis, check
from definetti.evaluation.intervals import exact_interval
from definetti.evaluation.window_loop import roll_levels
from definetti.memory import Age
from definetti.symmetry import Full
from studies.choices import RecordedKind, read
from studies.data import FOLDER, LABELLED, TRAINED, missing

LEVEL, DRAWS, LEAST = 0.8, 199, 100  # LEAST: rows that a history needs to be fitted on
AFTER = "the rows after the change"
REMEDIES: dict[str, tuple[str, dict[str, Any]]] = {
    "order": ("memory=2", {"memory": 2}),
    "durations": ("memory=Age(20)", {"memory": Age(20)}),
    "autocorrelation": ("symmetry='spaced'", {"symmetry": "spaced"}),
    "transitions": (AFTER, {}),
    "drift": (AFTER, {}),
}


def judge(
    data: RecordedKind, windows: int, begins: Sequence[int], **settings: Any
) -> tuple[float, float, float, float]:
    """Return the coverage with its interval, and how many states a set has, one step ahead."""
    labels = sorted({state for one in data.histories for state in one.states})
    each = max(1, round(windows / len(data.histories)))
    covered, sizes = [], []
    for history, begin in zip(data.histories, begins, strict=True):
        first = int(LABELLED * len(history.states))
        stop = min(len(history.states), first + each)
        cp = ConformalHMM(
            data.model, states=labels, train_size=int((first - begin) * TRAINED / LABELLED),
            allow_empty=True, random_state=0, **{"symmetry": Full(n_resamples=199), **settings},
        ).fit(*history.piece(begin, first))  # fmt: skip
        found = roll_levels(cp, *history.piece(first, stop), (LEVEL,), 1, by_p_values=True)
        judged = found.evaluation(0)
        covered.append(judged.covered)
        sizes.append(judged.widths)
    right = np.concatenate(covered)
    low, high = exact_interval(int(right.sum()), len(right))
    return float(right.mean()), low, high, float(np.concatenate(sizes).mean())


def examine(data: RecordedKind) -> list[Diagnosis]:
    """Test the labelled part of each history."""
    found = []
    for history in data.histories:
        observations, states = history.piece(0, int(LABELLED * len(history.states)))
        found.append(check(observations, states, n_resamples=DRAWS, random_state=0))
    return found


def apply(data: RecordedKind, windows: int, console: Console) -> None:
    """Print what fails, and each remedy."""
    found = examine(data)
    failing = sorted({name for one in found for name in one.failures})
    console.print(f"{data.name}: {', '.join(failing) or 'nothing'} fails")
    nowhere = [0] * len(found)
    ways: dict[str, tuple[list[int], dict[str, Any]]] = {"as it is, full": (nowhere, {})}
    for name in failing:
        words, settings = REMEDIES.get(name, ("symmetry='spaced'", {"symmetry": "spaced"}))
        begins = list(nowhere)
        if words == AFTER:
            for k, one in enumerate(found):
                rows = [one.tests[each].row or 0 for each in one.failures if each in REMEDIES]
                left = int(LABELLED * len(data.histories[k].states)) - max(rows, default=0)
                begins[k] = max(rows, default=0) if left >= LEAST else 0
        ways[words] = (begins, settings)
    ways["symmetry='spaced'"] = (nowhere, {"symmetry": "spaced"})
    for words, (begins, settings) in ways.items():
        coverage, low, high, size = judge(data, windows, begins, **settings)
        console.print(
            f"  {words:<28} covered {coverage:.3f} [{low:.3f}, {high:.3f}] for {LEVEL}, "
            f"{size:.2f} states"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Go through the data."""
    parser = argparse.ArgumentParser(prog="python -m studies.remedies", description=__doc__)
    parser.add_argument("--data", type=Path, default=FOLDER, help="the folder of public data")
    parser.add_argument("--windows", type=int, default=400, help="of each kind of data")
    parser.add_argument("--only", default="", help="part of the name of the data")
    asked = parser.parse_args(arguments)
    if lacking := missing(asked.data):
        print(lacking, file=sys.stderr)
        return 0
    console = Console(width=110)
    for data in read(asked.data):
        if asked.only in data.name:
            apply(data, asked.windows, console)
    return 0


if __name__ == "__main__":
    sys.exit(main())
