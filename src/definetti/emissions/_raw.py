"""The table of observations that are kept as they came: rows of a frame, or pieces of text."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from definetti._system.arrays import IntArray
from definetti._system.mixins import Saved
from definetti.data.labels import MISSING, is_missing, listed
from definetti.emissions._chunks import Chunks


@dataclass(frozen=True, eq=False)
class Raw(Saved):
    """Observations with their place as their code, given back as they came.

    Attributes
    ----------
    chunks : (rows, columns) the values; one column where each came by itself
    schema : the names and types of the columns of a frame; none where there was no frame
    backend : the library of the frame

    Examples
    --------
    >>> table, codes = Raw().encoded(["a rainy day", None, "sun"], "observations")
    >>> codes, table.take(codes[[0, 2]]).tolist()
    (array([ 0, -1,  1]), ['a rainy day', 'sun'])
    """

    chunks: Chunks = field(default_factory=Chunks)
    schema: dict[str, Any] | None = None
    backend: Any = None

    def __len__(self) -> int:
        return len(self.chunks)

    def _saved(self) -> dict[str, Any]:
        none = None
        if self.schema is not None:  # a frame without rows says it all
            none = nw.from_dict({one: [] for one in self.schema}, self.schema, backend=self.backend)
        return {"chunks": self.chunks, "frame": None if none is None else none.to_native()}

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
            table = (
                self if len(self) else Raw(self.chunks, dict(frame.schema), frame.implementation)
            )
            rows = [tuple(row) for row in table._ordered(frame, name).rows()]
        else:
            table, rows = self, [(value,) for value in listed(observations, name)]
            if self.schema is not None:
                raise TypeError(
                    f"{name} must be a data frame with the columns {', '.join(self.schema)}, as "
                    f"the fitted ones are, got {type(observations).__name__}"
                )
        present = [not all(map(is_missing, row)) for row in rows]
        kept = np.empty((sum(present), len(rows[0]) if rows else 0), dtype=object)
        for k, row in enumerate(row for row, there in zip(rows, present, strict=True) if there):
            kept[k] = row
        codes = np.full(len(rows), MISSING, dtype=np.int64)
        codes[present] = len(self) + np.arange(len(kept))
        return replace(table, chunks=table.chunks.extended(kept)), codes

    def take(self, codes: IntArray) -> Any:
        """Return observations by their codes, none of them missing: a frame, or an array."""
        width = 1 if self.schema is None else len(self.schema)
        rows = self.chunks.take(codes, width, missing=None)
        if self.schema is None:
            return rows[..., 0]
        columns = {name: rows[..., k].tolist() for k, name in enumerate(self.schema)}
        made = nw.from_dict(columns, schema=self.schema, backend=self.backend)
        return made.to_native()

    def decoded(self, codes: IntArray) -> npt.NDArray[Any]:
        """Return observations as tuples or as they came, None where missing."""
        flat = np.full(codes.size, None, dtype=object)
        width = 1 if self.schema is None else len(self.schema)
        values = self.chunks.take(codes.ravel(), width, missing=None)
        for k in np.flatnonzero(codes.ravel() != MISSING):
            flat[k] = values[k, 0] if self.schema is None else tuple(values[k])
        return flat.reshape(codes.shape)

    def first_gap(self, codes: IntArray) -> tuple[int, str] | None:
        """Return row and column of the first gap in rows that are there, if any has one."""
        for row in np.flatnonzero(codes != MISSING).tolist():
            values = self.chunks.take(codes[row : row + 1], len(self.schema or "1"), missing=None)
            for column, value in zip(self.schema or (), values[0], strict=False):
                if is_missing(value):
                    return row, column
        return None

    def _ordered(self, frame: nw.DataFrame[Any], name: str) -> nw.DataFrame[Any]:
        known = list(self.schema or {})
        lacking = [column for column in known if column not in frame.columns]
        excess = [column for column in frame.columns if column not in known]
        if lacking or excess or not known:
            raise ValueError(
                f"{name} has columns {', '.join(map(repr, frame.columns)) or 'none'}, but the "
                f"fitted ones have {', '.join(map(repr, known)) or 'no names'}; "
                + (f"add {lacking[0]!r}" if lacking else f"leave out {excess[0]!r}")
            )
        return frame.select(known)


def is_raw(observations: Any) -> bool:
    """Tell frames and text, to be kept as they came, from rows of numbers.

    >>> is_raw(["a rainy day", None]), is_raw([[1.0, 2.0]])
    (True, False)
    """
    native = nw.from_native(observations, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        return True
    values = native.to_list() if isinstance(native, nw.Series) else observations
    if isinstance(values, np.ndarray):
        return values.ndim == 1 and values.dtype.kind in "UO" and is_raw(values.tolist())
    return isinstance(values, (list, tuple)) and any(isinstance(value, str) for value in values)
