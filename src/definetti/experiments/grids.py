"""Figures 1 and 2 of the paper: simulated histories on grids of models."""

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
from definetti._system.cells import Cell, run_cells
from definetti.experiments import reproduction
from definetti.experiments.reproduction import (
    METHODS,
    PROMISED,
    Method,
    Reproduction,
    Rows,
    check_experiment,
    count_covered,
    make_sets,
    mark_short,
    write_reproduction,
)

Point = dict[str, Any]
Matrices = Callable[..., tuple[FloatArray, FloatArray]]


def repeat_cell(matrices: Matrices, cell: Cell, part: range) -> list[list[int]]:
    """Simulate histories of a cell; return whether each variant covered, and its set's size."""
    method, point = Method("", **dict(cell.method)), dict(cell.point)
    transition, emission = matrices(**point)
    length, n = point["T"], len(transition)
    records = []
    for rng in map(cell.generator, part):
        seen, states = simulate.sample(
            np.full(n, 1 / n), transition, emission, length + point["horizon"], rng
        )
        sets = make_sets(method, seen[:length], states[:length], seen[length:], n, rng)
        truth = tuple(states[length:].tolist())
        records.append([k for s in sets for k in (int(truth in s), len(s))])
    return records


def run_grid(
    name: str,
    output: Path | str,
    points: Iterable[Point],
    matrices: Matrices,
    draw: Callable[[Rows], Any],
    *,
    repetitions: int = 500,
    seed: int = 2023,
    methods: Sequence[Method] = METHODS,
    **options: Any,
) -> Reproduction:
    """Run methods on every point of a grid: one row per variant and point.

    The function from a point to its transition and emission matrices is sent to other processes,
    so it must be importable; `options` are further arguments of `run_cells`.
    """
    folder = check_experiment(output, repetitions, seed)
    pairs = list(product(methods, points))
    cells = [
        Cell(name, tuple(point.items()), method.settings, repetitions, seed)
        for method, point in pairs
    ]
    work = partial(repeat_cell, matrices)
    records = run_cells(cells, work, folder / "cells", what=name, **options)
    rows: Rows = []
    for (method, point), outcomes in zip(pairs, records, strict=True):
        transition, emission = matrices(**point)
        n, horizon = len(transition), point["horizon"]
        # Both chains start uniform and are doubly stochastic: all states are equally frequent.
        least = verify.oracle_size(np.full(n, 1 / n), transition, emission, horizon, PROMISED)
        numbers = np.array(outcomes, dtype=np.int64)
        for k, variant in enumerate(method.variants):
            sizes = numbers[:, 2 * k + 1] / n**horizon
            size = float(sizes.mean())
            rows.append({
                "method": variant,
                **point,
                **count_covered(int(numbers[:, 2 * k].sum()), repetitions),
                "scaled_size": size,
                "size_error": float(sizes.std() / sqrt(repetitions)),
                "oracle_size": least,
                "size_over_oracle": size / least,
            })  # fmt: skip
    return write_reproduction(name, mark_short(rows), folder, draw)


# Figure 1, Section 4.1: two states and two symbols. p = 0.5 makes the states independent, and
# b = 0.5 the observations uninformative.
FIGURE1_POINTS = tuple(
    {"T": length, "horizon": horizon, "b": b, "p": p}
    for length, horizon, b, p in product(
        (50, 100, 200), (1, 2, 3), (0.5, 0.75, 0.9), (0.1, 0.3, 0.5, 0.7, 0.9)
    )
)
# Figure 2, Appendix C: three states and three symbols. b = 1/3 makes observations uninformative.
FIGURE2_POINTS = tuple(
    {"chain": chain, "T": length, "horizon": 3, "b": b}
    for chain, length, b in product(("markov", "iid"), (60, 90, 120, 150, 180), (1 / 3, 0.6, 0.9))
)


def figure1_matrices(p: float, b: float, **_: Any) -> tuple[FloatArray, FloatArray]:
    """Return the transition and emission matrices of a point of figure 1."""
    return np.array([[p, 1 - p], [1 - p, p]]), np.array([[b, 1 - b], [1 - b, b]])


def figure2_matrices(chain: str, b: float, **_: Any) -> tuple[FloatArray, FloatArray]:
    """Return the transition and emission matrices of a point of figure 2."""
    transition = np.full((3, 3), 1 / 3)
    if chain == "markov":
        transition = np.array([[0.1, 0.6, 0.3], [0.3, 0.1, 0.6], [0.6, 0.3, 0.1]])
    return transition, np.where(np.eye(3, dtype=bool), b, (1 - b) / 2)


def figure1(
    output: Path | str,
    *,
    repetitions: int = 500,
    seed: int = 2023,
    n_jobs: int | None = None,
    methods: Sequence[Method] = METHODS,
    points: Iterable[Point] = FIGURE1_POINTS,
    fresh: bool = False,
    verbose: bool = False,
) -> Reproduction:
    """Compute coverage and size of sets on the paper's grid of two-state models.

    Parameters
    ----------
    output : folder for ``figure1.csv``, the pictures, and the finished cells
    repetitions, seed : the number of histories at each point, and the seed that they come from
    n_jobs : as for joblib; None takes what `joblib.parallel_config` says
    methods : the methods to run
    points : the points of the grid: dicts of T, horizon, b and p
    fresh : whether to compute finished cells again
    verbose : whether to show a progress bar

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from definetti.experiments import OURS
    >>> points = [{"T": 50, "horizon": 1, "b": 0.5, "p": p} for p in (0.1, 0.9)]
    >>> with TemporaryDirectory() as name:
    ...     result = figure1(name, repetitions=20, methods=[OURS], points=points)
    >>> [row["method"] for row in result.rows]
    ['ours', 'ours, smoothed', 'ours', 'ours, smoothed']
    """
    return run_grid(
        "figure1", output, points, figure1_matrices, reproduction.draw_figure1, methods=methods,
        repetitions=repetitions, seed=seed, n_jobs=n_jobs, fresh=fresh, verbose=verbose,
    )  # fmt: skip


def figure2(
    output: Path | str, *, points: Iterable[Point] = FIGURE2_POINTS, **settings: Any
) -> Reproduction:
    """Compute coverage and size of sets on the paper's grid of three-state models.

    Parameters
    ----------
    output : folder for ``figure2.csv``, the pictures, and the finished cells
    points : the points of the grid: dicts of chain ("markov" or "iid"), T, horizon and b
    settings : repetitions, seed, n_jobs, methods, fresh and verbose, as for `figure1`

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from definetti.experiments import PAIRS
    >>> with TemporaryDirectory() as name:
    ...     result = figure2(name, repetitions=1, methods=[PAIRS], points=FIGURE2_POINTS[:1])
    >>> len(result.rows), round(result.rows[0]["oracle_size"], 3)
    (2, 0.36)
    """
    draw = reproduction.draw_figure2
    return run_grid("figure2", output, points, figure2_matrices, draw, **settings)
