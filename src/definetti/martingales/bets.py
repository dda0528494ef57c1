"""Martingales that bet on the p-values so far: simple jumper, mixture and histogram."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.checks import check_scalar, checked_fraction, checked_number
from definetti._system.compiled import kernel
from definetti.martingales.base import Martingale

NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)
DEEP = 45.0  # an integral leaves out values below e^-45 of the peak


@dataclass(eq=False)
class Mixture(Martingale, name="mixture"):
    """Bet a uniform mixture of powers of p-values: ``∫ Π ε p^(ε−1) dε`` over 0 < ε < 1.

    It bets on small p-values and has no parameters (Vovk, Nouretdinov & Gammerman 2003).
    With ``n`` p-values and ``a = −Σ log p`` the capital is ``∫ ε^n e^(a (1−ε)) dε``. It has no
    forgetting, so after a long time without a change it is slow to detect one.

    Examples
    --------
    >>> bet = Mixture()
    >>> bet.update(1.0)  # half of the capital, for the mean of ε is a half
    -0.693147...
    >>> bet.update(0.0001)
    3.2...
    """

    def begin(self) -> FloatArray:
        return np.zeros(3)

    def bet(self, state: FloatArray, p_values: FloatArray, logs: FloatArray) -> None:
        self.check_room(state, p_values, logs)
        _bet_mixture(state, p_values, logs)

    def tail(self, p_value: float) -> float:
        # The integral of ε p^(ε−1) is p^ε, which is p times p^(ε−1): n does not grow, but a does.
        _, n, a = self.state
        higher = log_mixture(n, a - np.log(p_value))
        return p_value * float(np.exp(higher - self.log_capital))


@kernel
def _bet_mixture(state: FloatArray, p_values: FloatArray, logs: FloatArray) -> None:
    for k in range(len(p_values)):
        state[1] += 1.0
        state[2] -= np.log(p_values[k])
        logs[k] = log_mixture(state[1], state[2])
        state[0] = logs[k]


@kernel
def log_mixture(n: float, a: float) -> float:
    """Return the log of ``∫ ε^n e^(a (1−ε)) dε``, 0 < ε < 1, by Gauss's rule around the peak."""
    if n == 0.0 and a == 0.0:
        return 0.0
    # From the peak on either side the logarithm falls at least as fast as a parabola, or a line.
    if a > n:
        peak = n / a
        top = n * (_log1p_less((a - n) / n)) * -1.0 if n > 0.0 else a
        if n > 0.0:
            below = peak * np.sqrt(2.0 * DEEP / n)
            above = peak * (DEEP + np.sqrt(DEEP * DEEP + 2.0 * n * DEEP)) / n
        else:
            below, above = 0.0, DEEP / a
    else:
        peak, top, above = 1.0, 0.0, 0.0
        below = 2.0 * DEEP / (n - a + np.sqrt((n - a) ** 2 + 2.0 * n * DEEP))
    low, high = max(0.0, peak - below), min(1.0, peak + above)
    half, total = 0.5 * (high - low), 0.0
    for j in range(len(NODES)):
        # Differences from the peak avoid cancellation of large numbers.
        away = 0.5 * (low + high) - peak + half * NODES[j]
        if peak > 0.0:
            u = away / peak
            slope = n - a * peak  # zero where the peak is inside
            total += WEIGHTS[j] * np.exp(n * _log1p_less(u) + slope * u)
        else:
            total += WEIGHTS[j] * np.exp(-a * away)
    return float(top + np.log(half * total))


@kernel
def _log1p_less(u: float) -> float:
    """Return ``log(1 + u) − u``, accurate also for small u."""
    if abs(u) > 0.01:
        return float(np.log1p(u) - u)
    # −u²/2 + u³/3 − … ; twelve terms are enough for a hundredth.
    total = 0.0
    for k in range(12, 1, -1):
        total = u * (total + (1.0 if k % 2 else -1.0) / k)
    return float(total * u)


@dataclass(eq=False)
class PlugIn(Martingale, name="plug_in"):
    """Bet by the histogram of the p-values so far as the density of the next.

    It detects every departure from uniformity in time, not only small p-values, but more slowly
    (Fedorova, Gammerman, Nouretdinov & Vovk 2012, there with a kernel density).

    Parameters
    ----------
    bins : int, default 10
        The number of bins, of equal width.
    prior : float, default 5
        The count of each bin before the first p-value; larger values make smaller bets.
    forgetting : float, default 0
        The share of the counts that is dropped at every step; 0.01 is a memory of about 100
        p-values, which detects late changes sooner and small ones not at all.

    Examples
    --------
    >>> bet = PlugIn()
    >>> bet.update(0.42)
    0.0
    >>> float(bet.factors([0.45])[0]) > 1 > float(bet.factors([0.55])[0])
    True
    """

    bins: int = 10
    prior: float = 5.0
    forgetting: float = 0.0

    def check(self) -> None:
        checked_number(self.bins, "bins")
        check_scalar(self.prior, "prior", "try 5")
        check_scalar(self.forgetting, "forgetting", "0 forgets nothing")
        if not 0 < self.prior < np.inf:
            raise ValueError(f"prior must be a number above 0, got {self.prior!r}; try 5")
        if not 0 <= self.forgetting < 1:
            raise ValueError(
                f"forgetting must be at least 0 and below 1, got {self.forgetting!r}; 0 forgets "
                "nothing"
            )

    @property
    def breaks(self) -> tuple[float, ...]:
        return tuple(k / self.bins for k in range(1, self.bins))

    @classmethod
    def _memory(cls, kept: dict[str, Any]) -> int:
        return 16 * checked_number(kept["settings"]["bins"], "bins")

    def begin(self) -> FloatArray:
        return np.zeros(1 + self.bins)

    def bet(self, state: FloatArray, p_values: FloatArray, logs: FloatArray) -> None:
        self.check_room(state, p_values, logs)
        _bet_histogram(state, p_values, logs, float(self.prior), float(self.forgetting))


@kernel
def _bet_histogram(
    state: FloatArray, p_values: FloatArray, logs: FloatArray, prior: float, forgetting: float
) -> None:
    bins = len(state) - 1
    counts = state[1:]
    for k in range(len(p_values)):
        whole = 0.0
        for b in range(bins):
            whole += counts[b] + prior
        here = min(max(int(p_values[k] * bins), 0), bins - 1)
        state[0] += np.log((counts[here] + prior) * bins / whole)
        logs[k] = state[0]
        for b in range(bins):
            counts[b] *= 1.0 - forgetting
        counts[here] += 1.0


@dataclass(eq=False)
class SimpleJumper(Martingale, name="simple_jumper"):
    """Bet on large p-values, on small ones, and on neither, with shared capital.

    The densities are ``1 + ε (p − 1/2)`` with ε = −1, 0 and 1. Before each p-value a share of all
    capital is redistributed equally among the three, so that it soon moves to the winner (Vovk
    et al. 2021, "Retrain or not retrain"; Vovk, Gammerman & Shafer 2022, section 8.2).

    Parameters
    ----------
    jumping : float, default 0.01
        The share of the capital that is redistributed.

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
        checked_fraction(self.jumping, "jumping", "0.01 is usual")

    def begin(self) -> FloatArray:
        return np.array([0.0, 1 / 3, 1 / 3, 1 / 3])

    def bet(self, state: FloatArray, p_values: FloatArray, logs: FloatArray) -> None:
        self.check_room(state, p_values, logs)
        _bet_jumper(state, p_values, logs, float(self.jumping))


@kernel
def _bet_jumper(state: FloatArray, p_values: FloatArray, logs: FloatArray, jumping: float) -> None:
    # The capital shares of the three bets, which sum to one, and the log of the total.
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
