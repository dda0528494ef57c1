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
from definetti.emissions.sharing import judge_each, judge_rows, shares_laws
from definetti.models.base import Estimate
from definetti.models.forward_backward import Chain, ChainWindows

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
    laws : (P, width) log-likelihoods of observations, each row those of one state under some of
        the models; the last column is for missing ones
    picks : (G, n) the law of each state under each model
    codes : (m + 1,) the codes of all observations in the table, in rising order, then `MISSING`
    columns, sets : (K, m + 1) the column of each observation in a set of them, −1 where it is not
        in the set, and (G,) the set that the laws of each model are about
    """

    transitions: FloatArray
    laws: FloatArray
    picks: IntArray
    codes: IntArray
    columns: IntArray
    sets: IntArray
    emission: Emission
    table: Any
    labels: tuple[Hashable, ...]

    def __len__(self) -> int:
        return len(self.picks)

    def at(self, models: IntArray) -> Estimate:
        check_indices(models, 0, len(self), "models")
        return _ChainByWindow(self, models)


def _find_places(made: ChainEstimates, which: IntArray, observations: IntArray) -> IntArray:
    """Return the column of each observation, (B, h), in the laws of its window's model."""
    known = made.codes[:-1]
    first, span = (int(known[0]), int(known[-1] - known[0]) + 1) if len(known) else (0, 0)
    places = np.full(0, -1)
    if span <= 4 * observations.size:  # codes of neighbouring rows: a table will do
        places = np.full(span, -1)
        places[known - first] = np.arange(len(known))
    found = _columns_of(known, first, places, made.columns, made.sets[which], observations)
    if found.size and found.min() < 0:
        raise ValueError("windows have observations that the estimates were not made for")
    return found


@kernel
def _columns_of(
    known: IntArray,
    first: int,
    places: IntArray,
    columns: IntArray,
    sets: IntArray,
    observations: IntArray,
) -> IntArray:
    """Find observations among known codes, by their places from the first on if there are any."""
    windows, steps = observations.shape
    found = np.full((windows, steps), -1)
    for b in range(windows):
        for k in range(steps):
            code = observations[b, k]
            place = len(known)  # that of missing ones
            if code != MISSING:
                if len(places):
                    place = places[code - first] if 0 <= code - first < len(places) else -1
                else:
                    place = np.searchsorted(known, code)
                    if place == len(known) or known[place] != code:
                        place = -1
            if place >= 0:
                found[b, k] = columns[sets[b], place]
    return found


@dataclass(frozen=True, eq=False)
class _ChainByWindow(Chain):
    """Windows judged by different hidden Markov models."""

    models: ChainEstimates
    which: IntArray

    @property
    def labels(self) -> tuple[Hashable, ...]:
        return self.models.labels

    def seen(self, windows: Windows) -> ChainWindows:
        made, which, observations = self.models, self.which, windows.observations
        places = _find_places(made, which, observations)
        first, last = (which.min(), which.max()) if len(which) else (0, 0)
        width, steps = made.laws.shape[1], observations.shape[1]
        if (last - first + 1) * width <= 2 * observations.size:  # each once under every model
            logs = _gather(made.laws, made.picks[first : last + 1])
            places = (which - first)[:, None] * width + places
        else:
            logs = made.laws[made.picks[which.repeat(steps)], places.ravel()[:, None]]
            places = np.arange(observations.size).reshape(observations.shape)
        return ChainWindows(made.transitions, which, logs, places, windows.start)

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
    asked: Sequence[IntArray],
    sets: IntArray,
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
    asked, sets : the codes of observations that will be asked about, in some sets, and (G,) the set
        of each candidate, to which its own observations are added
    met : (n,) the states that all of them know beside their own; None where that is all there are
    """
    (size, steps), n, known = candidates.shape, len(counts), counts.astype(np.float64)
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
    codes = _distinct(np.concatenate([observations, *map(np.ravel, asked)]))
    single = emission.statistics(table, observations, np.arange(steps), max(steps, n))[:steps]
    if shares_laws(emission, table):
        laws, picks = _shared_laws(emission, table, statistics, single, candidates, codes)
    elif not single.size:  # a law that learns nothing
        logs = emission.log_likelihood(table, statistics, codes)
        check_shape(logs, (len(codes), n), "log_likelihood")
        laws, picks = np.ascontiguousarray(logs.T), np.tile(np.arange(n), (size, 1))
    else:
        every = np.repeat(statistics[None], size, axis=0)
        for step in range(steps):
            every[np.arange(size), candidates[:, step]] += single[step]
        chosen, columns = _each_set(codes, [np.append(observations, one) for one in asked])
        laws = judge_each(emission, table, every, chosen, sets)
        picks = np.arange(size * n).reshape(size, n)
        return ChainEstimates(
            transitions, laws, picks, codes, columns, sets, emission, table, labels
        )
    return _about_all(transitions, laws, picks, codes, emission, table, labels)


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
    laws = np.zeros((size * n, width))
    seen = pairs[:, :, 1:].reshape(size * n, -1).astype(np.float64)
    laws[:, :-1] = log_frequencies(seen, priors[1])
    picks = np.arange(size * n).reshape(size, n)
    codes = np.append(np.arange(width - 1), MISSING)
    transitions = transitions.reshape(moves.shape)
    return _about_all(transitions, laws, picks, codes, emission, table, labels)


def _about_all(
    transitions: FloatArray, laws: FloatArray, picks: IntArray, codes: IntArray, *others: Any
) -> ChainEstimates:
    """Return models whose laws are about all observations."""
    columns, sets = np.arange(len(codes))[None], np.zeros(len(picks), dtype=np.int64)
    return ChainEstimates(transitions, laws, picks, codes, columns, sets, *others)


def _distinct(codes: IntArray) -> IntArray:
    """Return codes once each, in rising order, then `MISSING`."""
    return np.append(np.unique(codes[codes != MISSING]), MISSING)


def _each_set(codes: IntArray, asked: list[IntArray]) -> tuple[IntArray, IntArray]:
    """Return distinct codes of each set, (K, width), and the column of each of all codes there."""
    sets = [_distinct(one.ravel()) for one in asked]
    chosen = np.full((len(sets), max(map(len, sets))), MISSING)
    columns = np.full((len(sets), len(codes)), -1)
    for k, own in enumerate(sets):
        chosen[k, : len(own)] = own
        columns[k, np.searchsorted(codes[:-1], own[:-1])] = np.arange(len(own) - 1)
        columns[k, -1] = chosen.shape[1] - 1
    return chosen, columns


def _shared_laws(
    emission: Emission,
    table: Any,
    statistics: FloatArray,
    single: FloatArray,
    candidates: IntArray,
    codes: IntArray,
) -> tuple[FloatArray, IntArray]:
    """Return the log-likelihoods of distinct laws, (P, m), and which law is whose, (G, n).

    Parameters
    ----------
    single : (h, …) the statistics of each new observation
    """
    (size, steps), n = candidates.shape, len(statistics)
    # Which of the new observations each state gets, as one number.
    gets = ((candidates[:, :, None] == np.arange(n)) << np.arange(steps)[:, None]).sum(axis=1)
    distinct, places = np.unique(gets * n + np.arange(n), return_inverse=True)
    state, steps_of = distinct % n, distinct // n
    added = (steps_of[:, None] >> np.arange(steps)) & 1
    rows = statistics[state]  # a copy, to which steps are added in their order
    for step in range(steps):
        rows[added[:, step] > 0] += single[step]
    total = statistics.sum(axis=0) + single.sum(axis=0)
    return judge_rows(emission, table, rows, total, codes), places.reshape(size, n)


@kernel
def _gather(laws: FloatArray, picks: IntArray) -> FloatArray:
    """Return the log-likelihoods of all observations under each model: ``(G · m, n)``."""
    (_, rows), (size, n) = laws.shape, picks.shape
    logs = np.empty((size * rows, n))
    for g in range(size):
        for y in range(rows):
            for j in range(n):
                logs[g * rows + y, j] = laws[picks[g, j], y]
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
