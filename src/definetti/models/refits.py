"""One hidden Markov model for each of many candidates, made of what they share.

Candidates add a few counts to the same history. Of the transition matrix each changes the rows of
the states that it leaves, and of the law of the observations the columns of the states that it
comes to: few different ones, which are worked out once.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import PIECE, kernel
from definetti.data.labels import MISSING
from definetti.data.sound import check_indices, check_shape
from definetti.data.windows import Windows
from definetti.emissions.base import Emission
from definetti.emissions.categorical import log_frequencies
from definetti.models.kernels import forward, stacked
from definetti.models.kernels.chain import Chain

LONGEST = 40  # steps, the choice of some of which is written as one number


@dataclass(frozen=True, eq=False)
class Refitted(Chain):
    """One of many models, for windows in the codes of `Refits.read`."""

    transition: FloatArray
    logs: FloatArray
    codes: IntArray
    emission: Emission
    table: Any
    labels: tuple[Hashable, ...]

    def seen(self, windows: Windows) -> tuple[FloatArray, forward.Coded, IntArray]:
        return self.transition, forward.Coded(self.logs, windows.observations), windows.start

    def decode(self, codes: IntArray) -> npt.NDArray[Any]:
        return self.emission.decode(self.table, self.codes[codes])


@dataclass(frozen=True, eq=False)
class Refits:
    """Models of ``G`` candidates, asked about a known choice of observations.

    Attributes
    ----------
    transitions : (G, n, n) row-stochastic matrices
    columns : (m + 1, P) log-likelihoods of observations, each column that of one state under some
        of the models; the last row is for missing ones
    picks : (G, n) the column of each state under each model
    codes : (m + 1,) the codes of these observations in the table, in rising order, then `MISSING`
    """

    transitions: FloatArray
    columns: FloatArray
    picks: IntArray
    codes: IntArray
    emission: Emission
    table: Any
    labels: tuple[Hashable, ...]

    def __len__(self) -> int:
        return len(self.picks)

    def read(self, windows: Windows) -> Windows:
        """Return windows with observations by their place among those asked about."""
        observations = windows.observations
        places = np.searchsorted(self.codes[:-1], observations)
        return windows._replace(observations=np.where(observations == MISSING, MISSING, places))

    def one(self, which: int) -> Refitted:
        """Return the model of one candidate."""
        logs = self.columns[:, self.picks[which]]
        return Refitted(
            self.transitions[which], logs, self.codes, self.emission, self.table, self.labels
        )

    def log_posterior(self, models: IntArray, windows: Windows) -> FloatArray:
        """Log-probability of the states of each window, given its observations, under its model.

        Parameters
        ----------
        models : (W,) the model of each window, in rising order
        """
        check_indices(models, 0, len(self), "models")
        self._check(windows)
        found = np.empty(len(models))
        steps, n = windows.states.shape[1], self.picks.shape[1]
        each = max(1, PIECE // (steps * n * n))
        for begin in range(0, len(models), each):
            part = slice(begin, begin + each)
            piece = Windows(*(array[part] for array in windows))
            found[part] = self._log_posterior(models[part], piece)
        return found

    def _check(self, windows: Windows) -> None:
        """Refuse windows of other states, or of observations that were not asked about."""
        n = self.picks.shape[1]
        check_indices(windows.start, 0, n, "start")
        check_indices(windows.states, 0, n, "states")
        check_indices(windows.observations, -1, len(self.columns), "observations")
        check_shape(windows.states, (len(windows.start), *windows.states.shape[1:]), "states")
        check_shape(windows.observations, windows.states.shape, "observations")

    def _log_posterior(self, models: IntArray, windows: Windows) -> FloatArray:
        start, states, codes = windows
        size, (rows, _) = codes.size, self.columns.shape
        first, last = (int(models[0]), int(models[-1])) if size else (0, -1)
        if (last - first + 1) * rows < size:  # each observation once under every model
            each, seen = np.indices((last - first + 1, rows)).reshape(2, -1)
            ratios = stacked.picked_ratios(self.columns, self.picks, each + first, seen)
            places = (models - first)[:, None] * rows + np.where(codes < 0, rows - 1, codes)
        else:
            each = np.repeat(models, codes.shape[1])
            ratios = stacked.picked_ratios(self.columns, self.picks, each, codes.ravel())
            places = np.arange(size).reshape(codes.shape)
        np.exp(ratios, out=ratios)
        steps, unsafe = stacked.stacked_steps(
            self.transitions, models, start, states, ratios, places
        )
        found = np.asarray(steps.sum(axis=1))
        if self._tiny:
            unsafe[:] = True
        for which in np.unique(models[unsafe]).tolist():
            here = np.flatnonzero(unsafe & (models == which))
            asked_here = Windows(*(array[here] for array in windows))
            found[here] = self.one(which).log_posterior(asked_here)
        return found

    def bound_paths(self, windows: Windows) -> tuple[FloatArray, FloatArray]:
        """Return bounds on minus the log-probability of windows, under any of the models."""
        self._check(windows)
        nothing = np.zeros(len(windows.start)), np.full(len(windows.start), np.inf)
        least, most = self.transitions.min(axis=0), self.transitions.max(axis=0)
        possible = least.min(initial=1.0) >= forward.SMALLEST_TRANSITION
        if not (possible and np.isfinite(self.columns).all()):
            return nothing  # what is impossible under some of them has rules of its own
        low, high = _extremes(self.columns, self.picks)
        return stacked.path_bounds(least, most, low, high, *windows)

    @cached_property
    def _tiny(self) -> bool:
        small = self.transitions < forward.SMALLEST_TRANSITION
        return bool((small & (self.transitions > 0)).any())


def refit(
    counts: IntArray,
    present: int,
    candidates: IntArray,
    observations: IntArray,
    prior: float,
    emission: Emission,
    table: Any,
    statistics: FloatArray,
    labels: tuple[Hashable, ...],
    asked: IntArray,
    met: npt.NDArray[np.bool_] | None = None,
) -> Refits:
    """Return the models of candidates that go on from a history.

    Parameters
    ----------
    counts : (n, n) transition counts of what all of them learn from
    present : the state that they go on from
    candidates, observations : (G, h) their states, (h,) the codes of what is observed
    prior : added to every count of a transition
    statistics : (n, …) those of the observations that all of them learn from
    asked : the codes of observations that will be asked about
    met : (n,) the states that all of them know beside their own; None where that is all there are
    """
    size, n, known = len(candidates), len(counts), counts.astype(np.float64)
    left = np.concatenate([np.full((size, 1), present), candidates[:, :-1]], axis=1)
    rows = _rows_left(known, left, candidates)
    if met is None or met.all():
        transitions = np.repeat(np.exp(log_frequencies(known, prior))[None], size, axis=0)
        changed = np.exp(log_frequencies(rows.reshape(-1, n), prior)).reshape(rows.shape)
        transitions[np.arange(size)[:, None], left] = changed
    else:
        transitions = np.repeat(known[None], size, axis=0)
        transitions[np.arange(size)[:, None], left] = rows
        for own, candidate in zip(transitions, candidates, strict=True):
            reached = met.copy()
            reached[candidate] = True
            own[:] = np.exp(log_frequencies(spread(own, prior, reached), 0.0))
    codes = np.append(np.unique(asked[asked != MISSING]), MISSING)
    columns, picks = _judged(emission, table, statistics, candidates, observations, codes)
    return Refits(transitions, columns, picks, codes, emission, table, labels)


def spread(counts: FloatArray, prior: float, met: npt.NDArray[np.bool_]) -> FloatArray:
    """Add a prior to the counts of transitions to some states; no other is possible.

    Parameters
    ----------
    met : (n,) the states

    Examples
    --------
    >>> spread(np.array([[2.0, 0.0], [0.0, 0.0]]), 0.0, np.array([True, False]))
    array([[2., 0.],
           [1., 0.]])
    """
    found = np.where(met, counts + prior, 0.0)
    found[~found.any(axis=1)] = met  # a row of nothing is uniform
    return found


def refits_of(
    moves: IntArray,
    pairs: IntArray,
    priors: tuple[float, float],
    emission: Emission,
    table: Any,
    labels: tuple[Hashable, ...],
) -> Refits:
    """Return the models that are known by their counts alone, about all symbols of the table.

    Parameters
    ----------
    moves, pairs : (G, n, n) and (G, n, m + 1) counts of transitions, and of states and symbols,
        missing ones first
    priors : what is added to each of both
    """
    size, n, width = pairs.shape
    transitions = np.exp(log_frequencies(moves.reshape(-1, n).astype(np.float64), priors[0]))
    columns = np.zeros((width, size * n))
    seen = pairs[:, :, 1:].reshape(size * n, -1).astype(np.float64)
    columns[:-1] = log_frequencies(seen, priors[1]).T
    picks = np.arange(size * n).reshape(size, n)
    codes = np.append(np.arange(width - 1), MISSING)
    return Refits(transitions.reshape(moves.shape), columns, picks, codes, emission, table, labels)


def _judged(
    emission: Emission,
    table: Any,
    statistics: FloatArray,
    candidates: IntArray,
    observations: IntArray,
    codes: IntArray,
) -> tuple[FloatArray, IntArray]:
    """Return log-likelihoods of observations, (m, P), and which column is whose, (G, n)."""
    (size, steps), n = candidates.shape, len(statistics)
    single = emission.statistics(table, observations, np.arange(steps), max(steps, n))[:steps]
    # Which of the new observations each state gets, as one number.
    gets = ((candidates[:, :, None] == np.arange(n)) << np.arange(steps)[:, None]).sum(axis=1)
    distinct, places = np.unique(gets * n + np.arange(n), return_inverse=True)
    state, steps_of = distinct % n, distinct // n
    added = (steps_of[:, None] >> np.arange(steps)) & 1
    rows = statistics[state] + np.tensordot(added.astype(np.float64), single, 1)
    total = statistics.sum(axis=0) + single.sum(axis=0)
    columns = emission.judge_rows(table, rows, total, codes)
    if columns is not None:
        check_shape(columns, (len(codes), len(rows)), "what judge_rows of the emission returns")
        return columns, places.reshape(size, n)
    if not single.size:  # a law that learns nothing
        logs = emission.log_likelihood(table, statistics, codes)
        check_shape(logs, (len(codes), n), "log_likelihood")
        return logs, np.tile(np.arange(n), (size, 1))
    each = [
        emission.log_likelihood(
            table, statistics + emission.statistics(table, observations, states, n), codes
        )
        for states in candidates
    ]
    for logs in each:
        check_shape(logs, (len(codes), n), "log_likelihood")
    return np.concatenate(each, axis=1), np.arange(size * n).reshape(size, n)


@kernel
def _rows_left(counts: FloatArray, left: IntArray, candidates: IntArray) -> FloatArray:
    """Count where each state that a candidate leaves leads to, it included: (G, h, n)."""
    size, steps = candidates.shape
    rows = np.empty((size, steps, len(counts)))
    for g in range(size):
        for k in range(steps):
            for j in range(len(counts)):
                rows[g, k, j] = counts[left[g, k], j]
            for step in range(steps):
                if left[g, step] == left[g, k]:
                    rows[g, k, candidates[g, step]] += 1.0
    return rows


@kernel
def _extremes(columns: FloatArray, picks: IntArray) -> tuple[FloatArray, FloatArray]:
    """Smallest and largest log-likelihood of each observation in each state: (m, n) each."""
    rows, width = columns.shape
    size, n = picks.shape
    state = np.full(width, -1, dtype=np.int64)
    for g in range(size):
        for j in range(n):
            state[picks[g, j]] = j
    low, high = np.full((rows, n), np.inf), np.full((rows, n), -np.inf)
    for y in range(rows):
        for p in range(width):
            if state[p] >= 0:
                low[y, state[p]] = min(low[y, state[p]], columns[y, p])
                high[y, state[p]] = max(high[y, state[p]], columns[y, p])
    return low, high
