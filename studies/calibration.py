"""What a window is compared with when the predictor is fixed: ours, and the classical way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from definetti.data.history import Completion
from definetti.symmetry import Reference, Symmetry
from definetti.symmetry.base import Generator


@dataclass(frozen=True)
class AllWindows(Symmetry):
    """Split conformal prediction that ignores time: **not valid** for a Markov chain.

    All windows of the calibration segment, overlapping ones too, are taken for exchangeable with
    the new one, whatever states they end in.
    """

    exact = False
    reads_observations = False

    def orbit(self, completion: Completion) -> tuple[int, ...]:
        return ()

    def reference(self, completion: Completion, generator: Generator) -> Reference:
        return Reference.past(np.arange(completion.horizon, len(completion.history)))
