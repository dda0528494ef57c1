"""Exact coverage where the future depends on more than the state."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.data.history import History
from definetti.engine.pvalues import Rank
from definetti.levels.by_state import chances_by_state
from definetti.memory import Age, Memory, Observation, Order, resolve_memory
from definetti.verify.enumeration import average_by_state, copy_with, rank_sequences

EMISSION = np.array([[0.8, 0.2], [0.3, 0.7]])  # of two symbols in each of two states


class HigherOrderLaw(NamedTuple):
    """A distribution of two states and two symbols whose future depends on a token of a memory."""

    memory: Memory
    move: Callable[[IntArray, int, int], float]  # the probability of the next state and symbol

    def step(self, token: IntArray | None, state: int, symbol: int) -> IntArray:
        """Return the token after a step from another token, or the first token."""
        if token is None:
            return self.memory.begin(state, symbol)
        then = self.memory.follow(token[None], np.array([state]), np.array([symbol]))
        return np.asarray(then[0])

    def weigh(self, states: Any, symbols: Any) -> float:
        """Return the probability of a sequence; the first state and symbol are uniform."""
        weight, token = 0.25, None
        for state, symbol in zip(states, symbols, strict=True):
            weight *= 1.0 if token is None else self.move(token, state, symbol)
            token = self.step(token, state, symbol)
        return weight


class HigherOrderEnumeration(NamedTuple):
    """All sequences of a length, with the rank of the last states of each."""

    states: IntArray  # (S, T + h)
    symbols: IntArray
    ranks: list[Rank]  # of the true states of the last h steps

    def coverage_given_last(
        self, law: HigherOrderLaw, confidence_level: Any, smoothing: bool
    ) -> FloatArray:
        """Return the probability that the truth is in the set given each last state."""
        weights = np.array(list(map(law.weigh, self.states.tolist(), self.symbols.tolist())))
        last = self.states[:, -1]
        chances = chances_by_state(self.ranks, last, confidence_level, smoothing)
        return average_by_state(weights, chances, last, 2)


def enumerate_sequences(
    predictor: Any, length: int, horizon: int, verbose: bool = False
) -> HigherOrderEnumeration:
    """Rank the truth in every sequence of two states and two symbols.

    A history that the memory refuses, such as one in which no state was seen to end, is left out,
    and so are all its rearrangements.

    Parameters
    ----------
    predictor : ConformalHMM
    length, horizon : number of labelled steps, and of new steps

    Examples
    --------
    >>> from definetti import ConformalHMM
    >>> law = LAWS["order two"]
    >>> for memory in (1, 2):
    ...     cp = ConformalHMM(symmetry="spaced", memory=memory)
    ...     everything = enumerate_sequences(cp, length=3, horizon=1)
    ...     print(everything.coverage_given_last(law, 0.5, smoothing=True).round(6))
    [0.47854 0.5    ]
    [0.5 0.5]
    """
    steps = list(product(range(2), repeat=length))
    pasts = [
        (symbols, states)
        for states, symbols in product(steps, steps)
        if _accepts(predictor.memory, states, symbols)
    ]
    if not pasts:
        raise ValueError(
            f"memory={predictor.memory!r} refuses every history of {length} steps; take a longer "
            "length, or a shorter memory"
        )
    predictor = copy_with(predictor, allow_empty=True)  # the ranks are the same
    ranked = rank_sequences(predictor, 2, 2, pasts, horizon, verbose=verbose)
    return HigherOrderEnumeration(
        np.array([pasts[row.past][1] + row.states for row in ranked.rows]),
        np.array([pasts[row.past][0] + row.symbols for row in ranked.rows]),
        [row.rank for row in ranked.rows],
    )


def _accepts(memory: Any, states: tuple[int, ...], symbols: tuple[int, ...]) -> bool:
    """Tell whether a memory accepts a history."""
    history = History(2)
    history.append(np.array(states), np.array(symbols))
    history.symbols = True
    try:
        resolve_memory(memory).check(history)
    except ValueError:
        return False
    return True


def _order_two(token: IntArray, state: int, symbol: int) -> float:
    stays = {(0, 0): 0.9, (1, 0): 0.3, (0, 1): 0.35, (1, 1): 0.8}.get((token[0], token[1]), 0.6)
    return float((stays if state == token[0] else 1 - stays) * EMISSION[state, symbol])


def _sojourns(token: IntArray, state: int, symbol: int) -> float:
    """Leave after one, two or three steps; durations differ between the states."""
    leaves = ((0.05, 0.9, 1.0), (0.5, 0.1, 1.0))[token[0]][min(token[1], 3) - 1]
    return float((1 - leaves if state == token[0] else leaves) * EMISSION[state, symbol])


def _feedback(token: IntArray, state: int, symbol: int) -> float:
    """Let the observation change the next state and the next observation."""
    rises = ((0.05, 0.7), (0.4, 0.9))[token[0]][token[1]]
    shows = ((0.1, 0.6), (0.7, 0.9))[state][token[1]]
    return (rises if state else 1 - rises) * (shows if symbol else 1 - shows)


# Laws under which the state alone does not determine the future.
LAWS = {
    "order two": HigherOrderLaw(Order(2), _order_two),
    "sojourns": HigherOrderLaw(Age(), _sojourns),
    "sojourns to 3": HigherOrderLaw(Age(3), _sojourns),
    "feedback": HigherOrderLaw(Observation(), _feedback),
}
