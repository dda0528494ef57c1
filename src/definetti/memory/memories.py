"""Memories: the age of a state, the last observation, several states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from definetti._system.arrays import IntArray
from definetti._system.checks import checked_number
from definetti.data.history import History
from definetti.data.labels import MISSING
from definetti.memory.base import Memory

LARGEST = 10**18  # a machine integer, as is the next age


@dataclass(frozen=True)
class Age(Memory, name="age"):
    """The state and its age in steps: exact for any law of durations.

    The age of the first state at the beginning of the history is unknown: until the state changes,
    its tokens are distinct from all others.

    Parameters
    ----------
    most : int, optional
        The largest age. Without it a state that has lasted longer than ever before has no
        steps to compare with.

    Examples
    --------
    >>> Age().trace(np.array([0, 0, 1, 1, 0]), np.zeros(5, dtype=np.int64))
    array([[0, 1, 1],
           [0, 2, 1],
           [1, 1, 0],
           [1, 2, 0],
           [0, 1, 0]])
    """

    most: int | None = None

    reads_observations = False
    remedy = "cap the age, memory=definetti.memory.Age(most=20)"

    def __post_init__(self) -> None:
        if self.most is not None and checked_number(self.most, "most") > LARGEST:
            raise ValueError(
                f"memory=Age(most={self.most}) is more than {LARGEST:,} steps; leave most out for "
                "ages that grow without bound, memory='age'"
            )

    def begin(self, state: int, observation: int) -> IntArray:
        return np.array([state, 1, 1])

    def follow(self, tokens: IntArray, states: IntArray, observations: IntArray) -> IntArray:
        lasts = tokens[:, 0] == states
        age = np.where(lasts, tokens[:, 1] + 1, 1)
        if self.most is not None:
            age = np.minimum(age, self.most)
        return np.column_stack([states, age, np.where(lasts, tokens[:, 2], 0)])

    def trace(
        self, states: IntArray, observations: IntArray, before: IntArray | None = None
    ) -> IntArray:
        if not len(states):
            return np.zeros((0, 3), dtype=np.int64)
        state, age, begun = (states[0], 0, 1) if before is None else before
        steps = np.arange(len(states))
        changed = np.diff(states, prepend=state) != 0
        since = np.maximum.accumulate(
            np.where(changed, steps, -1)
        )  # -1 until the first state changes
        ages = steps + 1 + np.where(since < 0, age, -since)
        if self.most is not None:
            ages = np.minimum(ages, self.most)
        return np.column_stack([states, ages, np.where(since < 0, begun, 0)])

    def check(self, history: History) -> None:
        if len(history) and (history.states == history.first).all():
            raise ValueError(
                f"memory='age' needs a state that was seen to end, and all {len(history)} steps "
                "of the history are in one state; give more history, or use memory=1"
            )

    @property
    def assumption(self) -> str:
        capped = "" if self.most is None else f", up to {self.most} steps"
        return f"the present state and how long it has lasted{capped}"


def find_old_age(states: IntArray, lengths: IntArray, share: float = 0.9) -> int:
    """Return the age by which a given share of the runs of states has ended."""
    ends = np.diff(states, append=-1) != 0
    ends[np.cumsum(lengths) - 1] = True
    runs = np.diff(np.flatnonzero(ends), prepend=-1)
    return int(np.quantile(runs, share)) + 1


@dataclass(frozen=True)
class Observation(Memory, name="observation"):
    """The state and the observation: exact if both together are a Markov chain.

    For next states that depend on the observation, as in switching autoregressions and
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


NOTHING = -1  # before the first step


@dataclass(frozen=True)
class Order(Memory, name="order"):
    """The last ``k`` states: exact for chains of order ``k``, whose observations may depend on all.

    Parameters
    ----------
    k : int, default 1
        The number of states, the present one included; 1 is the hidden Markov model.

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
    """Return a memory given as a number of states, a name, or a `Memory`.

    >>> resolve_memory(2), resolve_memory("observation")
    (Order(k=2), Observation())
    """
    if isinstance(memory, Memory):
        return memory
    if isinstance(memory, str) and memory in Memory.named and memory != Order.known_as:
        resolved: Memory = Memory.named[memory]()
        return resolved
    if isinstance(memory, (int, np.integer)) and not isinstance(memory, bool) and memory >= 1:
        return Order(int(memory))
    names = ", ".join(repr(name) for name in Memory.named if name != Order.known_as)
    raise ValueError(
        f"memory must be a whole number of steps ≥ 1, one of {names}, or a "
        f"definetti.memory.Memory, got {memory!r}"
    )
