"""Conformal PID control on p-values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from definetti._system.checks import check_scalar
from definetti.adaptive._steps import checked_step
from definetti.adaptive.base import AdaptiveLevel, Number


@dataclass(eq=False)
class QuantilePID(AdaptiveLevel, name="quantile_pid"):
    """Track the quantile of ``−log p``, and steer harder the more misses have added up.

    The threshold of ``−log p`` rises by ``step · level`` after a miss and falls by
    ``step (1 − level)`` otherwise (quantile tracking, the P of PID): `alpha` changes by factors, so
    that a level near one is adapted as gently as it must be. The sum of all errors is added through
    a tangent that grows beyond all bounds at ``saturation · √(n + 100)`` (the I). The D of the
    paper is a forecast of scores, which p-values have in them already (Angelopoulos, Candès &
    Tibshirani 2023).

    Guaranteed, for every sequence: after ``n`` labels, of which at most ``d`` were waiting when
    another set was made, the share of misses differs from one minus the level by at most
    ``(saturation √(n + 100) + d + 1) / n``.

    Parameters
    ----------
    step : float, default 0.1
        The size of a step of ``−log p``.
    saturation : float, default 3
        How many times √(n + 100) misses too many, or too few, there can be, late ones aside.

    Examples
    --------
    >>> level = QuantilePID(0.9)
    >>> level.update(0.03), 0.08 < level.alpha < 0.1
    (True, True)
    """

    step: float = 0.1
    saturation: float = 3.0

    def check(self) -> None:
        checked_step(self.step, "step")
        check_scalar(self.saturation, "saturation", "try 3")
        if not 0 < self.saturation < np.inf:
            raise ValueError(f"saturation must be a number above 0, got {self.saturation!r}; try 3")

    def begin(self) -> None:
        self.threshold = -float(np.log(float(self.aim)))

    @property
    def in_force(self) -> tuple[Number, ...]:
        # Misses beyond what there should be: the sum that is steered by, exactly.
        over = self.n_missed - self.aim * self.n_labels
        angle = float(over) / self._most
        if abs(angle) >= 1.0:
            return (0.0 if angle > 0 else 1.0,)
        pushed = self.threshold + np.tan(angle * np.pi / 2)
        return (float(np.exp(-max(pushed, 0.0))),)

    def learn(self, p_value: Number, missed: bool, in_force: tuple[Number, ...]) -> None:
        self.threshold += self.step * (missed - float(self.aim))

    @property
    def bound(self) -> float:
        if not self.n_labels:
            return 1.0
        return (self._most + self.most_waiting + 1) / self.n_labels

    @property
    def _most(self) -> float:
        """Where the tangent is infinite: everything, or nothing, is in the set from there on."""
        return float(self.saturation * np.sqrt(self.n_labels + 100))

    @property
    def remembered(self) -> dict[str, Any]:
        return {"threshold": self.threshold}

    def recall(self, remembered: dict[str, Any]) -> None:
        self.threshold = float(remembered["threshold"])
