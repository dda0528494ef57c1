"""A level that adapts: after a miss the next sets are larger."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from numbers import Real
from typing import Any, TypeVar

from definetti.baselines.base import Baseline
from definetti.models.base import Model
from definetti.ranks.pvalue import miscoverage

Self = TypeVar("Self", bound="AdaptiveLevel")


class AdaptiveLevel(Baseline, name="adaptivelevel"):
    """Adaptive conformal inference (Gibbs & Candès 2021).

    Parameters
    ----------
    gamma : float, default 0.005
        The size of a step of the level.

    Attributes
    ----------
    alpha_ : what is left out now, a fraction that may be below 0 or above 1
    rounds_, misses_ : how many windows came in with their labels, and how many sets missed

    Notes
    -----
    The other parameters are those of `definetti.baselines.base.Baseline`.

    Each `partial_fit` is a round: the window that it brings, as long as it is, is judged by the
    set that it would have been given just before, and ``alpha += gamma · (1 − level − miss)``.

    Guaranteed, for any data whatever: after ``T`` rounds the share of misses differs from one
    minus the level by at most ``(max(level, 1 − level) + gamma) / (gamma T)``. Nothing is
    guaranteed of a single set; the set is everything where ``alpha <= 0``, empty where
    ``alpha >= 1``.

    Over ``h`` steps whole windows are ranked, so that all steps are right together.

    Examples
    --------
    >>> from definetti.simulate import weather
    >>> y, x = weather(300, random_state=0)
    >>> cp = AdaptiveLevel(gamma=0.05).fit(y[:200], x[:200])
    >>> for t in range(200, 300):
    ...     s = cp.predict_set(y[t : t + 1])
    ...     cp = cp.partial_fit(y[t : t + 1], x[t : t + 1])
    >>> cp.rounds_, cp.misses_, float(cp.alpha_)
    (100, 8, 0.2)
    """

    title = "adaptive conformal inference"
    learns_from_misses = True

    def __init__(
        self,
        model: Any = "auto",
        score: Any = "path",
        confidence_level: float = 0.9,
        train_size: float | None = 0.5,
        states: Iterable[Hashable] | None = None,
        max_candidates: int = 100_000,
        random_state: Any = None,
        gamma: float = 0.005,
    ) -> None:
        super().__init__(
            model, score, confidence_level, train_size, states, max_candidates, random_state
        )
        self.gamma = gamma

    def partial_fit(self: Self, observations: Any, states: Any) -> Self:
        """Judge the set of a new window by its labels, adapt the level, and take the window in."""
        if not hasattr(self, "_data"):
            return self.fit(observations, states)
        missed = not self._judge_one(*self._ask_about(observations, states)).exceeds(self.alpha_)
        super().partial_fit(observations, states)
        self.alpha_ += Fraction(str(self.gamma)) * (self._aim - missed)
        self.rounds_ += 1
        self.misses_ += missed
        return self

    def _check(self) -> None:
        number = isinstance(self.gamma, Real) and not isinstance(self.gamma, bool)
        if not number or not 0 < self.gamma < 1:
            raise ValueError(
                f"gamma must be a number between 0 and 1, got {self.gamma!r}; 0.005 adapts over "
                "some hundreds of rounds"
            )

    def _take_in(
        self, model: Model, observations: Any, states: Any, lengths: Any, entropy: int
    ) -> dict[str, Any]:
        taken = super()._take_in(model, observations, states, lengths, entropy)
        alpha = miscoverage(self.confidence_level)
        return {**taken, "alpha_": alpha, "_aim": alpha, "rounds_": 0, "misses_": 0}

    def _alpha(self, alpha: Fraction) -> Fraction:
        if alpha != self._aim:
            raise ValueError(
                f"confidence_level={float(1 - alpha):g}, but the level adapts to the estimator's "
                f"own, {float(1 - self._aim):g}; set it there, and fit again"
            )
        adapted: Fraction = self.alpha_
        return adapted
