"""The column that says when rows were taken, and where it has holes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from definetti.cli.kinds import parse_dates
from definetti.data.timing import Clock, Holes, Times, find_holes, read_times

if TYPE_CHECKING:
    import polars as pl

BY_COLUMN = "leave out column {!r} if rows follow each other all the same"


class TimeColumn(NamedTuple):
    """The times of the rows of a file.

    Attributes
    ----------
    name : of the column
    times : of all rows, labelled or not
    holes : where rows are missing
    """

    name: str
    times: Times
    holes: Holes

    def clock(self, row: int) -> Clock:
        """Return the time at a row."""
        usual = float(self.holes.usual[0])
        return Clock(self.times.kind, self.times.values[row].item(), usual)


def find_time_column(
    table: pl.DataFrame, columns: list[str]
) -> tuple[TimeColumn | None, list[str]]:
    """Return the first of some columns that has dates in rising order, if any has; and notes."""
    notes: list[str] = []
    for name in columns:
        values = as_times(table[name])
        if values is None:
            continue
        back = np.flatnonzero(np.diff(values.values) < 0)
        if len(back):
            notes.append(
                f"column {name!r} goes back in time at row {back[0] + 2:,}: rows are taken in the "
                "order of the file"
            )
            continue
        holes = find_holes(values, np.arange(len(table)) == 0, BY_COLUMN.format(name))
        return TimeColumn(name, values, holes), [holes.note] * bool(holes.note)
    return None, notes


def as_times(series: pl.Series) -> Times | None:
    """Return the times of a column, of dates or of text that is; None where a row has none."""
    import polars as pl

    if series.dtype == pl.String:
        series = parse_dates(series.to_frame(), [])[series.name]
    if series.dtype not in (pl.Date, pl.Datetime) or series.null_count() or not len(series):
        return None
    return read_times(series.to_list())


def read_order_times(series: pl.Series) -> TimeColumn | None:
    """Return the times that the rows of one series are sorted by, if they are times or numbers."""
    times: Any = None if series.null_count() else read_times(series.to_list())
    if times is None:
        return None
    holes = find_holes(times, np.arange(len(series)) == 0, BY_COLUMN.format(series.name))
    return TimeColumn(series.name, times, holes)
