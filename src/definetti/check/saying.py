"""Words that several statistics have."""

from __future__ import annotations

import numpy as np

from definetti.check.base import CannotTest
from definetti.check.observed import Column
from definetti.check.sample import Sample


def name_column(column: Column) -> str:
    """Name a column in the middle of a sentence.

    >>> name_column(Column("height")), name_column(Column(""))
    ('column height', 'the observation')
    """
    return f"column {column.name}" if column.name else "the observation"


def need_columns(sample: Sample, steps: int = 1) -> tuple[str, ...]:
    """Return the names of the columns that can be tested, if there are any, and long enough."""
    if not sample.columns:
        raise CannotTest("; ".join(f"{what}: {why}" for what, why in sample.others.items()))
    if np.diff(sample.begins).max() < steps:
        raise CannotTest(f"it takes {steps} steps in a row")
    return tuple(column.name for column in sample.columns)
