"""An array that grows at its end, and never changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import IntArray


@dataclass(frozen=True, eq=False)
class Chunks:
    """Rows of equal width, kept in few arrays.

    Whoever holds one may read it while another grows it: growing makes a new one, which shares
    all but the last few arrays with the old. An array is joined with those before it while they
    are at most twice as long, so there are ``O(log T)`` arrays, and a row is copied
    ``O(log T)`` times in all.

    Parameters
    ----------
    arrays : arrays of shape (·, width), each more than twice as long as the next

    Examples
    --------
    >>> chunks = Chunks()
    >>> for row in range(6):
    ...     chunks = chunks.extended(np.array([[row, 10 * row]]))
    >>> [len(array) for array in chunks.arrays]
    [5, 1]
    >>> chunks.take(np.array([5, 0, -1]), width=2, missing=-1)
    array([[ 5, 50],
           [ 0,  0],
           [-1, -1]])
    """

    arrays: tuple[npt.NDArray[Any], ...] = ()

    def __len__(self) -> int:
        return sum(map(len, self.arrays))

    def extended(self, new: npt.NDArray[Any]) -> Chunks:
        """Return the same rows with new ones, ``(k, width)``, at their end."""
        if not len(new):
            return self
        kept, length = list(self.arrays), len(new)
        tail = []
        while kept and len(kept[-1]) <= 2 * length:
            tail.append(kept.pop())
            length += len(tail[-1])
        return Chunks((*kept, np.concatenate([*reversed(tail), new])))

    def take(self, codes: IntArray, width: int, missing: float | None) -> npt.NDArray[Any]:
        """Return rows by their number, ``codes.shape + (width,)``; below 0 they are missing."""
        if len(self.arrays) == 1 and codes.size and codes.min() >= 0:
            return np.asarray(self.arrays[0][codes])
        rows = np.full((*codes.shape, width), missing)
        begin = 0
        for array in self.arrays:
            here = (codes >= begin) & (codes < begin + len(array))
            rows[here] = array[codes[here] - begin]
            begin += len(array)
        return rows
