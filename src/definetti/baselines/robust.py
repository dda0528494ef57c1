"""Robust to a change of law that is bounded: the worst case in a ball."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from math import inf, log
from numbers import Real
from typing import Any, NamedTuple

from definetti._system.arrays import FloatArray, IntArray, as_float
from definetti.baselines.base import Baseline
from definetti.baselines.standing import Standing
from definetti.engine.pvalues import Rank
from definetti.engine.rank import rank
from definetti.engine.task import PredictionTask


class Robust(Baseline, name="robust"):
    """Conformal prediction for the worst law near by (Cauchois, Gupta, Ali & Duchi 2020).

    Parameters
    ----------
    radius : float, default 0.01
        How far the law of the new window may be from that of the past; 0 gives `Classical`.
    divergence : {"kl", "chi2", "tv"}, default "kl"
        ``Σ q log(q/p)``, ``Σ (q − p)²/p``, or ``½ Σ |q − p|``, of the new law ``q`` from the old
        law ``p``.

    Notes
    -----
    The other parameters are those of `definetti.baselines.base.Baseline`.

    An event of probability ``a`` by the old law has at most the probability ``g(a)`` by a new law
    within the radius; the p-value is ``g`` of the classical one.

    Guaranteed: coverage of at least the level, if windows are independent, those of the past have
    one law, and the new one a law whose divergence from it is at most `radius`. For the windows
    of a Markov chain nothing is guaranteed.

    Over ``h`` steps whole windows are ranked, so that all steps are right together.

    Examples
    --------
    >>> from definetti.simulate import weather
    >>> y, x = weather(300, random_state=0)
    >>> Robust(radius=0.0).fit(y[:298], x[:298]).predict_set(y[298:]).sequences
    [('rain', 'rain')]
    >>> Robust(radius=0.1).fit(y[:298], x[:298]).predict_set(y[298:]).sequences
    [('rain', 'rain'), ('sun', 'rain')]
    """

    title = "robust conformal prediction"

    def __init__(
        self,
        model: Any = "auto",
        score: Any = "path",
        confidence_level: float = 0.9,
        train_size: float | None = 0.5,
        states: Iterable[Hashable] | None = None,
        max_candidates: int = 100_000,
        random_state: Any = None,
        radius: float = 0.01,
        divergence: str = "kl",
    ) -> None:
        super().__init__(
            model, score, confidence_level, train_size, states, max_candidates, random_state
        )
        self.radius = radius
        self.divergence = divergence

    def _check(self) -> None:
        number = isinstance(self.radius, Real) and not isinstance(self.radius, bool)
        if not number or not 0 <= as_float(self.radius) < inf:
            raise ValueError(
                f"radius must be a finite number ≥ 0, got {self.radius!r}; 0 is for no change"
            )
        if self.divergence not in DIVERGENCES:
            raise ValueError(
                f"divergence must be one of {', '.join(map(repr, DIVERGENCES))}, got "
                f"{self.divergence!r}"
            )

    def _judge(
        self, task: PredictionTask, candidates: IntArray
    ) -> tuple[Sequence[Standing], FloatArray]:
        found, scores = rank(task, candidates)
        radius, divergence = float(self.radius), DIVERGENCES[self.divergence]
        return [WorstCase(one, radius, divergence) for one in found], scores


Divergence = Callable[[float, float], float]


class WorstCase(NamedTuple):
    """A rank, and how far the law may be from the one that it was made with.

    Examples
    --------
    >>> round(WorstCase(Rank(0, 1, 10), 0.2, total_variation).p_value(), 6)
    0.3
    """

    rank: Rank
    radius: float
    divergence: Divergence

    def p_value(self) -> float:
        """Return the largest probability that an event of the classical p-value may have."""
        return worst_probability(self.rank.p_value(), self.radius, self.divergence)

    def exceeds(self, alpha: Fraction) -> bool:
        if self.rank.exceeds(alpha):
            return True
        # The worst case is above alpha if a law that gives alpha is inside the ball.
        return self.divergence(float(alpha), self.rank.p_value()) < self.radius


def worst_probability(probability: float, radius: float, divergence: Divergence) -> float:
    """Return how probable an event can be by a law within the radius, found by bisection.

    >>> round(worst_probability(0.1, 0.2, chi_square), 6)  # 0.1 + sqrt(0.2 · 0.1 · 0.9)
    0.234164
    """
    if radius == 0:  # bisection would find it but for rounding
        return probability
    if divergence(1.0, probability) <= radius:
        return 1.0
    low, high = probability, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if divergence(middle, probability) <= radius:
            low = middle
        else:
            high = middle
    return low


def kullback_leibler(new: float, old: float) -> float:
    """Return the divergence of two laws on an event and its complement."""
    parts = ((new, old), (1 - new, 1 - old))
    return sum(0.0 if q == 0 else inf if p == 0 else q * log(q / p) for q, p in parts)


def chi_square(new: float, old: float) -> float:
    """Return the divergence of two laws on an event and its complement."""
    if new == old:
        return 0.0
    spread = old * (1 - old)
    return (new - old) ** 2 / spread if spread else inf


def total_variation(new: float, old: float) -> float:
    """Return the distance of two laws on an event and its complement."""
    return abs(new - old)


DIVERGENCES: dict[str, Divergence] = {
    "kl": kullback_leibler,
    "chi2": chi_square,
    "tv": total_variation,
}
