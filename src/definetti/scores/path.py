"""The score of the whole path."""

from __future__ import annotations

from dataclasses import dataclass

from definetti.arrays import FloatArray
from definetti.hmm.estimate import Estimate
from definetti.scores.contract import Score
from definetti.windows import Windows


@dataclass(frozen=True)
class Path(Score):
    """Minus the log-probability of the path given all observations: the smallest sets."""

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        return -estimate.log_posterior(windows)
