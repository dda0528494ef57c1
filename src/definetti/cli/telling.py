"""Columns that tell nothing of the state: counters of rows, names of rows, a single value."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

FEW = 2  # rows by which nothing can be told to count
MANY = 10  # rows from which on it is odd that no text comes twice
SERIES = "has each value in rows that stand together, as names of series do (see --group-column)"


def find_idle(table: pl.DataFrame, columns: list[str]) -> dict[str, str]:
    """Return the columns that cannot be observations, and why.

    Measurements never come twice, either. So of numbers only whole ones are looked at, and only
    those that go up or down by the same step from each row to the next.

    >>> import polars as pl
    >>> rows = {"day": [7, 14, 21], "site": ["a", "a", "a"], "height": [1.5, 2.5, 3.5]}
    >>> find_idle(pl.DataFrame(rows), ["day", "site", "height"])
    {'day': 'counts the rows', 'site': 'has one value only'}
    """
    import polars as pl

    rows, found = len(table), {}
    if rows <= 1 or not columns:
        return {}
    table = table.select(columns)
    values = table.select(pl.all().n_unique()).row(0)  # at once: one at a time, each costs as much
    heads = table.head(FEW + 1).get_columns()
    for series, head, distinct in zip(table.get_columns(), heads, values, strict=True):
        if distinct == 1:
            found[series.name] = "has one value only"
        elif rows > FEW and _counts(head) and _counts(series):
            found[series.name] = "counts the rows"
        elif rows >= MANY and _names(series, distinct):
            found[series.name] = "never comes twice"
        elif _names_series(series, distinct):
            found[series.name] = SERIES
    return found


def _counts(series: pl.Series) -> bool:
    """Tell whether whole numbers go up or down by one step."""
    if not series.dtype.is_numeric() or series.null_count():
        return False
    if len(series) == FEW + 1:  # in plain Python, since most columns do not get further
        first, second, third = (float(value) for value in series)
        whole = series.dtype.is_integer() or all(v.is_integer() for v in (first, second, third))
        return whole and first != second and second - first == third - second
    if series.dtype.is_float() and (series != series.round()).any():
        return False
    import polars as pl

    steps = series.cast(pl.Float64).diff()[1:]
    return bool(steps[0] != 0 and (steps == steps[0]).all())


def _names_series(series: pl.Series, distinct: int) -> bool:
    """Tell whether text has three values or more, and each of them in many rows on end, once."""
    import polars as pl

    if series.dtype not in (pl.String, pl.Categorical, pl.Enum) or series.null_count():
        return False
    runs = len(series.rle()) if FEW < distinct <= len(series) / MANY else 0
    return distinct > FEW and runs == distinct


def _names(series: pl.Series, distinct: int) -> bool:
    """Tell whether each text that is there is there once."""
    import polars as pl

    text = series.dtype in (pl.String, pl.Categorical, pl.Enum)
    known = series.count()
    return bool(text and known > MANY / 2 and distinct - (known < len(series)) == known)
