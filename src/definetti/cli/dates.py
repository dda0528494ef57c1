"""Columns of text that are dates.

The reader of CSV can look for them itself, which takes half a minute for a million rows.
"""

from __future__ import annotations

import io
from contextlib import suppress
from typing import TYPE_CHECKING

from definetti.cli.frames import import_polars

if TYPE_CHECKING:
    import polars as pl

FIRST = 100  # values that tell whether a column is worth a closer look


def parse_dates(table: pl.DataFrame, state: str | None) -> pl.DataFrame:
    """Return a table whose columns of dates and times are that, and not text.

    Parameters
    ----------
    state : the column with the states, which stays what it is
    """
    found = {}
    for series in table.get_columns():
        if series.dtype == import_polars().String and series.name != state and series.count():
            looked = _infer_column(series.drop_nulls().head(FIRST))
            if looked.dtype.is_temporal():
                found[series.name] = _parse_column(series, looked.dtype)
    return table.with_columns(**found)


def _parse_column(series: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Return a column as dates, if all of it is; dates are looked for in a fast way first."""
    own = import_polars()
    ways = {own.Date: series.str.to_date, own.Time: series.str.to_time}
    with suppress(own.exceptions.PolarsError):  # of which the fast way knows no format
        quick: pl.Series = ways.get(dtype.base_type(), series.str.to_datetime)(strict=False)
        if quick.null_count() == series.null_count():
            return quick
    known = _infer_column(series.drop_nulls())
    if not known.dtype.is_temporal():
        return series
    dated: pl.Series = own.Series(series.name, [None] * len(series), dtype=known.dtype)
    return dated.scatter(series.is_not_null().arg_true(), known)


def _infer_column(series: pl.Series) -> pl.Series:
    """Return what the reader of CSV makes of a column."""
    text = io.BytesIO(series.to_frame().write_csv().encode())
    read = import_polars().read_csv
    found: pl.DataFrame = read(text, infer_schema_length=None, try_parse_dates=True)
    return found[:, 0]
