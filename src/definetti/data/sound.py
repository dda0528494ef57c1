"""What must be true of parts that come from a file, for none to be read beyond its end.

Kernels do not look whether an index is within bounds, so that whatever becomes one is looked at
when it is read. What is merely wrong, a mean or a level, is as wrong as in a model made so.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from definetti._system.arrays import IntArray

if TYPE_CHECKING:
    from definetti.emissions.base import Emission

NONE: IntArray = np.zeros(0, dtype=np.int64)


def require(sound: Any, what: str) -> None:
    """Refuse parts that do not fit together."""
    if not sound:
        raise ValueError(f"{what} does not fit the rest")


def is_array(value: Any, kind: Any, ndim: int) -> bool:
    """Tell whether something is an array of so many axes, of this very kind of numbers."""
    return isinstance(value, np.ndarray) and value.dtype == kind and value.ndim == ndim


def check_codes(table: Any, codes: IntArray) -> None:
    """Refuse codes of observations that a table does not have."""
    require(is_array(codes, np.int64, 1), "a code of observations")
    require(codes.min(initial=0) >= -1 and codes.max(initial=-1) < len(table), "a code")


def check_table(emission: Emission, table: Any) -> None:
    """Refuse a table that is not one of an emission's: reading from it fails, and not in words."""
    with suppress(TypeError, ValueError):  # a table of frames wants a frame
        emission.encode([None], table, "observations")


def check_statistics(
    emission: Emission, table: Any, statistics: Any, n_states: int, fixed: bool = False
) -> None:
    """Refuse sums of another shape than an emission has; where it is fixed there may be fewer."""
    wanted = emission.statistics(table, NONE, NONE, n_states).shape
    require(is_array(statistics, np.float64, len(wanted)), "a sum")
    sides = list(zip(statistics.shape, wanted, strict=True))
    same = all(own == other for own, other in sides)
    require(same or (fixed and all(own <= other for own, other in sides)), "a sum")
