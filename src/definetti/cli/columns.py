"""Which column is the state, which are observed, and which rows are labelled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from definetti.cli.reading import BadTable, polars

if TYPE_CHECKING:
    import polars as pl


@dataclass
class Given:
    """Labelled rows and new ones, ready for an estimator.

    Attributes
    ----------
    observations, states : of the labelled rows; observations are None where no column is observed
    new : the observations of the new rows
    columns : the observed columns, with what they hold
    notes : what a person should know of how the files were read
    """

    observations: Any
    states: list[Any]
    new: Any
    new_rows: int
    columns: dict[str, str]
    notes: list[str] = field(default_factory=list)


def given(
    table: pl.DataFrame,
    name: str,
    state: str,
    observed: str | None,
    new: pl.DataFrame | None = None,
) -> Given:
    """Tell labelled rows from new ones, and take the columns asked for.

    Parameters
    ----------
    table, name : the labelled rows, and new ones below them if they have no state; and their file
    state : the column with the states
    observed : names of the observed columns, with commas between; all others if left out
    new : further new rows
    """
    check_column(table, name, state)
    notes: list[str] = []
    columns = _observed(table, name, state, observed, notes)
    labels = table[state].to_list()
    known = [k for k, label in enumerate(labels) if label is not None]
    if not known:
        raise BadTable(
            f"{name}: column {state!r} is empty in every row; the states of the first rows must "
            "be known"
        )
    end = known[-1] + 1
    if len(known) != end:
        row = labels.index(None) + 1
        raise BadTable(
            f"{name}: row {row}, column {state!r} is empty, and rows below it are not; fill it in, "
            "or move rows without a state to the end"
        )
    rest = table[end:]
    if new is not None:
        for column in columns:
            check_column(new, "the new rows", column)
        if len(rest):
            raise BadTable(
                f"{name}: the last {len(rest)} rows have no state, and there is a file of new rows "
                "as well; leave one of them out"
            )
        rest = new
    for column in columns:
        if table[column][:end].n_unique() == 1:
            notes.append(f"column {column!r} has one value only and tells nothing")
    return Given(
        _taken(table[:end], columns),
        labels[:end],
        _taken(rest, columns) if columns and len(rest) else None,
        len(rest),
        {column: str(table[column].dtype).lower() for column in columns},
        notes,
    )


def check_column(table: pl.DataFrame, name: str, column: str) -> None:
    """Refuse a column that is not there."""
    if column not in table.columns:
        raise BadTable(f"{name} has no column {column!r}; it has {', '.join(table.columns)}")


def _observed(
    table: pl.DataFrame, name: str, state: str, observed: str | None, notes: list[str]
) -> list[str]:
    dated = [column for column in table.columns if table[column].dtype.is_temporal()]
    if observed is None:
        columns = [column for column in table.columns if column != state and column not in dated]
        if dated and columns:
            notes.append(f"left out, being dates: {', '.join(dated)}")
        return columns
    columns = [column.strip() for column in observed.split(",") if column.strip()]
    for column in columns:
        check_column(table, name, column)
        if column == state:
            raise BadTable(f"column {column!r} is the state and cannot be observed as well")
        if column in dated:
            raise BadTable(
                f"{name}: column {column!r} holds dates, which come once only; leave it out, or "
                "turn it into numbers (the hour of the day, say)"
            )
    return columns


def _taken(table: pl.DataFrame, columns: list[str]) -> Any:
    """Return one column as a series, several as a frame, none as None."""
    if not columns:
        return None
    text = [column for column in columns if table[column].dtype == polars().Null]
    table = table.with_columns(table[column].cast(polars().String) for column in text)
    return table[columns[0]] if len(columns) == 1 else table.select(columns)
