"""Array types of the kernels, and conversions of whole numbers."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.compiled import kernel
from definetti._system.interrupts import hold_signals

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
CodeArray = npt.NDArray[np.signedinteger[Any]]  # of any integer size


def as_codes(codes: CodeArray, most: int) -> CodeArray:
    """Convert whole numbers, at most `most`, to 32 bits if they fit, else to 64."""
    return codes.astype(np.int32 if most < 2**31 else np.int64, copy=False)


def as_short_codes(codes: CodeArray, most: int) -> CodeArray:
    """Convert whole numbers, at most `most`, to 8 or 16 bits if they fit, else as `as_codes`."""
    if most < 2**15:
        return codes.astype(np.int8 if most < 2**7 else np.int16, copy=False)
    return as_codes(codes, most)


def as_float(value: Any) -> float:
    """Convert a number to float; return an infinity on overflow."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def distinct_rows(rows: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the first position, the inverse and the counts of distinct rows, as `numpy.unique`."""
    if not rows.size:
        return rows[:, 0], rows[:, 0], rows[:, 0]
    low = int(rows.min())
    base = int(rows.max()) - low + 1
    if base ** rows.shape[1] < 2**62:
        places = base ** np.arange(rows.shape[1] - 1, -1, -1)
        return distinct_numbers((rows - low) @ places)
    # numpy turns an interrupt while it compares rows into a TypeError.
    _, first, inverse, count = hold_signals(np.unique, (rows, True, True, True, 0))
    return first, inverse.ravel(), count


@kernel
def _counted(numbers: IntArray, low: int, room: int) -> tuple[IntArray, IntArray, IntArray]:
    """Do as `distinct_numbers` for numbers in a small range, without sorting."""
    name = np.full(room, -1, dtype=np.int64)
    for k in range(len(numbers) - 1, -1, -1):
        name[numbers[k] - low] = k
    first = name[name >= 0]
    count = np.zeros(len(first), dtype=np.int64)
    next_code = 0
    for j in range(room):
        if name[j] >= 0:
            name[j] = next_code
            next_code += 1
    inverse = np.empty(len(numbers), dtype=np.int64)
    for k in range(len(numbers)):
        inverse[k] = name[numbers[k] - low]
        count[inverse[k]] += 1
    return first, inverse, count


def distinct_numbers(numbers: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the first position, the inverse and the counts of distinct numbers."""
    if len(numbers):
        low, high = int(numbers.min()), int(numbers.max())
        if high - low < len(numbers):
            return _counted(numbers, low, high - low + 1)
    _, first, inverse, count = np.unique(numbers, True, True, True)
    return first, inverse, count


SIGNED = (np.int8, np.int16, np.int32, np.int64)


def narrowed(numbers: IntArray) -> npt.NDArray[Any]:
    """Convert whole numbers to the smallest signed type that holds them all."""
    if not numbers.size:
        return numbers.astype(np.int8)
    low, high = int(numbers.min()), int(numbers.max())
    fits = (kind for kind in SIGNED if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max)
    return numbers.astype(next(fits))


def widened(numbers: Any) -> IntArray:
    """Convert numbers from `narrowed` back to 64 bits; refuse anything but whole numbers."""
    if not isinstance(numbers, np.ndarray) or numbers.dtype.kind not in "iu" or numbers.ndim != 1:
        raise ValueError("there are no whole numbers where they should be")
    if numbers.size and int(numbers.max()) >= 2**63:
        raise ValueError("a whole number is too large")
    return numbers.astype(np.int64)
