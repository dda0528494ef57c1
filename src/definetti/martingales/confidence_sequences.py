"""Confidence sequences: intervals for coverage that hold at all times together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from math import lgamma, log
from typing import Any, ClassVar

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.checks import check_scalar, checked_fraction, checked_number
from definetti._system.compiled import kernel
from definetti._system.mixins import Named


@dataclass(frozen=True)
class ConfidenceSequence(Named, ABC):
    """An interval for the coverage so far that holds at all times together.

    An interval such as Clopper and Pearson's holds at one time chosen beforehand. Here the
    probability that the interval *ever* excludes the true coverage is at most `alpha`.

    Parameters
    ----------
    alpha : float, default 0.05
        The probability that any interval is ever wrong.
    parts : int, default 1
        The number of shares, such as one for each state, whose intervals hold together by the union
        bound. With 1 each interval holds separately.

    Attributes
    ----------
    assumes : the assumption of the intervals, in words
    """

    alpha: float = 0.05
    parts: int = field(default=1, kw_only=True)

    assumes: ClassVar[str] = ""

    def __post_init__(self) -> None:
        checked_fraction(self.alpha, "alpha", "0.05 is usual")
        checked_number(self.parts, "parts")

    @abstractmethod
    def bounds(self, successes: FloatArray, trials: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper bounds for each pair of counts; trials are at least one."""

    def interval(self, successes: Any, trials: Any) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper bounds for counts or arrays of counts; 0 and 1 without trials."""
        hit, all_ = np.broadcast_arrays(
            np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
        )
        if not ((hit >= 0) & (hit <= all_)).all():
            raise ValueError("successes must be whole numbers between 0 and trials")
        seen = all_ > 0
        low, high = np.zeros(hit.shape), np.ones(hit.shape)
        low[seen], high[seen] = self.bounds(hit[seen], all_[seen])
        return low, high

    @property
    def share(self) -> float:
        """The error probability allotted to each part."""
        return self.alpha / self.parts


@dataclass(frozen=True)
class BetaMixture(ConfidenceSequence, name="beta_mixture"):
    """Probabilities ``q`` against which a mixture bet has a capital below ``1/alpha``.

    The mixture of ``r^s (1 − r)^f`` over a Beta(1/2, 1/2) law of ``r``, divided by its value at
    ``q``, is a martingale if the probability is ``q``; Ville's inequality gives the interval
    (Robbins 1970).

    Assumes that each set covers with the same probability, given the past. This holds for smoothed
    sets of `full` with a refitted model and windows that do not overlap, whose misses are
    independent. For other symmetries, and if the law changes, use `NormalMixture`.

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
    """Return the lowest probability not ruled out for each pair of counts."""
    lowest = np.zeros(len(hits))
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
        lowest[k] = out
    return lowest


@dataclass(frozen=True)
class NormalMixture(ConfidenceSequence, name="normal_mixture"):
    """An interval for the mean so far of the coverage probability of each set given its past.

    A share of hits estimates that mean if probabilities differ from step to step and depend on
    the past. ``exp(λ Σ (hit − probability) − λ² t / 8)`` is a supermartingale for any
    probabilities (Hoeffding); mixed over a normal law of ``λ`` it gives
    ``√((V + ρ) log((V + ρ) / (ρ α²)))``, ``V = t/4``, as a bound of the sum
    at all times (Robbins 1970; Howard et al. 2021).

    Parameters
    ----------
    best_at : float, default 500
        The number of trials for which the width is optimised; the interval holds at all times.

    Examples
    --------
    >>> low, high = NormalMixture().interval(900, 1000)
    >>> round(float(low), 3), round(float(high), 3)
    (0.852, 0.948)
    """

    best_at: float = 500.0

    assumes = "nothing: the interval is for the mean of the probabilities so far"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_scalar(self.best_at, "best_at", "give a number of trials")
        if not 1 <= self.best_at < np.inf:
            raise ValueError(f"best_at must be a number of trials ≥ 1, got {self.best_at!r}")

    def bounds(self, successes: FloatArray, trials: FloatArray) -> tuple[FloatArray, FloatArray]:
        # Howard et al. (2021), section 3.5, to a good approximation; any ρ is valid.
        logs = 2.0 * np.log(1.0 / self.share)
        rho = self.best_at / 4.0 / (logs + np.log(1.0 + logs))
        width = trials / 4.0 + rho
        half = np.sqrt(width * (np.log(width / rho) + logs)) / trials
        mean = successes / trials
        return np.maximum(mean - half, 0.0), np.minimum(mean + half, 1.0)
