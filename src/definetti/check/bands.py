"""Bands for a curve from the same curve of rearrangements.

The observed curve and those of draws are exchangeable where the assumption holds, so whatever is
made of all of them together, in a way that does not ask which is the observed one, keeps a promise
about it at every length, by ranks alone.
"""

from __future__ import annotations

from math import floor
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray

LEVEL = 0.95


class Curve(NamedTuple):
    """A curve with its bands, low and high.

    Attributes
    ----------
    at : (K,) where it was looked at
    observed : (K,) of the sample
    pointwise : (2, K) at each point by itself, 95 in 100 true models are inside, or more
    simultaneous : (2, K) 95 in 100 true models, or more, are inside at all points together
    """

    at: FloatArray
    observed: FloatArray
    pointwise: FloatArray
    simultaneous: FloatArray

    @property
    def outside(self) -> npt.NDArray[np.bool_]:
        """(K,) whether the observed curve is beyond the simultaneous band."""
        low, high = self.simultaneous
        return np.asarray((self.observed < low) | (self.observed > high))


def draw_bands(at: FloatArray, curves: FloatArray, level: float = LEVEL) -> Curve:
    """Return the observed curve with its bands.

    Pointwise: the order statistics beyond which a share of the curves lies, half on each side.
    Simultaneous: from the middle as far to both sides as the pointwise spread is there, times the
    one number that leaves no more than the share outside anywhere (Myllymäki et al. 2017).

    Parameters
    ----------
    at : (K,) where curves were looked at
    curves : (1 + M, K) the observed one first

    Examples
    --------
    >>> curves = np.random.default_rng(0).normal(size=(200, 3))
    >>> curve = draw_bands(np.arange(3.0), curves)
    >>> low, high = curve.simultaneous
    >>> int(((curves < low) | (curves > high)).any(axis=1).sum())
    10
    """
    number = len(curves)
    share = 1 - level
    ordered = np.sort(curves, axis=0)
    k = floor(share * number / 2 + 1e-9)
    low, high = ordered[k], ordered[number - 1 - k]
    middle = np.median(ordered, axis=0)
    off = curves - middle
    # Where curves hardly differ to one side, one that does is far beyond all others there.
    below, above = np.maximum(middle - low, 1e-12), np.maximum(high - middle, 1e-12)
    far = np.where(off < 0, -off / below, off / above).max(axis=1)
    times = np.sort(far)[number - 1 - floor(share * number + 1e-9)] * (1 + 1e-12)
    return Curve(
        at,
        curves[0],
        np.stack([low, high]),
        np.stack([middle - times * below, middle + times * above]),
    )
