"""Robbins's confidence sequence for a probability."""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma, log

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.compiled import kernel
from definetti.martingales.sequence import ConfidenceSequence


@dataclass(frozen=True)
class BetaMixture(ConfidenceSequence, name="beta_mixture"):
    """All probabilities ``q`` against which a mixture of all others has won less than ``1/alpha``.

    The mixture of ``r^s (1 − r)^f`` over a Beta(1/2, 1/2) law of ``r``, divided by the same at
    ``q``, is a martingale if the probability is ``q``; Ville's inequality is the rest (Robbins
    1970).

    Assumes that each set covers with the same probability, whatever came before. That is so for
    smoothed sets of `full` with a refitted model and windows that do not overlap: misses are then
    independent. For other symmetries, and where the law changes, take `NormalMixture`.

    Examples
    --------
    >>> low, high = BetaMixture().interval(90, 100)
    >>> round(float(low), 3), round(float(high), 3)
    (0.772, 0.971)
    """

    assumes = "each set covers with the same probability, whatever came before"

    def bounds(self, successes: FloatArray, trials: FloatArray) -> tuple[FloatArray, FloatArray]:
        low = _lowest(successes, trials - successes, self.share)
        return low, 1.0 - _lowest(trials - successes, successes, self.share)


@kernel
def _lowest(hits: FloatArray, misses: FloatArray, alpha: float) -> FloatArray:
    """Return, for each pair of counts, where probabilities begin that are not yet ruled out."""
    found = np.zeros(len(hits))
    for k in range(len(hits)):
        s, f = hits[k], misses[k]
        if s == 0.0:
            continue
        # The mixture's likelihood; π is the normalising constant of its law.
        mixed = lgamma(s + 0.5) + lgamma(f + 0.5) - lgamma(s + f + 1.0) - log(np.pi)
        out, inside = 0.0, s / (s + f)
        while inside - out > 1e-14:
            middle = 0.5 * (out + inside)
            lost = f * np.log1p(-middle) if f > 0.0 else 0.0
            if mixed - s * np.log(middle) - lost >= -np.log(alpha):
                out = middle
            else:
                inside = middle
        found[k] = out
    return found
