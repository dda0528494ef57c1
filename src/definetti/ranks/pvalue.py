"""Step 5: ranks, p-values and levels, in whole numbers.

A p-value is kept as the three whole numbers it is made of, and membership in a set is decided by
comparing whole numbers: ``(1 − 0.9) · 10`` is not ``1`` in floating point, and a set that errs
there is a set that is not valid.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray


class Rank(NamedTuple):
    """Where a candidate stands among the windows it is compared with.

    Attributes
    ----------
    greater : the weight of windows that are stranger than the candidate
    equal : the weight of windows as strange as the candidate, itself included
    total : the weight of all windows
    randomised : whether its ties are broken at random even where no smoothing was asked for

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
        """Conservative p-value; with a uniform number that breaks ties, the smoothed one."""
        if uniform is None:  # the quotient of two whole numbers is rounded correctly
            return (self.greater + self.equal) / self.total
        # The same number for the same shares, however large the weights are.
        return self.greater / self.total + uniform * (self.equal / self.total)

    def exceeds(self, alpha: Fraction, uniform: float | None = None) -> bool:
        """Tell whether the p-value is above ``alpha``: the candidate is in the set."""
        if uniform is not None:
            return self.p_value(uniform) > alpha
        part = self.greater + self.equal
        return part * alpha.denominator > alpha.numerator * self.total

    def chance(self, alpha: Fraction) -> Fraction:
        """Tell how probable it is, over the uniform, that the smoothed p-value exceeds alpha."""
        if self.equal == 0:
            return Fraction(int(self.exceeds(alpha)))
        inside = (self.greater + self.equal - alpha * self.total) / Fraction(self.equal)
        return min(max(inside, Fraction(0)), Fraction(1))


def chances(ranks: list[Rank], confidence_level: Any, smoothing: bool) -> FloatArray:
    """Return how probable it is, over the uniform if there is one, that each rank is in the set.

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


def miscoverage(confidence_level: Any) -> Fraction:
    """Turn a confidence level into ``alpha``, taking it as the decimal that was written.

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
        with suppress(ValueError):  # not a number, or infinite
            # Its text, not its bits: 0.9 is nine tenths, in single precision too.
            level = _fraction(str(given))
    if level is None or not 0 < level < 1:
        raise ValueError(
            f"confidence_level must be a number between 0 and 1, both excluded, "
            f"got {confidence_level!r}; 0.9 asks for sets that hold the truth 9 times in 10"
        )
    return 1 - level


@lru_cache(maxsize=64)
def _fraction(written: str) -> Fraction:
    return Fraction(written)


def ranks(
    reference: FloatArray, weights: npt.NDArray[Any], candidates: FloatArray, joins: bool
) -> list[Rank]:
    """Rank candidates among weighted reference scores, as `count_ranks` does.

    >>> ranks(np.array([0.1, 0.2, 0.3]), np.array([1, 1, 1]), np.array([0.2]), joins=True)
    [Rank(greater=1, equal=2, total=4, randomised=False)]
    """
    greater, equal, total = count_ranks(reference, weights, candidates, joins)
    pairs = zip(greater.tolist(), equal.tolist(), strict=True)
    return [Rank(above, tied, total) for above, tied in pairs]


def count_ranks(
    reference: FloatArray, weights: npt.NDArray[Any], candidates: FloatArray, joins: bool
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], int]:
    """Count the weight of reference scores above each candidate, tied with it, and of all.

    Scores are rounded where they are produced (`definetti.scores.rounding`), so that ties are
    equal numbers. Where the candidate *joins* the reference, it does so with weight one; else it
    is in it already.

    Parameters
    ----------
    reference : (R,) scores of the windows compared with, or (C, R) those under the model of each
        candidate
    weights : (R,) their weights, whole numbers
    candidates : (C,) scores of the candidates, each ranked by itself

    Examples
    --------
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
        low, high = tied_stretches(reference[0][order], candidates)
        greater, equal = total - below[high], below[high] - below[low]
    else:
        above = reference > candidates[:, None]
        same = reference == candidates[:, None]
        greater, equal = above @ weights, same @ weights
    return greater, equal + own, total + own


def tied_stretches(scores: FloatArray, candidates: FloatArray) -> tuple[IntArray, IntArray]:
    """Find, among sorted scores, where those equal to each candidate begin and end."""
    low, high = (np.searchsorted(scores, candidates, side=side) for side in ("left", "right"))
    return low, high
