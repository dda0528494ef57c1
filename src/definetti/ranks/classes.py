"""Ranks of candidates among the windows of their classes, in numbers of many digits."""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.ranks.pvalue import Rank
from definetti.symmetry.base import Classes

BITS = 32  # of a digit


def rank_in_classes(scores: FloatArray, found: Classes) -> list[Rank]:
    """Rank candidates as `ranks` does, each in a class that it is in already.

    Parameters
    ----------
    scores : (R,) those of all windows
    """
    placed = _placed(scores, found.weights, found.begins, found.classes, found.own)
    parts = ([_joined(digits) for digits in one] for one in placed.tolist())
    return [Rank(above, tied, total) for above, tied, total in parts]


def _joined(digits: list[int]) -> int:
    """Put a number together; digits that were added up may be larger than digits are.

    >>> _joined([2**32 + 1, 1]) == 2 * 2**32 + 1
    True
    """
    found = 0
    for digit in reversed(digits):
        found = (found << BITS) + digit
    return found


@kernel
def _placed(
    scores: FloatArray, weights: IntArray, begins: IntArray, classes: IntArray, own: IntArray
) -> IntArray:
    """Add up the digits of what is stranger, as strange, and of all: (C, 3, L)."""
    placed = np.zeros((len(own), 3, weights.shape[1]), dtype=np.int64)
    for c in range(len(own)):
        begin, end = begins[classes[c]], begins[classes[c] + 1]
        for r in range(begin, end):
            if scores[r] > scores[own[c]]:
                placed[c, 0] += weights[r]
            elif scores[r] == scores[own[c]]:
                placed[c, 1] += weights[r]
            placed[c, 2] += weights[r]
    return placed
