"""A bet that what was rare no longer comes at all."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.compiled import kernel
from definetti.martingales._checks import checked_share
from definetti.martingales._sleeping import HEAD, Sleeper, rouse


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
        _bet(state, p_values, logs, *self._how)

    def bet_each(self, states: FloatArray, p_values: FloatArray, logs: FloatArray) -> None:
        self.check_room(states, p_values, logs, len(p_values))
        _bet_each(states, p_values, logs, *self._how)


@kernel
def _bet(
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
def _bet_each(
    states: FloatArray,
    p_values: FloatArray,
    logs: FloatArray,
    waking: float,
    patience: float,
    shares: FloatArray,
    left: float,
) -> None:
    for k in range(len(states)):
        _bet(states[k], p_values[k : k + 1], logs[k : k + 1], waking, patience, shares, left)
