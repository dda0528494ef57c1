"""p-values of many ranks at once, and which of them exceed a level: the same whole numbers.

`Rank` says what a p-value is; here are arrays of its three numbers. A smoothed p-value is a
quotient of numbers that no machine number holds, and is rounded as Python's fractions are.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray
from definetti._system.compiled import kernel
from definetti.ranks.pvalue import Rank

Whole = npt.NDArray[np.integer]
BoolArray = npt.NDArray[np.bool_]

DIGIT = 27  # bits of a digit: products of two, and of one and a count, have room in 63


def p_values_of(
    greater: Whole, equal: Whole, total: Whole, uniforms: FloatArray | None = None
) -> FloatArray:
    """Return p-values, smoothed where there are uniforms, as `Rank.p_value` does.

    Parameters
    ----------
    greater, equal, total : (B, C) the numbers of each rank, below ``2 ** 31``; objects may
        have any size
    uniforms : (B,) what breaks the ties of each row

    Examples
    --------
    >>> one, ten = np.array([[1, 2]]), np.array([[10, 10]])
    >>> p_values_of(one, one, ten), p_values_of(one, one, ten, np.array([0.5]))
    (array([[0.2, 0.4]]), array([[0.15, 0.3 ]]))
    """
    if greater.dtype == object:  # whole numbers of any size
        return _any_size(greater, equal, np.broadcast_to(total, greater.shape), uniforms)
    if uniforms is None:
        return np.asarray((greater.astype(np.int64) + equal) / total)
    total = np.broadcast_to(total, greater.shape)
    return _smoothed(greater, equal, np.ascontiguousarray(total), uniforms)


def exceed(
    greater: Whole,
    equal: Whole,
    total: Whole,
    p_values: FloatArray,
    alphas: npt.NDArray[np.object_],
    uniforms: FloatArray | None = None,
) -> BoolArray:
    """Tell which ranks exceed an alpha, as `Rank.exceeds` does.

    Parameters
    ----------
    greater, equal, total, uniforms : as in `p_values_of`, which gave the `p_values`
    alphas : fractions, of a shape that goes with the ranks

    Examples
    --------
    >>> one, ten = np.array([[0, 1]]), np.array([[10, 10]])
    >>> alphas = np.array([Fraction(1, 10)], dtype=object)
    >>> exceed(one, one, ten, p_values_of(one, one, ten), alphas)
    array([[False,  True]])
    """
    rounded = alphas.astype(np.float64)
    above = p_values > rounded
    # Rounding keeps the order; only what comes out equal is looked at again.
    same = p_values == rounded
    if same.any():
        shape = p_values.shape
        rows, columns = np.nonzero(same)
        whole = [np.broadcast_to(part, shape)[rows, columns] for part in (greater, equal, total)]
        held = np.broadcast_to(alphas, shape)[rows, columns]
        ties = [None] * len(rows) if uniforms is None else uniforms[rows].tolist()
        numbers = zip(*(part.tolist() for part in whole), held, ties, strict=True)
        known: dict[object, bool] = {}
        for place, one in enumerate(numbers):
            if one not in known:
                known[one] = _exceeds(*one)
            above[rows[place], columns[place]] = known[one]
    return np.asarray(above)


def _exceeds(greater: int, equal: int, total: int, alpha: Fraction, uniform: float | None) -> bool:
    return Rank(greater, equal, total).exceeds(alpha, uniform)


def _any_size(
    greater: Whole, equal: Whole, total: Whole, uniforms: FloatArray | None
) -> FloatArray:
    ties = [None] * len(greater) if uniforms is None else uniforms.tolist()
    rows = zip(greater.tolist(), equal.tolist(), total.tolist(), ties, strict=True)
    return np.array([
        [Rank(*one).p_value(tie) for one in zip(above, same, all_, strict=True)]
        for above, same, all_, tie in rows
    ])  # fmt: skip


@kernel
def _smoothed(greater: Whole, equal: Whole, total: Whole, uniforms: FloatArray) -> FloatArray:
    """Return (greater + uniform · equal) / total, rounded once."""
    rows, columns = greater.shape
    found = np.empty((rows, columns))
    digits = np.empty(4, dtype=np.int64)
    mask = (np.int64(1) << DIGIT) - 1
    for b in range(rows):
        # A uniform number is a whole number of 53 bits over 2 ** 53; 54 bits are two digits.
        whole = np.int64(uniforms[b] * 9007199254740992.0) << 1
        for c in range(columns):
            # greater · 2 ** 54 + whole · equal, in digits, the highest first
            bottom = (whole & mask) * equal[b, c]
            middle = (whole >> DIGIT) * equal[b, c] + (bottom >> DIGIT)
            upper = np.int64(greater[b, c]) + (middle >> DIGIT)
            digits[0], digits[1] = upper >> DIGIT, upper & mask
            digits[2], digits[3] = middle & mask, bottom & mask
            # Long division, going on until there are 53 bits and one more, and a remainder.
            quotient, rest, weight = np.int64(0), np.int64(0), DIGIT * 4
            scale = np.int64(total[b, c])
            place = 0
            while quotient < 1 << 53:
                if weight < -200 or (place >= 4 and rest == 0 and quotient == 0):
                    break
                digit = np.int64(0)
                if place < 4:
                    digit = digits[place]
                for k in range(DIGIT - 1, -1, -1):
                    rest = 2 * rest + (digit >> k & 1)
                    quotient = 2 * quotient
                    weight -= 1
                    if rest >= scale:
                        rest -= scale
                        quotient += 1
                    if quotient >= 1 << 53:
                        for j in range(k - 1, -1, -1):
                            if digit >> j & 1:
                                rest = max(rest, np.int64(1))
                        break
                place += 1
            left = rest > 0
            for j in range(place, 4):
                left = left or digits[j] > 0
            # Half of the last bit is rounded to even, and more than half up.
            odd = quotient & 1
            quotient >>= 1
            if odd and (left or quotient & 1):
                quotient += 1
            found[b, c] = quotient * 2.0 ** (weight + 1 - 54)
    return found
