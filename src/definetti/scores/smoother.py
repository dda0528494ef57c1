"""Each state by all that is observed."""

from __future__ import annotations

from dataclasses import dataclass

from definetti._system.arrays import FloatArray
from definetti.data.history import Windows
from definetti.models.base import Estimate
from definetti.scores._marginal import by_steps, mean_strangeness
from definetti.scores.base import StepScore
from definetti.trellis.trellis import Trellis


@dataclass(frozen=True)
class Smoother(StepScore, name="smoother"):
    """One minus the mean smoother probability: later observations count too."""

    squares = False

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        return mean_strangeness(estimate.smoothing(windows), windows, self.lag)

    def trellis(self, estimate: Estimate, window: Windows) -> Trellis:
        return by_steps(estimate.smoothing(window)[0, self.lag :])
