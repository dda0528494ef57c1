"""Rounding of nonconformity scores: done once, where a score is produced.

Validity needs a score that is one deterministic function of the window and the estimate. Scores
that are equal in exact arithmetic may differ in their last bits, because sums are taken in another
order. Rounding to about thirty bits makes them equal, so that from here on a tie is ``==`` and a
rank is a count.
"""

from __future__ import annotations

import math

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.compiled import kernel

BITS = 30  # kept after the binary point below two, and after the leading bit above
SUMMATION_ERROR = 2.0**-40  # of sums of weights taken in another order, relative to the unit


@kernel
def _unit(score: float) -> float:
    """Return the power of two to which the grid is relative: one for all scores below two."""
    if abs(score) < 2.0:
        return 1.0
    return math.ldexp(1.0, math.frexp(abs(score))[1] - 1)


@kernel
def rounded(score: float) -> float:
    """Round one score to a multiple of ``2 ** -30``, or of as much of its leading bit.

    >>> rounded(0.1 + 0.2) == rounded(0.3), rounded(0.1) == rounded(0.1 + 1e-8)
    (True, False)
    >>> rounded(1e20 + 1e5) == rounded(1e20), rounded(float("inf"))
    (True, inf)
    """
    if not np.isfinite(score):
        return score
    unit = _unit(score)
    return math.ldexp(np.rint(math.ldexp(score / unit, BITS)), -BITS) * unit


@kernel
def _round_all(scores: FloatArray, found: FloatArray) -> None:
    for k in range(len(scores)):
        found[k] = rounded(scores[k])


def round_scores(scores: FloatArray) -> FloatArray:
    """Round scores of any shape, each by itself; infinities stay.

    >>> round_scores(np.array([[0.1 + 0.2, np.inf]])) == round_scores(np.array([[0.3, np.inf]]))
    array([[ True,  True]])
    """
    found = np.empty(scores.size)
    _round_all(np.ascontiguousarray(scores, dtype=np.float64).ravel(), found)
    return found.reshape(scores.shape)


def upper_edge(score: float) -> float:
    """Return the largest unrounded sum that may round to a score, with room for summation errors.

    A sum of weights taken in another order is compared with this, so that no tied path is dropped.

    >>> upper_edge(0.5) > 0.5, round_scores(np.array([upper_edge(0.5) - 1e-11]))
    (True, array([0.5]))
    """
    if not np.isfinite(score):
        return score
    unit = _unit(score)
    return float(score + unit * (2.0 ** -(BITS + 1) + SUMMATION_ERROR))


def lower_edge(score: float) -> float:
    """Return what unrounded sums must stay below to round to less than a score.

    >>> lower_edge(0.5) < 0.5, bool(lower_edge(float("inf")) == np.finfo(np.float64).max)
    (True, True)
    """
    if not np.isfinite(score):
        return float(np.finfo(np.float64).max)
    return float(score - _unit(score) * (2.0 ** -(BITS + 1) + SUMMATION_ERROR))
