"""Capital that sleeps, and wakes bit by bit: a bet on a change whose time nobody knows."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.checks import check_scalar
from definetti._system.compiled import kernel
from definetti.martingales._checks import checked_share
from definetti.martingales.base import Martingale

HEAD = 2  # what the state has before the shares that are awake


@dataclass(eq=False)
class Sleeper(Martingale):
    """All capital sleeps at first; at every step some of what sleeps wakes, and then bets for good.

    The time of a change is guessed by all who wake, each at a time of its own: what wakes when it
    comes has not lost anything before. If the share that wakes is always the same, nothing is left
    after a while, and a bet that has seen many quiet steps is blind. So it is `waking` times a
    power of what still sleeps: after ``t`` steps ``(1 + patience · waking · t)^(−1/patience)`` of
    the first capital does, and a change costs a few times the logarithm of its time, no more.

    Parameters
    ----------
    waking : the share of the sleeping capital that wakes at the first step
    patience : how slowly the share falls; with 0 it stays as it is
    """

    waking: float = 0.003
    patience: float = field(default=1.0, kw_only=True)

    def check(self) -> None:
        checked_share(self.waking, "waking", "0.003 is usual")
        check_scalar(self.patience, "patience", "try 1")
        if isinstance(self.patience, bool) or not 0 <= self.patience < np.inf:
            raise ValueError(f"patience must be a number from 0 on, got {self.patience!r}; try 1")

    @property
    @abstractmethod
    def cells(self) -> int:
        """How many bets there are, each with its share of what is awake."""

    def begin(self) -> FloatArray:
        # The log of all capital, the share of it that sleeps, and those that are awake; last, where
        # it is asked for, the log of the capital that sleeps, which outlasts its share.
        return np.concatenate([[0.0, 1.0], np.zeros(self.cells), [0.0] * (self.patience > 0)])

    def restore(self, state: Any) -> None:
        if self.patience and np.shape(state) == (HEAD + self.cells,):
            self.patience = 0.0  # saved before there was any: it goes on as it did
            self.state = self.begin()
        super().restore(state)


@kernel
def rouse(state: FloatArray, waking: float, patience: float) -> float:
    """Return which share of what sleeps wakes now, and take note of it."""
    if patience == 0.0:
        return waking
    rate: float = waking * np.exp(patience * state[-1])
    state[-1] += np.log1p(-rate)
    return rate
