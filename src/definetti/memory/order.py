"""The last few states, chains of a higher order: what a number of steps stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from definetti._system.arrays import IntArray
from definetti._system.checks import checked_number
from definetti.data.history import History
from definetti.memory.base import Memory

NOTHING = -1  # before the first step


@dataclass(frozen=True)
class Order(Memory, name="order"):
    """The last ``k`` states: exact for chains of order ``k``, whose observations may depend on all.

    Parameters
    ----------
    k : int, default 1
        How many states, the present one included; 1 is the hidden Markov model.

    Examples
    --------
    >>> Order(2).trace(np.array([0, 0, 1]), np.array([7, 7, 7]))
    array([[ 0, -1],
           [ 0,  0],
           [ 1,  0]])
    """

    k: int = 1

    reads_observations = False
    remedy = "take fewer steps, memory=2"

    def __post_init__(self) -> None:
        checked_number(self.k, "memory")

    def begin(self, state: int, observation: int) -> IntArray:
        return np.array([state, *[NOTHING] * (self.k - 1)])

    def follow(self, tokens: IntArray, states: IntArray, observations: IntArray) -> IntArray:
        return np.column_stack([states, tokens[:, :-1]])

    def trace(
        self, states: IntArray, observations: IntArray, before: IntArray | None = None
    ) -> IntArray:
        past = np.full(self.k - 1, NOTHING) if before is None else before[: self.k - 1][::-1]
        whole = np.concatenate([past, states])
        return np.lib.stride_tricks.sliding_window_view(whole, self.k)[:, ::-1]

    def check(self, history: History) -> None:
        if self.k > len(history):
            raise ValueError(
                f"memory={self.k} is longer than the history of {len(history)} steps; take "
                f"fewer steps, or give more history"
            )

    @property
    def assumption(self) -> str:
        return "the present state" if self.k == 1 else f"the last {self.k} states"


def resolve_memory(memory: Any) -> Memory:
    """Return the memory that is meant: a number of steps, a name, or a memory as it is.

    >>> resolve_memory(2), resolve_memory("observation")
    (Order(k=2), Observation())
    """
    if isinstance(memory, Memory):
        return memory
    if isinstance(memory, str) and memory in Memory.named and memory != Order.known_as:
        found: Memory = Memory.named[memory]()
        return found
    if isinstance(memory, (int, np.integer)) and not isinstance(memory, bool) and memory >= 1:
        return Order(int(memory))
    names = ", ".join(repr(name) for name in Memory.named if name != Order.known_as)
    raise ValueError(
        f"memory must be a whole number of steps ≥ 1, one of {names}, or a "
        f"definetti.memory.Memory, got {memory!r}"
    )
