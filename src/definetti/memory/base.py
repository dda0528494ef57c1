"""The contract of a memory, and histories coded by its tokens."""

from __future__ import annotations

from abc import ABC, abstractmethod
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from definetti._system.arrays import IntArray
from definetti._system.mixins import Named
from definetti.data.history import Completion, History


class Memory(Named, ABC):
    """A token for every step: the state, and what else the future depends on.

    A token is a row of whole numbers, of which the first is the code of the state. It must follow
    from the token before it and from what is new, and from nothing else. A memory needs `begin`,
    `follow` and `assumption`; all else has a safe default, and `definetti.testing.check_memory`
    tests all of it.

    Attributes
    ----------
    reads_observations : whether tokens depend on observations, and not on states alone
    remedy : what to do where there are too many tokens
    """

    reads_observations: bool = True
    remedy: str = "use a memory with fewer"

    @abstractmethod
    def begin(self, state: int, observation: int) -> IntArray:
        """Return the token of the first step of a segment, of which no past is known: ``(w,)``.

        It must be none that a later step may have, unless the past makes no difference to it:
        steps that share a token must be alike whatever came before the first.
        """

    @abstractmethod
    def follow(self, tokens: IntArray, states: IntArray, observations: IntArray) -> IntArray:
        """Return the tokens that follow others, ``(B, w)``, given the codes of what is new."""

    def trace(
        self, states: IntArray, observations: IntArray, before: IntArray | None = None
    ) -> IntArray:
        """Return the tokens of successive steps, ``(T, w)``, after the token `before` if any.

        By default one after the other, which is slow.
        """
        rows = []
        for state, observation in zip(states, observations, strict=True):
            if before is None:
                before = self.begin(int(state), int(observation))
            else:
                before = self.follow(before[None], np.array([state]), np.array([observation]))[0]
            rows.append(before)
        return np.array(rows)

    def check(self, history: History) -> None:
        """Refuse a history of which the tokens are not known, or not worth anything."""

    def check_more(self, observations: IntArray, symbols: bool) -> None:
        """Refuse codes of observations that a history is to go on with."""

    @property
    @abstractmethod
    def assumption(self) -> str:
        """What the future is taken to depend on, in words that end a sentence."""


MOST = 2048  # tokens; how often each followed each is a square of them


class Coded(NamedTuple):
    """A completed sequence in tokens."""

    completion: Completion  # with codes of tokens in the place of codes of states
    rows: IntArray  # the tokens, in the order of their codes
    new: tuple[int, ...]  # those that the history does not have, one after the other


def trace_tokens(
    memory: Memory, states: IntArray, observations: IntArray, before: IntArray | None = None
) -> IntArray:
    """Return the tokens of successive steps, as a memory traces them, each with its state."""
    return checked_tokens(memory.trace(states, observations, before), states)


def checked_tokens(rows: Any, states: IntArray) -> IntArray:
    """Refuse what are not tokens of these states, of which each begins with its own."""
    found = rows if isinstance(rows, np.ndarray) else np.array(rows)
    whole = found.ndim == 2 and found.dtype.kind in "iu" and found.shape[1] > 0
    if not whole or len(found) != len(states) or (found[:, 0] != states).any():
        raise ValueError(
            f"memory must give each of {len(states)} steps a row of whole numbers that begins with "
            f"the code of its state, got {found.dtype} of the shape {found.shape}"
        )
    return found


class Tokens:
    """The tokens of a history, coded in the order in which they were first met.

    It grows with the history; one thread at a time extends it.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.history = History(0)
        self.rows: IntArray = np.zeros((0, 0), dtype=np.int64)
        self._codes: dict[tuple[int, ...], int] = {}
        self._lock = Lock()

    def follow(self, history: History) -> None:
        """Take in what the history has grown by."""
        with self._lock:
            done = len(self.history)
            if done == len(history):
                return
            states, observations = history.states[done:], history.observations[done:]
            before = self.rows[self.history.last] if done else None
            traced = trace_tokens(self.memory, states, observations, before)
            distinct, first, places = np.unique(
                traced, axis=0, return_index=True, return_inverse=True
            )
            codes = np.empty(len(distinct), dtype=np.int64)
            for place in np.argsort(first):
                row = tuple(distinct[place].tolist())
                codes[place] = self._codes.setdefault(row, len(self._codes))
            number = len(self._codes)
            if number > MOST:
                raise ValueError(
                    f"memory makes {number:,} tokens of {len(history):,} steps, more than can be "
                    f"counted, {MOST:,}; {self.memory.remedy}"
                )
            self.rows = np.array(list(self._codes))
            self.history.symbols, self.history.omits_first = history.symbols, history.omits_first
            self.history.append(codes[places.reshape(-1)], observations, number)

    def code(self, completion: Completion) -> Coded:
        """Return a completed sequence in tokens; new ones are last, in an order of their own."""
        self.follow(completion.history)
        row = self.rows[self.history.last]
        rows = []
        for state, observation in zip(completion.states, completion.observations, strict=True):
            row = checked_tokens(
                self.memory.follow(row[None], state[None], observation[None]), state[None]
            )[0]
            rows.append(tuple(row.tolist()))
        new = sorted({row for row in rows if row not in self._codes})
        places = {row: len(self.rows) + k for k, row in enumerate(new)}
        codes = np.array([self._codes.get(row, places.get(row, 0)) for row in rows])
        number = len(self.rows) + len(new)
        coded = Completion(self.history, codes, completion.observations, number)
        every = np.concatenate([self.rows, np.array(new)]) if new else self.rows
        return Coded(coded, every, tuple(value for row in new for value in row))
