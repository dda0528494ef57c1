"""Infer types of columns, find uninformative columns, and match new rows to known types."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from definetti.cli.errors import BadTable
from definetti.cli.lazy import pl

FEWEST_DIGITS = 3  # of a date or a time of day: 9:05 has three
FIRST = 100  # values parsed first to detect dates
ABSENT = ("", "na", "n/a", "nan", "null", "none")
LARGEST = 1e150  # the largest magnitude whose square is finite
DECIMAL_COMMA = r"^\s*-?\d+,\d+\s*$"
FEW = 2  # with at most so many rows, no column is a counter
MANY = 10  # from so many rows on, text without repetition is suspicious
SERIES = "has each value in consecutive rows, as a column of series has (see --group-column)"


def tidy_columns(
    table: pl.DataFrame, name: str, columns: list[str]
) -> tuple[pl.DataFrame, list[str]]:
    """Convert the named columns to types that estimators accept; return the table and notes."""
    notes: list[str] = []
    odd = _find_odd_text(table.select(columns))
    converted = []  # added together: adding one column costs as much as all
    for column, series in zip(columns, table.select(columns).get_columns(), strict=True):
        if series.dtype.is_nested() or series.dtype in (pl.Binary, pl.Object):
            row = (series.is_not_null().arg_max() or 0) + 1
            raise BadTable(
                f"{name}: row {row}, column {column!r} holds {str(series.dtype)[:40].lower()}; "
                "give one value a row, text or a number"
            )
        if series.dtype in (pl.Int128, pl.UInt128) or series.dtype.is_decimal():
            series = series.cast(pl.Float64)
        if column in odd:
            series = _tidy_text(series, name, column, notes)
        converted.append(series.alias(column))
    tidy = pl.DataFrame(converted).fill_nan(None)
    for series in tidy.get_columns():
        if series.dtype.is_float():
            _check_finite(series, name)
    return table.with_columns(tidy.get_columns()), notes


def _find_odd_text(table: pl.DataFrame) -> set[str]:
    """Return the text columns with blank values, numbers or decimal commas, by one query."""
    text = pl.selectors.string()
    bare = text.str.strip_chars()
    number = bare.cast(pl.Float64, strict=False).is_not_null()
    odd = table.select(((bare == "") | number | bare.str.contains(DECIMAL_COMMA)).any())
    return {column for column, is_odd in zip(odd.columns, *odd.rows(), strict=True) if is_odd}


def _tidy_text(series: pl.Series, name: str, column: str, notes: list[str]) -> pl.Series:
    """Return text with blanks as null, or numbers if all values are numbers or words such as NA."""
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
    if not others.any():  # only numbers and words for missing values
        missing = (numbers.is_null() | absent.fill_null(True)) & bare.is_not_null()
        if missing.any():
            row = missing.arg_max() or 0
            notes.append(
                f"{name}: row {row + 1}, column {column!r} is {series[row]!r} and taken as missing"
            )
        # Keep digits as text where a typed file stores them as text.
        read = missing.any() or (bare != series).any()
        return numbers.to_frame().select(pl.when(~absent).then(numbers))[:, 0] if read else series
    if counted > series.count() / 2:
        row = others.arg_max() or 0
        notes.append(
            f"{name}: row {row + 1}, column {column!r} is {series[row]!r}, no number, so the whole "
            "column is taken as symbols; correct the row if it holds numbers"
        )
    return series


def _check_finite(series: pl.Series, name: str) -> None:
    extremes: Any = (series.min(), series.max())
    if any(abs(extreme) > LARGEST for extreme in extremes if extreme is not None):
        row = (series.abs() > LARGEST).fill_null(False).arg_max() or 0
        raise BadTable(
            f"{name}: row {row + 1}, column {series.name!r} is {series[row]:g}, too large; "
            "leave it empty if it is not known, or rescale the column"
        )


def parse_dates(table: pl.DataFrame, labels: Sequence[str]) -> pl.DataFrame:
    """Convert text columns of dates and times, except for the columns of labels.

    The CSV reader of polars would take half a minute for a million rows.
    """
    converted = {}
    for series in table.get_columns():
        if series.dtype != pl.String or series.name in labels:
            continue
        first = next((value for value in series if value is not None), "")
        if sum(map(str.isdigit, first)) < FEWEST_DIGITS:
            continue
        kind = _infer_column(series.drop_nulls().head(FIRST)).dtype
        if not kind.is_temporal():
            continue
        parsers: dict[Any, Any] = {pl.Date: series.str.to_date, pl.Time: series.str.to_time}
        with suppress(pl.exceptions.PolarsError):  # unknown date format
            dates = parsers.get(kind.base_type(), series.str.to_datetime)(strict=False)
            if dates.null_count() == series.null_count():
                converted[series.name] = dates
    return table.with_columns(**converted)


def _infer_column(series: pl.Series) -> pl.Series:
    """Parse a text column with the CSV reader of polars."""
    text = io.BytesIO(series.to_frame().write_csv().encode())
    return pl.read_csv(text, infer_schema_length=None, try_parse_dates=True)[:, 0]


def find_uninformative(table: pl.DataFrame, columns: list[str]) -> dict[str, str]:
    """Return the uninformative columns with reasons: constants, counters, names of rows or series.

    Only whole numbers with a constant increment are counters: measurements may never repeat.
    """
    rows = len(table)
    if rows <= 1 or not columns:
        return {}
    table = table.select(columns)
    text = pl.col(pl.String, pl.Categorical, pl.Enum)
    values = text.drop_nulls().n_unique()
    in_runs = (text.null_count() == 0) & (text.rle_id().max() + 1 == values)
    queries = {
        "never comes twice": (text.count() > MANY / 2) & (values == text.count()) & (rows >= MANY),
        SERIES: in_runs & (values > FEW) & (values <= rows / MANY),
        "has one value only": pl.all().n_unique() == 1,
    }
    reasons = dict.fromkeys(_find_counters(table) if rows > FEW else (), "counts the rows")
    for why, query in queries.items():
        for column, [holds] in table.select(query).to_dict(as_series=False).items():
            if holds:
                reasons[column] = why
    return {column: reasons[column] for column in columns if column in reasons}


def _find_counters(table: pl.DataFrame) -> list[str]:
    """Return the columns of whole numbers with a constant increment; try a few rows first."""
    likely = table.select(pl.selectors.numeric())
    for rows in (FEW + 1, len(table)):
        if not likely.width:
            break
        values = likely.head(rows).cast(pl.Float64).to_numpy()
        steps = np.diff(values, axis=0)
        are = (values % 1 == 0).all(axis=0) & (steps[0] != 0) & (steps == steps[0]).all(axis=0)
        likely = likely[:, are.tolist()]
    return likely.columns


def match_new_rows(
    new: pl.DataFrame,
    name: str,
    table: pl.DataFrame,
    past: str,
    *,
    columns: list[str],
    state: str,
    batch: bool = False,
) -> tuple[pl.DataFrame, list[str]]:
    """Convert the columns of new rows to the types of the labelled rows; return rows and notes."""
    symbols = [
        column for column in name_symbols(table.select(columns)) if new[column].dtype == pl.String
    ]
    blank = pl.col(symbols).str.strip_chars() == ""
    new = new.with_columns(pl.when(~blank).then(pl.col(symbols))) if symbols else new
    new, notes = tidy_columns(new, name, [column for column in columns if column not in symbols])
    if state in new.columns:
        notes.append(f"{name}: column {state!r} is ignored; new rows need no state")
    known_columns = {*table.columns, state}
    others = [column for column in new.columns if column not in known_columns]
    if others:
        notes.append(f"{name}: columns that {past} does not have are left out: {', '.join(others)}")
    matched = []
    both = (new.select(columns).get_columns(), table.select(columns).get_columns())
    for column, series, known in zip(columns, *both, strict=True):
        odd = _find_misfit(series, known, batch)
        if odd is not None:
            raise BadTable(
                f"{name}: row {odd + 1}, column {column!r} is {series[odd]!r}, and in {past} the "
                f"column holds {name_kind(known)}; write both alike"
            )
        is_symbol = name_kind(known) == "text" and name_kind(series) == "numbers"
        matched.append((series.cast(pl.String) if is_symbol else series).alias(column))
    return new.with_columns(matched), notes


def _find_misfit(series: pl.Series, known: pl.Series, is_batch: bool) -> int | None:
    """Return the first row of a new column that does not fit the labelled rows; None if all do."""
    new, old = name_kind(series), name_kind(known)
    if "nothing" in (new, old) or (new == old and (is_batch or old != "text")):
        return None
    text = series.cast(pl.String)
    bare = text.str.strip_chars().str.to_lowercase()
    number = bare.cast(pl.Float64, strict=False).is_not_null()
    if old == "text" and new in ("numbers", "text"):  # numbers must be known symbols
        unknown = series.is_not_null() & ~text.is_in(known.unique().implode())
        return unknown.arg_max() if (number | bare.is_null()).all() and unknown.any() else None
    fits = bare.is_in(ABSENT)
    if old == "numbers":
        fits |= number
    elif old == "true or false":
        fits |= bare.is_in(["true", "false"])
    return (series.is_not_null() & ~fits).arg_max() or 0


def name_symbols(table: pl.DataFrame) -> list[str]:
    """Return the names of the text columns, whose values are symbols."""
    return [series.name for series in table.get_columns() if name_kind(series) == "text"]


def name_kind(series: pl.Series) -> str:
    """Return the type of a column in words."""
    if not series.count():
        return "nothing"
    if series.dtype == pl.Boolean:
        return "true or false"
    if series.dtype.is_numeric():
        return "numbers"
    return "dates" if series.dtype.is_temporal() else "text"
