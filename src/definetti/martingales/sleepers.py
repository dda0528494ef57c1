"""Martingales for a change at an unknown time: capital that starts to bet bit by bit."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.checks import check_scalar
from definetti._system.compiled import kernel
from definetti.martingales.base import Martingale, checked_share

HEAD = 2  # what the state has before the shares that are awake


@dataclass(eq=False)
class Sleeper(Martingale):
    """All capital is asleep at first; at every step a share of it wakes, and bets from then on.

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


@dataclass(eq=False)
class Absence(Sleeper, name="absence"):
    """Capital sleeps, and wakes bit by bit, to be bet that the smallest p-values stay away.

    What is awake bets that p-values below ``a`` come `left` times as often as they should, for each
    ``a`` of `shares`. It is for p-values that are small where something rare happens, such as that
    the chain was in a certain state: if that never happens again, each step wins a little, some
    ``a`` of the capital. All other bets here look for too many small p-values, or for large
    departures, and see nothing of it.

    Parameters
    ----------
    waking : float, default 0.003
        The share of the sleeping capital that wakes at the first step.
    shares : the numbers that ``a`` may be
    left : float, default 0.1
        Which part of what should be below ``a`` may still come; little is lost by it, and a single
        one does not cost all.
    patience : float, default 0.5
        How slowly the share that wakes falls, as that of `SleeperStayer` does; less than there,
        since who wakes too soon loses little.

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
        super().check()
        checked_share(self.left, "left", "0.1 is a tenth")
        self.shares = tuple(self.shares)
        for share in self.shares:
            checked_share(share, "each of shares", "0.03 is what comes once in 33 steps")
        if len(set(self.shares)) != len(self.shares) or not self.shares:
            raise ValueError(f"shares must be different numbers, got {self.shares!r}")
        self._shares = np.array(self.shares, dtype=np.float64)

    @property
    def breaks(self) -> tuple[float, ...]:
        return self.shares

    @property
    def cells(self) -> int:
        return len(self.shares)

    @property
    def _how(self) -> tuple[float, float, FloatArray, float]:
        return float(self.waking), float(self.patience), self._shares, float(self.left)

    def bet(self, state: FloatArray, p_values: FloatArray, logs: FloatArray) -> None:
        self.check_room(state, p_values, logs)
        _bet_absence(state, p_values, logs, *self._how)

    def bet_each(self, states: FloatArray, p_values: FloatArray, logs: FloatArray) -> None:
        self.check_room(states, p_values, logs, len(p_values))
        _bet_each_absence(states, p_values, logs, *self._how)


@kernel
def _bet_absence(
    state: FloatArray,
    p_values: FloatArray,
    logs: FloatArray,
    waking: float,
    patience: float,
    shares: FloatArray,
    left: float,
) -> None:
    awake = state[HEAD : HEAD + len(shares)]
    for k in range(len(p_values)):
        rate = rouse(state, waking, patience)
        woken = state[1] * rate / len(shares)
        asleep = whole = state[1] * (1.0 - rate)
        for i in range(len(shares)):
            a = shares[i]
            factor = left if p_values[k] <= a else (1.0 - left * a) / (1.0 - a)
            awake[i] = (awake[i] + woken) * factor
            whole += awake[i]
        state[1] = asleep / whole
        for i in range(len(shares)):
            awake[i] /= whole
        state[0] += np.log(whole)
        logs[k] = state[0]


@kernel
def _bet_each_absence(
    states: FloatArray,
    p_values: FloatArray,
    logs: FloatArray,
    waking: float,
    patience: float,
    shares: FloatArray,
    left: float,
) -> None:
    for k in range(len(states)):
        _bet_absence(
            states[k], p_values[k : k + 1], logs[k : k + 1], waking, patience, shares, left
        )


@dataclass(eq=False)
class SleeperStayer(Sleeper, name="sleeper_stayer"):
    """Capital sleeps, and wakes bit by bit, to be bet on one simple departure and stay with it.

    What is awake bets that the share ``b`` of p-values is below ``a``, for all pairs of different
    `cuts`: small p-values too often, or too seldom, of whatever size. So whoever wakes when a
    change comes, and guesses it, wins at once, while nothing but what woke too soon is lost before.
    Of all martingales here it finds late changes soonest (Vovk, Gammerman & Shafer 2022).

    Parameters
    ----------
    waking : float, default 0.003
        The share of the sleeping capital that wakes at the first step: changes are looked for over
        some ``1/waking`` steps, and from then on ever less.
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
        super().check()
        self.cuts = tuple(self.cuts)
        for cut in self.cuts:
            checked_share(cut, "each of cuts", "0.05 is one for small p-values")
        if len(set(self.cuts)) != len(self.cuts) or len(self.cuts) < 2:
            raise ValueError(f"cuts must be two or more different numbers, got {self.cuts!r}")
        self._cuts = np.array(self.cuts, dtype=np.float64)

    @property
    def breaks(self) -> tuple[float, ...]:
        return self.cuts

    @property
    def cells(self) -> int:
        return len(self.cuts) ** 2  # by a and b, of which the equal ones are empty

    @property
    def _how(self) -> tuple[float, float, FloatArray]:
        return float(self.waking), float(self.patience), self._cuts

    def bet(self, state: FloatArray, p_values: FloatArray, logs: FloatArray) -> None:
        self.check_room(state, p_values, logs)
        _bet_stayer(state, p_values, logs, *self._how)

    def bet_each(self, states: FloatArray, p_values: FloatArray, logs: FloatArray) -> None:
        self.check_room(states, p_values, logs, len(p_values))
        _bet_each_stayer(states, p_values, logs, *self._how)


@kernel
def _bet_stayer(
    state: FloatArray,
    p_values: FloatArray,
    logs: FloatArray,
    waking: float,
    patience: float,
    cuts: FloatArray,
) -> None:
    number = len(cuts)
    awake = state[HEAD : HEAD + number * number]
    for k in range(len(p_values)):
        asleep, rate = state[1], rouse(state, waking, patience)
        each = rate / (number * (number - 1))
        whole = asleep * (1.0 - rate)
        for i in range(number):
            a, below = cuts[i], p_values[k] <= cuts[i]
            for j in range(number):
                if i == j:
                    continue
                b = cuts[j]
                factor = b / a if below else (1.0 - b) / (1.0 - a)
                share = (awake[i * number + j] + asleep * each) * factor
                awake[i * number + j] = share
                whole += share
        state[1] = asleep * (1.0 - rate) / whole
        for cell in range(len(awake)):
            awake[cell] /= whole
        state[0] += np.log(whole)
        logs[k] = state[0]


@kernel
def _bet_each_stayer(
    states: FloatArray,
    p_values: FloatArray,
    logs: FloatArray,
    waking: float,
    patience: float,
    cuts: FloatArray,
) -> None:
    for k in range(len(states)):
        _bet_stayer(states[k], p_values[k : k + 1], logs[k : k + 1], waking, patience, cuts)
