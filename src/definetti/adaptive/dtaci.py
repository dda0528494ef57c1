"""Adaptive conformal inference that tunes its step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from definetti._system.checks import check_scalar
from definetti.adaptive._steps import checked_step
from definetti.adaptive.base import AdaptiveLevel, Number


@dataclass(eq=False)
class DtACI(AdaptiveLevel, name="dtaci"):
    """Several `ACI` with steps of different sizes, averaged by how well they have fared.

    How well is the pinball loss of each one's ``alpha`` as a forecast of the p-value; weights are
    exponential in it, over a memory of `memory` labels (Gibbs & Candès 2022, with their choice of
    the two parameters).

    Guaranteed, for every sequence: each of the ACI by itself keeps ACI's inequality, late labels
    included (`bounds`). Of their average nothing is guaranteed at a useful rate unless the weights
    hardly move, so `bound` is infinite; it is for where the best size of a step is unknown.

    Parameters
    ----------
    gammas : the sizes of the steps
    memory : float, default 500
        For about how many labels the best step stays the same.

    Attributes
    ----------
    alphas, weights : of each of the ACI
    misses : how many sets each would have missed by itself

    Examples
    --------
    >>> level = DtACI(0.9)
    >>> for p in np.random.default_rng(0).random(300):  # p-values as they should be
    ...     missed = level.update(p)
    >>> 0.05 < level.share < 0.15, 0 < level.alpha < 0.2
    (True, True)
    """

    gammas: tuple[float, ...] = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128)
    memory: float = 500.0

    def check(self) -> None:
        self.gammas = tuple(self.gammas)
        if not self.gammas:
            raise ValueError("gammas has no size of a step; give one or more")
        for gamma in self.gammas:
            checked_step(gamma, "each of gammas")
        check_scalar(self.memory, "memory", "try 500")
        if not 2 <= self.memory < np.inf:
            raise ValueError(f"memory must be a number of labels ≥ 2, got {self.memory!r}; try 500")

    def begin(self) -> None:
        number, alpha = len(self.gammas), float(self.aim)
        self.alphas = np.full(number, alpha)
        self.weights = np.full(number, 1.0 / number)
        self.misses = np.zeros(number)
        spread = (1 - alpha) ** 2 * alpha**3 + alpha**2 * (1 - alpha) ** 3
        self.eta = float(np.sqrt(3 / self.memory * (np.log(number * self.memory) + 2) / spread))
        self.sigma = 1 / (2 * self.memory)

    @property
    def in_force(self) -> tuple[Number, ...]:
        return float(self.weights @ self.alphas), *self.alphas.tolist()

    def learn(self, p_value: Number, missed: bool, in_force: tuple[Number, ...]) -> None:
        alpha, p, held = float(self.aim), float(p_value), np.array(in_force[1:], dtype=np.float64)
        off = p - held
        losses = np.maximum(alpha * off, (alpha - 1) * off)
        shares = self.weights * np.exp(-self.eta * (losses - losses.min()))
        self.weights = (1 - self.sigma) * shares / shares.sum() + self.sigma / len(shares)
        own = (held > 0) & ((p <= held) | (held >= 1))
        self.alphas = self.alphas + np.array(self.gammas) * (alpha - own)
        self.misses += own

    @property
    def bound(self) -> float:
        return float("inf")

    @property
    def bounds(self) -> list[float]:
        """How far the share of misses of each of the ACI can be from one minus the level."""
        far = float(max(self.aim, 1 - self.aim))
        return [
            (far + (self.most_waiting + 1) * gamma) / (gamma * max(self.n_labels, 1))
            for gamma in self.gammas
        ]

    @property
    def remembered(self) -> dict[str, Any]:
        return {name: getattr(self, name).tolist() for name in ("alphas", "weights", "misses")}

    def recall(self, remembered: dict[str, Any]) -> None:
        for name in ("alphas", "weights", "misses"):
            found = np.array(remembered[name], dtype=np.float64)
            if found.shape != (len(self.gammas),):
                raise ValueError(f"{name} must be {len(self.gammas)} numbers, one for each step")
            setattr(self, name, found)
