"""Baselines that weight the past, or allow for a bounded change of distribution."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, log
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from definetti._system.arrays import FloatArray, IntArray, as_float
from definetti.data.history import Windows
from definetti.data.labels import MISSING
from definetti.engine.algorithm import rank
from definetti.engine.pvalues import Rank
from definetti.engine.task import PredictionTask
from definetti.experiments.baseline import Baseline, Standing, weighed_ranks
from definetti.models.base import Estimate


class Weighted(Baseline):
    """A baseline that compares a candidate with all windows of the past, each with a weight."""

    @abstractmethod
    def _weigh(
        self, task: PredictionTask, estimate: Estimate, past: Windows, new: Windows
    ) -> FloatArray:
        """Return the weights of the windows of the past, the oldest first, and of the new one."""

    def _judge(
        self, task: PredictionTask, candidates: IntArray
    ) -> tuple[Sequence[Standing], FloatArray]:
        estimate, new = task.estimate(task.complete_with(0)), task.windows(candidates)
        past = task.windows_ending(np.arange(len(task.observations), len(task.history)))
        weights = self._weigh(task, estimate, past, new)
        scores = task.score_windows(estimate, new)
        reference = task.score_windows(estimate, past) if len(past.start) else np.zeros(0)
        return weighed_ranks(reference, weights[:-1], scores, own=float(weights[-1])), scores


@dataclass(eq=False, repr=False)
class LikelihoodRatio(Weighted, name="likelihoodratio"):
    """Weighted conformal prediction under covariate shift (Tibshirani et al. 2019).

    Guaranteed: coverage of at least the level, if windows are independent, those of the past have
    one law, the new one another law of the observations with the same law of the states given
    these, and `weight` is the true ratio up to a factor. Nothing for the windows of a Markov chain.

    Parameters
    ----------
    weight : "recent" or callable, default "recent"
        The likelihood ratio of what is known of a window, new over old. A function is called with
        the states before ``B`` windows, ``(B,)`` labels, and their observations, ``(B, h)``;
        it returns ``(B,)`` numbers of at least zero. "recent" estimates it, without guarantee, from
        the symbols in the older and in the newer half of the calibration segment: it adds 1/2 to
        each count, and multiplies the ratios of frequencies over the steps of a window.

    Examples
    --------
    >>> from definetti.simulate import weather
    >>> y, x = weather(300, random_state=0)
    >>> rainier = lambda start, things: 1.0 + (things == "umbrella").sum(axis=1)
    >>> LikelihoodRatio(weight=rainier).fit(y[:298], x[:298]).predict_set(y[298:]).sequences
    [('rain', 'rain')]
    """

    title = "conformal prediction weighted by a likelihood ratio"
    needs_symbols = True

    weight: str | Callable[[Any, Any], Any] = "recent"

    def _check(self) -> None:
        if self.weight != "recent" and not callable(self.weight):
            raise ValueError(
                "weight must be 'recent' or a function from start states and observations of "
                f"windows to numbers, got {self.weight!r}"
            )

    def _weigh(
        self, task: PredictionTask, estimate: Estimate, past: Windows, new: Windows
    ) -> FloatArray:
        # All candidates have the same observations, and so the same weight.
        windows = task.hide_unseen(past + Windows(*(part[:1] for part in new)))
        if callable(self.weight):
            return given_weights(self.weight, estimate, windows)
        return recent_weights(task, windows)


def given_weights(
    function: Callable[[Any, Any], Any], estimate: Estimate, windows: Windows
) -> FloatArray:
    """Call the user's function for the weights of windows."""
    labels = np.fromiter(estimate.labels, dtype=object, count=len(estimate.labels))
    returned = function(labels[windows.start], estimate.decode(windows.observations))
    try:
        weights = np.asarray(returned, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"weight must return one number per window: {error}") from error
    if weights.shape != windows.start.shape:
        raise ValueError(
            f"weight returned shape {weights.shape} for {len(windows.start)} windows; return one "
            f"number per window, shape {windows.start.shape}"
        )
    wrong = ~((weights >= 0) & np.isfinite(weights))
    if wrong.any():
        k = int(wrong.argmax())
        raise ValueError(
            f"weight returned {weights[k]} for window {k}; a likelihood ratio is a finite number "
            "of at least 0"
        )
    return weights


def recent_weights(task: PredictionTask, windows: Windows) -> FloatArray:
    """Weigh windows by how much more frequent their symbols are in the newer half of the past."""
    if not task.model.emission_.symbols:
        raise ValueError(
            "weight='recent' counts symbols, and the observations are none; give a function of "
            "start states and observations"
        )
    observed, size = task.history.observations, len(task.table)
    half = len(observed) // 2
    older, newer = (
        np.bincount(part[part != MISSING], minlength=size) + 0.5
        for part in (observed[:half], observed[half:])
    )
    ratio = np.ones(size + 1)  # −1, for a missing symbol, indexes the last
    ratio[:size] = newer / newer.sum() / (older / older.sum())
    return np.asarray(ratio[windows.observations].prod(axis=1))


@dataclass(eq=False, repr=False)
class NonExchangeable(Weighted, name="nonexchangeable"):
    """Conformal prediction with fixed weights (Barber, Candès, Ramdas & Tibshirani 2022).

    Guaranteed: coverage of at least the level less ``Σ w_i d_TV(Z, Z^i)``, where ``w_i`` are the
    weights, normalised with that of the new window, and ``Z^i`` is the data ``Z`` with window
    ``i`` and the new one swapped. It vanishes if windows are exchangeable; for the windows of a
    Markov chain it need not, and is not known.

    Parameters
    ----------
    decay : float, default 0.99
        The weight of the latest window of the past; the window before has ``decay ** 2``, and so
        on; the new window has weight one. 1 weighs all alike, as `Classical` does.

    Examples
    --------
    >>> from definetti.simulate import weather
    >>> y, x = weather(300, random_state=0)
    >>> NonExchangeable(decay=0.98).fit(y[:298], x[:298]).predict_set(y[298:]).sequences
    [('rain', 'rain')]
    """

    title = "non-exchangeable conformal prediction"

    decay: float = 0.99

    def _check(self) -> None:
        number = isinstance(self.decay, Real) and not isinstance(self.decay, bool)
        if not number or not 0 < self.decay <= 1:
            raise ValueError(
                f"decay must be a number above 0 and at most 1, got {self.decay!r}; 0.99 lets a "
                "window count half as much as one 69 steps later"
            )

    def _weigh(
        self, task: PredictionTask, estimate: Estimate, past: Windows, new: Windows
    ) -> FloatArray:
        return np.power(float(self.decay), np.arange(len(past.start), -1, -1, dtype=np.float64))


@dataclass(eq=False, repr=False)
class Robust(Baseline, name="robust"):
    """Conformal prediction for the worst law within a radius (Cauchois, Gupta, Ali & Duchi 2020).

    An event of probability ``a`` by the old law has at most the probability ``g(a)`` by a new law
    within the radius; the p-value is ``g`` of the classical one.

    Guaranteed: coverage of at least the level, if windows are independent, those of the past have
    one law, and the new one a law whose divergence from it is at most `radius`. For the windows
    of a Markov chain nothing is guaranteed.

    Parameters
    ----------
    radius : float, default 0.01
        How far the law of the new window may be from that of the past; 0 gives `Classical`.
    divergence : {"kl", "chi2", "tv"}, default "kl"
        ``Σ q log(q/p)``, ``Σ (q − p)²/p``, or ``½ Σ |q − p|``, of the new law ``q`` from the old
        law ``p``.

    Examples
    --------
    >>> from definetti.simulate import weather
    >>> y, x = weather(300, random_state=0)
    >>> for radius in (0.0, 0.1):
    ...     print(Robust(radius=radius).fit(y[:298], x[:298]).predict_set(y[298:]).sequences)
    [('rain', 'rain')]
    [('rain', 'rain'), ('sun', 'rain')]
    """

    title = "robust conformal prediction"

    radius: float = 0.01
    divergence: str = "kl"

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
        ranking = rank(task, candidates)
        radius, divergence = float(self.radius), DIVERGENCES[self.divergence]
        standings = [WorstCase(standing, radius, divergence) for standing in ranking.ranks()]
        return standings, ranking.scores[0]


Divergence = Callable[[float, float], float]


class WorstCase(NamedTuple):
    """A rank, and how far the law of the new window may be from that of the past."""

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
    """Return how probable an event can be by a law within the radius, found by bisection."""
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


# The divergence of two laws, new and old, on an event and its complement, by their probabilities.


def kullback_leibler(new: float, old: float) -> float:
    """Return ``Σ q log(q/p)``."""
    parts = ((new, old), (1 - new, 1 - old))
    return sum(0.0 if q == 0 else inf if p == 0 else q * log(q / p) for q, p in parts)


def chi_square(new: float, old: float) -> float:
    """Return ``Σ (q − p)²/p``."""
    if new == old:
        return 0.0
    spread = old * (1 - old)
    return (new - old) ** 2 / spread if spread else inf


def total_variation(new: float, old: float) -> float:
    """Return ``½ Σ |q − p|``."""
    return abs(new - old)


DIVERGENCES = {"kl": kullback_leibler, "chi2": chi_square, "tv": total_variation}
