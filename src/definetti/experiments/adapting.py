"""Baselines whose level adapts: after a miss the next sets are larger."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from definetti.experiments.baseline import Baseline
from definetti.levels import ACI, AdaptiveLevel, DtACI, QuantilePID
from definetti.models.base import Model


class Adapting(Baseline):
    """A baseline whose level adapts, by one of the rules of `definetti.levels`."""

    learns_from_misses = True
    rule: ClassVar[type[AdaptiveLevel]]
    _rule: AdaptiveLevel

    def _make_rule(self) -> AdaptiveLevel:
        return self.rule(self.confidence_level)

    @property
    def alpha_(self) -> Fraction:
        """The current miscoverage level; it may be below 0 or above 1."""
        return Fraction(self._rule.alpha)

    @property
    def rounds_(self) -> int:
        """Number of windows that were added with their labels."""
        return self._rule.n_labels

    @property
    def misses_(self) -> int:
        """Number of these windows that their sets missed."""
        return self._rule.n_missed

    def partial_fit(self, observations: Any, states: Any) -> Self:
        """Compare the set of a new window with its labels, adapt the level, and add the window."""
        if not self._is_fitted():
            return self.fit(observations, states)
        standing = self._judge_one(*self._ask_about(observations, states))
        super().partial_fit(observations, states)
        self._rule.update(standing.p_value(), missed=not standing.exceeds(self.alpha_))
        return self

    def _check(self) -> None:
        self._make_rule()

    def _take_in(
        self, model: Model, observations: Any, states: Any, lengths: Any, entropy: int
    ) -> dict[str, Any]:
        taken = super()._take_in(model, observations, states, lengths, entropy)
        return {**taken, "_rule": self._make_rule()}

    def _alpha(self, alpha: Fraction) -> Fraction:
        aim = self._rule.aim
        if alpha != aim:
            raise ValueError(
                f"confidence_level={float(1 - alpha):g}, but the level adapts to the estimator's "
                f"own, {float(1 - aim):g}; set it there, and fit again"
            )
        return self.alpha_


@dataclass(eq=False, repr=False)
class AdaptiveInference(Adapting, name="adaptivelevel"):
    """Adaptive conformal inference (Gibbs & Candès 2021).

    Each `partial_fit` is a round: the new window, of any length, is compared with the set predicted
    from the data before it, and ``alpha += gamma · (1 − level − miss)``.

    Guaranteed, for any data whatever: after ``T`` rounds the share of misses differs from one
    minus the level by at most ``(max(level, 1 − level) + gamma) / (gamma T)``. Nothing is
    guaranteed for a single set, which is full where ``alpha <= 0`` and empty where ``alpha >= 1``.

    Parameters
    ----------
    gamma : float, default 0.005
        The size of a step of the level.

    Attributes
    ----------
    alpha_ : the current miscoverage level, a fraction that may be below 0 or above 1
    rounds_, misses_ : number of windows added with their labels, and of sets that missed

    Examples
    --------
    >>> from definetti.simulate import weather
    >>> y, x = weather(300, random_state=0)
    >>> cp = AdaptiveInference(gamma=0.05).fit(y[:200], x[:200])
    >>> for t in range(200, 300):
    ...     s = cp.predict_set(y[t : t + 1])
    ...     cp = cp.partial_fit(y[t : t + 1], x[t : t + 1])
    >>> cp.rounds_, cp.misses_, float(cp.alpha_)
    (100, 8, 0.2)
    """

    title = "adaptive conformal inference"

    gamma: float = 0.005

    def _make_rule(self) -> ACI:
        return ACI(self.confidence_level, self.gamma)


class TunedLevel(Adapting, name="dtaci"):
    """Adaptive conformal inference that tunes its step (Gibbs & Candès 2022).

    Guaranteed, for any data whatever: each step size by itself has the guarantee of
    `AdaptiveInference`. Their average, which determines the sets, has no guarantee.

    Attributes and rounds are those of `AdaptiveInference`, with the rule `definetti.levels.DtACI`.
    """

    title = "dynamically tuned adaptive conformal inference"
    rule = DtACI


class ControlledLevel(Adapting, name="quantile_pid"):
    """Conformal PID control on p-values (Angelopoulos, Candès & Tibshirani 2023).

    Guaranteed, for any data whatever: after ``T`` rounds the share of misses differs from one
    minus the level by at most ``(3 √(T + 100) + 1) / T``. Nothing is guaranteed for a single set.

    Attributes and rounds are those of `AdaptiveInference`, with the rule
    `definetti.levels.QuantilePID`.
    """

    title = "conformal PID control"
    rule = QuantilePID
