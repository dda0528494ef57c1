"""Adaptive levels: keep the long-run share of misses, without assumptions.

They take p-values of a state or of a whole sequence of states, from any method. Their guarantee
holds for every sequence of p-values, as an inequality: `AdaptiveLevel.bound`.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from definetti._system.checks import check_scalar, checked_fraction
from definetti._system.mixins import Named, Resumed
from definetti.engine.pvalues import miscoverage

Number = Fraction | float


@dataclass(eq=False)
class AdaptiveLevel(Named, Resumed):
    """A level raised after each miss and lowered after each set that held the truth.

    A set holds all candidates whose p-value is above `alpha`. Labels may come late: `issue` records
    the values in force when a set is made, and its number goes to `update` with the p-value of the
    truth, in any order. Pass sets whose labels never come to `drop`, or leave them waiting.

    Parameters
    ----------
    confidence_level : float, default 0.9
        The long-run share of sets that should hold the truth.

    Attributes
    ----------
    alpha : the miscoverage now; the set is full from 0 downwards, and empty from 1 upwards
    n_labels, n_missed : how many sets were judged, and how many of them missed
    most_waiting : the largest number of waiting labels when another set was made
    """

    confidence_level: float = 0.9

    def __post_init__(self) -> None:
        self.aim = miscoverage(self.confidence_level)
        self.check()
        self.n_labels = self.n_missed = self.n_issued = self.most_waiting = 0
        self.waiting: dict[int, tuple[Number, ...]] = {}
        self.begin()

    @abstractmethod
    def begin(self) -> None:
        """Set the initial state, before the first label."""

    @property
    @abstractmethod
    def in_force(self) -> tuple[Number, ...]:
        """The values in force for a set, alpha first: all that `learn` needs with its label."""

    @abstractmethod
    def learn(self, p_value: Number, missed: bool, in_force: tuple[Number, ...]) -> None:
        """Adapt to a label, with the values in force when its set was made."""

    @property
    @abstractmethod
    def bound(self) -> float:
        """The largest possible distance of the share of misses from one minus the level."""

    @property
    @abstractmethod
    def remembered(self) -> dict[str, Any]:
        """The present values of the state that `begin` sets, as numbers and lists."""

    @abstractmethod
    def recall(self, remembered: dict[str, Any]) -> None:
        """Restore the values of `remembered`."""

    def check(self) -> None:
        """Raise for invalid parameters."""

    @property
    def alpha(self) -> Number:
        return self.in_force[0]

    @property
    def level(self) -> float:
        """The confidence level now, between 0 and 1."""
        return float(1 - min(max(self.alpha, 0), 1))

    @property
    def share(self) -> float:
        """The share of misses so far."""
        return self.n_missed / self.n_labels if self.n_labels else 0.0

    def issue(self) -> int:
        """Record the values in force for a new set; return the number to pass to `update`."""
        self.most_waiting = max(self.most_waiting, len(self.waiting))
        self.waiting[self.n_issued] = self.in_force
        self.n_issued += 1
        return self.n_issued - 1

    def update(
        self, p_value: Number, number: int | None = None, *, missed: bool | None = None
    ) -> bool:
        """Judge a set by the p-value of the truth, adapt, and return whether the set missed.

        Parameters
        ----------
        p_value : a number between 0 and 1
        number : int, optional
            The number of the set from `issue`; a set made just now if left out.
        missed : bool, optional
            Whether the set missed, if that was decided in exact arithmetic.
        """
        check_scalar(p_value, "p_value", "give them one by one")
        if not 0 <= p_value <= 1:
            raise ValueError(f"p_value must be between 0 and 1, got {p_value!r}")
        if number is None:
            self.most_waiting = max(self.most_waiting, len(self.waiting))
            in_force = self.in_force
        elif number in self.waiting:
            in_force = self.waiting.pop(number)
        else:
            raise ValueError(
                f"number={number!r} is not waiting for a label: issue() gives a number for each "
                "set, and each can be judged once"
            )
        alpha = in_force[0]
        said = p_value <= alpha if missed is None else bool(missed)
        # The full set always covers; the empty set never does.
        missed_now = bool(alpha > 0 and (said or alpha >= 1))
        self.learn(p_value, missed_now, in_force)
        self.n_labels += 1
        self.n_missed += missed_now
        return missed_now

    def drop(self, number: int) -> None:
        """Forget a set whose label will never come."""
        if number not in self.waiting:
            raise ValueError(f"number={number!r} is not waiting for a label")
        del self.waiting[number]

    @property
    def state(self) -> dict[str, Any]:
        """The whole state as numbers, text and lists, for JSON."""
        waiting = [[number, *map(str, held)] for number, held in self.waiting.items()]
        counts = {name: getattr(self, name) for name in COUNTS}
        return {**counts, "waiting": waiting, "remembered": self.remembered}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a saved `state`."""
        self.recall(state["remembered"])
        for name in COUNTS:
            setattr(self, name, int(state[name]))
        kinds = [type(value) for value in self.in_force]
        self.waiting = {
            int(number): tuple(kind(value) for kind, value in zip(kinds, held, strict=True))
            for number, *held in state["waiting"]
        }


COUNTS = ("n_labels", "n_missed", "n_issued", "most_waiting")
STEP = "0.005 adapts over some hundreds of rounds"


@dataclass(eq=False)
class ACI(AdaptiveLevel, name="aci"):
    """Lower ``alpha`` by ``gamma · level`` after a miss, else raise it by ``gamma (1 − level)``.

    Guaranteed, for every sequence: after ``n`` labels, of which at most ``d`` were waiting when
    another set was made, the share of misses differs from one minus the level by at most
    ``(max(level, 1 − level) + (d + 1) gamma) / (gamma n)`` (Gibbs & Candès 2021, there for d = 0;
    ``alpha`` less ``gamma · level`` for every set that may yet turn out to have missed never falls
    below ``−(d + 1) gamma``, and likewise upwards). Computed in fractions, without rounding.

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
        checked_fraction(self.gamma, "gamma", STEP)

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
    """Average several `ACI` with different step sizes, weighted by past performance.

    Performance is the pinball loss of each ``alpha`` as a forecast of the p-value; weights are
    exponential in it, over a memory of `memory` labels (Gibbs & Candès 2022, with their choice of
    the two parameters).

    Guaranteed, for every sequence: each ACI keeps its inequality, late labels included (`bounds`).
    Their average has no guarantee at a useful rate unless the weights hardly change, so `bound` is
    infinite. Use it if the best step size is unknown.

    Parameters
    ----------
    gammas : the step sizes
    memory : float, default 500
        The number of labels for which the best step size stays about the same.

    Attributes
    ----------
    alphas, weights : one of each for every ACI
    misses : how many sets each ACI would have missed

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
            checked_fraction(gamma, "each of gammas", STEP)
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
        """The largest possible distance of each ACI's share of misses from one minus the level."""
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
            numbers = np.array(remembered[name], dtype=np.float64)
            if numbers.shape != (len(self.gammas),):
                raise ValueError(f"{name} must be {len(self.gammas)} numbers, one for each step")
            setattr(self, name, numbers)


@dataclass(eq=False)
class QuantilePID(AdaptiveLevel, name="quantile_pid"):
    """Track the quantile of ``−log p``, with a correction for accumulated misses.

    The threshold of ``−log p`` rises by ``step · level`` after a miss and falls by
    ``step (1 − level)`` otherwise (quantile tracking, the P of PID): `alpha` changes by factors, so
    that a level near one is adapted in small steps. The sum of all errors is added through a
    tangent that becomes infinite at ``saturation · √(n + 100)`` (the I). The D of the paper is a
    forecast of scores, which p-values contain already (Angelopoulos, Candès & Tibshirani 2023).

    Guaranteed, for every sequence: after ``n`` labels, of which at most ``d`` were waiting when
    another set was made, the share of misses differs from one minus the level by at most
    ``(saturation √(n + 100) + d + 1) / n``.

    Parameters
    ----------
    step : float, default 0.1
        The step size for ``−log p``.
    saturation : float, default 3
        The most excess or lacking misses in units of √(n + 100), apart from late labels.

    Examples
    --------
    >>> level = QuantilePID(0.9)
    >>> level.update(0.03), 0.08 < level.alpha < 0.1
    (True, True)
    """

    step: float = 0.1
    saturation: float = 3.0

    def check(self) -> None:
        checked_fraction(self.step, "step", STEP)
        check_scalar(self.saturation, "saturation", "try 3")
        if not 0 < self.saturation < np.inf:
            raise ValueError(f"saturation must be a number above 0, got {self.saturation!r}; try 3")

    def begin(self) -> None:
        self.threshold = -float(np.log(float(self.aim)))

    @property
    def in_force(self) -> tuple[Number, ...]:
        # The exact sum of misses minus their expected number, which corrects the level.
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
        """The sum at which the tangent is infinite: beyond it the set is full, or empty."""
        return float(self.saturation * np.sqrt(self.n_labels + 100))

    @property
    def remembered(self) -> dict[str, Any]:
        return {"threshold": self.threshold}

    def recall(self, remembered: dict[str, Any]) -> None:
        self.threshold = float(remembered["threshold"])
