"""Digest labelled data, so that random numbers depend on the data as well as on the seed."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import IntArray
from definetti._system.compiled import kernel
from definetti.data.labels import check_shape

if TYPE_CHECKING:
    from definetti.emissions.base import Emission

Marks = npt.NDArray[np.uint64]


def digest(
    emission: Emission, table: Any, observations: IntArray, states: IntArray, start: int = 0
) -> int:
    """Return the digest of a labelled segment, continued from the digest `start` of earlier rows.

    Rows give the same digest whether they are taken in together or one by one.
    """
    if not len(observations):
        return start
    marks = _marks_of(emission, table, observations)
    check_shape(marks, states.shape, "what the emission decodes")
    return int(_chained(np.uint64(start), marks, states))


def _marks_of(emission: Emission, table: Any, observations: IntArray) -> Marks:
    # A symbol counts by its code, so that renaming symbols changes no random number.
    if emission.symbols:
        return (observations + 1).astype(np.uint64)
    return _marks(emission.decode(table, observations))


def _marks(values: npt.NDArray[Any]) -> Marks:
    """Return an integer for each observation, computed from its value."""
    if values.dtype.kind == "f":
        rows = np.ascontiguousarray(values.reshape(len(values), -1), dtype=np.float64)
        return np.asarray(_rows_marked(rows.view(np.uint64)))
    return np.array([_mark(value) for value in values.tolist()], dtype=np.uint64)


def _mark(value: object) -> int:
    # Not `hash`: Python salts the hash of text in every process.
    return int.from_bytes(
        blake2b(repr(_plain(value)).encode(errors="replace"), digest_size=8).digest()
    )


def _plain(value: Any) -> Any:
    """Convert NumPy scalars to the Python values that they equal, in containers too."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return tuple(map(_plain, value)) if isinstance(value, tuple) else value


@kernel
def _mixed(number: np.uint64) -> np.uint64:
    """Mix the bits of a number, one to one: the finalizer of Steele, Lea and Flood 2014."""
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


@kernel
def _rows_marked(rows: Marks) -> Marks:
    marks = np.zeros(len(rows), dtype=np.uint64)
    for k in range(len(rows)):
        for bits in rows[k]:
            marks[k] = _mixed(marks[k] ^ bits) + np.uint64(1)
    return marks


@kernel
def _chained(number: np.uint64, marks: Marks, states: IntArray) -> np.uint64:
    for k in range(len(marks)):
        number = _mixed(number ^ marks[k]) + np.uint64(states[k]) + np.uint64(1)
    return number
