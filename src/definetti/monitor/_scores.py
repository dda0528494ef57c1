"""What the parts of a step are judged by, where it is not a table of counts that tells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from definetti._system.arrays import FloatArray
from definetti.data.labels import MISSING
from definetti.data.windows import Windows
from definetti.models.estimate import Estimate
from definetti.models.hmm import Parameters
from definetti.scores import Score


@dataclass(frozen=True)
class Move(Score):
    """Minus the log-probability of the states, whatever is observed."""

    name = "transitions"

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        return -estimate.log_posterior(_unseen(windows))


@dataclass(frozen=True)
class Seen(Score):
    """Minus the log-likelihood of what is observed, given the state of its step.

    Of a model that gives probabilities of states alone, it is what they gain by being told the
    observation: its likelihood, but for a factor that is the same for all states.
    """

    name = "observations"

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        if isinstance(estimate, Parameters):
            logs = estimate.log_likelihood(windows.observations)
            own = np.take_along_axis(logs, windows.states[..., None], axis=2)
            return np.asarray(-own.sum(axis=(1, 2)))
        told, untold = (estimate.log_posterior(one) for one in (windows, _unseen(windows)))
        with np.errstate(invalid="ignore"):  # what is impossible either way
            return np.asarray(np.where(np.isneginf(told), np.inf, untold - told))


def _unseen(windows: Windows) -> Windows:
    return windows._replace(observations=np.full_like(windows.observations, MISSING))
