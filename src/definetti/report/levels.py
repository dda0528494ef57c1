"""Sets at all levels at once: the level from which on something is in.

Sets grow with the level. So a state at a step, or a sequence, is in from some level on, and that
level's place in the list of levels says all there is to say of it: a page that goes from level to
level compares whole numbers, and computes nothing.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti.ranks.pvalue import miscoverage
from definetti.sets import StepSets

FINE = [k / 100 for k in range(50, 100)] + [0.995]
COARSE = [0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.975, 0.99]


def levels_around(asked: float, guarantee: str) -> list[float]:
    """Return the levels to choose from, the one that was asked for among them.

    Fewer where each of them is a prediction of its own.

    >>> levels_around(0.93, "steps")
    [0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.975, 0.99]
    """
    choice = {"all": FINE, "steps": COARSE, "errors": COARSE}.get(guarantee, [])
    # The decimal that was written: a level in single precision is no other level.
    return sorted({*choice, float(1 - miscoverage(asked))})


def entry(p_values: npt.ArrayLike, levels: list[float]) -> IntArray:
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


def entries_of_nodes(sets: list[StepSets]) -> IntArray:
    """Return from which of several sets on, in rising order of level, each state is in."""
    there = np.array([s.nodes for s in sets])
    return np.asarray(np.where(there.any(axis=0), there.argmax(axis=0), len(sets)))


def shown(p_values: FloatArray | Any) -> list[Any]:
    """Return numbers as a page gets them: no more digits than one looks at.

    >>> shown(np.array([[0.123456789, 1.0]]))
    [[0.12346, 1.0]]
    """
    found: list[Any] = np.round(p_values, 5).tolist()
    return found
