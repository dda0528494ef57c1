"""The table of observations whose columns are of several kinds."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from definetti._system.arrays import IntArray
from definetti.data.labels import MISSING, is_missing, listed
from definetti.emissions._chunks import Chunks
from definetti.emissions.base import Emission


class Column(NamedTuple):
    """A column by itself: its name, the law of its values, and their table."""

    name: Hashable
    emission: Emission
    table: Any


@dataclass(frozen=True, eq=False)
class Columns:
    """Rows of codes, one for each column; adding rows makes a new table.

    Attributes
    ----------
    columns : the columns
    chunks : (rows, number of columns) the code of each value in its column's own table
    named : whether rows came with names, as those of a data frame or dictionaries do
    """

    columns: tuple[Column, ...] = ()
    chunks: Chunks = field(default_factory=Chunks)
    named: bool = True

    def __len__(self) -> int:
        return len(self.chunks)

    def take(self, codes: IntArray) -> IntArray:
        """Return the codes of each column, ``(number of columns,) + codes.shape``."""
        return np.moveaxis(self.chunks.take(codes, len(self.columns), MISSING), -1, 0)

    def encoded(self, given: Given, name: str) -> tuple[Columns, IntArray]:
        """Return a table that also holds new rows, and their codes."""
        columns, parts = [], []
        for column, emission, table in self.columns:
            values = given.values.get(column, [None] * given.length)
            table, part = emission.encode(values, table, f"{name}[{column!r}]")
            columns.append(Column(column, emission, table))
            parts.append(part)
        rows = np.stack(parts, axis=1) if parts else np.zeros((given.length, 0), dtype=np.int64)
        present = np.asarray((rows != MISSING).any(axis=1))
        codes = np.full(given.length, MISSING, dtype=np.int64)
        codes[present] = len(self) + np.arange(np.count_nonzero(present))
        chunks = self.chunks.extended(rows[present])
        return Columns(tuple(columns), chunks, self.named), codes


class Given(NamedTuple):
    """Observations on their way into a table, column by column.

    Attributes
    ----------
    values : the values of each column, ``length`` of them
    length : how many rows there are
    named : whether they have names, or only places
    sparse : whether a row may leave columns out
    """

    values: Mapping[Hashable, Any]
    length: int
    named: bool
    sparse: bool


def read_columns(observations: Any, name: str) -> Given:
    """Read a data frame, or a list of dictionaries or tuples, column by column.

    >>> read_columns([{"city": "Rome", "visits": 3}, {"city": "Oslo"}, None], "observations").values
    {'city': ['Rome', 'Oslo', None], 'visits': [3, None, None]}
    """
    frame = nw.from_native(observations, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        values: dict[Hashable, Any] = {s.name: s.to_native() for s in frame.iter_columns()}
        return Given(values, len(frame), named=True, sparse=False)
    if isinstance(observations, np.ndarray) and observations.ndim == 2:
        rows: list[Any] = [tuple(row) for row in observations.tolist()]
    else:
        rows = listed(observations, name)
    known = [row for row in rows if not is_missing(row)]
    named = all(isinstance(row, Mapping) for row in known)
    width = 0 if named or not known else _width(known[0])
    for k, row in enumerate(rows):
        if not (is_missing(row) or (named or _width(row) == width > 0)):
            raise TypeError(
                f"{name}: row {k} is {row!r}; give a data frame, or dictionaries, or tuples that "
                "are all of one length, None where a value is missing"
            )
    keys: Any = dict.fromkeys(key for row in known for key in row) if named else range(width)
    values = {key: [_value(row, key) for row in rows] for key in keys}
    return Given(values, len(rows), named, sparse=named)


def _width(row: Any) -> int:
    return len(row) if isinstance(row, (tuple, list, np.ndarray)) else 0


def _value(row: Any, key: Any) -> Any:
    if is_missing(row):
        return None
    return row.get(key) if isinstance(row, Mapping) else row[key]
