"""Read vectors of numbers from lists, arrays and frames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray
from definetti.data.labels import is_missing
from definetti.emissions.base import Labels


@dataclass(frozen=True, eq=False)
class Vectors:
    """Observations that are vectors, on their way into a table."""

    values: FloatArray  # (k, width), NaN where one is missing; no column if all are
    name: str  # what the user calls them, for messages
    columns: Labels | None = None
    flat: bool = False  # whether each came as a number, not as a row

    @property
    def width(self) -> int:
        return int(self.values.shape[1])

    def refuse(self, wrong: npt.NDArray[np.bool_], remedy: str) -> None:
        """Refuse values if any is wrong, naming the first of them."""
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
    """Read row by row, which tells what is wrong with which."""
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
