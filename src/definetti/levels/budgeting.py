"""Choose levels per state with a given average and small sets, without calibration data.

A state that is hard to recognise needs large sets at a high level, and a rare state adds little to
the average. The mean size of a set is a sum over states of a function of the state's level, which
is minimised for the given average.
"""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.checks import checked_number
from definetti.data.history import Completion, Windows
from definetti.data.labels import MISSING
from definetti.engine.pvalues import miscoverage
from definetti.engine.task import PER_WINDOW, all_candidates, evaluate, is_long
from definetti.models.hmm import TrainedHMM
from definetti.scores.nonconformity import upper_edge
from definetti.symmetry.base import PRESENT

if TYPE_CHECKING:
    from definetti.conformal import ConformalHMM

CELLS = 2_000_000  # most candidates, over all windows, that are scored
HALVINGS = 60  # bisection steps for the price of coverage


def budget(
    cp: ConformalHMM, average: float = 0.9, *, least: float = 0.5, horizon: int = 1
) -> dict[Hashable, float]:
    """Choose a level for each state, with a given average, that makes sets small.

    Parameters
    ----------
    cp : ConformalHMM
        Fitted, with `train_size`. Only its training segment is read, so that no calibration data
        choose the levels.
    average : float, default 0.9
        The average level, with states weighted by their frequency.
    least : float, default 0.5
        The smallest level that a state may get.
    horizon : int, default 1
        The horizon of the windows that choose the levels; they may be used for other horizons.

    Returns
    -------
    dict from states to levels, for `confidence_level`; the key None is for states not met

    Notes
    -----
    The level of each state is exact, as it is chosen without calibration data. The average is an
    estimate from frequencies in the training segment. So is the size, for which the model scores
    windows that it was trained on: it is that of sets of sequences, as with ``guarantee="all"``.

    Where the mean size is ``Σ_s size_s(level_s)`` and the average ``Σ_s share_s level_s``, levels
    that minimise ``size − price · average`` are optimal for their average; the price is raised
    until the average is reached. With "departures" states are the present ones, else the last.

    Examples
    --------
    >>> from definetti import ConformalHMM
    >>> from definetti.simulate import sample
    >>> rng = np.random.default_rng(0)
    >>> rare = np.array([[0.9, 0.06, 0.04], [0.06, 0.9, 0.04], [0.4, 0.4, 0.2]])
    >>> x = sample(np.ones(3) / 3, rare, np.eye(3), 2_000, rng).states
    >>> y = rng.normal(np.array([0.0, 3.0, 1.5])[x])
    >>> cp = ConformalHMM(symmetry="spaced", train_size=0.5, states=[0, 1, 2])
    >>> cp = cp.fit(y[:1_600], x[:1_600])
    >>> levels = budget(cp, average=0.9)
    >>> levels
    {0: 0.95, 1: 0.91, 2: 0.5, None: 0.9}
    >>> ways = [cp.evaluate(y[1_600:], x[1_600:], one, horizon=1) for one in (0.9, levels)]
    >>> [(round(way.size, 2), round(way.coverage, 3)) for way in ways]
    [(1.32, 0.907), (1.04, 0.92)]
    """
    checked_number(horizon, "horizon")
    level = float(1 - miscoverage(average))
    lowest = float(1 - miscoverage(least))
    if lowest > level:
        raise ValueError(
            f"least={least!r} is above average={average!r}; no levels come to less than the least"
        )
    truth, candidates, own, others = _score_training(cp, horizon)
    grid = np.array(sorted({k / 100 for k in range(ceil(100 * lowest), 100)} | {lowest, level}))
    states = np.unique(own)
    # Expect calibration windows of each state in proportion to the number of steps. With
    # departures that number depends on calibration labels: then use the training windows.
    by_present = cp.symmetry_.given == PRESENT
    expected = cp.n_steps_ / (len(own) * horizon) if not by_present else 1.0
    sizes = np.array([
        _sizes(
            np.sort(truth[own == s]), np.sort(candidates[others == s]), grid, expected,
            cp.symmetry_.recent,
        )
        for s in states
    ]) / len(candidates)  # fmt: skip
    shares = np.array([(own == s).mean() for s in states])
    picked = _spend(sizes, shares, grid, level)
    chosen = {cp.states_[s]: float(grid[k]) for s, k in zip(states.tolist(), picked, strict=True)}
    return {**chosen, None: level}


def _score_training(
    cp: ConformalHMM, horizon: int
) -> tuple[FloatArray, FloatArray, IntArray, IntArray]:
    """Score the truth, (W,), and candidates of some windows, (V, C); return both with states."""
    labels, data = cp.states_, cp._data
    if data.training is None:
        raise ValueError(
            "train_size is None: there is no training segment to choose levels on, and labels "
            "that calibrate may not choose them; fit ConformalHMM(train_size=0.5)"
        )
    model = data.model
    if not data.closed:  # states that occur later must not change the levels
        labels = labels[: data.training.states.max() + 1]
        if isinstance(model, TrainedHMM):
            model = model.limited(len(labels))
    n = len(labels)
    if is_long(n, checked_number(horizon, "horizon"), PER_WINDOW):
        raise ValueError(
            f"horizon={horizon} has too many sequences of {n} states to look at; give a shorter "
            "one: the levels hold for any"
        )
    windows = data.training.windows(horizon)
    if not len(windows.start):
        raise ValueError(
            f"train_size leaves no window of {horizon} steps to choose levels on; raise it"
        )
    steps = np.zeros(horizon, dtype=np.int64)
    completion = Completion(data.history, steps, steps + MISSING, n)
    estimate = model.estimate(completion, data.table, data.statistics, labels)
    truth = evaluate(cp.conformity_score_, estimate, windows)
    every = all_candidates(n, horizon)
    number = min(len(truth), max(CELLS // len(every), 1))
    some = np.unique(np.linspace(0, len(truth) - 1, number).astype(np.int64))
    start, _, seen = (part[some].repeat(len(every), axis=0) for part in windows)
    tried = Windows(start, np.tile(every, (len(some), 1)), seen)
    scores = evaluate(cp.conformity_score_, estimate, tried).reshape(len(some), -1)
    by_present = cp.symmetry_.given == PRESENT
    own, others = (part.start if by_present else part.states[:, -1] for part in (windows, tried))
    return truth, scores, own, others.reshape(scores.shape)


def _sizes(
    truth: FloatArray, candidates: FloatArray, grid: FloatArray, expected: Any, recent: Any
) -> Any:
    """Return how many candidates are within the limit of each level; scores must be sorted."""
    number = len(truth)
    windows = number * expected if recent is None else min(number * expected, recent)
    limits = []
    for alpha in map(miscoverage, grid.tolist()):
        place = ceil((number + 1) * (1 - alpha)) - 1
        few = alpha * (Fraction(windows) + 1) < 1
        limits.append(np.inf if place >= number or few else upper_edge(truth[place]))
    return np.searchsorted(candidates, limits, side="right")


def _spend(sizes: FloatArray, shares: FloatArray, grid: FloatArray, average: float) -> list[int]:
    """Return the grid place of each state's level, for small sizes with the given average."""

    def kept(picked: Any) -> bool:
        return bool(shares @ grid[picked] >= average - 1e-12)

    def pick(price: float) -> IntArray:
        costs = sizes - price * shares[:, None] * grid
        # Among equal costs, the highest level.
        return np.asarray(len(grid) - 1 - costs[:, ::-1].argmin(axis=1))

    low, high = 0.0, 1.0
    while not kept(pick(high)):
        high *= 2
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if kept(pick(middle)) else (middle, high)
    picked = pick(high)
    while True:  # lower levels as far as the average allows, where it saves most
        lower = [(s, k) for s in range(len(picked)) for k in range(picked[s])]
        saved = {
            (s, k): sizes[s, picked[s]] - sizes[s, k]
            for s, k in lower
            if kept([*picked[:s], k, *picked[s + 1 :]])
        }
        best = max(saved, key=lambda k: saved[k], default=None)
        if best is None or saved[best] <= 0:
            break
        picked[best[0]] = best[1]
    flat = np.full(len(shares), np.searchsorted(grid, average))
    every = range(len(shares))
    chosen = picked if sizes[every, picked].sum() <= sizes[every, flat].sum() else flat
    return [int(k) for k in chosen]
