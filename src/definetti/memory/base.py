"""The base class of memories, and histories coded by tokens."""

from __future__ import annotations

from abc import ABC, abstractmethod
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from definetti._system.arrays import IntArray
from definetti._system.mixins import Named
from definetti.data.history import Completion, History


class Memory(Named, ABC):
    """Tokens for every step: the state, and further values that the future depends on.

    A token is a row of integers, of which the first is the code of the state. It must be a function
    of the previous token and the new state and observation. A memory needs `begin`, `follow` and
    `assumption`; other methods have safe defaults. `definetti.testing.check_memory` tests a memory.

    Attributes
    ----------
    reads_observations : whether tokens depend on observations, and not on states alone
    remedy : advice for errors about too many tokens
    """

    reads_observations: bool = True
    remedy: str = "use a memory with fewer"

    @abstractmethod
    def begin(self, state: int, observation: int) -> IntArray:
        """Return the token of the first step of a segment, whose past is unknown: ``(w,)``.

        No later step may have this token, unless it does not depend on the past: steps with equal
        tokens must have the same future whatever preceded the segment.
        """

    @abstractmethod
    def follow(self, tokens: IntArray, states: IntArray, observations: IntArray) -> IntArray:
        """Return the next tokens, ``(B, w)``, given the codes of new states and observations."""

    def trace(
        self, states: IntArray, observations: IntArray, before: IntArray | None = None
    ) -> IntArray:
        """Return the tokens of successive steps, ``(T, w)``, after the token `before` if any.

        By default computed one by one, which is slow.
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
        """Raise for a history whose tokens are unknown or useless."""

    def check_more(self, observations: IntArray, symbols: bool) -> None:
        """Raise for invalid codes of observations that extend a history."""

    @property
    @abstractmethod
    def assumption(self) -> str:
        """The values that the future is assumed to depend on, as the end of a sentence."""


MOST = 2048  # most tokens; transition counts are a square matrix of them


class Coded(NamedTuple):
    """A completed sequence in tokens."""

    completion: Completion  # with codes of tokens in place of codes of states
    rows: IntArray  # the tokens, in the order of their codes
    new: tuple[int, ...]  # the values of tokens that the history does not have, sorted


def trace_tokens(
    memory: Memory, states: IntArray, observations: IntArray, before: IntArray | None = None
) -> IntArray:
    """Return the tokens of successive steps by a memory, checked against the states."""
    return checked_tokens(memory.trace(states, observations, before), states)


def checked_tokens(rows: Any, states: IntArray) -> IntArray:
    """Return rows as tokens; raise unless each begins with the code of its state."""
    tokens = rows if isinstance(rows, np.ndarray) else np.array(rows)
    whole = tokens.ndim == 2 and tokens.dtype.kind in "iu" and tokens.shape[1] > 0
    if not whole or len(tokens) != len(states) or (tokens[:, 0] != states).any():
        raise ValueError(
            f"memory must give each of {len(states)} steps a row of whole numbers that begins with "
            f"the code of its state, got {tokens.dtype} of the shape {tokens.shape}"
        )
    return tokens


class Tokens:
    """The tokens of a history, coded in order of first occurrence.

    It grows with the history; one thread at a time extends it.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.history = History(0)
        self.rows: IntArray = np.zeros((0, 0), dtype=np.int64)
        self._codes: dict[tuple[int, ...], int] = {}
        self._lock = Lock()

    def follow(self, history: History) -> None:
        """Append the tokens of new steps of the history."""
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
        """Return a completed sequence in tokens; new tokens get sorted codes after all others."""
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
