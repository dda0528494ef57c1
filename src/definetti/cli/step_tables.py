"""The tables with a row per step that `predict` and `backtest` write, and how to recognise them."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from definetti._system.arrays import IntArray
from definetti.cli.estimators import write_level
from definetti.cli.lazy import pl
from definetti.cli.writing import read_columns

if TYPE_CHECKING:
    from definetti.evaluation.results import Evaluation

PREDICTION_COLUMNS = ["step", "confidence", "set", "size", "best"]  # then a number for each state
BACKTEST_COLUMNS = [
    "row", "window", "confidence", "truth", "set", "size", "covered", "filled", "p_value",
]  # fmt: skip


def add_keys(rows: list[dict[str, Any]], keys: pl.DataFrame | None, places: list[int]) -> None:
    """Put the key columns of a file before the results for its rows, in place.

    A column with the name of a result gets the prefix "file_"; beyond the last row keys are empty.
    """
    if keys is None or not keys.width or not rows:
        return
    names = [name_key(name, rows[0]) for name in keys.columns]
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


def name_key(column: str, results: Iterable[str]) -> str:
    """Return the name of a column of the file beside results of which one may have this name."""
    return f"file_{column}" if column in results else column


def list_rows(keys: pl.DataFrame, row: Any, truth: Any) -> pl.DataFrame:
    """Return the key columns of a file, then the number and the state of each row."""
    named = [one.alias(name_key(one.name, BACKTEST_COLUMNS)) for one in keys.get_columns()]
    return pl.DataFrame([*named, pl.Series("row", row), pl.Series("truth", truth)])


def list_backtest_steps(
    found: Sequence[Mapping[Any, Evaluation]],
    levels: Sequence[float | str],
    rows: pl.DataFrame,
    places: Mapping[Any, IntArray],
) -> pl.DataFrame:
    """Return a row per step: series after series, and each level by level."""
    *keys, _, _ = rows.columns
    types: dict[str, Any] = {
        "window": pl.Int64, "confidence": pl.Series(levels).dtype,
        "set": pl.List(rows["truth"].dtype), "size": pl.Int64, "covered": pl.Boolean,
        "filled": pl.Boolean, "p_value": pl.Float64,
    }  # fmt: skip
    frames = [rows.clear().hstack(pl.DataFrame(schema=types))]
    for name in sorted(places):
        for level, evaluations in zip(levels, found, strict=True):
            if name in evaluations:
                at, results = _list_results(evaluations[name], level)
                results = pl.DataFrame(results, schema_overrides=types)
                frames.append(rows[places[name][at]].hstack(results))
    whole = pl.concat(frames).with_columns(pl.col("p_value").fill_nan(None))
    return whole.select(*whole.columns[: len(keys)], *BACKTEST_COLUMNS)


def _list_results(found: Evaluation, level: float | str) -> tuple[IntArray, Any]:
    """Return the row of each step, and columns of its results."""
    windows = len(found.covered)
    steps = len(found.truth) // windows
    at = (found.begins[:, None] + np.arange(steps)).ravel()
    states = sorted(found.states, key=lambda label: (str(type(label)), label))
    nodes = found.nodes[:, [found.states.index(label) for label in states]]
    return at, {
        "window": np.repeat(np.arange(1, windows + 1), steps),
        "confidence": [level] * len(at),
        "set": [
            [state for state, here in zip(states, row, strict=True) if here]
            for row in nodes.tolist()
        ],
        "size": nodes.sum(axis=1),
        "covered": np.repeat(found.covered, steps).astype(np.bool_),
        "filled": np.repeat(found.filled, steps),
        "p_value": np.repeat(found.p_values, steps).astype(np.float64),
    }


def pack_steps(steps: pl.DataFrame) -> str:
    """Write steps as text for a cell: a Parquet file in Base64."""
    file = io.BytesIO()
    steps.write_parquet(file)
    return base64.b64encode(file.getvalue()).decode("ascii")


def unpack_steps(text: str) -> pl.DataFrame:
    """Read what `pack_steps` wrote."""
    frame: pl.DataFrame = pl.read_parquet(io.BytesIO(base64.b64decode(text)))
    return frame


def is_backtest_file(path: Path) -> bool:
    """Tell by its columns whether `definetti backtest` wrote a file with a row per step."""
    return read_columns(path)[-len(BACKTEST_COLUMNS) :] == BACKTEST_COLUMNS


def is_series_file(path: Path) -> bool:
    """Tell by its columns whether `definetti backtest` wrote a file with a row per series."""
    from definetti.evaluation.series import SeriesEvaluation

    return read_columns(path) == list(SeriesEvaluation([]).to_dict())
