"""What is written down at every step: rows of numbers, all of them or the last ones."""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import FloatArray


class Log:
    """Rows of numbers that grow at the end, at a cost that does not grow with them.

    Parameters
    ----------
    width : int
        How many numbers a row has.
    keep : int, optional
        How many of the last rows to keep; all if left out.

    Attributes
    ----------
    dropped : how many rows are no longer there

    Examples
    --------
    >>> log = Log(width=1, keep=2)
    >>> for number in range(7):
    ...     log.append([number])
    >>> log.rows[:, 0], log.dropped
    (array([5., 6.]), 5)
    """

    def __init__(self, width: int, keep: int | None = None) -> None:
        self.keep = keep
        self.dropped = 0
        self._room = np.empty((16, width))
        self._begin = self._end = 0

    def __len__(self) -> int:
        return self._end - self._begin

    @property
    def rows(self) -> FloatArray:
        return self._room[self._begin : self._end]

    def append(self, row: list[float]) -> None:
        """Write down a row."""
        if self._end == len(self._room):
            # Twice the room that is needed, so that this happens seldom.
            room = np.empty((2 * len(self) + 16, self._room.shape[1]))
            room[: len(self)] = self.rows
            self._begin, self._end, self._room = 0, len(self), room
        self._room[self._end] = row
        self._end += 1
        if self.keep is not None and len(self) > self.keep:
            self._begin += 1
            self.dropped += 1

    def restore(self, rows: FloatArray, dropped: int) -> None:
        """Go on from rows that were saved."""
        self._room, self._begin, self._end = rows.copy(), 0, len(rows)
        self.dropped = dropped
