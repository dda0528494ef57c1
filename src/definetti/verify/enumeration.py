"""Exact coverage by enumeration of all sequences of small models, and smallest sets.

A p-value does not depend on the model that the sequences come from. So the ranks of all sequences
of a given length are computed once, and the coverage under any model is the sum of the
probabilities of the sequences that are covered: no simulation, no error bar.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import fsum
from typing import Any, NamedTuple

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.checks import checked_limit, checked_model, checked_number
from definetti._system.terminal import show_progress
from definetti.conformal import ConformalHMM
from definetti.engine.pvalues import Rank, miscoverage
from definetti.levels.by_state import ConfidenceLevel, chances_by_state


class RankedSequence(NamedTuple):
    """The past by its index, the symbols and true states of the new steps, and their rank."""

    past: int
    symbols: tuple[int, ...]
    states: tuple[int, ...]
    rank: Rank


class RankedSequences(NamedTuple):
    """All sequences that begin with given pasts; `predictions` as in `Enumeration`."""

    rows: list[RankedSequence]
    predictions: tuple[tuple[int, ...], ...]
    fitted: Any


def copy_with(predictor: Any, **parameters: Any) -> Any:
    """Return an unfitted copy with other parameters."""
    from sklearn.base import clone  # slow to import

    return clone(predictor).set_params(**parameters)


def rank_sequences(
    predictor: Any,
    n_states: int,
    n_symbols: int,
    pasts: Sequence[tuple[Any, Any]],
    horizon: int,
    observed: int | None = None,
    verbose: bool = False,
    title: str = "enumerating sequences",
) -> RankedSequences:
    """Rank the true states after each past (observations, states), for all possible new steps."""
    predictor = copy_with(predictor, states=list(range(n_states)))
    new_steps = horizon if observed is None else observed
    new_symbols = list(product(range(n_symbols), repeat=new_steps))
    rows: list[RankedSequence] = []
    predictions: list[tuple[int, ...]] = []
    fitted = predictor
    for past, (observations, states) in enumerate(show_progress(pasts, len(pasts), title, verbose)):
        fitted = predictor.fit(observations, states)
        for symbols in new_symbols:
            ranks = fitted.predict_ranks(symbols or None, horizon=horizon)
            if not predictor.allow_empty:
                ordered = fitted.predict_p(symbols or None, horizon=horizon)
                places = {candidate: len(rows) + k for k, candidate in enumerate(ranks)}
                predictions.append(tuple(places[candidate] for candidate in ordered))
            rows.extend(
                RankedSequence(past, symbols, candidate, rank) for candidate, rank in ranks.items()
            )
    return RankedSequences(rows, tuple(predictions), fitted)


def average_by_state(
    weights: FloatArray, values: FloatArray, states: IntArray, n: int
) -> FloatArray:
    """Return the weighted mean of values for each state; NaN where a state has no weight."""
    totals = [fsum(weights[states == i]) for i in range(n)]
    sums = [fsum((weights * values)[states == i]) for i in range(n)]
    return np.array([sums[i] / totals[i] if totals[i] > 0 else np.nan for i in range(n)])


class Enumeration(NamedTuple):
    """All sequences of a length, with the rank that a predictor gives to each.

    Attributes
    ----------
    states : (S, T + h) every sequence of states
    observations : (S, T + k) every sequence of symbols, with those of ``k`` observed new steps
    ranks : the rank of the true states of the last ``h`` steps, for each sequence
    smoothing : whether ties are broken at random
    given : the index of the state that coverage is conditional on: −1 for the last, ``−1 − h``
        for the present one. Where levels are a mapping, the level of that state counts.
    predictions : where a set that would be empty gets its most plausible sequence, for each
        prediction the indices of its candidates among the sequences, the most plausible first
    """

    states: IntArray
    observations: IntArray
    ranks: list[Rank]
    smoothing: bool
    given: int = -1
    predictions: tuple[tuple[int, ...], ...] = ()

    def probabilities(
        self, initial: FloatArray, transition: FloatArray, emission: FloatArray
    ) -> FloatArray:
        """Return the probability of each sequence under a model."""
        x, y = self.states, self.observations
        steps = transition[x[:, :-1], x[:, 1:]].prod(axis=1)
        seen = emission[x[:, : y.shape[1]], y].prod(axis=1)
        return np.asarray(initial[x[:, 0]] * steps * seen)

    def chances(self, confidence_level: ConfidenceLevel) -> FloatArray:
        """Return the probability that each is covered, over the tie-breaking uniform if any."""
        own = self.states[:, self.given]
        return chances_by_state(self.ranks, own, confidence_level, self.smoothing, self.predictions)

    def coverage(
        self,
        initial: FloatArray,
        transition: FloatArray,
        emission: FloatArray,
        confidence_level: ConfidenceLevel,
    ) -> float:
        """Return the probability that the truth is in the set."""
        p = self.probabilities(initial, transition, emission)
        return fsum(p * self.chances(confidence_level)) / fsum(p)

    def coverage_given_last(
        self,
        initial: FloatArray,
        transition: FloatArray,
        emission: FloatArray,
        confidence_level: ConfidenceLevel,
    ) -> FloatArray:
        """Return the probability that the truth is in the set given each last state.

        NaN for a state in which no sequence can end.
        """
        return self.coverage_given_present(initial, transition, emission, confidence_level, 0)

    def coverage_given_present(
        self,
        initial: FloatArray,
        transition: FloatArray,
        emission: FloatArray,
        confidence_level: ConfidenceLevel,
        horizon: int,
    ) -> FloatArray:
        """Return the probability that the truth is in the set given each present state.

        At a fixed time; NaN for a state that the chain cannot be in at that time.
        """
        p = self.probabilities(initial, transition, emission)
        present = self.states[:, -1 - horizon]
        return average_by_state(p, self.chances(confidence_level), present, len(transition))


def enumerate_ranks(
    predictor: Any,
    n_states: int,
    n_symbols: int,
    length: int,
    horizon: int,
    verbose: bool = False,
    observed: int | None = None,
) -> Enumeration:
    """Rank the truth in every sequence of ``length`` labelled steps and ``horizon`` new ones.

    Parameters
    ----------
    predictor : ConformalHMM, or anything with `fit` and `predict_ranks`, a parameter `states`, and
        `smoothing` and `allow_empty`; and `predict_p`, if its sets may not be empty
    n_states, n_symbols : number of states, and of symbols
    length, horizon : number of labelled steps, and of new steps
    verbose : show a progress bar
    observed : number of new steps, from the first on, that are observed; all if left out
    """
    for number, name in ((n_states, "n_states"), (n_symbols, "n_symbols"), (length, "length"),
                         (horizon, "horizon")):  # fmt: skip
        checked_number(number, name)
    if observed is not None:
        checked_limit(observed, "observed")
    paths = product(range(n_states), repeat=length)
    pasts = [(y, x) for x in paths for y in product(range(n_symbols), repeat=length)]
    ranked = rank_sequences(predictor, n_states, n_symbols, pasts, horizon, observed, verbose)
    fitted = ranked.fitted
    present = isinstance(fitted, ConformalHMM) and fitted.symmetry_.given == "present state"
    return Enumeration(
        np.array([pasts[row.past][1] + row.states for row in ranked.rows]),
        np.array([pasts[row.past][0] + row.symbols for row in ranked.rows]),
        [row.rank for row in ranked.rows],
        predictor.smoothing,
        -1 - horizon * present,
        ranked.predictions,
    )


def exact_coverage(
    predictor: Any,
    initial: Any,
    transition: Any,
    emission: Any,
    length: int,
    horizon: int,
    confidence_level: ConfidenceLevel | None = None,
    observed: int | None = None,
) -> float:
    """Return the exact coverage of a predictor under a model, without simulation.

    Adds up the probability of all ``(n_states · n_symbols) ** (length + horizon)`` sequences whose
    true states are in the set; with smoothing it integrates over the uniform. With
    ``allow_empty=True`` smoothed coverage is the level. Otherwise a set that would be empty gets
    its most plausible sequence, which adds the probability that this is the truth.

    Parameters
    ----------
    predictor : ConformalHMM
    initial, transition, emission : (n,), (n, n) and (n, m) probabilities of the first state, the
        next state and the symbols, in the model that generates the sequences
    length, horizon : number of labelled steps, and of new steps
    confidence_level : another level than the predictor's, or a dict with one for each state
    observed : number of new steps, from the first on, that are observed; all if left out

    Examples
    --------
    >>> from definetti import ConformalHMM
    >>> model = [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.75, 0.25], [0.25, 0.75]]
    >>> exact_coverage(ConformalHMM(symmetry="full", confidence_level=0.8), *model, 3, 1)
    0.9989453125
    >>> smoothed = ConformalHMM(confidence_level=0.8, smoothing=True, allow_empty=True)
    >>> round(exact_coverage(smoothed, *model, length=3, horizon=1), 12)
    0.8
    """
    start, steps, emitted = checked_model(initial, transition, emission)
    level = predictor.confidence_level if confidence_level is None else confidence_level
    everything = enumerate_ranks(
        predictor, len(start), emitted.shape[1], length, horizon, observed=observed
    )
    return everything.coverage(start, steps, emitted, level)


def oracle_size(
    start: FloatArray,
    transition: FloatArray,
    emission: FloatArray,
    horizon: int,
    confidence_level: float,
) -> float:
    """Return the smallest expected scaled size of sets that cover with a given probability.

    With the model known, take the sequences of the largest posterior probability, over all starts
    and observations at once, until the level is reached, the last of them at random (the lemma of
    Neyman and Pearson). No valid method has smaller sets on average.

    Parameters
    ----------
    start, transition, emission : (n,), (n, n) and (n, m) probabilities of the state before the
        window, the next state and the symbols
    horizon : the number of steps predicted
    confidence_level : the probability that the set contains the truth

    Examples
    --------
    >>> fair = np.full((2, 2), 0.5)
    >>> oracle_size(np.array([0.5, 0.5]), fair, fair, horizon=1, confidence_level=0.8)
    0.8
    """
    checked_number(horizon, "horizon")
    start, transition, emission = checked_model(start, transition, emission, "start")
    n, m = emission.shape
    paths = np.array(list(product(range(n), repeat=horizon)))
    symbols = np.array(list(product(range(m), repeat=horizon)))
    steps = transition[paths[:, :-1], paths[:, 1:]].prod(axis=1)
    likelihood = emission[paths[:, None, :], symbols[None, :, :]].prod(axis=2)
    # joint[i, x, y]: the probability of start i, states x and symbols y
    joint = start[:, None, None] * transition[:, paths[:, 0], None] * (steps[:, None] * likelihood)
    evidence = joint.sum(axis=1, keepdims=True)
    posterior = np.divide(joint, evidence, out=np.zeros_like(joint), where=evidence > 0).ravel()
    order = np.argsort(-posterior, kind="stable")
    covered = np.cumsum(joint.ravel()[order])
    cost = np.cumsum(np.broadcast_to(evidence, joint.shape).ravel()[order]) / n**horizon
    level = float(1 - miscoverage(confidence_level))
    return float(np.interp(level, np.append(0.0, covered), np.append(0.0, cost)))


def stationary(transition: FloatArray) -> FloatArray:
    """Return the stationary distribution of an irreducible chain.

    >>> stationary(np.array([[0.9, 0.1], [0.3, 0.7]])).round(3)
    array([0.75, 0.25])
    """
    n = len(transition)
    equations = np.vstack([transition.T - np.eye(n), np.ones(n)])
    return np.asarray(np.linalg.lstsq(equations, np.append(np.zeros(n), 1.0), rcond=None)[0])
