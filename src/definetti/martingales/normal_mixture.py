"""A confidence sequence that assumes nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.checks import check_scalar
from definetti.martingales.sequence import ConfidenceSequence


@dataclass(frozen=True)
class NormalMixture(ConfidenceSequence, name="normal_mixture"):
    """An interval for the mean, so far, of what the probability of each set was given its past.

    That mean is what a share estimates where probabilities differ from step to step and depend on
    what came before. ``exp(λ Σ (hit − probability) − λ² t / 8)`` is a supermartingale whatever they
    are (Hoeffding); mixed over a normal law of ``λ`` it gives ``√((V + ρ) log((V + ρ) / (ρ α²)))``,
    ``V = t/4``, as a bound of the sum at all times (Robbins 1970; Howard et al. 2021).

    Parameters
    ----------
    best_at : float, default 500
        The number of trials at which it is to be narrow; it holds at all.

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
