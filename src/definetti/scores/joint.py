"""Scores made of the probability of several states in a row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from definetti._system.arrays import FloatArray
from definetti.data.history import Windows
from definetti.models.base import Estimate
from definetti.scores._marginal import by_steps
from definetti.scores.base import StepScore
from definetti.trellis.trellis import Trellis


@dataclass(frozen=True)
class Joint(StepScore, name="joint"):
    """One minus the mean probability of ``order + 1`` states in a row: the paper's last variant.

    Order 0 is the smoother; an order beyond the window stands for the whole window.
    """

    order: int = 1

    squares = False

    def __post_init__(self) -> None:
        if not isinstance(self.order, int) or self.order < 0:
            raise ValueError(f"order must be a whole number ≥ 0, got {self.order!r}; try 1")

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        runs = estimate.joint(windows, self._order(windows))
        return np.asarray(1.0 - runs[:, self.lag :].mean(axis=1))

    def trellis(self, estimate: Estimate, window: Windows) -> Trellis | None:
        if (order := self._order(window)) > 1:
            return None  # three states in a row are more than a trellis can see
        if order == 0:
            return by_steps(estimate.smoothing(window)[0, self.lag :])
        moves = 1.0 - estimate.pairwise(window)[0, self.lag :]
        return Trellis(np.zeros(moves.shape[-1]), moves / len(moves))

    def _order(self, windows: Windows) -> int:
        return min(self.order, int(windows.states.shape[1]) - self.lag - 1)
