"""Vovk's Sleeper/Stayer: asleep until something changes, then staying with what is wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.compiled import kernel
from definetti.martingales._checks import checked_share
from definetti.martingales._sleeping import HEAD, Sleeper, rouse


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
def _bet_each(
    states: FloatArray,
    p_values: FloatArray,
    logs: FloatArray,
    waking: float,
    patience: float,
    cuts: FloatArray,
) -> None:
    for k in range(len(states)):
        _bet(states[k], p_values[k : k + 1], logs[k : k + 1], waking, patience, cuts)
