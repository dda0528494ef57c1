"""Scores made of the probability of each state by itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from definetti._system.arrays import FloatArray
from definetti.data.windows import Windows
from definetti.models.estimate import Estimate, at_states, mean_at_states
from definetti.scores.base import StepScore
from definetti.trellis.trellis import Trellis


@dataclass(frozen=True)
class Filter(StepScore):
    """One minus the mean filter probability: the paper's equation in Step 4 of Algorithm 1."""

    squares = False

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        return _mean(estimate.filtering(windows), windows, self.lag)

    def trellis(self, estimate: Estimate, window: Windows) -> Trellis:
        return by_steps(estimate.filtering(window)[0, self.lag :])


@dataclass(frozen=True)
class Smoother(StepScore):
    """One minus the mean smoother probability: later observations count too."""

    squares = False

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        return _mean(estimate.smoothing(windows), windows, self.lag)

    def trellis(self, estimate: Estimate, window: Windows) -> Trellis:
        return by_steps(estimate.smoothing(window)[0, self.lag :])


@dataclass(frozen=True)
class Band(StepScore):
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


def by_steps(probabilities: FloatArray) -> Trellis:
    """Return the trellis of one minus the mean of ``(h, n)`` probabilities along a path."""
    terms = (1.0 - probabilities) / len(probabilities)
    return Trellis(terms[0], terms[1:, None])


def _mean(probabilities: FloatArray, windows: Windows, lag: int) -> FloatArray:
    if lag:
        return np.asarray(1.0 - at_states(probabilities, windows.states)[:, lag:].mean(axis=1))
    return 1.0 - mean_at_states(probabilities, windows.states)
