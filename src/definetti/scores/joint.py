"""Scores made of the probability of several states in a row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from definetti.arrays import FloatArray
from definetti.hmm.estimate import Estimate
from definetti.scores.contract import Score
from definetti.windows import Windows


@dataclass(frozen=True)
class Joint(Score):
    """One minus the mean probability of ``order + 1`` states in a row: the paper's last variant.

    Order 0 is the smoother; an order beyond the window stands for the whole window.
    """

    order: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.order, int) or self.order < 0:
            raise ValueError(f"order must be a whole number ≥ 0, got {self.order!r}; try 1")

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        order = min(self.order, windows.states.shape[1] - 1)
        return np.asarray(1.0 - estimate.joint(windows, order).mean(axis=1))
