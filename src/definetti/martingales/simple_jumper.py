"""Vovk's simple jumper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.compiled import kernel
from definetti.martingales._checks import checked_share
from definetti.martingales.base import Martingale


@dataclass(eq=False)
class SimpleJumper(Martingale, name="simple_jumper"):
    """Three gamblers, of which one bets on large, one on small p-values, and one not at all.

    The densities are ``1 + ε (p − 1/2)`` with ε = −1, 0 and 1. Before each p-value a share of all
    capital is dealt out anew among the three, so that it soon goes over to whoever is winning (Vovk
    et al. 2021, "Retrain or not retrain"; Vovk, Gammerman & Shafer 2022, section 8.2).

    Parameters
    ----------
    jumping : float, default 0.01
        The share of the capital that is dealt out anew.

    Examples
    --------
    >>> bet = SimpleJumper()
    >>> bet.update(0.01)  # large or small: nobody knows yet
    0.0
    >>> logs = bet.update_many([0.02] * 30)
    >>> bet.capital > 10_000
    True
    """

    jumping: float = 0.01

    def check(self) -> None:
        checked_share(self.jumping, "jumping", "0.01 is usual")

    def begin(self) -> FloatArray:
        return np.array([0.0, 1 / 3, 1 / 3, 1 / 3])

    def bet(self, state: FloatArray, p_values: FloatArray, logs: FloatArray) -> None:
        self.check_room(state, p_values, logs)
        _bet(state, p_values, logs, float(self.jumping))


@kernel
def _bet(state: FloatArray, p_values: FloatArray, logs: FloatArray, jumping: float) -> None:
    # The shares of the three, which add up to one, and the log of the whole.
    log_capital, low, none, high = state[0], state[1], state[2], state[3]
    for k in range(len(p_values)):
        shift = p_values[k] - 0.5
        low = ((1.0 - jumping) * low + jumping / 3.0) * (1.0 - shift)
        none = (1.0 - jumping) * none + jumping / 3.0
        high = ((1.0 - jumping) * high + jumping / 3.0) * (1.0 + shift)
        whole = low + none + high
        low, none, high = low / whole, none / whole, high / whole
        log_capital += np.log(whole)
        logs[k] = log_capital
    state[0], state[1], state[2], state[3] = log_capital, low, none, high
