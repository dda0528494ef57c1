"""Scores made of the probability of each state by itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from definetti.arrays import FloatArray
from definetti.hmm.backward import smoothing
from definetti.hmm.forward import filtering
from definetti.hmm.model import Parameters
from definetti.scores.contract import Score
from definetti.windows import Windows


def _at_states(probabilities: FloatArray, windows: Windows) -> FloatArray:
    """Pick, at each step, the probability of the state that the window has there."""
    return np.take_along_axis(probabilities, windows.states[:, :, None], axis=2)[:, :, 0]


@dataclass(frozen=True)
class Filter(Score):
    """One minus the mean filter probability: the paper's equation in Step 4 of Algorithm 1."""

    def __call__(self, parameters: Parameters, windows: Windows) -> FloatArray:
        likelihood = parameters.log_likelihood(windows.observations)
        posterior = filtering(parameters.transition, likelihood, windows.start)
        return np.asarray(1.0 - _at_states(posterior, windows).mean(axis=1))


@dataclass(frozen=True)
class Smoother(Score):
    """One minus the mean smoother probability: later observations count too."""

    def __call__(self, parameters: Parameters, windows: Windows) -> FloatArray:
        likelihood = parameters.log_likelihood(windows.observations)
        posterior = smoothing(parameters.transition, likelihood, windows.start)
        return np.asarray(1.0 - _at_states(posterior, windows).mean(axis=1))


@dataclass(frozen=True)
class Band(Score):
    """One minus the smallest smoother probability: its sets tend to products, step by step."""

    def __call__(self, parameters: Parameters, windows: Windows) -> FloatArray:
        likelihood = parameters.log_likelihood(windows.observations)
        posterior = smoothing(parameters.transition, likelihood, windows.start)
        return np.asarray(1.0 - _at_states(posterior, windows).min(axis=1))
