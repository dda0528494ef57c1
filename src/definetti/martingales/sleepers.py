"""Martingales for a change at an unknown time: capital starts to bet gradually."""

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

HEAD = 2  # numbers in the state before the awake shares


@dataclass(eq=False)
class Sleeper(Martingale):
    """Capital that is asleep at first; at every step a share wakes, and bets from then on.

    The share is `waking` times a power of the sleeping capital, which after ``t`` steps is
    ``(1 + patience · waking · t)^(−1/patience)``. Awake capital is split over simple bets, each
    with a factor for p-values up to a cut and one for larger p-values.
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
        # The log of all capital, its sleeping share, and its awake shares; with patience, last the
        # log of the sleeping capital, which stays accurate when its share underflows.
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
    """Return the numbers as a tuple; raise unless they are distinct and between 0 and 1."""
    values = tuple(numbers)
    for value in values:
        checked_fraction(value, f"each of {name}", remedy)
    if len(set(values)) != len(values) or len(values) < least:
        many = "two or more " if least > 1 else ""
        raise ValueError(f"{name} must be {many}different numbers, got {values!r}")
    return values


@kernel
def _bet_asleep(
    states: FloatArray,
    p_values: FloatArray,
    logs: FloatArray,
    table: FloatArray,
    waking: float,
    patience: float,
) -> None:
    """Bet with each of K states on its T p-values, ``(K, T)``."""
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
    """Bet gradually waking capital on one simple departure, and stay with it.

    Awake capital bets that the share ``b`` of p-values is below ``a``, for all pairs of different
    `cuts`. Capital that wakes at a change has lost nothing before, so of all martingales here this
    one detects late changes soonest (Vovk, Gammerman & Shafer 2022).

    Parameters
    ----------
    waking : float, default 0.003
        The share of the sleeping capital that wakes at the first step.
    patience : float, default 1
        How slowly the share falls: with 1 the sleeping capital after ``t`` quiet steps is ``1 / (1
        + waking t)``, so a change is detected nearly as soon after 100,000 steps as after 300. With
        0, as in Vovk, the share is constant, and after some thousand steps no capital sleeps.
    cuts : the values of ``a`` and ``b``

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
    """Bet gradually waking capital that the smallest p-values do not occur.

    Awake capital bets that p-values below ``a`` come `left` times as often as if uniform, for each
    ``a`` of `shares`. It is for p-values that are small at rare events, such as visits to a state:
    if the event never happens again, each step wins a little, which no other bet here detects.

    Parameters
    ----------
    waking : float, default 0.003
    patience : float, default 0.5
        As in `SleeperStayer`; less patience, as capital that wakes too soon loses little.
    shares : the values of ``a``
    left : float, default 0.1
        The part of p-values below ``a`` that may still come, so that one does not lose all capital.

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
    """Bet gradually waking capital on more misses than a level allows.

    A miss is a p-value of the truth that is at most ``alpha``. With a stake ``s`` the capital is
    multiplied by ``1 + s (1 − alpha) / alpha`` at a miss and by ``1 − s`` otherwise. If a miss has,
    given the misses before, a probability of at most ``alpha``, the capital is a supermartingale;
    if the probability is ``alpha``, a martingale. No model is needed.

    Parameters
    ----------
    waking : float, default 0.01
        As in `SleeperStayer`.
    alpha : float, default 0.1
        The allowed probability of a miss; `judge` takes another value for a single step.
    stakes : the values of ``s``

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
        """Bet on whether a set missed the truth; return the log of the capital.

        Parameters
        ----------
        alpha : float, optional
            The miscoverage of the set; `alpha` of the martingale if left out. It must be known
            before the miss, or be a function of the true state that coverage is conditional on.
        """
        allowed = self.alpha if alpha is None else checked_fraction(alpha, "alpha", "0.1 is usual")
        p_value, logs = np.array([[0.0 if missed else 1.0]]), np.empty((1, 1))
        self._bet(self.state[None], p_value, logs, _miss_table(self.stakes, allowed))
        return float(logs[0, 0])


@lru_cache(maxsize=64)
def _miss_table(stakes: tuple[float, ...], alpha: float) -> FloatArray:
    return np.array([(alpha, 1.0 + s * (1.0 - alpha) / alpha, 1.0 - s) for s in stakes])
