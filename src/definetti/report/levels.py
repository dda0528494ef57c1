"""The levels that one can choose from on a page, and numbers as it gets them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray
from definetti.levels import ConfidenceLevel, read_levels

FINE = [k / 100 for k in range(50, 100)] + [0.995]
COARSE = [0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.975, 0.99]


def levels_around(
    asked: ConfidenceLevel, guarantee: str, others: Sequence[float] = ()
) -> list[Any]:
    """Return the levels to choose from, the one that was asked for among them.

    Fewer where each of them is a prediction of its own; none but those asked for where each state
    has its own. `others` were asked for as well.

    >>> levels_around(0.93, "steps")
    [0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.975, 0.99]
    """
    choice = {"all": FINE, "steps": COARSE, "errors": COARSE}.get(guarantee, [])
    # The decimal that was written: a level in single precision is no other level.
    level = read_levels(asked).written
    return [level] if isinstance(level, Mapping) else sorted({*choice, level, *others})


def round_for_page(p_values: FloatArray | Any) -> list[Any]:
    """Return numbers as a page gets them: no more digits than one looks at.

    >>> round_for_page(np.array([[0.123456789, 1.0]]))
    [[0.12346, 1.0]]
    """
    found: list[Any] = np.round(p_values, 5).tolist()
    return found
