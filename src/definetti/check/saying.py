"""Words that several statistics have."""

from __future__ import annotations

import numpy as np

from definetti.check.advice import rows_needed
from definetti.check.base import CannotTest
from definetti.check.observed import Column
from definetti.check.sample import Sample


def name_column(column: Column) -> str:
    """Name a column in the middle of a sentence.

    >>> name_column(Column("height")), name_column(Column(""))
    ('column height', 'the observation')
    """
    return f"column {column.name}" if column.name else "the observation"


def find_segment(sample: Sample, row: int) -> tuple[int, int, int]:
    """Return the segment that so many rows end in, and where it begins and ends."""
    segment = int(np.searchsorted(sample.begins[1:-1], row, side="left"))
    return segment, int(sample.begins[segment]), int(sample.begins[segment + 1])


def name_place(sample: Sample, row: int) -> str:
    """Say where so many rows end, counted in their sequence where there are several.

    Of a table of series, the row of the table is said, and whose it is.
    """
    if sample.origin is not None:
        rows, names = sample.origin
        if names is None:
            return f"row {sample.find_row(row)}"
        return f"row {sample.find_row(row)}, of series {names[rows[max(row - 1, 0)]]!r},"
    segment, begin, _ = find_segment(sample, row)
    if sample.segments == 1 or sample.before:
        return f"row {sample.find_row(row)}"
    return f"row {row - begin} of sequence {segment + 1}"


def use_after(sample: Sample, row: int | None) -> str:
    """Say what to do where something changes after so many rows."""
    watch = "watch the stream with a monitor"
    if row is None:
        return watch
    _, _, end = find_segment(sample, row)
    if end - row < rows_needed(sample):
        return f"{watch}, as the {end - row:,} rows that follow are too few to fit"
    if sample.segments == 1 and sample.origin is None:
        return f"use the rows after {sample.find_row(row)}, or {watch}"
    return f"leave out what is before it, or {watch}"


def need_moves(sample: Sample) -> None:
    """Refuse a sample that has no transitions, or only one."""
    if len(sample.rows) < 2:
        raise CannotTest("all steps are in one state")
    if not len(sample.sources):
        raise CannotTest("it takes two steps in a row")


def need_columns(sample: Sample, pairs: bool = True) -> tuple[str, ...]:
    """Return the names of the columns that can be tested, if there are any.

    Parameters
    ----------
    pairs : whether it takes steps that follow each other
    """
    if not sample.columns:
        raise CannotTest("; ".join(f"{what}: {why}" for what, why in sample.others.items()))
    if pairs and np.diff(sample.begins).max() < 2:
        raise CannotTest("it takes two steps in a row")
    return tuple(column.name for column in sample.columns)
