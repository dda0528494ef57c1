"""The score of the strangest step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from definetti._system.arrays import FloatArray
from definetti.data.history import Windows
from definetti.models.base import Estimate, at_states
from definetti.scores.base import StepScore
from definetti.trellis.trellis import Trellis


@dataclass(frozen=True)
class Band(StepScore, name="band"):
    """One minus the smallest smoother probability: its sets tend to products, step by step.

    Parameters
    ----------
    max_errors : int, default 0
        How many of the steps, those that are strangest, to leave out of account.
    """

    max_errors: int = 0

    squares = False

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        steps = self.steps(estimate, windows)
        if self.max_errors >= steps.shape[1]:
            return np.zeros(len(steps))
        return np.asarray(
            np.partition(steps, -1 - self.max_errors, axis=1)[:, -1 - self.max_errors]
        )

    def steps(self, estimate: Estimate, windows: Windows) -> FloatArray:
        """Return how strange each step is, ``(B, h)``."""
        picked = at_states(estimate.smoothing(windows), windows.states)
        return np.asarray(1.0 - picked[:, self.lag :])

    def trellis(self, estimate: Estimate, window: Windows) -> Trellis | None:
        if self.max_errors:
            return None
        strange = 1.0 - estimate.smoothing(window)[0, self.lag :]
        return Trellis(strange[0], strange[1:, None], worst=True)
