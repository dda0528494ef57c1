"""New rows from a file of their own, held against the labelled rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from definetti.cli.fields import BadTable
from definetti.cli.kinds import ABSENT, tidy_columns

if TYPE_CHECKING:
    import polars as pl


def match_new_rows(
    new: pl.DataFrame, name: str, table: pl.DataFrame, past: str, *, columns: list[str], state: str
) -> tuple[pl.DataFrame, list[str]]:
    """Return new rows with columns of the kinds that labelled ones have, and notes.

    Parameters
    ----------
    new, name : the new rows, and their file
    table, past : the labelled rows, and theirs
    columns : the observed ones; both tables have them
    """
    new, notes = tidy_columns(new, name, columns)
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
        kinds = {name_kind(series), name_kind(known)}
        if len(kinds) > 1 and "nothing" not in kinds:
            row = _find_first_odd(series, known)
            raise BadTable(
                f"{name}: row {row + 1}, column {column!r} is {series[row]!r}, and in {past} the "
                f"column holds {name_kind(known)}; write both alike"
            )
        found.append(series.alias(column))
    return new.with_columns(found), notes


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


def _write_as_text(series: pl.Series, known: pl.Series) -> pl.Series:
    """Return numbers as the symbols that they are among other symbols, if they are."""
    import polars as pl

    text = series.cast(pl.String)
    return text if text.drop_nulls().is_in(known.unique().implode()).all() else series
