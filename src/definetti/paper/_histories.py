"""Simulated histories on a grid of models: what figures 1 and 2 have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import product
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from definetti import simulate, verify
from definetti._system.arrays import FloatArray
from definetti._system.checks import entropy_of
from definetti.cells.cell import Cell
from definetti.cells.running import run_cells
from definetti.paper._at_once import rank_histories
from definetti.paper.methods import PROMISED, Method, Task, choose_members, make_sets
from definetti.paper.shortfalls import mark_short

Point = dict[str, Any]
Matrices = Callable[..., tuple[FloatArray, FloatArray]]


def repeat_cell(matrices: Matrices, cell: Cell, part: range) -> list[list[int]]:
    """Draw histories, make sets, and look for the truth in them: some repetitions of a cell.

    Parameters
    ----------
    matrices : function from a point of the grid to its transition and emission matrices

    Returns
    -------
    for each repetition, and each variant of the method: whether the truth was in, and the size
    """
    method, point = Method("", **dict(cell.method)), dict(cell.point)
    transition, emission = matrices(**point)
    length, horizon, n = point["T"], point["horizon"], len(transition)
    rngs = [cell.generator(repetition) for repetition in part]
    begin, steps = np.full(n, 1 / n), length + horizon
    drawn = [simulate.sample(begin, transition, emission, steps, rng) for rng in rngs]
    y, x = (np.array(each) for each in zip(*drawn, strict=True))
    ranks = rank_histories(method, y, x[:, :length], horizon, n)
    records = []
    for k, rng in enumerate(rngs):
        if ranks is None:
            task = Task(y[k, :length], x[k, :length], y[k, length:], n)
            truth, found = tuple(x[k, length:].tolist()), make_sets(method, task, rng)
            pairs = [(truth in s, len(s)) for s in found]
        else:
            entropy_of(rng)  # what an estimator that is fitted draws
            place = int(np.ravel_multi_index(x[k, length:], [n] * horizon))
            chosen = choose_members(method, ranks[k], float(rng.random()))
            pairs = [(place in members, len(members)) for members in chosen]
        records.append([int(number) for pair in pairs for number in pair])
    return records


def run_grid(
    experiment: str,
    points: Iterable[Point],
    methods: Sequence[Method],
    matrices: Matrices,
    folder: Path,
    *,
    repetitions: int,
    seed: int,
    **how: Any,
) -> list[Point]:
    """Run methods on every point of a grid and sum up: one row a variant and point.

    Parameters
    ----------
    matrices : as for `repeat_cell`; it is sent to other processes, so it must be importable
    how : further arguments of `run_cells`
    """
    pairs = list(product(methods, points))
    cells = [
        Cell(experiment, tuple(point.items()), method.settings, repetitions, seed)
        for method, point in pairs
    ]
    records = run_cells(cells, partial(repeat_cell, matrices), folder, what=experiment, **how)
    found = []
    for (method, point), outcomes in zip(pairs, records, strict=True):
        transition, emission = matrices(**point)
        n, horizon = len(transition), point["horizon"]
        # Both chains are symmetric enough for all states to be equally frequent, always.
        least = verify.oracle_size(np.full(n, 1 / n), transition, emission, horizon, PROMISED)
        numbers = np.array(outcomes, dtype=np.int64)
        for k, variant in enumerate(method.variants):
            covered, sizes = numbers[:, 2 * k], numbers[:, 2 * k + 1] / n**horizon
            share, size = float(covered.mean()), float(sizes.mean())
            found.append({
                "method": variant,
                **point,
                "repetitions": repetitions,
                "covered": int(covered.sum()),
                "coverage": share,
                "coverage_error": sqrt(share * (1 - share) / repetitions),
                "scaled_size": size,
                "size_error": float(sizes.std() / sqrt(repetitions)),
                "oracle_size": least,
                "size_over_oracle": size / least,
            })  # fmt: skip
    return mark_short(found)
