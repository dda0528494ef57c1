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
from definetti._system.arrays import FloatArray, IntArray
from definetti._system.checks import entropy_of
from definetti._system.compiled import kernel
from definetti.cells import Cell, run_cells
from definetti.data.candidates import all_candidates
from definetti.data.labels import Alphabet
from definetti.emissions import Categorical
from definetti.engine.pvalues import Rank
from definetti.engine.rank import rank_in_classes
from definetti.engine.task import evaluate_each
from definetti.experiments import reproduction
from definetti.experiments.methods import (
    METHODS,
    PROMISED,
    Method,
    Task,
    choose_members,
    make_sets,
    mark_short,
)
from definetti.experiments.reproduction import Reproduction, check_experiment, write_reproduction
from definetti.models.estimates import estimates_of_counts
from definetti.scores import Score
from definetti.symmetry.class_counts import Pasts, count_classes
from definetti.symmetry.full import Full

Point = dict[str, Any]
Matrices = Callable[..., tuple[FloatArray, FloatArray]]


def repeat_cell(matrices: Matrices, cell: Cell, part: range) -> list[list[int]]:
    """Simulate histories and judge the sets of a method: some repetitions of a cell.

    Parameters
    ----------
    matrices : function from a point of the grid to its transition and emission matrices

    Returns
    -------
    for each repetition, and each variant of the method: whether it covered, and the size
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
            entropy_of(rng)  # as `fit` of an estimator does
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
    """Run methods on every point of a grid: one row per variant and point.

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
    rows: list[Point] = []
    for (method, point), outcomes in zip(pairs, records, strict=True):
        transition, emission = matrices(**point)
        n, horizon = len(transition), point["horizon"]
        # Both chains are symmetric enough for all states to be equally frequent, always.
        least = verify.oracle_size(np.full(n, 1 / n), transition, emission, horizon, PROMISED)
        numbers = np.array(outcomes, dtype=np.int64)
        for k, variant in enumerate(method.variants):
            covered, sizes = numbers[:, 2 * k], numbers[:, 2 * k + 1] / n**horizon
            share, size = float(covered.mean()), float(sizes.mean())
            rows.append({
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
    return mark_short(rows)


def rank_histories(
    method: Method, observations: IntArray, states: IntArray, horizon: int, n_states: int
) -> list[list[Rank]] | None:
    """Rank all candidates of many histories from their counts; None where that is impossible.

    It is ten times as fast as one estimator for each history, with the same ranks.

    Parameters
    ----------
    observations : (K, T + h) codes, the new ones last
    states : (K, T) codes
    horizon, n_states : the number of new steps, and of states

    Examples
    --------
    >>> from definetti.experiments import OURS
    >>> y, x = np.array([[0, 1] * 4 + [0]]), np.array([[0, 1] * 4])
    >>> [[rank.p_value() for rank in ranks] for ranks in rank_histories(OURS, y, x, 1, 2)]
    [[1.0, 0.05]]
    """
    if method.symmetry != "full" or not method.observed:
        return None
    codes, sizes = _encode_symbols(observations)
    if sizes.min() < sizes.max():
        return None  # the laws of some are of fewer symbols
    length, symbols = states.shape[1], int(sizes[0])
    transitions, emissions = _count_steps(states, codes, n_states, symbols)
    first, last = states[:, 0].copy(), states[:, -1].copy()
    pasts = Pasts(transitions, transitions, emissions, first, last, length)
    candidates, new = all_candidates(n_states, horizon), codes[:, length:].copy()
    classes = count_classes(pasts, candidates, new, Full().max_windows)
    if classes is None:
        return None
    law, table, labels = Categorical(method.prior), Alphabet(range(symbols)), range(n_states)
    priors = float(method.prior), float(method.prior)
    estimates = estimates_of_counts(classes.moves, classes.pairs, priors, law, table, tuple(labels))
    scores = evaluate_each(Score.named[method.score](), estimates, classes.each, classes.windows)
    ranks, number = rank_in_classes(scores, classes), len(candidates)
    return [ranks[k : k + number] for k in range(0, len(ranks), number)]


@kernel
def _encode_symbols(observations: IntArray) -> tuple[IntArray, IntArray]:
    """Number the symbols of each sequence in order of appearance; return codes and counts."""
    codes = np.empty_like(observations)
    sizes = np.zeros(len(observations), dtype=np.int64)
    for k in range(len(observations)):
        known = np.full(observations.max() + 1, -1)
        for t in range(observations.shape[1]):
            y = observations[k, t]
            if known[y] < 0:
                known[y] = sizes[k]
                sizes[k] += 1
            codes[k, t] = known[y]
    return codes, sizes


@kernel
def _count_steps(
    states: IntArray, codes: IntArray, n_states: int, n_symbols: int
) -> tuple[IntArray, IntArray]:
    """Count transitions, and symbols by state, of each sequence."""
    number, length = states.shape
    transitions = np.zeros((number, n_states, n_states), dtype=np.int64)
    emissions = np.zeros((number, n_states, n_symbols + 1), dtype=np.int64)
    for k in range(number):
        for t in range(length):
            emissions[k, states[k, t], codes[k, t] + 1] += 1
            if t > 0:
                transitions[k, states[k, t - 1], states[k, t]] += 1
    return transitions, emissions


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
    """Return the transition and emission matrices of a point of figure 1.

    >>> figure1_matrices(p=0.25, b=0.5)[0]
    array([[0.25, 0.75],
           [0.75, 0.25]])
    """
    return np.array([[p, 1 - p], [1 - p, p]]), np.array([[b, 1 - b], [1 - b, b]])


def figure2_matrices(chain: str, b: float, **_: Any) -> tuple[FloatArray, FloatArray]:
    """Return the transition and emission matrices of a point of figure 2.

    >>> figure2_matrices(chain="markov", b=0.6)[1]
    array([[0.6, 0.2, 0.2],
           [0.2, 0.6, 0.2],
           [0.2, 0.2, 0.6]])
    """
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
    methods, points : what to run, and where: dicts of T, horizon, b and p
    fresh : whether to compute again what is in the folder already
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
    folder = check_experiment(output, repetitions, seed)
    rows = run_grid(
        "figure1", points, methods, figure1_matrices, folder / "cells",
        repetitions=repetitions, seed=seed, n_jobs=n_jobs, fresh=fresh, verbose=verbose,
    )  # fmt: skip
    return write_reproduction("figure1", rows, folder, reproduction.draw_figure1)


def figure2(
    output: Path | str,
    *,
    repetitions: int = 500,
    seed: int = 2023,
    n_jobs: int | None = None,
    methods: Sequence[Method] = METHODS,
    points: Iterable[Point] = FIGURE2_POINTS,
    fresh: bool = False,
    verbose: bool = False,
) -> Reproduction:
    """Compute coverage and size of sets on the paper's grid of three-state models.

    Parameters
    ----------
    output : folder for ``figure2.csv``, the pictures, and the finished cells
    repetitions, seed, n_jobs, methods, fresh, verbose : as for `figure1`
    points : where: dicts of chain ("markov" or "iid"), T, horizon and b

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from definetti.experiments import PAIRS
    >>> with TemporaryDirectory() as name:
    ...     result = figure2(name, repetitions=1, methods=[PAIRS], points=FIGURE2_POINTS[:1])
    >>> len(result.rows), round(result.rows[0]["oracle_size"], 3)
    (2, 0.36)
    """
    folder = check_experiment(output, repetitions, seed)
    rows = run_grid(
        "figure2", points, methods, figure2_matrices, folder / "cells",
        repetitions=repetitions, seed=seed, n_jobs=n_jobs, fresh=fresh, verbose=verbose,
    )  # fmt: skip
    return write_reproduction("figure2", rows, folder, reproduction.draw_figure2)
