"""A bet that what was rare no longer comes at all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.compiled import kernel
from definetti.martingales._checks import checked_share
from definetti.martingales.base import Martingale


@dataclass(eq=False)
class Absence(Martingale, name="absence"):
    """Capital sleeps, and wakes bit by bit, to be bet that the smallest p-values stay away.

    What is awake bets that p-values below ``a`` come `left` times as often as they should, for each
    ``a`` of `shares`. It is for p-values that are small where something rare happens, such as that
    the chain was in a certain state: if that never happens again, each step wins a little, some
    ``a`` of the capital. All other bets here look for too many small p-values, or for large
    departures, and see nothing of it.

    Parameters
    ----------
    waking : float, default 0.003
        The share of the sleeping capital that wakes at every step.
    shares : the numbers that ``a`` may be
    left : float, default 0.1
        Which part of what should be below ``a`` may still come; little is lost by it, and a single
        one does not cost all.

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

    waking: float = 0.003
    shares: tuple[float, ...] = (0.015, 0.03, 0.06)
    left: float = 0.1

    def check(self) -> None:
        checked_share(self.waking, "waking", "0.003 is usual")
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

    def begin(self) -> FloatArray:
        # The log of all capital, the share that sleeps, and those that are awake.
        return np.concatenate([[0.0, 1.0], np.zeros(len(self.shares))])

    def bet(self, state: FloatArray, p_values: FloatArray, logs: FloatArray) -> None:
        _bet(state, p_values, logs, float(self.waking), self._shares, float(self.left))

    def bet_each(self, states: FloatArray, p_values: FloatArray, logs: FloatArray) -> None:
        _bet_each(states, p_values, logs, float(self.waking), self._shares, float(self.left))


@kernel
def _bet(
    state: FloatArray,
    p_values: FloatArray,
    logs: FloatArray,
    waking: float,
    shares: FloatArray,
    left: float,
) -> None:
    awake = state[2:]
    for k in range(len(p_values)):
        woken = state[1] * waking / len(shares)
        asleep = whole = state[1] * (1.0 - waking)
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
def _bet_each(
    states: FloatArray,
    p_values: FloatArray,
    logs: FloatArray,
    waking: float,
    shares: FloatArray,
    left: float,
) -> None:
    for k in range(len(states)):
        _bet(states[k], p_values[k : k + 1], logs[k : k + 1], waking, shares, left)
