"""The mixture of all power martingales."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.compiled import kernel
from definetti.martingales.base import Martingale

NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)
DEEP = 45.0  # what is below e^-45 of the peak is left out of an integral


@dataclass(eq=False)
class Mixture(Martingale, name="mixture"):
    """All powers of p-values together: ``∫ Π ε p^(ε−1) dε`` over 0 < ε < 1.

    It bets on small p-values, wins much on a few very small ones, and has nothing to be chosen
    (Vovk, Nouretdinov & Gammerman 2003). With ``n`` p-values and ``a = −Σ log p`` the capital is
    ``∫ ε^n e^(a (1−ε)) dε``: two numbers are the whole past. It does not forget, so that after a
    long time without a change it is slow to see one.

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
        _bet(state, p_values, logs, NODES, WEIGHTS)

    def tail(self, p_value: float) -> float:
        # The integral of ε p^(ε−1) is p^ε, which is p times p^(ε−1): n does not grow, but a does.
        _, n, a = self.state
        higher = log_mixture(n, a - np.log(p_value), NODES, WEIGHTS)
        return p_value * float(np.exp(higher - self.log_capital))


@kernel
def _bet(
    state: FloatArray,
    p_values: FloatArray,
    logs: FloatArray,
    nodes: FloatArray,
    weights: FloatArray,
) -> None:
    for k in range(len(p_values)):
        state[1] += 1.0
        state[2] -= np.log(p_values[k])
        logs[k] = log_mixture(state[1], state[2], nodes, weights)
        state[0] = logs[k]


@kernel
def log_mixture(n: float, a: float, nodes: FloatArray, weights: FloatArray) -> float:
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
    for j in range(len(nodes)):
        # As differences from the peak, so that nothing large cancels.
        away = 0.5 * (low + high) - peak + half * nodes[j]
        if peak > 0.0:
            u = away / peak
            slope = n - a * peak  # none where the peak is inside
            total += weights[j] * np.exp(n * _log1p_less(u) + slope * u)
        else:
            total += weights[j] * np.exp(-a * away)
    return float(top + np.log(half * total))


@kernel
def _log1p_less(u: float) -> float:
    """Return ``log(1 + u) − u``, also where both are nearly the same."""
    if abs(u) > 0.01:
        return float(np.log1p(u) - u)
    # −u²/2 + u³/3 − … ; twelve terms are enough for a hundredth.
    total = 0.0
    for k in range(12, 1, -1):
        total = u * (total + (1.0 if k % 2 else -1.0) / k)
    return float(total * u)
