"""The paper's score: each state by what was observed so far."""

from __future__ import annotations

from dataclasses import dataclass

from definetti._system.arrays import FloatArray
from definetti.data.history import Windows
from definetti.models.base import Estimate
from definetti.scores._marginal import by_steps, mean_strangeness
from definetti.scores.base import StepScore
from definetti.trellis.trellis import Trellis


@dataclass(frozen=True)
class Filter(StepScore, name="filter"):
    """One minus the mean filter probability: the paper's equation in Step 4 of Algorithm 1."""

    squares = False

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        return mean_strangeness(estimate.filtering(windows), windows, self.lag)

    def trellis(self, estimate: Estimate, window: Windows) -> Trellis:
        return by_steps(estimate.filtering(window)[0, self.lag :])
