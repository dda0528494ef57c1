"""Rolling one-step predictions beside online-cp, where that is installed: the same windows."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.many import STATES, draw_windows, timed
from benchmarks.tables import format_ratio, format_seconds, make_table, show_table
from definetti import HMM, ConformalHMM
from definetti.emissions import Gaussian

KNOWN, LENGTHS = 300, (100, 400)
OURS: dict[str, tuple[Any, dict[str, Any]]] = {
    "definetti, fixed": ("auto", {"train_size": 0.5, "symmetry": "spaced"}),
    "definetti, refitted": (HMM(emission=Gaussian()), {}),
}


def run(console: Console) -> None:
    if not find_spec("online_cp"):
        console.print("online-cp is not installed: pip install online-cp\n", highlight=False)
        return
    _, numbers, states = draw_windows(KNOWN + max(LENGTHS))
    labels = states.tolist()
    made = make_table(
        f"One-step windows after {KNOWN} steps, numbers, all p-values of {STATES} states",
        "method",
        *(f"{length:,}" for length in LENGTHS),
        f"growth, × {LENGTHS[1] // LENGTHS[0]}",
        "ratio",
    )
    theirs = [timed(_roll, numbers, states, length) for length in LENGTHS]
    for name, (model, how) in OURS.items():
        cp = ConformalHMM(model, random_state=0, **how).fit(numbers[:KNOWN], labels[:KNOWN])
        new = numbers[KNOWN:], labels[KNOWN:]
        cp.evaluate(new[0][:20], new[1][:20], horizon=1)  # compiles
        ours = [timed(cp.evaluate, *(p[:k] for p in new), horizon=1) for k in LENGTHS]
        _add(made, name, ours, theirs)
    _add(made, "online-cp, nearest neighbours", theirs, None)
    show_table(
        console,
        made,
        "Seconds of the processor. All learn each label. Theirs promises its level where steps are "
        "exchangeable,",
        "which those of a chain are not, and knows nothing of the state before.",
    )


def _add(made: Any, name: str, spent: list[float], theirs: list[float] | None) -> None:
    ratio = "" if theirs is None else format_ratio(theirs[-1] / spent[-1])
    made.add_row(name, *map(format_seconds, spent), format_ratio(spent[-1] / spent[0]), ratio)


def _roll(numbers: Any, states: Any, length: int) -> None:
    from online_cp import ConformalNearestNeighboursClassifier

    rows = numbers[:, None]
    theirs = ConformalNearestNeighboursClassifier(k=1, label_space=np.arange(STATES))
    theirs.learn_initial_training_set(rows[:KNOWN], states[:KNOWN])
    for t in range(KNOWN, KNOWN + length):
        theirs.predict(rows[t], epsilon=0.1)
        theirs.learn_one(rows[t], states[t])
