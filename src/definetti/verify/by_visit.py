"""Exact coverage by visits to a state, by enumeration of all windows.

The time of the m-th departure from a state has no bound, so its histories cannot be listed. But by
the strong Markov property the windows that depart from a state are independent draws from one
distribution, whatever happens between them, and a fixed model depends on nothing else: all
windows are listed, and their probabilities multiplied.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement, product
from math import factorial, fsum, prod
from typing import Any, NamedTuple

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.engine.pvalues import Rank
from definetti.levels.by_state import ConfidenceLevel, chances_by_state
from definetti.symmetry.base import checked_recent, find_symmetry
from definetti.verify.enumeration import copy_with, rank_sequences


class VisitEnumeration(NamedTuple):
    """All windows that depart from a state, up to the m-th, with the rank of the last.

    Attributes
    ----------
    present : (S,) the state
    states, observations : (S, m, h) the windows; the earlier ones in one order, where the
        rank does not depend on their order
    orders : (S,) number of orders of the earlier windows that each row stands for
    ranks : the rank of the true states of the m-th window
    smoothing : whether ties are broken at random
    predictions : as in `definetti.verify.Enumeration`; empty where sets may be empty
    """

    present: IntArray
    states: IntArray
    observations: IntArray
    orders: IntArray
    ranks: list[Rank]
    smoothing: bool
    predictions: tuple[tuple[int, ...], ...] = ()

    def probabilities(self, transition: FloatArray, emission: FloatArray) -> FloatArray:
        """Return the probability of all windows together, drawn one after the other."""
        start = np.broadcast_to(self.present[:, None, None], (*self.states.shape[:2], 1))
        before = np.concatenate([start, self.states[..., :-1]], axis=2)
        steps = transition[before, self.states] * emission[self.states, self.observations]
        return np.asarray(self.orders * steps.prod(axis=2).prod(axis=1))

    def coverage(
        self, transition: FloatArray, emission: FloatArray, confidence_level: ConfidenceLevel
    ) -> FloatArray:
        """Return the probability that the m-th window from each state is in its set: ``(n,)``.

        The windows are drawn in advance, whether the chain comes to use them or not.
        """
        p = self.probabilities(transition, emission)
        return self._by_state(p * self._chances(confidence_level), len(transition))

    def missed(
        self, transition: FloatArray, emission: FloatArray, confidence_level: ConfidenceLevel
    ) -> FloatArray:
        """Return the probability that the m-th departure occurs and is not covered: ``(n,)``.

        For a chain that starts in that state; it may never return to a transient one.
        """
        n, ends = len(transition), self.states[:, :-1, -1]
        back = np.array([returning(transition, i) for i in range(n)])
        comes = back[self.present[:, None], ends].prod(axis=1)
        p = self.probabilities(transition, emission) * comes
        return self._by_state(p * (1 - self._chances(confidence_level)), n)

    def _chances(self, confidence_level: ConfidenceLevel) -> FloatArray:
        return chances_by_state(
            self.ranks, self.present, confidence_level, self.smoothing, self.predictions
        )

    def _by_state(self, values: FloatArray, n_states: int) -> FloatArray:
        return np.array([fsum(values[self.present == i]) for i in range(n_states)])


def enumerate_departures(
    predictor: Any,
    n_states: int,
    n_symbols: int,
    departures: int,
    horizon: int,
    verbose: bool = False,
) -> VisitEnumeration:
    """Rank the truth at the m-th departure from each state, for all possible windows.

    Parameters
    ----------
    predictor : ConformalHMM with a fixed model and ``symmetry="departures"``
    n_states, n_symbols : number of states, and of symbols
    departures : m, the number of the departure to predict
    horizon : number of steps of each window
    verbose : show a progress bar

    Examples
    --------
    >>> from definetti import ConformalHMM, given_hmm
    >>> transition, emission = np.array([[[0.9, 0.1], [0.4, 0.6]], [[0.8, 0.2], [0.3, 0.7]]])
    >>> model = given_hmm(transition, emission)
    >>> cp = ConformalHMM(model, symmetry="departures", smoothing=True, allow_empty=True)
    >>> visits = enumerate_departures(cp, 2, 2, departures=3, horizon=1)
    >>> visits.coverage(transition, emission, 0.8).round(12)
    array([0.8, 0.8])
    """
    windows = list(product(product(range(n_states), range(n_symbols)), repeat=horizon))
    # If all earlier windows are in the reference, their order does not matter.
    unordered = departures - 1 <= checked_recent(find_symmetry(predictor.symmetry).recent)
    earlier = (
        combinations_with_replacement(windows, departures - 1)
        if unordered
        else product(windows, repeat=departures - 1)
    )
    pasts = list(product(range(n_states), earlier))
    histories = [connect_windows(state, past) for state, past in pasts]
    predictor = copy_with(predictor, states=list(range(n_states)))
    if not predictor.fit(*histories[0]).model_.fixed:
        raise ValueError(
            "the predictor refits its model, which looks at more than the windows; give it a "
            "fixed one, such as given_hmm(...)"
        )
    ranked = rank_sequences(
        predictor, n_states, n_symbols, histories, horizon, verbose=verbose,
        title="enumerating departures",
    )  # fmt: skip
    orders = [
        factorial(len(past)) // prod(map(factorial, Counter(past).values())) if unordered else 1
        for _, past in pasts
    ]
    listed = [
        (*pasts[row.past][1], tuple(zip(row.states, row.symbols, strict=True)))
        for row in ranked.rows
    ]
    codes = np.array(listed).reshape(len(listed), departures, horizon, 2)
    return VisitEnumeration(
        np.array([pasts[row.past][0] for row in ranked.rows]),
        codes[..., 0],
        codes[..., 1],
        np.array([orders[row.past] for row in ranked.rows]),
        [row.rank for row in ranked.rows],
        bool(predictor.smoothing),
        ranked.predictions,
    )


def returning(transition: FloatArray, state: int) -> FloatArray:
    """Return the probability of ever reaching a state from each state; one from itself."""
    n = len(transition)
    probabilities: FloatArray = (np.arange(n) == state).astype(np.float64)
    can = probabilities > 0
    for _ in range(n):
        can = can | (transition[:, can] > 0).any(axis=1)
    others = np.flatnonzero(can & (np.arange(n) != state))
    stays = transition[np.ix_(others, others)]
    probabilities[others] = np.linalg.solve(np.eye(len(others)) - stays, transition[others, state])
    return probabilities


def connect_windows(present: int, windows: tuple[Any, ...]) -> tuple[list[int], list[int]]:
    """Return observations and states of a history in which these windows depart from a state.

    Each window is followed by the shortest way back, on which a fixed model does not depend.
    """
    path = [(present, 0)]
    for window in windows:
        path.extend(window)
        if path[-1][0] != present:
            path.append((present, 0))
    states, observations = zip(*path, strict=True)
    return list(observations), list(states)
