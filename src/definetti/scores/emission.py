"""The score of the observations alone."""

from __future__ import annotations

from dataclasses import dataclass

from definetti._system.arrays import FloatArray
from definetti.data.history import Windows
from definetti.models.base import Estimate
from definetti.scores.base import Score


@dataclass(frozen=True)
class Emission(Score, name="emission"):
    """Minus the log-likelihood of the observations given the window's states.

    For monitoring: it sees a change of what is observed in a state, and none of the chain. Sets
    made with it are large.
    """

    squares = False

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        return -estimate.log_emission(windows)
