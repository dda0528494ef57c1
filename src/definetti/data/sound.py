"""What must be true of parts that come from files or users, for none to be read beyond its end.

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

ANY = int(np.iinfo(np.int64).max)  # where only the user's own code knows how many there are
NONE: IntArray = np.zeros(0, dtype=np.int64)


def require(sound: Any, what: str) -> None:
    """Refuse parts that do not fit together."""
    if not sound:
        raise ValueError(f"{what} does not fit the rest")


def check_indices(values: Any, low: int, end: int, name: str) -> None:
    """Refuse anything but an array of whole numbers from `low` up to, and without, `end`.

    >>> check_indices(np.array([0, 7]), 0, 5, "states")
    Traceback (most recent call last):
    ValueError: states must be whole numbers from 0 to 4, got 7
    """
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iu":
        kind = values.dtype if isinstance(values, np.ndarray) else type(values).__name__
        raise ValueError(f"{name} must be an array of whole numbers, got {kind}")
    if values.size and not (low <= values.min() and values.max() < end):
        outside = values[(values < low) | (values >= end)].flat[0]
        raise ValueError(f"{name} must be whole numbers from {low} to {end - 1}, got {outside}")


def check_shape(values: Any, shape: tuple[int, ...], name: str) -> None:
    """Refuse anything but an array of a shape.

    >>> check_shape(np.zeros(3), (2,), "limits")
    Traceback (most recent call last):
    ValueError: limits must have the shape (2,), got (3,)
    """
    found = values.shape if isinstance(values, np.ndarray) else type(values).__name__
    if found != shape:
        raise ValueError(f"{name} must have the shape {shape}, got {found}")


def is_array(value: Any, kind: Any, ndim: int) -> bool:
    """Tell whether something is an array of so many axes, of this very kind of numbers."""
    return isinstance(value, np.ndarray) and value.dtype == kind and value.ndim == ndim


def check_codes(table: Any, codes: IntArray) -> None:
    """Refuse codes of observations that a table does not have."""
    require(is_array(codes, np.int64, 1), "a code of observations")
    require(codes.min(initial=0) >= -1 and codes.max(initial=-1) < len(table), "a code")


def check_encoded(emission: Emission, table: Any, codes: Any) -> None:
    """Refuse what is not a code of an observation each; symbols are those of a table."""
    check_indices(codes, -1, len(table) if emission.symbols else ANY, "codes of the emission")
    check_shape(codes, (len(codes),), "codes of the emission")


def check_table(emission: Emission, table: Any) -> None:
    """Refuse a table that is not one of an emission's: reading from it fails, and not in words."""
    with suppress(TypeError, ValueError):  # a table of frames wants a frame
        emission.encode([None], table, "observations")


def check_statistics(
    emission: Emission, table: Any, statistics: Any, n_states: int, fixed: bool = False
) -> None:
    """Refuse sums of another shape than an emission has; where it is fixed there may be fewer."""
    # Of no states, for a table of any width to take no memory.
    wanted = (n_states, *emission.statistics(table, NONE, NONE, 0).shape[1:])
    require(is_array(statistics, np.float64, len(wanted)), "a sum")
    sides = list(zip(statistics.shape, wanted, strict=True))
    same = all(own == other for own, other in sides)
    require(same or (fixed and all(own <= other for own, other in sides)), "a sum")
    if same:
        emission.statistics(table, NONE, NONE, n_states)  # which may refuse so many states
