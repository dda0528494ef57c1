"""Ranks, p-values, confidence levels and membership in a set.

A p-value is kept as three whole numbers, and membership is decided by comparing whole
numbers: ``(1 − 0.9) · 10`` is not ``1`` in floating point. `membership` serves listed sets,
batches of windows, backtests and monitors.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel

Whole = npt.NDArray[Any]
BoolArray = npt.NDArray[np.bool_]
EXACT = 2**53  # above, a quotient of machine numbers is rounded twice


class Rank(NamedTuple):
    """The rank of a candidate among its reference windows.

    Attributes
    ----------
    greater : the weight of windows with a greater nonconformity score than the candidate
    equal : the weight of windows with the same score as the candidate, itself included
    total : the weight of all windows
    randomised : whether ties are broken at random even without smoothing

    Examples
    --------
    >>> Rank(greater=1, equal=2, total=10).p_value()
    0.3
    >>> Rank(greater=1, equal=2, total=10).p_value(uniform=0.5)
    0.2
    >>> Rank(1, 0, 10).exceeds(Fraction(1, 10)), Rank(1, 1, 10).exceeds(Fraction(1, 10))
    (False, True)
    """

    greater: int
    equal: int
    total: int
    randomised: bool = False

    def p_value(self, uniform: float | None = None) -> float:
        """Return the p-value; with a uniform number that breaks ties, the smoothed one."""
        if uniform is None:  # int / int is correctly rounded
            return (self.greater + self.equal) / self.total
        # Equal shares give equal numbers, however large the weights.
        return self.greater / self.total + uniform * (self.equal / self.total)

    def exceeds(self, alpha: Fraction, uniform: float | None = None) -> bool:
        """Tell whether the p-value exceeds ``alpha``, so that the candidate is in the set."""
        if uniform is not None:
            return self.p_value(uniform) > alpha
        part = self.greater + self.equal
        return part * alpha.denominator > alpha.numerator * self.total

    def chance(self, alpha: Fraction) -> Fraction:
        """Return the probability, over the uniform, that the smoothed p-value exceeds alpha."""
        if self.equal == 0:
            return Fraction(int(self.exceeds(alpha)))
        inside = (self.greater + self.equal - alpha * self.total) / Fraction(self.equal)
        return min(max(inside, Fraction(0)), Fraction(1))


def miscoverage(confidence_level: Any) -> Fraction:
    """Convert a confidence level, read as a decimal, to ``alpha``.

    >>> miscoverage(0.9)
    Fraction(1, 10)
    """
    if isinstance(confidence_level, Mapping):
        raise ValueError(
            "confidence_level is a mapping from states to levels, which ConformalHMM takes, and "
            "this does not; give one number, 0.9"
        )
    level = None
    given = confidence_level[()] if isinstance(confidence_level, np.ndarray) else confidence_level
    if isinstance(given, (Real, Decimal)) and not isinstance(given, bool):
        with suppress(ValueError):  # NaN or infinite
            # Its text, not its bits: 0.9 is nine tenths, in single precision too.
            level = Fraction(str(given))
    if level is None or not 0 < level < 1:
        raise ValueError(
            f"confidence_level must be a number between 0 and 1, both excluded, "
            f"got {confidence_level!r}; 0.9 asks for sets that hold the truth 9 times in 10"
        )
    return 1 - level


def ranks(reference: FloatArray, weights: Whole, candidates: FloatArray, joins: bool) -> list[Rank]:
    """Rank candidates among weighted reference scores, as `count_ranks` does."""
    greater, equal, total = count_ranks(reference, weights, candidates, joins)
    pairs = zip(greater.tolist(), equal.tolist(), strict=True)
    return [Rank(above, tied, total) for above, tied in pairs]


def count_ranks(
    reference: FloatArray, weights: Whole, candidates: FloatArray, joins: bool
) -> tuple[Whole, Whole, int]:
    """Count the weights of reference scores greater than each candidate's, equal to it, and all.

    Scores are rounded where they are computed, so that ties are equal numbers. The reference is
    ``(R,)``, or ``(C, R)`` with a model for each candidate. A candidate that *joins* the reference
    adds weight one; otherwise the reference includes it.

    >>> count_ranks(np.array([0.1, 0.2, 0.3]), np.array([1, 1, 1]), np.array([0.2]), joins=True)
    (array([1]), array([2]), 4)
    """
    if not len(weights):
        nothing = np.zeros(len(candidates), dtype=np.int64)
        return nothing, nothing + 1, 1
    own, total, reference = int(joins), int(weights.sum()), np.atleast_2d(reference)
    if len(reference) == 1:
        order = np.argsort(reference[0], kind="stable")
        below = np.zeros(len(order) + 1, dtype=weights.dtype)
        np.cumsum(weights[order], out=below[1:])
        scores = reference[0][order]
        low, high = (np.searchsorted(scores, candidates, side=side) for side in ("left", "right"))
        greater, equal = total - below[high], below[high] - below[low]
    else:
        greater = (reference > candidates[:, None]) @ weights
        equal = (reference == candidates[:, None]) @ weights
    return greater, equal + own, total + own


@kernel
def count_scores(scores: FloatArray, weights: IntArray, own: float) -> tuple[int, int, int]:
    """Compiled `count_ranks` for one candidate that is in the reference."""
    greater, equal, total = 0, 0, 0
    for k in range(len(scores)):
        greater += weights[k] * (scores[k] > own)
        equal += weights[k] * (scores[k] == own)
        total += weights[k]
    return greater, equal, total


class Ranked(NamedTuple):
    """The ranks of ``C`` candidates in each of ``B`` windows, as `Rank` has them.

    Attributes
    ----------
    greater, equal, total : (B, C) whole numbers, Python integers where they are large
    scores : (B, C) nonconformity scores
    randomised : (B, C) whether ties are broken at random even without smoothing; None if nowhere
    """

    greater: Whole
    equal: Whole
    total: Whole
    scores: FloatArray
    randomised: BoolArray | None = None

    @classmethod
    def of_window(
        cls, counts: Sequence[Any] | Whole, scores: FloatArray, randomised: BoolArray | None = None
    ) -> Ranked:
        """Return the ranks of one window from counts, ``(3, C)``."""
        kind = np.int64 if all(total < EXACT for total in counts[2]) else object
        greater, equal, total = np.array(counts, dtype=kind)[:, None]
        if randomised is not None:
            randomised = randomised[None] if randomised.any() else None
        return cls(greater, equal, total, np.asarray(scores)[None], randomised)

    def ranks(self, window: int = 0) -> list[Rank]:
        """Return the ranks of one window as a list of `Rank`."""
        greater, equal, total = (part[window].tolist() for part in self[:3])
        drawn = [False] * len(total)
        if self.randomised is not None:
            drawn = self.randomised[window].tolist()
        return list(map(Rank, greater, equal, total, drawn))


def membership(
    ranked: Ranked,
    p_values: FloatArray,
    alphas: npt.NDArray[np.object_],
    uniforms: FloatArray | None = None,
    *,
    fill: bool,
) -> tuple[BoolArray, BoolArray]:
    """Return which candidates are in the prediction sets: those with p-values above alpha.

    Parameters
    ----------
    p_values, uniforms : as `p_values_of` gives and takes them
    alphas : fractions, broadcast against the ranks
    fill : whether an empty set gets its most plausible candidate

    Returns
    -------
    inside : (B, C) the members of each set
    filled : (B,) whether the set would have been empty

    Examples
    --------
    >>> from fractions import Fraction
    >>> ranked = Ranked.of_window([[0, 1], [1, 1], [10, 10]], np.array([0.3, 0.2]))
    >>> tenth, half = (np.array([Fraction(1, k)], dtype=object) for k in (10, 2))
    >>> membership(ranked, p_values_of(ranked), tenth, fill=True)
    (array([[False,  True]]), array([False]))
    >>> membership(ranked, p_values_of(ranked), half, fill=True)
    (array([[False,  True]]), array([ True]))
    """
    inside = _exceed(ranked, p_values, alphas, uniforms)
    filled = np.asarray(~inside.any(axis=1) & fill)
    if filled.any():
        inside[filled, most_plausible(p_values[filled], ranked.scores[filled])] = True
    return inside, filled


def p_values_of(ranked: Ranked, uniforms: FloatArray | None = None) -> FloatArray:
    """Return p-values, smoothed where there are uniforms, as `Rank.p_value` does.

    >>> ranked = Ranked.of_window([[1, 2], [1, 2], [10, 10]], np.zeros(2))
    >>> p_values_of(ranked), p_values_of(ranked, np.array([[0.5]]))
    (array([[0.2, 0.4]]), array([[0.15, 0.3 ]]))
    """
    greater, equal, total = ranked[:3]
    whole = np.asarray((greater + equal) / total, dtype=np.float64)
    if uniforms is None:
        return whole
    above, ties = (np.asarray(part / total, dtype=np.float64) for part in (greater, equal))
    return np.asarray(np.where(np.isnan(uniforms), whole, above + uniforms * ties))


def most_plausible(p_values: FloatArray, scores: FloatArray) -> IntArray:
    """Return the candidate of each window with the largest p-value, then smallest score."""
    top = p_values == p_values.max(axis=1, keepdims=True)
    least = np.where(top, scores, np.inf)
    return np.asarray((top & (least == least.min(axis=1, keepdims=True))).argmax(axis=1))


def _exceed(
    ranked: Ranked,
    p_values: FloatArray,
    alphas: npt.NDArray[np.object_],
    uniforms: FloatArray | None,
) -> BoolArray:
    rounded = alphas.astype(np.float64)
    above = np.asarray(p_values > rounded)
    # Rounding keeps the order; equal numbers are compared as whole numbers.
    places = np.nonzero(p_values == rounded)
    if not len(places[0]):
        return above
    shape, unbroken = p_values.shape, np.full((1, 1), np.nan)
    columns = (*ranked[:3], alphas, unbroken if uniforms is None else uniforms)
    rows = zip(*(np.broadcast_to(part, shape)[places].tolist() for part in columns), strict=True)
    known: dict[Any, bool] = {}
    for row, column, key in zip(*(indices.tolist() for indices in places), rows, strict=True):
        if key not in known:
            greater, equal, total, alpha, uniform = key
            broken = None if np.isnan(uniform) else uniform
            known[key] = Rank(greater, equal, total).exceeds(alpha, broken)
        above[row, column] = known[key]
    return above


def entry(p_values: npt.ArrayLike, levels: Sequence[float]) -> IntArray:
    """Return the first level at which each p-value exceeds alpha, or ``len(levels)``.

    >>> entry([0.5, 0.1, 0.0], [0.5, 0.9, 0.95])
    array([1, 2, 3])
    """
    # Levels rise, so alphas fall; both are correctly rounded.
    return np.asarray(len(levels) - np.searchsorted(_rising(tuple(levels)), np.asarray(p_values)))


@lru_cache(maxsize=16)
def _rising(levels: tuple[float, ...]) -> FloatArray:
    return np.array([float(miscoverage(level)) for level in reversed(levels)])


def chances(ranks: list[Rank], confidence_level: Any, smoothing: bool) -> FloatArray:
    """Return the probability, over the tie-breaking uniform, that each rank is in the set.

    >>> chances([Rank(0, 1, 5), Rank(1, 1, 5)], 0.9, smoothing=True)
    array([0.5, 1. ])
    """
    alpha = miscoverage(confidence_level)
    seen: dict[Rank, float] = {}
    for rank in ranks:
        if rank not in seen:
            random = smoothing or rank.randomised
            seen[rank] = float(rank.chance(alpha) if random else rank.exceeds(alpha))
    return np.array([seen[rank] for rank in ranks])


def filling_chances(
    ranks: Sequence[Rank], alphas: Sequence[Fraction], smoothing: bool
) -> list[Fraction]:
    """Return the probability, over the uniform, that each candidate fills an empty set.

    A smoothed p-value is linear in the uniform, so different candidates may have the largest one.
    Of equal p-values the first has the smaller score.

    >>> fifth = [Fraction(1, 5)] * 2
    >>> filling_chances([Rank(0, 1, 2), Rank(1, 1, 10)], fifth, smoothing=True)
    [Fraction(3, 20), Fraction(1, 4)]
    """
    lines = []  # p-values at uniform 0, and their slopes
    end = Fraction(1)  # the set is empty for uniforms below
    for rank, alpha in zip(ranks, alphas, strict=True):
        at, rise = Fraction(rank.greater, rank.total), Fraction(rank.equal, rank.total)
        if not (smoothing or rank.randomised):
            at, rise = at + rise, Fraction(0)
        lines.append((at, rise))
        crossing = (alpha - at) / rise if rise else Fraction(int(at <= alpha))
        end = min(end, max(crossing, Fraction(0)))
    probabilities = [Fraction(0)] * len(ranks)
    if end == 0:
        return probabilities
    places = {Fraction(0), end}
    for (at, rise), (other, climb) in combinations(set(lines), 2):
        if rise != climb:
            places.add(min(max((other - at) / (rise - climb), Fraction(0)), end))
    for low, high in pairwise(sorted(places)):
        middle = (low + high) / 2
        values = [at + rise * middle for at, rise in lines]
        probabilities[values.index(max(values))] += high - low
    return probabilities


def chances_to_fill(
    ranks: Sequence[Rank],
    predictions: Iterable[tuple[int, ...]],
    alphas: Sequence[Fraction],
    smoothing: bool,
) -> FloatArray:
    """Return `filling_chances` of many predictions, 0 for ranks in none of them.

    A prediction is a tuple of indices into `ranks`, the most plausible first.

    >>> fifth = [Fraction(1, 5)] * 2
    >>> chances_to_fill([Rank(0, 1, 20), Rank(0, 1, 10)], [(1, 0)], fifth, smoothing=False)
    array([0., 1.])
    """
    probabilities = np.zeros(len(ranks))
    seen: dict[Hashable, list[float]] = {}
    for places in predictions:
        own = tuple(ranks[place] for place in places)
        held = tuple(alphas[place] for place in places)
        if (own, held) not in seen:
            seen[own, held] = list(map(float, filling_chances(own, held, smoothing)))
        probabilities[list(places)] = seen[own, held]
    return probabilities
