"""Martingales for a change at an unknown time: capital that starts to bet bit by bit."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.checks import check_scalar, checked_fraction
from definetti._system.compiled import kernel
from definetti.martingales.base import Martingale

HEAD = 2  # what the state has before the shares that are awake


@dataclass(eq=False)
class Sleeper(Martingale):
    """All capital is asleep at first; at every step a share of it wakes, and bets from then on.

    The share is `waking` times a power of what still sleeps, which after ``t`` steps is
    ``(1 + patience · waking · t)^(−1/patience)``. What is awake is shared out over simple bets,
    each with a factor for p-values up to a cut and one for those above it.
    """

    waking: float = 0.003
    patience: float = field(default=1.0, kw_only=True)

    def check(self) -> None:
        checked_fraction(self.waking, "waking", "0.003 is usual")
        check_scalar(self.patience, "patience", "try 1")
        if isinstance(self.patience, bool) or not 0 <= self.patience < np.inf:
            raise ValueError(f"patience must be a number from 0 on, got {self.patience!r}; try 1")
        self._table = self.table()

    @abstractmethod
    def table(self) -> FloatArray:
        """Return the simple bets, ``(C, 3)``: cut, factor up to it, factor above it."""

    @property
    def breaks(self) -> tuple[float, ...]:
        return tuple(np.unique(self._table[:, 0]).tolist())

    def begin(self) -> FloatArray:
        # The log of all capital, the share of it that sleeps, and those that are awake; last, where
        # it is asked for, the log of the capital that sleeps, which outlasts its share.
        return np.concatenate([[0.0, 1.0], np.zeros(len(self._table)), [0.0] * (self.patience > 0)])

    def bet(self, state: FloatArray, p_values: FloatArray, logs: FloatArray) -> None:
        self.check_room(state, p_values, logs)
        self._bet(state[None], p_values[None], logs[None], self._table)

    def bet_each(self, states: FloatArray, p_values: FloatArray, logs: FloatArray) -> None:
        self.check_room(states, p_values, logs, len(p_values))
        self._bet(states, p_values[:, None], logs[:, None], self._table)

    def _bet(
        self, states: FloatArray, p_values: FloatArray, logs: FloatArray, table: FloatArray
    ) -> None:
        _bet_asleep(states, p_values, logs, table, float(self.waking), float(self.patience))


def _checked_each(numbers: Any, name: str, remedy: str, least: int = 1) -> tuple[float, ...]:
    """Return different numbers between 0 and 1."""
    found = tuple(numbers)
    for one in found:
        checked_fraction(one, f"each of {name}", remedy)
    if len(set(found)) != len(found) or len(found) < least:
        many = "two or more " if least > 1 else ""
        raise ValueError(f"{name} must be {many}different numbers, got {found!r}")
    return found


@kernel
def _bet_asleep(
    states: FloatArray,
    p_values: FloatArray,
    logs: FloatArray,
    table: FloatArray,
    waking: float,
    patience: float,
) -> None:
    """Bet by K states, each on T p-values of its own, ``(K, T)``."""
    number = len(table)
    for s in range(len(states)):
        state = states[s]
        awake = state[HEAD : HEAD + number]
        for k in range(p_values.shape[1]):
            rate = waking
            if patience > 0.0:
                rate = waking * np.exp(patience * state[-1])
                state[-1] += np.log1p(-rate)
            woken = state[1] * rate / number
            asleep = whole = state[1] * (1.0 - rate)
            for c in range(number):
                below = p_values[s, k] <= table[c, 0]
                awake[c] = (awake[c] + woken) * (table[c, 1] if below else table[c, 2])
                whole += awake[c]
            state[1] = asleep / whole
            for c in range(number):
                awake[c] /= whole
            state[0] += np.log(whole)
            logs[s, k] = state[0]


@dataclass(eq=False)
class SleeperStayer(Sleeper, name="sleeper_stayer"):
    """Capital sleeps, and wakes bit by bit, to be bet on one simple departure and stay with it.

    What is awake bets that the share ``b`` of p-values is below ``a``, for all pairs of different
    `cuts`. What wakes when a change comes has lost nothing before, so that of all martingales here
    it finds late changes soonest (Vovk, Gammerman & Shafer 2022).

    Parameters
    ----------
    waking : float, default 0.003
        The share of the sleeping capital that wakes at the first step.
    patience : float, default 1
        How slowly the share falls: what still sleeps after ``t`` quiet steps is ``1 / (1 + waking
        t)`` with 1, so that a change is found nearly as soon after 100,000 steps as after 300. With
        0, Vovk's own, it stays as it is, and after some thousand steps nothing is left to wake.
    cuts : the numbers that ``a`` and ``b`` may be

    Examples
    --------
    >>> bet = SleeperStayer()
    >>> quiet = bet.update_many(np.random.default_rng(0).random(300))
    >>> -2 < quiet[-1] < 2  # p-values as they should be
    np.True_
    >>> changed = bet.update_many(np.random.default_rng(1).random(60) ** 3)
    >>> bet.capital > 1e6
    True
    """

    cuts: tuple[float, ...] = (0.05, 0.15, 0.3, 0.5, 0.7)

    def check(self) -> None:
        self.cuts = _checked_each(self.cuts, "cuts", "0.05 is one for small p-values", 2)
        super().check()

    def table(self) -> FloatArray:
        pairs = [(a, b) for a in self.cuts for b in self.cuts if a != b]
        return np.array([(a, b / a, (1.0 - b) / (1.0 - a)) for a, b in pairs])


@dataclass(eq=False)
class Absence(Sleeper, name="absence"):
    """Capital sleeps, and wakes bit by bit, to be bet that the smallest p-values stay away.

    What is awake bets that p-values below ``a`` come `left` times as often as they should, for each
    ``a`` of `shares`. It is for p-values that are small where something rare happens, such as that
    the chain was in a certain state: if that never happens again, each step wins a little, which
    no other bet here sees.

    Parameters
    ----------
    waking : float, default 0.003
    patience : float, default 0.5
        As of `SleeperStayer`; less patience, since what wakes too soon loses little.
    shares : the numbers that ``a`` may be
    left : float, default 0.1
        Which part of what should be below ``a`` may still come, so that one does not cost all.

    Examples
    --------
    >>> bet, rng = Absence(), np.random.default_rng(0)
    >>> quiet = bet.update_many(rng.random(300))
    >>> -2 < quiet[-1] < 2  # p-values as they should be
    np.True_
    >>> gone = bet.update_many(0.05 + 0.95 * rng.random(300))
    >>> bet.capital > 1e3
    True
    """

    shares: tuple[float, ...] = (0.015, 0.03, 0.06)
    left: float = 0.1
    patience: float = field(default=0.5, kw_only=True)

    def check(self) -> None:
        checked_fraction(self.left, "left", "0.1 is a tenth")
        self.shares = _checked_each(self.shares, "shares", "0.03 is what comes once in 33 steps")
        super().check()

    def table(self) -> FloatArray:
        return np.array([(a, self.left, (1.0 - self.left * a) / (1.0 - a)) for a in self.shares])


@dataclass(eq=False)
class Misses(Sleeper, name="misses"):
    """Capital sleeps, and wakes bit by bit, to be bet on more misses than a level allows.

    A miss is a p-value of the truth that is at most ``alpha``. With a stake ``s`` the capital is
    multiplied by ``1 + s (1 − alpha) / alpha`` at a miss and by ``1 − s`` otherwise. If a miss has,
    given the misses before, a probability of at most ``alpha``, the capital is a supermartingale;
    if the probability is ``alpha``, a martingale. No model is needed.

    Parameters
    ----------
    waking : float, default 0.01
        As of `SleeperStayer`.
    alpha : float, default 0.1
        The probability of a miss that is allowed; `judge` takes another one for a single step.
    stakes : the numbers that ``s`` may be

    Examples
    --------
    >>> bet, rng = Misses(alpha=0.1), np.random.default_rng(0)
    >>> for missed in rng.random(300) < 0.1:
    ...     log_capital = bet.judge(missed)
    >>> bet.capital < 10
    True
    >>> for missed in rng.random(100) < 0.3:
    ...     log_capital = bet.judge(missed)
    >>> bet.capital > 1e3
    True
    """

    waking: float = 0.01
    alpha: float = 0.1
    stakes: tuple[float, ...] = (0.01, 0.03, 0.1, 0.3, 0.6)

    def check(self) -> None:
        checked_fraction(self.alpha, "alpha", "0.1 allows one miss in ten")
        self.stakes = _checked_each(self.stakes, "stakes", "0.1 stakes a tenth of the capital")
        super().check()

    def table(self) -> FloatArray:
        return _miss_table(self.stakes, self.alpha)

    def judge(self, missed: bool, alpha: float | None = None) -> float:
        """Take in whether a set missed the truth, and return the log of the capital.

        Parameters
        ----------
        alpha : float, optional
            What the set was allowed to miss; `alpha` of the martingale if left out. It must be
            known before the miss is, or follow from the true state, given which it is promised.
        """
        allowed = self.alpha if alpha is None else checked_fraction(alpha, "alpha", "0.1 is usual")
        p_value, logs = np.array([[0.0 if missed else 1.0]]), np.empty((1, 1))
        self._bet(self.state[None], p_value, logs, _miss_table(self.stakes, allowed))
        return float(logs[0, 0])


@lru_cache(maxsize=64)
def _miss_table(stakes: tuple[float, ...], alpha: float) -> FloatArray:
    return np.array([(alpha, 1.0 + s * (1.0 - alpha) / alpha, 1.0 - s) for s in stakes])
