"""Validity where the future depends on more than the state, checked to the last digit."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import fsum
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.terminal import show_progress
from definetti.data.history import History
from definetti.engine.pvalues import Rank
from definetti.levels.by_state import chances_by_state
from definetti.memory import Age, Memory, Observation, Order, resolve_memory

SHOWS = np.array([[0.8, 0.2], [0.3, 0.7]])  # what is observed in each of two states


class Law(NamedTuple):
    """A law of two states and two symbols whose future depends on a token.

    Attributes
    ----------
    memory : what the token is
    move : from a token, a state and a symbol to the probability that they come next
    """

    memory: Memory
    move: Callable[[IntArray, int, int], float]

    def step(self, token: IntArray | None, state: int, symbol: int) -> IntArray:
        """Return the token that follows another, or is the first."""
        if token is None:
            return self.memory.begin(state, symbol)
        then = self.memory.follow(token[None], np.array([state]), np.array([symbol]))
        return np.asarray(then[0])

    def weigh(self, states: Any, symbols: Any) -> float:
        """Return the probability of one sequence; all first pairs have the same."""
        weight, token = 0.25, None
        for state, symbol in zip(states, symbols, strict=True):
            weight *= 1.0 if token is None else self.move(token, state, symbol)
            token = self.step(token, state, symbol)
        return weight


class Remembered(NamedTuple):
    """All sequences of a length, and how a predictor ranks the last states of each.

    Attributes
    ----------
    states, symbols : (S, T + h) every sequence
    ranks : the rank of the true states of the last ``h`` steps
    """

    states: list[tuple[int, ...]]
    symbols: list[tuple[int, ...]]
    ranks: list[Rank]

    def coverage_given_last(self, law: Law, confidence_level: Any, smoothing: bool) -> FloatArray:
        """Return the probability that the truth is in the set given each last state."""
        weights = np.array(list(map(law.weigh, self.states, self.symbols)))
        last = np.array([states[-1] for states in self.states])
        held = weights * chances_by_state(self.ranks, last, confidence_level, smoothing)
        return np.array([fsum(held[last == i]) / fsum(weights[last == i]) for i in range(2)])


def enumerate_sequences(
    predictor: Any, length: int, horizon: int, verbose: bool = False
) -> Remembered:
    """Rank the truth in every sequence of two states and two symbols.

    A history that the memory refuses, such as one in which no state was seen to end, is left out:
    so must be all that it could be rearranged into.

    Parameters
    ----------
    predictor : ConformalHMM
    length, horizon : how many labelled steps there are, and how many new ones

    Examples
    --------
    >>> from definetti import ConformalHMM
    >>> law = LAWS["order two"]
    >>> for memory in (1, 2):
    ...     cp = ConformalHMM(symmetry="spaced", memory=memory)
    ...     found = enumerate_sequences(cp, length=3, horizon=1)
    ...     print(found.coverage_given_last(law, 0.5, smoothing=True).round(6))
    [0.47854 0.5    ]
    [0.5 0.5]
    """
    predictor = clone(predictor).set_params(states=[0, 1])
    pasts = list(product(product(range(2), repeat=length), product(range(2), repeat=length)))
    found = Remembered([], [], [])
    for past, seen in show_progress(pasts, len(pasts), "enumerating sequences", verbose):
        if not _takes(predictor.memory, past, seen):
            continue
        fitted = predictor.fit(seen, past)
        for new in product(range(2), repeat=horizon):
            for candidate, rank in fitted.predict_ranks(new).items():
                found.states.append(past + candidate)
                found.symbols.append(seen + new)
                found.ranks.append(rank)
    if not found.ranks:
        raise ValueError(
            f"memory={predictor.memory!r} refuses every history of {length} steps; take a longer "
            "length, or a shorter memory"
        )
    return found


def _takes(memory: Any, states: tuple[int, ...], symbols: tuple[int, ...]) -> bool:
    history = History(2)
    history.append(np.array(states), np.array(symbols))
    history.symbols = True
    try:
        resolve_memory(memory).check(history)
    except ValueError:
        return False
    return True


def _second(token: IntArray, state: int, symbol: int) -> float:
    stays = {(0, 0): 0.9, (1, 0): 0.3, (0, 1): 0.35, (1, 1): 0.8}.get((token[0], token[1]), 0.6)
    return float((stays if state == token[0] else 1 - stays) * SHOWS[state, symbol])


def _sojourns(token: IntArray, state: int, symbol: int) -> float:
    """Leave after one, two or three steps: a state lasts for two, the other for one or three."""
    leaves = ((0.05, 0.9, 1.0), (0.5, 0.1, 1.0))[token[0]][min(token[1], 3) - 1]
    return float((1 - leaves if state == token[0] else leaves) * SHOWS[state, symbol])


def _feedback(token: IntArray, state: int, symbol: int) -> float:
    """What was observed has a say in what comes next, and in what is observed then."""
    rises = ((0.05, 0.7), (0.4, 0.9))[token[0]][token[1]]
    shows = ((0.1, 0.6), (0.7, 0.9))[state][token[1]]
    return (rises if state else 1 - rises) * (shows if symbol else 1 - shows)


# Laws under which the state alone is not enough.
LAWS = {
    "order two": Law(Order(2), _second),
    "sojourns": Law(Age(), _sojourns),
    "sojourns to 3": Law(Age(3), _sojourns),
    "feedback": Law(Observation(), _feedback),
}
