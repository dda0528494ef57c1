"""Scores made of the probability of each state by itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from definetti.arrays import FloatArray
from definetti.hmm.estimate import Estimate, at_states, mean_at_states
from definetti.scores.contract import Score
from definetti.windows import Windows


@dataclass(frozen=True)
class Filter(Score):
    """One minus the mean filter probability: the paper's equation in Step 4 of Algorithm 1."""

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        return 1.0 - mean_at_states(estimate.filtering(windows), windows.states)


@dataclass(frozen=True)
class Smoother(Score):
    """One minus the mean smoother probability: later observations count too."""

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        return 1.0 - mean_at_states(estimate.smoothing(windows), windows.states)


@dataclass(frozen=True)
class Band(Score):
    """One minus the smallest smoother probability: its sets tend to products, step by step."""

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        return np.asarray(1.0 - at_states(estimate.smoothing(windows), windows.states).min(axis=1))
