"""The score of the moves alone."""

from __future__ import annotations

from dataclasses import dataclass

from definetti._system.arrays import FloatArray
from definetti.data.history import Windows, unseen
from definetti.models.base import Estimate
from definetti.scores.base import Score


@dataclass(frozen=True)
class Transition(Score, name="transition"):
    """Minus the log-probability of the window's states, whatever was observed.

    For monitoring: it sees a change of the chain, and none of the observations. Sets made with it
    are large.
    """

    squares = False

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        return -estimate.log_posterior(unseen(windows))
