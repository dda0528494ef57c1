"""A check that takes a moment, for who asked for something else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from definetti.check.checking import check
from definetti.check.diagnosis import Diagnosis
from definetti.data.labels import is_missing, piece, readable
from definetti.emissions.choice import kinds_of
from definetti.memory import Memory

DRAWN = 199  # of which 0.005 is the smallest p-value
CLEAR = 0.01
COLUMNS = 20  # that are looked at; the first ones
WORK = 2 * 10**7  # steps of all draws and columns together: a second or so


def check_quickly(
    observations: Any,
    states: Any,
    *,
    memory: int | str | Memory = 1,
    rows_before: Any = 0,
    random_state: Any = None,
    pictures: bool = False,
) -> Diagnosis:
    """Test the last rows of a labelled history with few draws, in about a second at any length.

    Whatever it finds is exact, as of `check`: 199 rearrangements, at a level of 0.01. Of long
    histories only the last rows are tested, which are a history, too: 50,000 of one column, fewer
    of many, and of wide tables the first 20 columns. What is left out is in `Diagnosis.untested`.

    Parameters
    ----------
    observations, states, memory, rows_before, random_state, pictures : as of `check`

    Examples
    --------
    >>> found = check_quickly(None, list("aabb" * 50_000), random_state=0)
    >>> found.p_value, found.n_steps, found.untested["rows"]
    (0.005, 100502, 'a quick check takes the last 100,502 of 200,000')
    """
    states, observations = readable(states, "states"), readable(observations)
    length, before = len(states), np.asarray(rows_before)
    columns, wide, rows = 0, 0, min(length, WORK // DRAWN)
    if observations is not None and len(observations) != length:
        rows = length  # which is refused
    elif observations is not None:
        observations = piece(observations, length - rows, length)
        columns, observations, wide = _cut_columns(observations)
        if rows * (1 + columns) * DRAWN > WORK:
            last, rows = rows, WORK // (DRAWN * (1 + columns))
            observations = piece(observations, last - rows, last)
    states = piece(states, length - rows, length)
    found = check(
        observations, states, memory=memory, n_resamples=DRAWN, alpha=CLEAR,
        rows_before=before[length - rows :] if before.ndim else rows_before + length - rows,
        random_state=random_state, pictures=pictures,
    )  # fmt: skip
    cut = {}
    if rows < length:
        cut["rows"] = f"a quick check takes the last {rows:,} of {length:,}"
    if wide > columns:
        cut["columns"] = f"a quick check takes the first {columns} of {wide}"
    return replace(found, untested={**found.untested, **cut})


def _cut_columns(observations: Any) -> tuple[int, Any, int]:
    """Return how many columns are looked at, these, and how many there are."""
    native = nw.from_native(observations, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        wide = len(native.columns)
        return min(wide, COLUMNS), native[:, :COLUMNS].to_native(), wide
    if isinstance(observations, np.ndarray) and observations.ndim == 2:
        wide = observations.shape[1]
        return min(wide, COLUMNS), observations[:, :COLUMNS], wide
    if (kinds := kinds_of(observations)).shape not in ("rows", "tuples", "mappings"):
        return 1, observations, 1
    wide, first = len(kinds.kinds), list(kinds.kinds)[:COLUMNS]
    if wide > COLUMNS and kinds.shape != "tuples":  # which may be symbols as a whole
        observations = [_cut_row(row, first) for row in observations]
    return min(wide, COLUMNS), observations, wide


def _cut_row(row: Any, names: list[Any]) -> Any:
    """Return some columns of a row: by their names, or the first where they have none."""
    if is_missing(row):
        return None
    return (
        {name: row.get(name) for name in names} if isinstance(row, Mapping) else row[: len(names)]
    )
