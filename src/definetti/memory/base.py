"""What a memory has to offer."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from definetti._system.arrays import IntArray
from definetti._system.mixins import Named
from definetti.data.history import History


class Memory(Named, ABC):
    """A token for every step: the state, and what else the future depends on.

    A token is a row of whole numbers, of which the first is the code of the state. It must follow
    from the token before it and from what is new, and from nothing else. Whoever writes `begin`
    and `follow` has a memory; all else has a default that is safe, and
    `definetti.testing.check_memory` tries all of it.

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
