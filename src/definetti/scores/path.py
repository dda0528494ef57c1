"""The score of the whole path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from definetti._system.arrays import FloatArray
from definetti.data.history import Windows
from definetti.models.base import Estimate
from definetti.scores.base import StepScore
from definetti.trellis.trellis import Trellis


@dataclass(frozen=True)
class Path(StepScore, name="path"):
    """Minus the log-probability of the path given all observations: the smallest sets."""

    @property
    def squares(self) -> bool:
        return self.lag > 0

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        if not self.lag:
            return -estimate.log_posterior(windows)
        ends, kernels = estimate.log_kernels(windows)
        # Backwards, the chain says nothing of the first steps: they are summed out.
        states, number = windows.states, np.arange(len(windows.start))[:, None]
        steps = np.arange(self.lag, states.shape[1] - 1)
        back = kernels[number, steps, states[:, self.lag : -1], states[:, self.lag + 1 :]]
        return np.asarray(-back.sum(axis=1) - ends[number[:, 0], states[:, -1]])

    def trellis(self, estimate: Estimate, window: Windows) -> Trellis:
        ends, kernels = (-part[0] for part in estimate.log_kernels(window))
        moves = kernels[self.lag :]
        if not len(moves):
            return Trellis(ends, moves)
        moves[-1] += ends
        return Trellis(np.zeros(len(ends)), moves)
