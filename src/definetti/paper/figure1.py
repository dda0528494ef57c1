"""Figure 1 of the paper: two states, two symbols (Section 4.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray
from definetti.paper import _pictures
from definetti.paper._histories import run_grid
from definetti.paper.methods import METHODS, Method
from definetti.paper.reproduction import Reproduction, check_experiment, write_reproduction

LENGTHS, HORIZONS = (50, 100, 200), (1, 2, 3)
STAYING = (0.1, 0.3, 0.5, 0.7, 0.9)  # p: 0.5 makes the states independent
TELLING = (0.5, 0.75, 0.9)  # b: 0.5 makes the observations meaningless
POINTS = tuple(
    {"T": length, "horizon": horizon, "b": b, "p": p}
    for length, horizon, b, p in product(LENGTHS, HORIZONS, TELLING, STAYING)
)


def make_matrices(p: float, b: float, **_: Any) -> tuple[FloatArray, FloatArray]:
    """Return the transition and emission matrices of a point.

    >>> make_matrices(p=0.25, b=0.5)[0]
    array([[0.25, 0.75],
           [0.75, 0.25]])
    """
    return np.array([[p, 1 - p], [1 - p, p]]), np.array([[b, 1 - b], [1 - b, b]])


def figure1(
    output: Path | str,
    *,
    repetitions: int = 500,
    seed: int = 2023,
    n_jobs: int | None = None,
    methods: Sequence[Method] = METHODS,
    points: Iterable[dict[str, Any]] = POINTS,
    fresh: bool = False,
    verbose: bool = False,
) -> Reproduction:
    """Coverage and size of sets on the paper's grid of two-state models.

    Parameters
    ----------
    output : folder for ``figure1.csv``, the pictures, and the finished cells
    repetitions, seed : how many histories at each point, and from which random numbers
    n_jobs : as for joblib; None takes what `joblib.parallel_config` says
    methods, points : what to run, and where: dicts of T, horizon, b and p
    fresh : whether to work out again what is in the folder already
    verbose : whether to show a progress bar

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from definetti.paper.methods import OURS
    >>> points = [{"T": 50, "horizon": 1, "b": 0.5, "p": p} for p in (0.1, 0.9)]
    >>> with TemporaryDirectory() as name:
    ...     found = figure1(name, repetitions=20, methods=[OURS], points=points)
    >>> [row["method"] for row in found.rows]
    ['ours', 'ours, smoothed', 'ours', 'ours, smoothed']
    """
    folder = check_experiment(output, repetitions, seed)
    rows = run_grid(
        "figure1", points, methods, make_matrices, folder / "cells",
        repetitions=repetitions, seed=seed, n_jobs=n_jobs, fresh=fresh, verbose=verbose,
    )  # fmt: skip
    return write_reproduction("figure1", rows, folder, _pictures.draw_figure1)
