"""From which of several levels on something is in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti.ranks.pvalue import miscoverage


def entry(p_values: npt.ArrayLike, levels: Sequence[float]) -> IntArray:
    """Return from which level on each p-value exceeds alpha; ``len(levels)`` where it never does.

    A p-value is a quotient of whole numbers, correctly rounded, and so is each alpha: what is
    equal is equal, and not above.

    >>> entry([0.5, 0.1, 0.0], [0.5, 0.9, 0.95])
    array([1, 2, 3])
    """
    # The levels rise and the alphas fall: the first alpha that is less.
    return np.asarray(len(levels) - np.searchsorted(_rising(tuple(levels)), np.asarray(p_values)))


@lru_cache(maxsize=16)
def _rising(levels: tuple[float, ...]) -> FloatArray:
    return np.array([float(miscoverage(level)) for level in reversed(levels)])
