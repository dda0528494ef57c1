"""Fitted models of many candidates, one for each, made of what they share.

Candidates add a few counts to the same history. Of the transition matrix each changes the rows of
the states that it leaves, and of the law of the observations the columns of the states that it
comes to: few different ones, which are worked out once.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.data.history import Windows
from definetti.data.labels import MISSING, check_indices, check_shape
from definetti.emissions.base import Emission
from definetti.emissions.categorical import log_frequencies
from definetti.models.base import Estimate
from definetti.models.kernels.chain import Chain
from definetti.models.kernels.forward import Coded, Transitions

LONGEST = 40  # steps, the choice of some of which is written as one number


class Estimates(Protocol):
    """Fitted models of ``G`` candidates; of size one if the model is fixed."""

    def __len__(self) -> int: ...

    def at(self, models: IntArray) -> Estimate:
        """Return an estimate whose window ``b`` is judged under the model ``models[b]``.

        Parameters
        ----------
        models : (B,) the model of each window that it will be asked about
        """
        ...


class EstimateList:
    """Estimates of any kind, each made by itself.

    Parameters
    ----------
    estimates : one for each model, at least one
    """

    def __init__(self, estimates: Sequence[Estimate]) -> None:
        self.estimates = estimates

    def __len__(self) -> int:
        return len(self.estimates)

    def at(self, models: IntArray) -> Estimate:
        check_indices(models, 0, len(self), "models")
        if len(self) == 1:
            return self.estimates[0]
        return _ByWindow(self.estimates, models)


@dataclass(frozen=True, eq=False)
class _ByWindow:
    """Windows judged by different estimates: each answer is put together from theirs."""

    estimates: Sequence[Estimate]
    models: IntArray

    @property
    def labels(self) -> tuple[Hashable, ...]:
        return self.estimates[0].labels

    def filtering(self, windows: Windows) -> FloatArray:
        return self._join("filtering", windows)[0]

    def smoothing(self, windows: Windows) -> FloatArray:
        return self._join("smoothing", windows)[0]

    def joint(self, windows: Windows, order: int) -> FloatArray:
        return self._join("joint", windows, order)[0]

    def log_posterior(self, windows: Windows) -> FloatArray:
        return self._join("log_posterior", windows)[0]

    def log_emission(self, windows: Windows) -> FloatArray:
        return self._join("log_emission", windows)[0]

    def pairwise(self, windows: Windows) -> FloatArray:
        return self._join("pairwise", windows)[0]

    def log_kernels(self, windows: Windows) -> tuple[FloatArray, FloatArray]:
        ends, kernels = self._join("log_kernels", windows)
        return ends, kernels

    def decode(self, codes: IntArray) -> npt.NDArray[Any]:
        return self.estimates[0].decode(codes)

    def _join(self, method: str, windows: Windows, *arguments: Any) -> list[FloatArray]:
        joined: list[FloatArray] = []
        for model in np.unique(self.models).tolist():
            rows = np.flatnonzero(self.models == model)
            own = Windows(*(part[rows] for part in windows))
            found = getattr(self.estimates[model], method)(own, *arguments)
            parts = [np.asarray(one) for one in (found if isinstance(found, tuple) else (found,))]
            if not joined:
                joined = [np.empty((len(self.models), *part.shape[1:])) for part in parts]
            for whole, part in zip(joined, parts, strict=True):
                whole[rows] = part
        return joined


@dataclass(frozen=True, eq=False)
class ChainEstimates:
    """Hidden Markov models of ``G`` candidates, for a known choice of observations.

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

    def at(self, models: IntArray) -> Estimate:
        check_indices(models, 0, len(self), "models")
        return _ChainByWindow(self, models)


def _find_places(codes: IntArray, observations: IntArray) -> IntArray:
    """Return the place of each observation among codes in rising order, `MISSING` the last."""
    known, last = codes[:-1], len(codes) - 1
    span = int(known[-1] - known[0]) + 1 if last else 0
    if last and span <= 4 * observations.size:  # codes of neighbouring rows: a table will do
        table = np.full(span, last)
        table[known - known[0]] = np.arange(last)
        places = table[np.clip(observations - known[0], 0, span - 1)]
        places[observations == MISSING] = last
    else:
        places = np.searchsorted(known, observations)
        places[observations == MISSING] = last
    if not np.array_equal(codes[places], observations):
        raise ValueError("windows have observations that the estimates were not made for")
    return np.asarray(places)


@dataclass(frozen=True, eq=False)
class _ChainByWindow(Chain):
    """Windows judged by different hidden Markov models."""

    models: ChainEstimates
    which: IntArray

    @property
    def labels(self) -> tuple[Hashable, ...]:
        return self.models.labels

    def seen(self, windows: Windows) -> tuple[Transitions, Coded, IntArray]:
        columns, picks, codes = self.models.columns, self.models.picks, self.models.codes
        observations = windows.observations
        places = _find_places(codes, observations)
        used, own = np.unique(self.which, return_inverse=True)
        rows, steps = len(codes), observations.shape[1]
        if len(used) * rows <= observations.size:  # each observation once under every model
            logs = _gather(columns, picks[used])
            places = own[:, None] * rows + places
        else:
            logs = columns[places.ravel()[:, None], picks[self.which.repeat(steps)]]
            places = np.arange(observations.size).reshape(observations.shape)
        return Transitions(self.models.transitions, self.which), Coded(logs, places), windows.start

    def decode(self, codes: IntArray) -> npt.NDArray[Any]:
        return self.models.emission.decode(self.models.table, codes)


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
) -> ChainEstimates:
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
    return ChainEstimates(transitions, columns, picks, codes, emission, table, labels)


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


def estimates_of_counts(
    moves: IntArray,
    pairs: IntArray,
    priors: tuple[float, float],
    emission: Emission,
    table: Any,
    labels: tuple[Hashable, ...],
) -> ChainEstimates:
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
    transitions = transitions.reshape(moves.shape)
    return ChainEstimates(transitions, columns, picks, codes, emission, table, labels)


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
    rows = statistics[state]  # a copy, to which steps are added in their order
    for step in range(steps):
        rows[added[:, step] > 0] += single[step]
    total = statistics.sum(axis=0) + single.sum(axis=0)
    columns = emission.judge_rows(table, rows, total, codes)
    if columns is not None:
        check_shape(columns, (len(codes), len(rows)), "what judge_rows of the emission returns")
        return columns, places.reshape(size, n)
    if not single.size:  # a law that learns nothing
        logs = emission.log_likelihood(table, statistics, codes)
        check_shape(logs, (len(codes), n), "log_likelihood")
        return logs, np.tile(np.arange(n), (size, 1))
    every = np.repeat(statistics[None], size, axis=0)
    for step in range(steps):
        every[np.arange(size), candidates[:, step]] += single[step]
    logs = emission.judge_each(table, every, codes)
    check_shape(logs, (len(codes), size * n), "what judge_each of the emission returns")
    return logs, np.arange(size * n).reshape(size, n)


@kernel
def _gather(columns: FloatArray, picks: IntArray) -> FloatArray:
    """Return the log-likelihoods of all observations under each model: ``(G · m, n)``."""
    (rows, _), (size, n) = columns.shape, picks.shape
    logs = np.empty((size * rows, n))
    for g in range(size):
        for y in range(rows):
            for j in range(n):
                logs[g * rows + y, j] = columns[y, picks[g, j]]
    return logs


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
