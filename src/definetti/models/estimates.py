"""Fit the models of many candidates together, computing shared parts once.

Candidates add a few counts to the same history. Each changes the rows of the transition matrix of
the states that it leaves, and the observation laws of the states that it enters: few distinct
ones, computed once each. How a state's law changes depends on the emission, which is recognised by
its type; for an emission of another type, derived from a built-in one or not, `log_likelihood` is
called for each candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.data.history import Completion, History, Windows, padded
from definetti.data.labels import ANY, MISSING, NONE, check_indices, check_shape
from definetti.emissions.base import Emission, Labels
from definetti.emissions.classifier import LogLikelihood
from definetti.emissions.gaussian import Gaussian
from definetti.emissions.mixed import FixedMixed, Mixed
from definetti.emissions.rates import Bernoulli, Poisson
from definetti.emissions.symbols import (
    Categorical,
    FixedCategorical,
    FixedLabels,
    Text,
    Words,
    log_frequencies,
)
from definetti.models.base import Estimate, Model
from definetti.models.forward_backward import Chain, ChainWindows
from definetti.models.hmm import HMM, pooled_matrix, probabilities, spread

LONGEST = 40  # steps; a subset of them is written as the bits of one number
# The law of a state depends on its own statistics, and on their sum over all states.
BY_STATE = (Categorical, FixedCategorical, FixedLabels, Words, Text, Bernoulli, Poisson)
# Once fixed, the law depends on its statistics alone, whatever else the table holds.
BY_SUMS = (Gaussian, Bernoulli, Poisson, LogLikelihood)


class Estimates(Protocol):
    """Fitted models of ``G`` candidates; of size one if the model is fixed."""

    def __len__(self) -> int: ...

    def at(self, models: IntArray) -> Estimate:
        """Return an estimate that applies the model ``models[b]`` to window ``b``."""
        ...


class EstimateList:
    """A list of at least one estimate, of any kind."""

    def __init__(self, estimates: Sequence[Estimate]) -> None:
        self.estimates = estimates

    def __len__(self) -> int:
        return len(self.estimates)

    def at(self, models: IntArray) -> Estimate:
        check_indices(models, 0, len(self), "models")
        if len(self) == 1:
            return self.estimates[0]
        return _ByWindow(self.estimates, models)


def _joined(method: str) -> Callable[..., Any]:
    """Return a method that combines the results of several estimates, window by window."""

    def join(self: _ByWindow, windows: Windows, *arguments: Any) -> Any:
        joined: list[FloatArray] = []
        answer: Any = None
        for model in np.unique(self.models).tolist():
            rows = np.flatnonzero(self.models == model)
            own = Windows(*(part[rows] for part in windows))
            answer = getattr(self.estimates[model], method)(own, *arguments)
            parts = [np.asarray(x) for x in (answer if isinstance(answer, tuple) else (answer,))]
            if not joined:
                joined = [np.empty((len(self.models), *part.shape[1:])) for part in parts]
            for whole, part in zip(joined, parts, strict=True):
                whole[rows] = part
        return tuple(joined) if isinstance(answer, tuple) else joined[0]

    return join


@dataclass(frozen=True, eq=False)
class _ByWindow:
    """An estimate that applies one of several estimates to each window."""

    estimates: Sequence[Estimate]
    models: IntArray

    @property
    def labels(self) -> Labels:
        return self.estimates[0].labels

    def decode(self, codes: IntArray) -> npt.NDArray[Any]:
        return self.estimates[0].decode(codes)

    filtering = _joined("filtering")
    smoothing = _joined("smoothing")
    joint = _joined("joint")
    log_posterior = _joined("log_posterior")
    log_emission = _joined("log_emission")
    pairwise = _joined("pairwise")
    log_kernels = _joined("log_kernels")


@dataclass(frozen=True, eq=False)
class ChainEstimates(Chain):
    """Hidden Markov models of ``G`` candidates, with the likelihoods of listed observations.

    Attributes
    ----------
    transitions : (G, n, n) row-stochastic matrices
    codes : (m + 1,) the codes of all observations in the table, in rising order, then `MISSING`
    columns, sets : (K, m + 1) the place of each observation in a set of them, −1 where it is not
        in the set, and (G,) the set of each model's laws
    laws : (G, width, n) log-likelihoods of observations in each state, the last row of missing ones
    which : (B,) the model of each window
    """

    transitions: FloatArray
    codes: IntArray
    columns: IntArray
    sets: IntArray
    laws: FloatArray
    emission: Emission
    table: Any
    labels: Labels
    which: IntArray = field(default_factory=lambda: NONE)

    def __len__(self) -> int:
        return len(self.sets)

    def at(self, models: IntArray) -> Estimate:
        check_indices(models, 0, len(self), "models")
        return replace(self, which=models)

    def decode(self, codes: IntArray) -> npt.NDArray[Any]:
        return self.emission.decode(self.table, codes)

    def seen(self, windows: Windows) -> ChainWindows:
        which, observations = self.which, windows.observations
        places = self._find_places(observations)
        first, last = (which.min(), which.max()) if len(which) else (0, 0)
        _, width, n = self.laws.shape
        if (last - first + 1) * width <= 2 * observations.size:  # each observation once per model
            logs = self.laws[first : last + 1]
            places += ((which - first) * width)[:, None]
        else:
            logs = self.laws[which[:, None], places]
            places = np.arange(observations.size).reshape(observations.shape)
        return ChainWindows(self.transitions, which, logs.reshape(-1, n), places, windows.start)

    def _find_places(self, observations: IntArray) -> IntArray:
        """Return the place of each observation, (B, h), in the set of its model's laws."""
        known = self.codes[:-1]
        first, span = (known[0], known[-1] - known[0] + 1) if len(known) else (0, 0)
        column_of = np.full(span, -1)
        column_of[known - first] = np.arange(len(known))
        places = _places(observations, self.which, self.sets, self.columns, column_of, first)
        if places.size and places.min() < 0:
            raise ValueError("windows have observations that the estimates were not made for")
        return places


def estimate_candidates(
    model: Model,
    subset: History | None,
    completion: Completion,
    candidates: IntArray,
    table: Any,
    statistics: FloatArray,
    labels: Any,
    asked: Sequence[IntArray],
    sets: IntArray,
) -> ChainEstimates | None:
    """Return the result of `HMM.estimate` for each candidate, if shared parts allow; else None.

    Candidates, (G, h), learn from a subset of the history, or from all of it. The laws of each
    candidate cover one of the sets of observations `asked`, and its own observations.
    """
    if not isinstance(model, HMM) or type(model).estimate is not HMM.estimate:
        return None
    if candidates.shape[1] > LONGEST:
        return None
    (size, steps), n, new = candidates.shape, completion.n_states, completion.observations
    history, emission = completion.history, model.emission_
    counts, met = history.pool.transitions, None
    if subset is not None:
        whole = np.concatenate([subset.observations, new])
        states = np.concatenate([subset.states, completion.states])
        emission = emission.fix(table, whole, states, labels)
        statistics = emission.statistics(table, subset.observations, subset.states, n)
        counts = subset.transitions
        met = None if subset.known is None or subset.met.all() else subset.met
        if not shares_laws(emission, table):
            return None  # the fixed emission may differ between candidates
    statistics = padded(statistics, *emission.statistics(table, NONE, NONE, n).shape)
    known, prior = padded(counts, n, n).astype(np.float64), float(model.prior)
    shared = pooled_matrix(history.pool, n, prior) if subset is None else None
    transitions = _transitions(known, shared, history.last, candidates, prior, met)
    own = [np.append(new, asked_codes) for asked_codes in asked]
    codes = _distinct(np.concatenate(own))
    chosen, columns = _each_set(codes, own)
    single = emission.statistics(table, new, np.arange(steps), max(steps, n))[:steps]
    if shares_laws(emission, table):
        shared, picks = _shared_laws(emission, table, statistics, single, candidates, codes)
        laws = _gather(shared, picks, chosen, sets)
    elif not single.size:  # the law has no statistics
        logs = emission.log_likelihood(table, statistics, codes)
        check_shape(logs, (len(codes), n), "log_likelihood")
        laws = logs[chosen[sets]]
    else:
        every = np.repeat(statistics[None], size, axis=0)
        for step in range(steps):
            every[np.arange(size), candidates[:, step]] += single[step]
        laws = judge_each(emission, table, every, codes[chosen], sets)
    return ChainEstimates(transitions, codes, columns, sets, laws, emission, table, labels)


def estimates_of_counts(
    moves: IntArray,
    pairs: IntArray,
    priors: tuple[float, float],
    emission: Emission,
    table: Any,
    labels: Labels,
) -> ChainEstimates:
    """Return the models of given counts, with the likelihoods of all symbols of the table."""
    size, n, width = pairs.shape
    transitions = probabilities(moves.reshape(-1, n).astype(np.float64), priors[0])
    transitions = transitions.reshape(moves.shape)
    seen = pairs[:, :, 1:].astype(np.float64)
    logs = log_frequencies(seen.reshape(size * n, -1), priors[1]).reshape(seen.shape)
    laws = np.zeros((size, width, n))
    laws[:, :-1] = logs.transpose(0, 2, 1)
    columns, sets = np.arange(width), np.zeros(size, dtype=np.int64)
    codes = np.append(columns[:-1], MISSING)
    return ChainEstimates(transitions, codes, columns[None], sets, laws, emission, table, labels)


def _transitions(
    counts: FloatArray,
    shared: FloatArray | None,
    present: int,
    candidates: IntArray,
    prior: float,
    met: npt.NDArray[np.bool_] | None,  # states of all models beside their own; None for all
) -> FloatArray:
    """Return the transition matrix of each candidate, (G, n, n)."""
    size, n = len(candidates), len(counts)
    left = np.concatenate([np.full((size, 1), present), candidates[:, :-1]], axis=1)
    rows = _rows_left(counts, left, candidates)
    if met is None:
        shared = probabilities(counts, prior) if shared is None else shared
        matrices = np.repeat(shared[None], size, axis=0)
        changed = probabilities(rows.reshape(-1, n), prior).reshape(rows.shape)
        matrices[np.arange(size)[:, None], left] = changed
        return matrices
    matrices = np.repeat(counts[None], size, axis=0)
    matrices[np.arange(size)[:, None], left] = rows
    for own, candidate in zip(matrices, candidates, strict=True):
        reached = met.copy()
        reached[candidate] = True
        own[:] = probabilities(spread(own, prior, reached), 0.0)
    return matrices


def _distinct(codes: IntArray) -> IntArray:
    """Return the distinct codes in rising order, then `MISSING`."""
    known = codes[codes != MISSING]
    first = known.min(initial=ANY)
    there = np.zeros(known.max(initial=first - 1) + 1 - first, dtype=np.bool_)
    there[known - first] = True
    return np.append(first + np.flatnonzero(there), MISSING)


def _each_set(codes: IntArray, asked: list[IntArray]) -> tuple[IntArray, IntArray]:
    """Return the places of each set's codes, (K, width), and the column of each code there."""
    sets = [np.searchsorted(codes[:-1], _distinct(asked_codes)[:-1]) for asked_codes in asked]
    chosen = np.full((len(sets), max(map(len, sets)) + 1), len(codes) - 1)
    columns = np.full((len(sets), len(codes)), -1)
    for k, own in enumerate(sets):
        chosen[k, : len(own)] = own
        columns[k, own] = np.arange(len(own))
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
    """Return the log-likelihoods of distinct laws, (P, m), and each model's laws, (G, n)."""
    (size, steps), n = candidates.shape, len(statistics)
    # The new observations that each state gets, as the bits of one number.
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
def _places(
    observations: IntArray,
    models: IntArray,
    sets: IntArray,
    columns: IntArray,
    column_of: IntArray,
    first: int,
) -> IntArray:
    """Return the places of observations, −1 where absent; `first` is the lowest code."""
    windows, steps = observations.shape
    places = np.empty((windows, steps), dtype=np.int64)
    for b in range(windows):
        own = columns[sets[models[b]]]
        for k in range(steps):
            code = observations[b, k]
            if code == MISSING:
                places[b, k] = own[len(own) - 1]
            else:
                known = 0 <= code - first < len(column_of) and column_of[code - first] >= 0
                places[b, k] = own[column_of[code - first]] if known else -1
    return places


@kernel
def _gather(laws: FloatArray, picks: IntArray, chosen: IntArray, sets: IntArray) -> FloatArray:
    """Return the log-likelihoods of each model's set of observations: ``(G, width, n)``."""
    (size, n), width = picks.shape, chosen.shape[1]
    logs = np.empty((size, width, n))
    for g in range(size):
        for y in range(width):
            for j in range(n):
                logs[g, y, j] = laws[picks[g, j], chosen[sets[g], y]]
    return logs


@kernel
def _rows_left(counts: FloatArray, left: IntArray, candidates: IntArray) -> FloatArray:
    """Count transitions from each state that a candidate leaves, its own included: (G, h, n)."""
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


def adds_up(emission: Emission) -> bool:
    """Return whether a fixed law depends on its statistics alone, which add up over parts."""
    return type(emission) in BY_SUMS


def shares_laws(emission: Emission, table: Any) -> bool:
    """Return whether candidates that add no observation to a state share its law."""
    if type(emission) in (Mixed, FixedMixed):
        laws: tuple[Emission, ...] = emission.laws(table)  # type: ignore[attr-defined]
        return all(type(law) in BY_STATE for law in laws)
    return type(emission) in BY_STATE


def judge_rows(
    emission: Any, table: Any, rows: FloatArray, total: FloatArray, codes: IntArray
) -> FloatArray:
    """Return log-likelihoods of ``m`` observations, by statistics of ``P`` states: ``(P, m)``."""
    if type(emission) not in (Mixed, FixedMixed):
        return np.ascontiguousarray(emission.judge_rows(table, rows, total, codes).T)
    logs = np.zeros((len(rows), len(codes)))
    for part, law, own, k, width in emission.parts(table, codes):
        logs += judge_rows(law, own, rows[:, k, :width], total[k, :width], part)
    return logs


def judge_each(
    emission: Any, table: Any, statistics: FloatArray, codes: IntArray, sets: IntArray
) -> FloatArray:
    """Return log-likelihoods, (G, m, n), of sets, (K, m), under estimates with equal sums."""
    if type(emission) is Gaussian:
        return emission.log_likelihoods(table, statistics, codes, sets)
    (number, n), width = statistics.shape[:2], codes.shape[1]
    logs = np.zeros((number, width, n))
    if type(emission) in (Mixed, FixedMixed):
        for part, law, own, k, width in emission.parts(table, codes):
            rows = np.ascontiguousarray(statistics[:, :, k, :width])
            logs += judge_each(law, own, rows, part, sets)
    elif type(emission) in BY_STATE:
        total = statistics[0].sum(axis=0)
        for k in range(len(codes)):
            rows = statistics[sets == k]
            laws = judge_rows(emission, table, rows.reshape(-1, *total.shape), total, codes[k])
            logs[sets == k] = laws.reshape(len(rows), n, width).transpose(0, 2, 1)
    else:
        for g in range(number):
            laws = emission.log_likelihood(table, statistics[g], codes[sets[g]])
            check_shape(laws, (width, n), "log_likelihood")
            logs[g] = laws
    return logs
