"""Write and read data frames and series, column by column, for the library they came from."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from definetti._system.files import claim_memory
from definetti.exceptions import SaveError
from definetti.saving.values import Form

BACKENDS = ("pandas", "polars", "pyarrow")
COLUMN = 2_000  # bytes that a column takes, however short
DTYPES = {
    str(dtype): dtype
    for dtype in (
        nw.Float64(), nw.Float32(), nw.Int64(), nw.Int32(), nw.Int16(), nw.Int8(), nw.UInt64(),
        nw.UInt32(), nw.UInt16(), nw.UInt8(), nw.Boolean(), nw.String(), nw.Categorical(),
        nw.Object(),
    )
}  # fmt: skip


def _write_frame(value: Any, writer: Any, where: str) -> dict[str, Any]:
    native = _native(value)
    single = isinstance(native, nw.Series)
    backend = native.implementation.value
    if backend not in BACKENDS:
        raise SaveError(f"{where} is of {backend}; files hold frames of {', '.join(BACKENDS)}")
    columns = [native] if single else list(native.iter_columns())
    written = [_write_column(column, writer, where) for column in columns]
    return {"backend": backend, "single": single, "columns": written}


def _write_column(series: Any, writer: Any, where: str) -> list[Any]:
    place = f"{where}: column {series.name!r}"
    dtype, categories = str(series.dtype), None
    if isinstance(series.dtype, nw.Enum):
        dtype, categories = "Enum", list(series.dtype.categories)
    elif dtype not in DTYPES:
        raise SaveError(
            f"{place} is of type {dtype}, which a file does not hold; turn it into numbers or text"
        )
    values = series.to_list()
    _claim(values)
    return [writer.write(series.name, place), dtype, categories, writer.write(values, place)]


def _read_frame(node: Any, reader: Any) -> Any:
    backend = BACKENDS[BACKENDS.index(node["backend"])]
    columns = []
    for name, dtype, categories, values in node["columns"]:
        kind = DTYPES[dtype] if categories is None else nw.Enum(categories)
        column = reader.read(values)
        if type(column) is not list:
            raise ValueError("a column is no list")
        _claim(column)
        columns.append(_series(reader.read(name), column, kind, backend))
    if node["single"]:
        (series,) = columns
        return series.to_native()
    return nw.from_dict({series.name: series for series in columns}).to_native()


def _claim(values: list[Any]) -> None:
    """Claim the memory of a column: text is copied, also where rows share it."""
    claim_memory(
        COLUMN + 32 * len(values) + sum(len(value) for value in values if type(value) is str)
    )


def _native(value: Any) -> Any:
    return nw.from_native(value, eager_only=True, allow_series=True, pass_through=True)


def _series(name: Any, values: list[Any], dtype: Any, backend: Any) -> Any:
    if isinstance(dtype, nw.Object):
        if backend != "pandas":
            raise ValueError("a column of objects is not one of pandas")
        import pandas as pd

        return nw.from_native(pd.Series(values, name=name, dtype=object), series_only=True)
    return nw.new_series(name, values, dtype, backend=backend)


FRAME = Form(
    "frame",
    lambda value: isinstance(_native(value), (nw.DataFrame, nw.Series)),
    _write_frame,
    _read_frame,
)
