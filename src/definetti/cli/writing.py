"""Write results to files atomically, never over an input, with spreadsheet formulas escaped.

A file that the same command wrote is recognised by its columns or by a mark; any other file is
replaced only with --force. The module also builds the tables with a row per step.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from definetti._system.arrays import IntArray
from definetti._system.files import find_destination, replace_file
from definetti.cli.errors import BadTable
from definetti.cli.estimators import write_level
from definetti.cli.lazy import pl
from definetti.cli.table_files import name_source
from definetti.cli.text_tables import escape_formulas

if TYPE_CHECKING:
    from definetti.evaluation.results import Evaluation

ENDINGS = (".csv", ".tsv", ".parquet", ".jsonl", ".json", ".csv.gz", ".tsv.gz", ".jsonl.gz")
BEGINNING = 1 << 20  # characters searched for the first row, or for the mark
SEPARATORS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}

PREDICTION_COLUMNS = ["step", "confidence", "set", "size", "best"]  # then one column per state
BACKTEST_COLUMNS = [
    "row", "window", "confidence", "truth", "set", "size", "covered", "filled", "p_value",
]  # fmt: skip

# --- Which files may be written


def check_output(
    output: Path | None,
    inputs: Iterable[str | None],
    force: bool,
    ours: Callable[[Path], bool],
    endings: tuple[str, ...] = ENDINGS,
) -> None:
    """Raise BadTable if the output file cannot be written, or must not be replaced."""
    if output is not None:
        if problem := _find_problem(output, endings):
            raise BadTable(f"output {output} {problem}")
        _check_replaced(output, inputs, force, ours)


def check_folder(
    folder: Path, patterns: Iterable[str], inputs: Iterable[Path], force: bool
) -> None:
    """Refuse to replace files in a folder, unless it has the cells of an experiment."""
    ours = (folder / "cells").is_dir()
    known = [str(path) for path in inputs]
    for output in sorted(path for pattern in patterns for path in folder.glob(pattern)):
        _check_replaced(output, known, force, lambda _: ours)


def _find_problem(output: Path, endings: tuple[str, ...]) -> str:
    """Return why a file cannot be written; an empty string if it can."""
    ending = find_ending(output)
    if output.is_dir():
        return "is a folder; name a file"
    if ending not in endings:
        given = repr(ending) if ending else "no ending"
        return f"has {given}; files end in {', '.join(endings)}"
    try:
        place = find_destination(output)
    except OSError as error:
        return f"cannot be written: {error.strerror}; name another file"
    folder = place.parent if output.is_symlink() else output.parent
    if not folder.is_dir():
        return f"is in a folder that does not exist, {folder}; make it first"
    if not os.access(folder, os.W_OK):
        return f"is in a folder that cannot be written to, {folder}; name another"
    return ""


def _check_replaced(
    output: Path, inputs: Iterable[str | None], force: bool, ours: Callable[[Path], bool]
) -> None:
    """Refuse to replace an input, and without --force a file that this command did not write."""
    if not output.exists():
        return
    for source in inputs:
        if source is not None and _is_same_file(output, source):
            raise BadTable(
                f"output {output} is the file that the command reads ({name_source(source)}); "
                "name another file to write with --output"
            )
    if not force and output.stat().st_size and not ours(output):
        raise BadTable(
            f"output {output} exists already, and this command did not write it; name another "
            "file, or replace it with --force"
        )


def _is_same_file(output: Path, source: str) -> bool:
    """Return whether two paths, spelt differently or linked, name the same file."""
    with suppress(OSError, ValueError):  # the source is missing or closed
        source_stat = os.fstat(0) if source == "-" else Path(source).stat()
        return os.path.samestat(output.stat(), source_stat)
    return False


def find_ending(path: Path) -> str:
    """Return the suffix of a file name, including the compression: ``.csv.gz``."""
    number = 2 if path.suffix.lower() == ".gz" else 1
    return "".join(path.suffixes[-number:]).lower()


def read_columns(path: Path) -> list[str]:
    """Return the columns of a file written by `write_frames`; an empty list for other files."""
    ending = find_ending(path)
    try:
        if ending == ".parquet":
            return list(pl.read_parquet_schema(path))
        text = read_beginning(path)
        if ending in SEPARATORS:
            return next(csv.reader(text.splitlines(), delimiter=SEPARATORS[ending]))
        return list(json.JSONDecoder().raw_decode(text.lstrip("[ \n"))[0])
    except Exception:  # not a file of `write_frames`
        return []


def read_beginning(path: Path) -> str:
    """Return the first characters of a text file; an empty string if it is not text."""
    opened: Any = gzip.open if find_ending(path).endswith(".gz") else open
    try:
        with opened(path, "rt", encoding="utf-8") as file:
            return str(file.read(BEGINNING))
    except (OSError, ValueError, EOFError):
        return ""


# --- Rows into a file


def write_frames(frames: Iterable[pl.DataFrame | list[dict[str, Any]]], output: Path) -> list[str]:
    """Write the rows of several tables to one file without holding all in memory; return notes.

    The suffix of the file sets the format: CSV, TSV, JSON, JSON lines or Parquet. A set in a row is
    a list, except in CSV and TSV: see `as_text`.
    """
    ending = find_ending(output)
    notes: list[str] = []
    tables = map(_as_frame, frames)

    def write(path: Path) -> None:
        if ending == ".parquet":
            _write_parquet(tables, path)
            return
        opened: Any = gzip.open if ending.endswith(".gz") else open
        with opened(path, "wb") as file:
            if ending == ".json":
                file.write(b"[\n")
            for number, table in enumerate(tables):
                if ending in SEPARATORS:
                    text, escaped = as_text(table)
                    if escaped and not notes:
                        notes.append(
                            f"{output}: text that begins with =, +, - or @ is written after an "
                            "apostrophe, so that no spreadsheet takes it for a formula; definetti "
                            "reads it without the apostrophe"
                        )
                    text.write_csv(file, include_header=not number, separator=SEPARATORS[ending])
                elif ending == ".json":
                    if len(table):
                        rows = table.write_ndjson().rstrip("\n").replace("\n", ",\n")
                        file.write((",\n" * (file.tell() > 2) + rows).encode())
                else:
                    table.write_ndjson(file)
            if ending == ".json":
                file.write(b"\n]")

    write_whole(output, write)
    return notes


def _as_frame(rows: pl.DataFrame | list[dict[str, Any]]) -> pl.DataFrame:
    frame = pl.DataFrame(rows, infer_schema_length=None) if isinstance(rows, list) else rows
    empty = [name for name, dtype in frame.schema.items() if dtype == pl.List(pl.Null)]
    return frame.cast(dict.fromkeys(empty, pl.List(pl.String)))


def _write_parquet(frames: Iterable[pl.DataFrame], path: Path) -> None:
    """Write each table to a temporary file, then concatenate the files."""
    with TemporaryDirectory(dir=path.parent, prefix=".definetti-") as folder:
        files = []
        for number, frame in enumerate(frames):
            files.append(Path(folder) / f"{number}.parquet")
            frame.write_parquet(files[-1])
        whole = pl.concat([pl.scan_parquet(file) for file in files], how="vertical_relaxed")
        whole.sink_parquet(path, row_group_size=100_000, maintain_order=True)


def as_text(frame: pl.DataFrame) -> tuple[pl.DataFrame, bool]:
    r"""Return a table for CSV, and whether fields were escaped.

    A list becomes one field with bars between its labels, ``sun|a\|b|2``; text that a spreadsheet
    would read as a formula is escaped, also in the header.
    """
    lists = [name for name, kind in frame.schema.items() if isinstance(kind, pl.List)]
    label = pl.element().cast(pl.String).str.replace_all(r"([\\|])", r"\$1")
    frame = frame.with_columns(pl.col(lists).list.eval(label).list.join("|"))
    header = pl.DataFrame({"name": frame.columns})
    table, escaped = escape_formulas(frame)
    table.columns = escape_formulas(header)[0]["name"].to_list()
    return table, escaped


def write_whole(output: Path, write: Callable[[Path], Any]) -> None:
    """Write a file atomically, or raise BadTable with the reason."""
    try:
        replace_file(output, write)
    except Exception as error:
        if not isinstance(error, OSError) and not type(error).__module__.startswith("polars"):
            raise  # neither the disk nor the table caused it
        reason = error.strerror if isinstance(error, OSError) else None
        reason = reason or str(error).split("\n", 1)[0]
        raise BadTable(f"output {output} could not be written: {reason}") from None


# --- A row per step


def list_prediction_steps(
    prediction: Any, lag: int, level: Any, keys: list[dict[str, Any]], beyond: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return a row per step: keys, set, best state, and a p-value or probability per state.

    `keys` are the other columns of new rows; `beyond` replaces them for steps after the last row.
    """
    from definetti.sets import StepSets

    if isinstance(prediction, StepSets):
        kind, numbers = "probability", prediction.marginals
    else:
        kind, numbers = "p", prediction.step_p_values
    best, rows = prediction.best, []
    for k, (states, row) in enumerate(zip(prediction.steps, numbers, strict=True)):
        results = {
            "step": lag + k + 1, "confidence": write_level(level), "set": list(states),
            "size": len(states), "best": None if best is None else best[k],
            **{
                f"{kind}_{state}": float(p)
                for state, p in zip(prediction.states, row, strict=True)
            },
        }  # fmt: skip
        own = keys[lag + k] if lag + k < len(keys) else beyond
        rows.append({name_key(key, results): value for key, value in own.items()} | results)
    return rows


def is_prediction_file(path: Path) -> bool:
    """Return whether a file has the columns that `definetti predict` writes."""
    columns = read_columns(path)
    own = columns[columns.index("step") :] if "step" in columns else []
    numbers = all(column.startswith(("p_", "probability_")) for column in own[5:])
    return own[:5] == PREDICTION_COLUMNS and numbers


def name_key(column: str, results: Iterable[str]) -> str:
    """Prefix the name of an input column with ``file_`` if a result column has the same name."""
    return f"file_{column}" if column in results else column


def list_rows(keys: pl.DataFrame, row: Any, truth: Any) -> pl.DataFrame:
    """Return the key columns of a file with the row number and the true state of each row."""
    named = [series.alias(name_key(series.name, BACKTEST_COLUMNS)) for series in keys.get_columns()]
    return pl.DataFrame([*named, pl.Series("row", row), pl.Series("truth", truth)])


def list_backtest_steps(
    by_level: Sequence[Mapping[Any, Evaluation]],
    levels: Sequence[float | str],
    rows: pl.DataFrame,
    places: Mapping[Any, IntArray],
) -> pl.DataFrame:
    """Return a row per step, ordered by series and then by level."""
    *keys, _, _ = rows.columns
    types: dict[str, Any] = {
        "window": pl.Int64, "confidence": pl.Series(levels).dtype,
        "set": pl.List(rows["truth"].dtype), "size": pl.Int64, "covered": pl.Boolean,
        "filled": pl.Boolean, "p_value": pl.Float64,
    }  # fmt: skip
    frames = [rows.clear().hstack(pl.DataFrame(schema=types))]
    for name in sorted(places):
        for level, evaluations in zip(levels, by_level, strict=True):
            if name in evaluations:
                at, results = _list_results(evaluations[name], level)
                results = pl.DataFrame(results, schema_overrides=types)
                frames.append(rows[places[name][at]].hstack(results))
    whole = pl.concat(frames).with_columns(pl.col("p_value").fill_nan(None))
    return whole.select(*whole.columns[: len(keys)], *BACKTEST_COLUMNS)


def _list_results(evaluation: Evaluation, level: float | str) -> tuple[IntArray, Any]:
    """Return the row number of each step, and the columns of results."""
    windows = len(evaluation.covered)
    steps = len(evaluation.truth) // windows
    at = (evaluation.begins[:, None] + np.arange(steps)).ravel()
    states = sorted(evaluation.states, key=lambda label: (str(type(label)), label))
    nodes = evaluation.nodes[:, [evaluation.states.index(label) for label in states]]
    return at, {
        "window": np.repeat(np.arange(1, windows + 1), steps),
        "confidence": [level] * len(at),
        "set": [
            [state for state, here in zip(states, row, strict=True) if here]
            for row in nodes.tolist()
        ],
        "size": nodes.sum(axis=1),
        "covered": np.repeat(evaluation.covered, steps).astype(np.bool_),
        "filled": np.repeat(evaluation.filled, steps),
        "p_value": np.repeat(evaluation.p_values, steps).astype(np.float64),
    }


def is_backtest_file(path: Path) -> bool:
    """Return whether a file has the columns of `definetti backtest` with a row per step."""
    return read_columns(path)[-len(BACKTEST_COLUMNS) :] == BACKTEST_COLUMNS


def is_series_file(path: Path) -> bool:
    """Return whether a file has the columns of `definetti backtest` with a row per series."""
    from definetti.evaluation.series import SeriesEvaluation

    return read_columns(path) == list(SeriesEvaluation([]).to_dict())
