"""The score of the whole path."""

from __future__ import annotations

from dataclasses import dataclass

from definetti.arrays import FloatArray
from definetti.hmm.model import Parameters
from definetti.hmm.paths import log_posterior
from definetti.scores.contract import Score
from definetti.windows import Windows


@dataclass(frozen=True)
class Path(Score):
    """Minus the log-probability of the path given all observations: the smallest sets."""

    def __call__(self, parameters: Parameters, windows: Windows) -> FloatArray:
        likelihood = parameters.log_likelihood(windows.observations)
        return -log_posterior(parameters.transition, likelihood, windows.start, windows.states)
