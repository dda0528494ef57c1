"""New rows from a file of their own, held against the labelled rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from definetti.cli.fields import BadTable
from definetti.cli.kinds import ABSENT, tidy_columns

if TYPE_CHECKING:
    import polars as pl


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
    """Return new rows with columns of the kinds that labelled ones have, and notes.

    Parameters
    ----------
    new, name : the new rows, and their file
    table, past : the labelled rows, and theirs
    columns : the observed ones; both tables have them
    batch : whether the new rows are some of those that follow in the same file, of which a few may
        have digits alone where others have text; else numbers that no labelled row has as a symbol
        are refused
    """
    import polars as pl

    symbols = [one for one in name_symbols(table.select(columns)) if new[one].dtype == pl.String]
    blank = pl.col(symbols).str.strip_chars() == ""
    new = new.with_columns(pl.when(~blank).then(pl.col(symbols))) if symbols else new
    new, notes = tidy_columns(new, name, [one for one in columns if one not in symbols])
    if state in new.columns:
        notes.append(f"{name}: column {state!r} is not looked at; new rows need no state")
    known_columns = {*table.columns, state}
    others = [column for column in new.columns if column not in known_columns]
    if others:
        notes.append(f"{name}: left out, not being in {past}: {', '.join(others)}")
    both = (new.select(columns).get_columns(), table.select(columns).get_columns())
    found = []
    for column, series, known in zip(columns, *both, strict=True):
        if name_kind(known) == "text" and name_kind(series) == "numbers":
            series = _write_as_text(series, known)
        elif column in symbols and not batch and _are_other_numbers(series, known):
            series = series.str.strip_chars().cast(pl.Float64)
        kinds = {name_kind(series), name_kind(known)}
        if len(kinds) > 1 and "nothing" not in kinds:
            row = _find_first_odd(series, known)
            raise BadTable(
                f"{name}: row {row + 1}, column {column!r} is {series[row]!r}, and in {past} the "
                f"column holds {name_kind(known)}; write both alike"
            )
        found.append(series.alias(column))
    return new.with_columns(found), notes


def name_symbols(table: pl.DataFrame) -> list[str]:
    """Return the columns of a table that hold text, whose values are symbols as they are written.

    >>> import polars as pl
    >>> name_symbols(pl.DataFrame({"code": ["007", "x1"], "heat": [1.5, 2.0]}))
    ['code']
    """
    return [one.name for one in table.get_columns() if name_kind(one) == "text"]


def name_kind(series: pl.Series) -> str:
    """Return what a column holds, in a word."""
    import polars as pl

    if not series.count():
        return "nothing"
    if series.dtype == pl.Boolean:
        return "true or false"
    if series.dtype.is_numeric():
        return "numbers"
    return "dates" if series.dtype.is_temporal() else "text"


def _find_first_odd(series: pl.Series, known: pl.Series) -> int:
    """Return the first row that does not fit what is known; the first with a value if none does."""
    import polars as pl

    odd = series.is_not_null()
    if name_kind(series) == "text":
        bare = series.cast(pl.String).str.strip_chars().str.to_lowercase()
        fits = bare.is_in(ABSENT)
        if name_kind(known) == "numbers":
            fits |= bare.cast(pl.Float64, strict=False).is_not_null()
        elif name_kind(known) == "true or false":
            fits |= bare.is_in(["true", "false"])
        odd = (odd & ~fits).fill_null(False)
    elif name_kind(series) == "numbers" and name_kind(known) == "text":
        odd &= ~series.cast(pl.String).is_in(known.unique().implode()).fill_null(True)
    return odd.arg_max() or 0


def _are_other_numbers(series: pl.Series, known: pl.Series) -> bool:
    """Tell whether text is numbers throughout, some of which are not among known symbols."""
    import polars as pl

    numbers = series.drop_nulls().str.strip_chars().cast(pl.Float64, strict=False)
    same = series.drop_nulls().is_in(known.unique().implode())
    return bool(numbers.len() and numbers.is_not_null().all() and not same.all())


def _write_as_text(series: pl.Series, known: pl.Series) -> pl.Series:
    """Return numbers as the symbols that they are among other symbols, if they are."""
    import polars as pl

    text = series.cast(pl.String)
    return text if text.drop_nulls().is_in(known.unique().implode()).all() else series
