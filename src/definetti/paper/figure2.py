"""Figure 2 of the paper: three states, three symbols, Markov and i.i.d. (Appendix C)."""

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

LENGTHS, HORIZON = (60, 90, 120, 150, 180), 3
TELLING = (1 / 3, 0.6, 0.9)  # b: a third makes the observations meaningless
POINTS = tuple(
    {"chain": chain, "T": length, "horizon": HORIZON, "b": b}
    for chain, length, b in product(("markov", "iid"), LENGTHS, TELLING)
)


def make_matrices(chain: str, b: float, **_: Any) -> tuple[FloatArray, FloatArray]:
    """Return the transition and emission matrices of a point.

    >>> make_matrices(chain="markov", b=0.6)[1]
    array([[0.6, 0.2, 0.2],
           [0.2, 0.6, 0.2],
           [0.2, 0.2, 0.6]])
    """
    steps = np.full((3, 3), 1 / 3)
    if chain == "markov":
        steps = np.array([[0.1, 0.6, 0.3], [0.3, 0.1, 0.6], [0.6, 0.3, 0.1]])
    return steps, np.where(np.eye(3, dtype=bool), b, (1 - b) / 2)


def figure2(
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
    """Coverage and size of sets on the paper's grid of three-state models.

    Parameters
    ----------
    output : folder for ``figure2.csv``, the pictures, and the finished cells
    repetitions, seed, n_jobs, methods, fresh, verbose : as for `figure1`
    points : where: dicts of chain ("markov" or "iid"), T, horizon and b

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from definetti.paper.methods import PAIRS
    >>> with TemporaryDirectory() as name:
    ...     found = figure2(name, repetitions=1, methods=[PAIRS], points=POINTS[:1])
    >>> len(found.rows), round(found.rows[0]["oracle_size"], 3)
    (2, 0.36)
    """
    folder = check_experiment(output, repetitions, seed)
    rows = run_grid(
        "figure2", points, methods, make_matrices, folder / "cells",
        repetitions=repetitions, seed=seed, n_jobs=n_jobs, fresh=fresh, verbose=verbose,
    )  # fmt: skip
    return write_reproduction("figure2", rows, folder, _pictures.draw_figure2)
