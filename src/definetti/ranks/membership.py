"""From ranks to sets: p-values, and which candidates are in at a level.

One function, `membership`, serves listed sets, batches of windows, backtests and monitors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti.ranks.pvalue import Rank

Whole = npt.NDArray[Any]
BoolArray = npt.NDArray[np.bool_]
EXACT = 2**53  # from which on a quotient of machine numbers is rounded twice


class Ranked(NamedTuple):
    """The ranks of ``C`` candidates in each of ``B`` windows, as `Rank` has them.

    Attributes
    ----------
    greater, equal, total : (B, C) whole numbers, those of Python where they are large
    scores : (B, C) nonconformity scores
    """

    greater: Whole
    equal: Whole
    total: Whole
    scores: FloatArray

    @classmethod
    def of_one(cls, ranks: Sequence[Rank], scores: FloatArray) -> Ranked:
        """Return the ranks of one window."""
        kind = np.int64 if all(one.total < EXACT for one in ranks) else object
        greater, equal, total = (
            np.array([[one[k] for one in ranks]], dtype=kind) for k in range(3)
        )
        return cls(greater, equal, total, np.asarray(scores)[None])


def membership(
    ranked: Ranked,
    p_values: FloatArray,
    alphas: npt.NDArray[np.object_],
    uniforms: FloatArray | None = None,
    *,
    fill: bool,
) -> tuple[BoolArray, BoolArray]:
    """Return which candidates are in the prediction sets of windows: p-values that exceed alpha.

    Parameters
    ----------
    p_values, uniforms : as `p_values_of` gives and takes them
    alphas : fractions, of a shape that goes with the ranks
    fill : whether a set that would be empty gets its most plausible candidate

    Returns
    -------
    inside : (B, C) the members of each set
    filled : (B,) whether the set would have been empty

    Examples
    --------
    >>> from fractions import Fraction
    >>> ranked = Ranked.of_one([Rank(0, 1, 10), Rank(1, 1, 10)], np.array([0.3, 0.2]))
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

    Examples
    --------
    >>> ranked = Ranked.of_one([Rank(1, 1, 10), Rank(2, 2, 10)], np.zeros(2))
    >>> p_values_of(ranked), p_values_of(ranked, np.array([[0.5]]))
    (array([[0.2, 0.4]]), array([[0.15, 0.3 ]]))
    """
    greater, equal, total = ranked[:3]
    whole = np.asarray((greater + equal) / total, dtype=np.float64)
    if uniforms is None:
        return whole
    parts = (np.asarray(part / total, dtype=np.float64) for part in (greater, equal))
    above, ties = parts
    return np.asarray(np.where(np.isnan(uniforms), whole, above + uniforms * ties))


def most_plausible(p_values: FloatArray, scores: FloatArray) -> IntArray:
    """Return the most plausible candidate of each window: of equals that of the smallest score."""
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
    # Rounding keeps the order; what comes out equal is decided in whole numbers.
    places = np.nonzero(p_values == rounded)
    if not len(places[0]):
        return above
    shape, unbroken = p_values.shape, np.full((1, 1), np.nan)
    each = (*ranked[:3], alphas, unbroken if uniforms is None else uniforms)
    rows = zip(*(np.broadcast_to(part, shape)[places].tolist() for part in each), strict=True)
    known: dict[Any, bool] = {}
    for row, column, key in zip(*(one.tolist() for one in places), rows, strict=True):
        if key not in known:
            greater, equal, total, alpha, uniform = key
            broken = None if np.isnan(uniform) else uniform
            known[key] = Rank(greater, equal, total).exceeds(alpha, broken)
        above[row, column] = known[key]
    return above
