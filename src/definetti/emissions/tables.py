"""Read vectors of numbers, and keep observations in tables that grow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.mixins import Saved
from definetti.data.labels import MISSING, NONE, is_missing, listed
from definetti.emissions.base import Emission, Labels


@dataclass(frozen=True, eq=False)
class Vectors:
    """Observations that are vectors, before they are added to a table."""

    values: FloatArray  # (k, width), NaN where one is missing; no column if all are
    name: str  # the argument's name, for messages
    columns: Labels | None = None
    flat: bool = False  # whether each came as a number, not as a row

    @property
    def width(self) -> int:
        return int(self.values.shape[1])

    def refuse(self, wrong: npt.NDArray[np.bool_], remedy: str) -> None:
        """Raise an error that names the first wrong value, if there is one."""
        if wrong.any():
            row, column = np.argwhere(wrong)[0].tolist()
            label = column if self.columns is None else self.columns[column]
            where = place(self.name, row, None if self.flat else label)
            raise ValueError(f"{where} is {self.values[row, column]:g}; {remedy}")


def place(name: str, row: int, column: Hashable) -> str:
    """Name a cell; rows count from 1, as on the command line."""
    return f"{name}: row {row + 1}" + ("" if column is None else f", column {column!r}")


def read(observations: Any, name: str) -> Vectors:
    """Read an array, a list of rows or of numbers, a series or a data frame."""
    native = nw.from_native(observations, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        values = [_column(series, name, series.name) for series in native.iter_columns()]
        stacked = np.stack(values, axis=1) if values else np.zeros((len(native), 0))
        return Vectors(stacked, name, tuple(native.columns))
    if isinstance(native, nw.Series):
        return Vectors(_column(native, name, None)[:, None], name, flat=True)
    return _listed(observations, name)


def _column(series: nw.Series[Any], name: str, column: Hashable) -> FloatArray:
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return np.array(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    entries = enumerate(series.to_list())
    return np.array([_number(entry, name, row, column) for row, entry in entries], dtype=float)


def _listed(observations: Any, name: str) -> Vectors:
    if isinstance(observations, (str, bytes, dict, set)) or not isinstance(observations, Iterable):
        raise TypeError(
            f"{name} must be one row of numbers per step, got {type(observations).__name__}; "
            "pass an array of shape (steps, columns), a list of rows or a data frame"
        )
    if isinstance(observations, np.ma.MaskedArray):
        observations = np.ma.filled(observations.astype(np.float64), np.nan)
    items = observations if isinstance(observations, np.ndarray) else list(observations)
    try:
        array = np.asarray(items)
    except ValueError:  # rows that are missing, or of several widths
        array = np.zeros(0, dtype=object)
    if array.ndim > 2 or (isinstance(items, np.ndarray) and array.ndim == 0):
        raise ValueError(
            f"{name} must be one row of numbers per step, got an array of shape {array.shape}; "
            "flatten what belongs to one step into one row"
        )
    if array.dtype.kind in "fiub" and array.size:
        values = array.astype(np.float64)
        return Vectors(values.reshape(len(values), -1), name, flat=array.ndim == 1)
    flat = not any(isinstance(item, Iterable) for item in items)
    return Vectors(_rows(list(items), name), name, flat=flat)


def _rows(items: list[Any], name: str) -> FloatArray:
    """Read row by row, so that errors name the row."""
    rows: list[list[float] | None] = []
    for row, item in enumerate(items):
        if is_missing(item):
            rows.append(None)
        elif isinstance(item, (str, bytes, dict)) or not isinstance(item, Iterable):
            rows.append([_number(item, name, row, None)])
        else:
            rows.append([_number(entry, name, row, k) for k, entry in enumerate(item)])
    widths = Counter(len(row) for row in rows if row is not None)
    width = widths.most_common(1)[0][0] if widths else 0
    for k, row_ in enumerate(rows):
        if row_ is not None and (len(row_) != width or not width):
            than = "wider" if len(row_) > width else "narrower"
            raise ValueError(
                f"{name}: row {k + 1} has {len(row_)} entries, {than} than the rest with {width}; "
                "give every row one entry per column, None where one is missing"
            )
    filled = [[np.nan] * width if row is None else row for row in rows]
    return np.array(filled, dtype=np.float64).reshape(len(rows), width)


def _number(entry: Any, name: str, row: int, column: Hashable) -> float:
    if is_missing(entry):
        return float("nan")
    if isinstance(entry, (Real, np.bool_)) or (isinstance(entry, np.ndarray) and entry.ndim == 0):
        try:
            return float(entry)
        except OverflowError:
            raise ValueError(
                f"{place(name, row, column)} is beyond what a machine number holds; rescale the "
                "column, or use None where it is missing"
            ) from None
    raise TypeError(
        f"{place(name, row, column)} is {entry!r}, which is not a number; leave the column out, "
        "turn it into numbers, or use Mixed() for columns of several kinds"
    )


@dataclass(frozen=True, eq=False)
class Chunks:
    """Rows of equal width in ``O(log T)`` arrays; a row is copied ``O(log T)`` times in all.

    Appending makes a new object, so that one thread may read while another appends.
    """

    arrays: tuple[npt.NDArray[Any], ...] = ()  # each more than twice as long as the next

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


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of numbers, each with its place as its code; adding rows makes a new table.

    A row with no number in it is a missing observation and is not kept. Single gaps in a row are
    NaN.
    """

    chunks: Chunks = field(default_factory=Chunks)
    width: int | None = None  # None until there is a row
    columns: Labels | None = None
    flat: bool = False  # whether the first observations came as plain numbers

    def __len__(self) -> int:
        return len(self.chunks)

    def take(self, codes: IntArray) -> FloatArray:
        """Return rows by their codes, ``codes.shape + (width,)``, NaN where missing."""
        return self.chunks.take(codes, self.width or 0, np.nan)

    def decoded(self, codes: IntArray) -> FloatArray:
        """Return rows by their codes; numbers where the observations came as numbers."""
        rows = self.take(codes)
        return rows[..., 0] if self.flat and self.width == 1 else rows

    def first_gap(self, codes: IntArray) -> tuple[int, Hashable] | None:
        """Return row and column of the first gap in rows that are not missing, if there is one."""
        gaps = np.argwhere(np.isnan(self.take(codes)) & (codes != MISSING)[:, None])
        if not len(gaps):
            return None
        row, column = gaps[0].tolist()
        return row, None if self.flat else column if self.columns is None else self.columns[column]

    def read(self, observations: Any, name: str, infinite: bool = False) -> Vectors:
        """Read observations with the columns that this table has, in their order.

        Infinite numbers are refused unless `infinite` lets them pass.
        """
        new = read(observations, name)
        if self.columns is not None and new.columns not in (None, self.columns):
            check_columns(new.columns, self.columns, name)
            order = [new.columns.index(column) for column in self.columns]
            new = replace(new, values=new.values[:, order], columns=self.columns)
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
        """Return a table that also holds new vectors, and their codes."""
        present = np.asarray(~np.isnan(vectors.values).all(axis=1))
        codes = new_codes(present, len(self))
        if not present.any():
            return self, codes
        chunks = self.chunks.extended(vectors.values[present])
        columns = self.columns or vectors.columns
        flat = vectors.flat if self.width is None else self.flat
        return Rows(chunks, vectors.width, columns, flat), codes


def new_codes(present: npt.NDArray[np.bool_], known: int) -> IntArray:
    """Return the codes of new rows: present rows are numbered on from `known`."""
    return np.where(present, known + present.cumsum() - 1, MISSING)


def check_columns(given: Sequence[Hashable], known: Sequence[Hashable], name: str) -> None:
    """Raise an error if columns differ from the known ones."""
    lacking = [column for column in known if column not in given]
    excess = [column for column in given if column not in known]
    if lacking or excess or not known:
        raise ValueError(
            f"{name} has columns {', '.join(map(repr, given)) or 'none'}, but the fitted ones have "
            f"{', '.join(map(repr, known)) or 'no names'}; "
            + (f"add {lacking[0]!r}" if lacking else f"leave out {excess[0]!r}")
        )


class CodedRows(Emission):
    """The coding that emissions of vectors share: each row has a code of its own."""

    infinite: ClassVar[bool] = False  # whether infinite numbers are allowed

    def check(self, vectors: Vectors) -> None:
        """Refuse rows that the law does not allow."""

    def encode(self, observations: Any, table: Any, name: str) -> tuple[Any, IntArray]:
        rows = Rows() if table is None else table
        vectors = rows.read(observations, name, self.infinite)
        self.check(vectors)
        return rows.added(vectors)

    def decode(self, table: Any, codes: IntArray) -> npt.NDArray[Any]:
        return np.asarray(table.decoded(codes))

    def columns_of(self, table: Any) -> Any:
        return table.columns

    def fix(self, table: Any, codes: IntArray, states: IntArray, labels: Labels) -> Emission:
        return self  # sums do not depend on what else is in the table


@dataclass(frozen=True, eq=False)
class Raw(Saved):
    """Observations with their place as their code, returned unchanged."""

    chunks: Chunks = field(default_factory=Chunks)
    schema: dict[str, Any] | None = None  # of a frame; None where there was none
    backend: Any = None  # the library of the frame

    def __len__(self) -> int:
        return len(self.chunks)

    @property
    def width(self) -> int:
        return 1 if self.schema is None else len(self.schema)

    def _saved(self) -> dict[str, Any]:
        # A frame without rows holds the schema and the library.
        empty = None if self.schema is None else self.take(NONE)
        return {"chunks": self.chunks, "frame": empty}

    @classmethod
    def _restored(cls, kept: dict[str, Any]) -> Raw:
        if kept["frame"] is None:
            return cls(kept["chunks"])
        frame = nw.from_native(kept["frame"], eager_only=True)
        return cls(kept["chunks"], dict(frame.schema), frame.implementation)

    def encoded(self, observations: Any, name: str) -> tuple[Raw, IntArray]:
        """Return a table that also holds new observations, and their codes."""
        frame = nw.from_native(observations, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            schema = dict(frame.schema)
            table = self if len(self) else Raw(self.chunks, schema, frame.implementation)
            known = list(table.schema or {})
            check_columns(frame.columns, known, name)
            rows = frame.select(known).rows()
        else:
            table, rows = self, [(value,) for value in listed(observations, name)]
            if self.schema is not None:
                raise TypeError(
                    f"{name} must be a data frame with the columns {', '.join(self.schema)}, as "
                    f"the fitted ones are, got {type(observations).__name__}"
                )
        values = np.empty((len(rows), len(rows[0]) if rows else 0), dtype=object)
        for k, row in enumerate(rows):
            values[k] = row
        present = np.array([not all(map(is_missing, row)) for row in rows], dtype=np.bool_)
        chunks = table.chunks.extended(values[present])
        return replace(table, chunks=chunks), new_codes(present, len(self))

    def take(self, codes: IntArray) -> Any:
        """Return observations by their codes, none of them missing: a frame, or an array."""
        rows = self.chunks.take(codes, self.width, missing=None)
        if self.schema is None:
            return rows[..., 0]
        columns = {name: rows[..., k].tolist() for k, name in enumerate(self.schema)}
        return nw.from_dict(columns, schema=self.schema, backend=self.backend).to_native()

    def decoded(self, codes: IntArray) -> npt.NDArray[Any]:
        """Return observations as tuples or in their original form, None where missing."""
        flat = np.full(codes.size, None, dtype=object)
        values = self.chunks.take(codes.ravel(), self.width, missing=None)
        for k in np.flatnonzero(codes.ravel() != MISSING):
            flat[k] = values[k, 0] if self.schema is None else tuple(values[k])
        return flat.reshape(codes.shape)

    def first_gap(self, codes: IntArray) -> tuple[int, str] | None:
        """Return row and column of the first gap in rows that are not missing, if there is one."""
        values = self.chunks.take(codes, self.width, missing=None)
        for row in np.flatnonzero(codes != MISSING).tolist():
            for column, value in zip(self.schema or (), values[row], strict=False):
                if is_missing(value):
                    return row, column
        return None


def is_raw(observations: Any) -> bool:
    """Return whether observations are frames or text, to be kept unchanged."""
    native = nw.from_native(observations, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        return True
    values = native.to_list() if isinstance(native, nw.Series) else observations
    if isinstance(values, np.ndarray):
        return values.ndim == 1 and values.dtype.kind in "UO" and is_raw(values.tolist())
    return isinstance(values, (list, tuple)) and any(isinstance(value, str) for value in values)


def summed(values: FloatArray, states: IntArray, n_states: int) -> FloatArray:
    """Sum rows, ``(k, width)``, state by state: ``(n_states, width)``."""
    sums = np.zeros((n_states, values.shape[1]))
    for state in np.unique(states):
        sums[state] = values[states == state].sum(axis=0)
    return sums


def entry_sums(values: FloatArray, states: IntArray, n_states: int) -> FloatArray:
    """Count the entries that are not missing, then sum them: ``(n_states, 2 · width)``."""
    seen = ~np.isnan(values)
    both = np.concatenate([seen, np.where(seen, values, 0.0)], axis=1)
    return summed(both, states, n_states)


def shrunk(counts: FloatArray, sums: FloatArray, prior: float, pooled: FloatArray) -> FloatArray:
    """Means of states, ``(n, width)``, with ``prior`` pseudo-observations of the pooled mean.

    A state without data has the pooled mean; a column without data has the mean 0.
    """
    own = np.where(counts > 0, ratio(sums, counts), pooled)
    return np.asarray(own + share(counts, prior) * (pooled - own))


def share(counts: FloatArray, prior: Any) -> FloatArray:
    """Return the weight of pseudo-observations in an estimate from so many observations."""
    return np.where(counts + prior > 0, ratio(prior, counts + prior), 1.0)


def ratio(numerator: Any, denominator: Any) -> FloatArray:
    """Divide, with 0 where the denominator is not positive."""
    there = np.greater(denominator, 0)
    quotient = np.zeros(np.broadcast_shapes(np.shape(numerator), there.shape))
    return np.asarray(np.divide(numerator, denominator, out=quotient, where=there))
