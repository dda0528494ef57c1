"""Adaptive conformal inference."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from definetti.adaptive._steps import checked_step
from definetti.adaptive.base import AdaptiveLevel, Number


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
