"""The column with the states: labels come back as they went in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from definetti.cli.fields import BadTable
from definetti.cli.frames import import_polars
from definetti.cli.kinds import tidy_columns

if TYPE_CHECKING:
    import polars as pl

# Words for what is missing. "none" and "Na" are not among them: they are names, too.
ABSENT = ("NA", "N/A", "n/a", "NaN", "nan", "null", "NULL")


def read_states(table: pl.DataFrame, name: str, column: str) -> tuple[list[Any], list[str]]:
    """Return the label of each row, None where there is none, and notes.

    Text stays as it is, whatever it looks like; blank text and words such as NA are no label.

    Parameters
    ----------
    table, name : what was read, and where it is from
    column : the column with the states
    """
    pl = import_polars()
    series = table[column]
    if series.dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    if series.dtype != pl.String:
        tidy, notes = tidy_columns(table.select(column), name, [column])
        return tidy[column].to_list(), notes
    bare = series.str.strip_chars()
    absent = bare.is_in(ABSENT).fill_null(False)
    kept = series.to_frame().select(pl.when((bare != "") & ~absent).then(series))[:, 0]
    notes = []
    if absent.any():
        words = ", ".join(map(repr, bare.filter(absent).unique(maintain_order=True)))
        number = absent.sum()
        rows = "1 row" if number == 1 else f"{number:,} rows"
        notes.append(
            f"{name}: column {column!r} has {words} in {rows}, read as empty; to have a state of "
            f"such a name write it otherwise, '({bare.filter(absent)[0]})' say"
        )
    return kept.to_list(), notes + _note_blanks(kept, name, column)


def count_labelled(labels: list[Any], raw: pl.Series, name: str, column: str) -> int:
    """Return how many rows are labelled: the first ones, and all of them.

    Parameters
    ----------
    labels, raw : the labels, and the column that they were read from
    """
    known = [k for k, label in enumerate(labels) if label is not None]
    if not known:
        raise BadTable(
            f"{name}: column {column!r} is empty in every row; the states of the first rows must "
            "be known"
        )
    end = known[-1] + 1
    if len(known) != end:
        row = labels.index(None)
        said = f" ({raw[row]!r} is read so)" if isinstance(raw[row], str) and raw[row] else ""
        raise BadTable(
            f"{name}: row {row + 1}, column {column!r} is empty{said}, and rows below it are not; "
            "fill it in, or move rows without a state to the end"
        )
    return end


def _note_blanks(series: pl.Series, name: str, column: str) -> list[str]:
    """Return a note where labels differ by blanks alone, which nobody sees."""
    first: dict[str, str] = {}
    for label in series.drop_nulls().unique(maintain_order=True):
        other = first.setdefault(label.strip(), label)
        if other != label:
            return [
                f"{name}: column {column!r} has {other!r} and {label!r}, which differ by blanks "
                "alone and are two states; take the blanks out if they are one"
            ]
    return []
