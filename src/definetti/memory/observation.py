"""The state and what is observed in it: states and observations jointly Markov."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from definetti._system.arrays import IntArray
from definetti.data.history import History
from definetti.data.labels import MISSING
from definetti.memory.base import Memory


@dataclass(frozen=True)
class Observation(Memory, name="observation"):
    """The state and the observation: exact where both together are a Markov chain.

    Where what is observed has a say in what comes next, or lingers: switching autoregressions,
    feedback. Observations must be symbols.

    Examples
    --------
    >>> Observation().trace(np.array([0, 1, 1]), np.array([2, 0, 1]))
    array([[0, 2],
           [1, 0],
           [1, 1]])
    """

    reads_observations = True
    remedy = "name fewer symbols, with wider bins"

    def begin(self, state: int, observation: int) -> IntArray:
        return np.array([state, observation])

    def follow(self, tokens: IntArray, states: IntArray, observations: IntArray) -> IntArray:
        return np.column_stack([states, observations])

    def trace(
        self, states: IntArray, observations: IntArray, before: IntArray | None = None
    ) -> IntArray:
        return np.column_stack([states, observations])

    def check(self, history: History) -> None:
        self.check_more(history.observations, history.symbols)

    def check_more(self, observations: IntArray, symbols: bool) -> None:
        if not symbols:
            raise ValueError(
                "memory='observation' needs observations that are symbols, seen again and again; "
                "name bins, such as pandas.cut(values, 5).astype(str), or use another memory"
            )
        if (observations == MISSING).any():
            raise ValueError(
                "memory='observation' needs an observation at every step, and some are missing; "
                "leave such steps out of the history with lengths=, or use another memory"
            )

    @property
    def assumption(self) -> str:
        return "the present state and the present observation"
