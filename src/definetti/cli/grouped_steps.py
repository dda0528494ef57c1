"""A row a step of many series: the truth, and the set that was given for it."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from definetti._system.arrays import IntArray
from definetti.cli.backtest import OWN
from definetti.cli.reading import import_polars

if TYPE_CHECKING:
    import polars as pl

    from definetti.evaluation.results import Evaluation
    from definetti.evaluation.series import SeriesEvaluation

KINDS: dict[str, Any] = {
    "place": np.int64, "window": np.int64, "confidence": np.int64, "set": np.int64,
    "size": np.int64, "covered": np.bool_, "filled": np.bool_, "p_value": np.float64,
}  # fmt: skip


def list_series_steps(
    found: Sequence[SeriesEvaluation],
    levels: Sequence[float | str],
    rows: pl.DataFrame,
    group: str,
    order: str | None,
    state: str,
) -> pl.DataFrame:
    """Return a row a step, series after series, and each level by level.

    Parameters
    ----------
    found, levels : how all series fared at each level, and how these are written
    rows : the table that was judged
    group, order, state : its columns; ``row`` counts the rows of a series, from 1
    """
    pl = import_polars()
    keys = [group] if order is None else [group, order]
    table = rows.select(
        *(pl.col(one).alias(f"file_{one}" if one in OWN else one) for one in keys),
        pl.int_range(1, pl.len() + 1).over(group, order_by=order).alias("row"),
        pl.col(state).alias("truth"),
    )
    sets: list[list[Any]] = []
    columns: dict[str, list[Any]] = {name: [np.empty(0, kind)] for name, kind in KINDS.items()}
    places: dict[Any, IntArray] = found[0].rows
    for name in sorted(places):
        for k, one in enumerate(found):
            if name in one.evaluations:
                each = _steps_of(one.evaluations[name], places[name], sets)
                each["confidence"] = np.full(len(each["place"]), k)
                for column, values in each.items():
                    columns[column].append(values)
    whole = {name: np.concatenate(values) for name, values in columns.items()}
    listed = pl.Series("set", sets, dtype=pl.List(rows[state].dtype))
    told = {
        "window": whole["window"],
        "confidence": pl.Series(list(levels)).gather(whole["confidence"]),
        "set": listed.gather(whole["set"]),
        "size": whole["size"],
        "covered": whole["covered"],
        "filled": whole["filled"],
        "p_value": pl.Series(whole["p_value"]).fill_nan(None),
    }
    return table[whole["place"]].with_columns(**told).select(*table.columns[: len(keys)], *OWN)


def _steps_of(found: Evaluation, places: IntArray, sets: list[list[Any]]) -> dict[str, Any]:
    """Return the steps of one series; add the sets that it has, each once, to those there are."""
    windows = len(found.covered)
    steps = len(found.truth) // windows
    packed = np.packbits(found.nodes, axis=1)
    _, first, which = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    begin = len(sets)
    for step in first:
        there = [label for label, one in zip(found.states, found.nodes[step], strict=True) if one]
        sets.append(sorted(there, key=lambda label: (str(type(label)), label)))  # as in all series
    return {
        "place": places[(found.begins[:, None] + np.arange(steps)).ravel()],
        "window": np.repeat(np.arange(1, windows + 1), steps),
        "set": begin + which.ravel(),
        "size": found.nodes.sum(axis=1),
        "covered": np.repeat(found.covered, steps),
        "filled": np.repeat(found.filled, steps),
        "p_value": np.repeat(found.p_values, steps).astype(np.float64),
    }


def pack_steps(steps: pl.DataFrame) -> str:
    """Write steps as text, for a cell to keep: a Parquet file in letters.

    >>> import polars as pl
    >>> unpack_steps(pack_steps(pl.DataFrame({"row": [1], "set": [["sun", "rain"]]}))).rows()
    [(1, ['sun', 'rain'])]
    """
    file = io.BytesIO()
    steps.write_parquet(file)
    return base64.b64encode(file.getvalue()).decode("ascii")


def unpack_steps(text: str) -> pl.DataFrame:
    """Read what `pack_steps` wrote."""
    import polars as pl

    return pl.read_parquet(io.BytesIO(base64.b64decode(text)))
