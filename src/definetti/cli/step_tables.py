"""The tables with a row per step that `predict` and `backtest` write, and how to recognise them."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from definetti._system.arrays import IntArray
from definetti.cli.estimators import write_level
from definetti.cli.reading import import_polars
from definetti.cli.writing import read_columns

if TYPE_CHECKING:
    import polars as pl

    from definetti.cli.columns import LabelledTable
    from definetti.evaluation.results import Evaluation
    from definetti.evaluation.series import SeriesEvaluation

PREDICTION_COLUMNS = ["step", "confidence", "set", "size", "best"]  # then a number for each state
BACKTEST_COLUMNS = [
    "row", "window", "confidence", "truth", "set", "size", "covered", "filled", "p_value",
]  # fmt: skip
STEP_TYPES: dict[str, Any] = {
    "place": np.int64, "window": np.int64, "confidence": np.int64, "set": np.int64,
    "size": np.int64, "covered": np.bool_, "filled": np.bool_, "p_value": np.float64,
}  # fmt: skip


def add_keys(rows: list[dict[str, Any]], keys: pl.DataFrame | None, places: list[int]) -> None:
    """Put the key columns of a file before the results for its rows.

    Parameters
    ----------
    rows : the results, changed in place
    keys : the columns; one that is named as a result is gets the prefix "file_"
    places : the row of the file of each result; beyond its end the keys are empty
    """
    if keys is None or not keys.width or not rows:
        return
    ours = set(rows[0])
    names = [f"file_{name}" if name in ours else name for name in keys.columns]
    values = keys.rows()
    nothing = (None,) * keys.width
    for row, place in zip(rows, places, strict=True):
        own = dict(row)
        row.clear()
        row.update(
            zip(names, values[place] if place < len(values) else nothing, strict=True), **own
        )


def list_prediction_steps(found: Any, lag: int, level: Any) -> list[dict[str, Any]]:
    """Return a row per step: the set, the best state, and a number for each state."""
    from definetti.sets import StepSets

    if isinstance(found, StepSets):
        kind, numbers = "probability", found.marginals
    else:
        kind, numbers = "p", found.step_p_values
    best = found.best
    return [
        {
            "step": lag + k + 1,
            "confidence": write_level(level),
            "set": list(states),
            "size": len(states),
            "best": None if best is None else best[k],
            **{f"{kind}_{label}": float(p) for label, p in zip(found.states, row, strict=True)},
        }
        for k, (states, row) in enumerate(zip(found.steps, numbers, strict=True))
    ]


def is_prediction_file(path: Path) -> bool:
    """Tell by its columns whether `definetti predict` wrote a file."""
    columns = read_columns(path)
    own = columns[columns.index("step") :] if "step" in columns else []
    numbers = all(column.startswith(("p_", "probability_")) for column in own[5:])
    return own[:5] == PREDICTION_COLUMNS and numbers


def places_of_steps(found: Evaluation) -> list[int]:
    """Return the labelled row of each step."""
    steps = len(found.truth) // len(found.covered)
    places: list[int] = (found.begins[:, None] + np.arange(steps)).ravel().tolist()
    return places


def list_backtest_steps(
    found: Evaluation, level: Any, table: LabelledTable, places: list[int]
) -> list[dict[str, Any]]:
    """Return a row per step: its row in the file, the true state, and the set."""
    steps = len(found.truth) // len(found.covered)
    rows = []
    for k, place in enumerate(places):
        window = k // steps
        p_value = float(found.p_values[window])
        states = [label for label, here in zip(found.states, found.nodes[k], strict=True) if here]
        values = (
            table.rows[place] + 1, window + 1, level, table.states[place], states, len(states),
            bool(found.covered[window]), bool(found.filled[window]),
            p_value if p_value == p_value else None,
        )  # fmt: skip
        rows.append(dict(zip(BACKTEST_COLUMNS, values, strict=True)))
    return rows


def list_series_steps(
    found: Sequence[SeriesEvaluation],
    levels: Sequence[float | str],
    rows: pl.DataFrame,
    group: str,
    order: str | None,
    state: str,
) -> pl.DataFrame:
    """Return a row per step: series after series, and each level by level.

    Parameters
    ----------
    found, levels : the evaluations at each level, and how the levels are written
    rows : the table that was evaluated; the column ``row`` counts the rows of a series, from 1
    """
    pl = import_polars()
    keys = [group] if order is None else [group, order]
    table = rows.select(
        *(pl.col(key).alias(f"file_{key}" if key in BACKTEST_COLUMNS else key) for key in keys),
        pl.int_range(1, pl.len() + 1).over(group, order_by=order).alias("row"),
        pl.col(state).alias("truth"),
    )
    sets: list[list[Any]] = []
    columns: dict[str, list[Any]] = {name: [np.empty(0, kind)] for name, kind in STEP_TYPES.items()}
    places: dict[Any, IntArray] = found[0].rows
    for name in sorted(places):
        for k, evaluation in enumerate(found):
            if name in evaluation.evaluations:
                steps = _steps_of(evaluation.evaluations[name], places[name], sets)
                steps["confidence"] = np.full(len(steps["place"]), k)
                for column, values in steps.items():
                    columns[column].append(values)
    whole = {name: np.concatenate(values) for name, values in columns.items()}
    listed = pl.Series("set", sets, dtype=pl.List(rows[state].dtype))
    results = {
        "window": whole["window"],
        "confidence": pl.Series(list(levels)).gather(whole["confidence"]),
        "set": listed.gather(whole["set"]),
        "size": whole["size"],
        "covered": whole["covered"],
        "filled": whole["filled"],
        "p_value": pl.Series(whole["p_value"]).fill_nan(None),
    }
    steps_table = table[whole["place"]].with_columns(**results)
    return steps_table.select(*table.columns[: len(keys)], *BACKTEST_COLUMNS)


def _steps_of(found: Evaluation, places: IntArray, sets: list[list[Any]]) -> dict[str, Any]:
    """Return the steps of one series; append its distinct sets to `sets`."""
    windows = len(found.covered)
    steps = len(found.truth) // windows
    packed = np.packbits(found.nodes, axis=1)
    _, first, which = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    begin = len(sets)
    for step in first:
        members = [
            label for label, here in zip(found.states, found.nodes[step], strict=True) if here
        ]
        sets.append(sorted(members, key=lambda label: (str(type(label)), label)))
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
    """Write steps as text for a cell: a Parquet file in Base64.

    >>> import polars as pl
    >>> unpack_steps(pack_steps(pl.DataFrame({"row": [1], "set": [["sun", "rain"]]}))).rows()
    [(1, ['sun', 'rain'])]
    """
    file = io.BytesIO()
    steps.write_parquet(file)
    return base64.b64encode(file.getvalue()).decode("ascii")


def unpack_steps(text: str) -> pl.DataFrame:
    """Read what `pack_steps` wrote."""
    frame: pl.DataFrame = import_polars().read_parquet(io.BytesIO(base64.b64decode(text)))
    return frame


def is_backtest_file(path: Path) -> bool:
    """Tell by its columns whether `definetti backtest` wrote a file with a row per step."""
    return read_columns(path)[-len(BACKTEST_COLUMNS) :] == BACKTEST_COLUMNS


def is_series_file(path: Path) -> bool:
    """Tell by its columns whether `definetti backtest` wrote a file with a row per series."""
    from definetti.evaluation.series import SeriesEvaluation

    return read_columns(path) == list(SeriesEvaluation([]).to_dict())
