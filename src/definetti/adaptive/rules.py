"""Rules by which a level adapts to misses: ACI, DtACI and quantile PID control."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from definetti._system.checks import check_scalar
from definetti.adaptive.base import AdaptiveLevel, Number, checked_step


@dataclass(eq=False)
class ACI(AdaptiveLevel, name="aci"):
    """After a miss ``alpha`` is lowered by ``gamma · level``, else raised by ``gamma (1 − level)``.

    Guaranteed, for every sequence: after ``n`` labels, of which at most ``d`` were waiting when
    another set was made, the share of misses differs from one minus the level by at most
    ``(max(level, 1 − level) + (d + 1) gamma) / (gamma n)`` (Gibbs & Candès 2021, there for d = 0;
    ``alpha`` less ``gamma · level`` for every set that may yet turn out to have missed never falls
    below ``−(d + 1) gamma``, and likewise upwards). In fractions, so that no rounding adds up.

    Parameters
    ----------
    gamma : float, default 0.005
        The size of a step.

    Examples
    --------
    >>> aci = ACI(0.9, gamma=0.05)
    >>> aci.update(0.03), float(aci.alpha)  # a miss: the next sets are larger
    (True, 0.055)
    >>> early, late = aci.issue(), aci.issue()
    >>> aci.update(0.5, late), aci.update(0.052, early), float(aci.alpha)
    (False, True, 0.015)
    """

    gamma: float = 0.005

    def check(self) -> None:
        checked_step(self.gamma)

    def begin(self) -> None:
        self._alpha = self.aim

    @property
    def in_force(self) -> tuple[Number, ...]:
        return (self._alpha,)

    def learn(self, p_value: Number, missed: bool, in_force: tuple[Number, ...]) -> None:
        self._alpha += Fraction(str(self.gamma)) * (self.aim - missed)

    @property
    def bound(self) -> float:
        if not self.n_labels:
            return 1.0
        gamma = Fraction(str(self.gamma))
        far = max(self.aim, 1 - self.aim) + (self.most_waiting + 1) * gamma
        return float(far / (gamma * self.n_labels))

    @property
    def remembered(self) -> dict[str, Any]:
        return {"alpha": str(self._alpha)}

    def recall(self, remembered: dict[str, Any]) -> None:
        self._alpha = Fraction(remembered["alpha"])


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
