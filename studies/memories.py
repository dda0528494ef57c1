"""Does it pay to give the model behind the score a memory, too? One step ahead, by a split.

`python -m studies.memories --data ../shared/data` prints coverage and size of `departures` for each
memory of the comparison beside each memory of the model. The model of a memory backs off: what
follows a token counts as much as its visits, against what follows the state.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from definetti import ConformalHMM
from definetti._system.arrays import FloatArray, IntArray
from definetti.engine.pvalues import miscoverage
from definetti.memory import Memory
from studies.choices import MEMORIES, RecordedKind, read
from studies.data import FOLDER, LABELLED, TRAINED, missing

LEVELS = (0.8, 0.9)
BACKING = 5.0  # visits to a token that count as much as all to its state


def judge_steps(data: RecordedKind, memory: Memory, behind: Memory) -> FloatArray:
    """Return, for each step and level, whether the truth was in the set, and its size."""
    labels = sorted({state for one in data.histories for state in one.states})
    found = []
    for history in data.histories:
        length = len(history.states)
        cut, first = int(TRAINED * length), int(LABELLED * length)
        cp = ConformalHMM(data.model, states=labels, train_size=cut)
        task = cp.fit(*history.piece(0, length))._task(None, 1)
        past = task.history
        states, codes = past.states, past.observations
        trained = np.array([labels.index(state) for state in history.states[:cut]])
        nothing = np.zeros(len(trained), dtype=np.int64)
        estimate = task.estimate(task.complete_with(0))
        likelihood = np.exp(estimate.log_likelihood(codes))
        following = _back_off(behind, trained, nothing, states, np.zeros_like(states), labels)
        scores = np.full((len(states), len(labels)), np.inf)
        weights = following[:-1] * likelihood[1:]
        with np.errstate(divide="ignore", invalid="ignore"):
            scores[1:] = -np.log(weights / weights.sum(axis=1, keepdims=True))
        tokens = [tuple(row) for row in memory.trace(states, np.zeros_like(states)).tolist()]
        own = scores[np.arange(len(states)), states]
        before: dict[tuple[int, ...], list[int]] = {}
        for t in range(1, len(states)):
            visits = before.setdefault(tokens[t - 1], [])
            if t >= first - cut:
                stranger = (own[visits][:, None] >= scores[t] - 1e-9).sum(axis=0)
                p = (stranger + 1) / (len(visits) + 1)
                row = []
                for level in LEVELS:
                    kept = p > float(miscoverage(level))
                    row += [float(kept[states[t]]), float(kept.sum())]
                found.append(row)
            visits.append(t)
    return np.array(found)


def _back_off(
    memory: Memory,
    trained: IntArray,
    nothing: IntArray,
    states: IntArray,
    unseen: IntArray,
    labels: Sequence[object],
) -> FloatArray:
    """Return the probability of each next state after each step, learned from the first segment."""
    n = len(labels)
    first = np.full((n, n), 0.5)
    np.add.at(first, (trained[:-1], trained[1:]), 1)
    first /= first.sum(axis=1, keepdims=True)
    counts: dict[tuple[int, ...], FloatArray] = {}
    rows = memory.trace(trained, nothing)
    for row, state in zip(rows[:-1].tolist(), trained[1:].tolist(), strict=True):
        counts.setdefault(tuple(row), np.zeros(n))[state] += 1
    known = [counts.get(tuple(row), np.zeros(n)) for row in memory.trace(states, unseen).tolist()]
    seen = np.array(known)
    return (seen + BACKING * first[states]) / (seen.sum(axis=1, keepdims=True) + BACKING)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m studies.memories", description=__doc__)
    parser.add_argument("--data", type=Path, default=FOLDER)
    given = parser.parse_args(arguments)
    if message := missing(given.data):
        print(message, file=sys.stderr)
        return 2
    table = Table(title="departures, one step: coverage / states", pad_edge=False)
    for name in ("data", "memory", "level", *(f"model of {name}" for name in MEMORIES)):
        table.add_column(name)
    for data in read(given.data):
        for name, memory in MEMORIES.items():
            judged = [
                judge_steps(data, memory, behind).mean(axis=0) for behind in MEMORIES.values()
            ]
            for k, level in enumerate(LEVELS):
                cells = [f"{one[2 * k]:.3f} / {one[2 * k + 1]:.2f}" for one in judged]
                table.add_row(data.name, name, str(level), *cells, end_section=k == 1)
    console = Console()
    (console if console.is_terminal else Console(width=120)).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
