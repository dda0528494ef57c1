"""What the columns of a file hold: dates, numbers, which are finite, or text, missing if empty."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from definetti.cli.fields import BadTable

if TYPE_CHECKING:
    import polars as pl

FEWEST_DIGITS = 3  # of a date or a time of day: 9:05 has as many
FIRST = 100  # values that tell whether a column is worth a closer look for dates
ABSENT = ("", "na", "n/a", "nan", "null", "none")
LARGEST = 1e150  # its square is a machine number, too
DECIMAL_COMMA = r"^\s*-?\d+,\d+\s*$"


def tidy_columns(
    table: pl.DataFrame, name: str, columns: list[str]
) -> tuple[pl.DataFrame, list[str]]:
    """Return a table whose columns an estimator can take, and notes on what was done.

    Parameters
    ----------
    table, name : what was read, and where it is from
    columns : those that are used; no others are looked at
    """
    import polars as pl

    notes: list[str] = []
    odd = _find_odd_text(table.select(columns))
    found = []  # for what is done to all at once: one at a time, each costs as much as all
    for column, series in zip(columns, table.select(columns).get_columns(), strict=True):
        if series.dtype.is_nested() or series.dtype in (
            pl.Binary,
            pl.Object,
        ):
            row = (series.is_not_null().arg_max() or 0) + 1
            raise BadTable(
                f"{name}: row {row}, column {column!r} holds {str(series.dtype)[:40].lower()}; "
                "give one value a row, text or a number"
            )
        if series.dtype in (pl.Int128, pl.UInt128) or series.dtype.is_decimal():
            series = series.cast(pl.Float64)
        if column in odd:
            series = _tidy_text(series, name, column, notes)
        found.append(series.alias(column))
    tidy = pl.DataFrame(found).fill_nan(None)
    for series in tidy.get_columns():
        if series.dtype.is_float():
            _check_finite(series, name, series.name)
    return table.with_columns(tidy.get_columns()), notes


def _find_odd_text(table: pl.DataFrame) -> set[str]:
    """Return the columns of text in which some is blank, or a number; all others stay as they are.

    All columns are looked at together: one at a time, each costs as much as all.
    """
    import polars as pl

    text = pl.selectors.string()
    bare = text.str.strip_chars()
    number = bare.cast(pl.Float64, strict=False).is_not_null()
    found = table.select(((bare == "") | number | bare.str.contains(DECIMAL_COMMA)).any())
    return {column for column, is_odd in zip(found.columns, *found.rows(), strict=True) if is_odd}


def _tidy_text(series: pl.Series, name: str, column: str, notes: list[str]) -> pl.Series:
    """Return text without empty text, or the numbers that it is but for words like NA."""
    import polars as pl

    bare = series.str.strip_chars()
    series = series.to_frame().select(pl.when(bare != "").then(series))[:, 0]
    bare = series.str.strip_chars()
    numbers = bare.cast(pl.Float64, strict=False)
    absent = bare.str.to_lowercase().is_in(ABSENT)
    counted = (numbers.is_not_null() & ~absent).sum()
    if not counted:
        if bare.str.contains(DECIMAL_COMMA).fill_null(True).all() and bare.is_not_null().any():
            notes.append(
                f"{name}: column {column!r} has commas in its numbers and is taken as symbols; "
                "write points to have it taken as numbers"
            )
        return series
    others = (numbers.is_null() & bare.is_not_null() & ~absent).fill_null(False)
    if not others.any():  # numbers, and words for what is missing
        found = (numbers.is_null() | absent.fill_null(True)) & bare.is_not_null()
        if found.any():
            row = found.arg_max() or 0
            notes.append(
                f"{name}: row {row + 1}, column {column!r} is {series[row]!r} and taken as missing"
            )
        # Digits that a typed file holds as text are meant as text.
        read = found.any() or (bare != series).any()
        return numbers.to_frame().select(pl.when(~absent).then(numbers))[:, 0] if read else series
    if counted > series.count() / 2:
        row = others.arg_max() or 0
        notes.append(
            f"{name}: row {row + 1}, column {column!r} is {series[row]!r}, no number, so the whole "
            "column is taken as symbols; mend the row if it holds numbers"
        )
    return series


def _check_finite(series: pl.Series, name: str, column: str) -> None:
    extremes: Any = (series.min(), series.max())
    if any(abs(extreme) > LARGEST for extreme in extremes if extreme is not None):
        wrong = (series.abs() > LARGEST).fill_null(False)
        row = wrong.arg_max() or 0
        raise BadTable(
            f"{name}: row {row + 1}, column {column!r} is {series[row]:g}, too large to reckon "
            "with; leave it empty where it is not known, or rescale the column"
        )


def parse_dates(table: pl.DataFrame, labels: Sequence[str]) -> pl.DataFrame:
    """Return a table whose columns of dates and times are that, and not text.

    The reader of CSV can look for them itself, which takes half a minute for a million rows.

    Parameters
    ----------
    labels : the columns with the states, and with the names of series, which stay what they are
    """
    import polars as pl

    found = {}
    for series in table.get_columns():
        if series.dtype == pl.String and series.name not in labels and _may_be_dates(series):
            looked = _infer_column(series.drop_nulls().head(FIRST))
            if looked.dtype.is_temporal():
                found[series.name] = _parse_column(series, looked.dtype)
    return table.with_columns(**found)


def _may_be_dates(series: pl.Series) -> bool:
    """Tell whether the first text that is there has digits enough for a date or a time."""
    if not series.count():
        return False
    first = next(value for value in series if value is not None)
    return sum(map(str.isdigit, first)) >= FEWEST_DIGITS


def _parse_column(series: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Return a column as dates, if all of it is; dates are looked for in a fast way first."""
    import polars as pl

    ways: dict[Any, Callable[..., pl.Series]] = {
        pl.Date: series.str.to_date,
        pl.Time: series.str.to_time,
    }
    with suppress(pl.exceptions.PolarsError):  # of which the fast way knows no format
        quick = ways.get(dtype.base_type(), series.str.to_datetime)(strict=False)
        if quick.null_count() == series.null_count():
            return quick
    known = _infer_column(series.drop_nulls())
    if not known.dtype.is_temporal():
        return series
    dated = pl.Series(series.name, [None] * len(series), dtype=known.dtype)
    return dated.scatter(series.is_not_null().arg_true(), known)


def _infer_column(series: pl.Series) -> pl.Series:
    """Return what the reader of CSV makes of a column."""
    import polars as pl

    text = io.BytesIO(series.to_frame().write_csv().encode())
    return pl.read_csv(text, infer_schema_length=None, try_parse_dates=True)[:, 0]
