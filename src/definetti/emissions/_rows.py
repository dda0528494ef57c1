"""The table of observations that are vectors."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti.data.labels import MISSING
from definetti.emissions._chunks import Chunks
from definetti.emissions._reading import Vectors, read
from definetti.emissions.base import Emission


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of numbers, each with its place as its code; adding rows makes a new table.

    A row with no number in it is a missing observation and is not kept. Single gaps in a row are
    NaN.

    Parameters
    ----------
    chunks : the rows
    width : how many columns there are, None until there is a row
    columns : the names of the columns, None until they come with names
    flat : whether the first observations came as plain numbers

    Examples
    --------
    >>> rows, codes = Rows().encoded([[1.5, 2.0], [None, None], [2.5, None]], "observations")
    >>> codes
    array([ 0, -1,  1])
    >>> rows.take(codes)
    array([[1.5, 2. ],
           [nan, nan],
           [2.5, nan]])
    """

    chunks: Chunks = field(default_factory=Chunks)
    width: int | None = None
    columns: tuple[Hashable, ...] | None = None
    flat: bool = False

    def __len__(self) -> int:
        return len(self.chunks)

    def extended(self, new: FloatArray) -> Rows:
        """Return a table with new rows, ``(k, width)``, at its end; a row costs ``O(log T)``."""
        return replace(self, chunks=self.chunks.extended(new), width=new.shape[1])

    def take(self, codes: IntArray) -> FloatArray:
        """Return rows by their codes, ``codes.shape + (width,)``, NaN where missing."""
        return self.chunks.take(codes, self.width or 0, np.nan)

    def encoded(
        self, observations: Any, name: str, infinite: bool = False
    ) -> tuple[Rows, IntArray]:
        """Return a table that also holds new observations, and their codes."""
        return self.added(self.read(observations, name, infinite))

    def decoded(self, codes: IntArray) -> FloatArray:
        """Return rows by their codes; numbers where the observations came as numbers."""
        rows = self.take(codes)
        return rows[..., 0] if self.flat and self.width == 1 else rows

    def read(self, observations: Any, name: str, infinite: bool = False) -> Vectors:
        """Read observations with the columns that this table has, in their order.

        Infinite numbers are refused unless `infinite` lets them pass.
        """
        new = self._ordered(read(observations, name))
        if not infinite:
            new.refuse(np.isinf(new.values), "use a finite number, or None where it is missing")
        if self.width not in (None, new.width) and not np.isnan(new.values).all():
            raise ValueError(
                f"{name} has {new.width} column{'s' * (new.width != 1)}, but the fitted ones have "
                f"{self.width}; give {self.width} numbers per step"
                + (f", [[…]] for a single step of {self.width}" if new.flat else "")
            )
        return new

    def added(self, vectors: Vectors) -> tuple[Rows, IntArray]:
        """Return a table that also holds what was read, and its codes."""
        present = np.asarray(~np.isnan(vectors.values).all(axis=1))
        codes = np.full(len(vectors.values), MISSING, dtype=np.int64)
        codes[present] = len(self) + np.arange(np.count_nonzero(present))
        if not present.any():
            return self, codes
        first = self if self.width is not None else replace(self, flat=vectors.flat)
        named = replace(first, columns=self.columns or vectors.columns)
        return named.extended(vectors.values[present]), codes

    def _ordered(self, new: Vectors) -> Vectors:
        if self.columns is None or new.columns in (None, self.columns):
            return new
        lacking = [column for column in self.columns if column not in new.columns]
        excess = [column for column in new.columns if column not in self.columns]
        if lacking or excess:
            raise ValueError(
                f"{new.name} has columns {', '.join(map(repr, new.columns))}, but the fitted ones "
                f"have {', '.join(map(repr, self.columns))}; "
                + (f"add {lacking[0]!r}" if lacking else f"leave out {excess[0]!r}")
            )
        order = [new.columns.index(column) for column in self.columns]
        return replace(new, values=new.values[:, order], columns=self.columns)


class CodedRows(Emission):
    """The coding that emissions of vectors share: each row is a thing of its own."""

    adds_up = True

    def encode(self, observations: Any, table: Rows | None, name: str) -> tuple[Rows, IntArray]:
        return (Rows() if table is None else table).encoded(observations, name)

    def decode(self, table: Rows, codes: IntArray) -> npt.NDArray[Any]:
        return table.decoded(codes)

    def columns_of(self, table: Rows) -> tuple[Hashable, ...] | None:
        return table.columns

    def fix(
        self, table: Any, codes: IntArray, states: IntArray, labels: tuple[Hashable, ...]
    ) -> Emission:
        return self  # sums do not depend on what else is in the table
