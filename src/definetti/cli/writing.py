"""Write results to files: whole or not at all, never over an input, no spreadsheet formulas.

A file that a command wrote before is recognised by its columns, or by a mark in it; any other file
is replaced only with --force. Here are also the tables with a row per step.
"""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import os
import re
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
from definetti.cli.printing import make_plain
from definetti.cli.reading import name_source
from definetti.cli.text_tables import ESCAPED, escape_formula

if TYPE_CHECKING:
    from definetti.evaluation.results import Evaluation

ENDINGS = (".csv", ".tsv", ".parquet", ".jsonl", ".json", ".csv.gz", ".tsv.gz", ".jsonl.gz")
BEGINNING = 1 << 20  # characters in which the first row, or the mark, must be
FIRST_OBJECT = re.compile(r"\s*\[?\s*(?=\{)")

PREDICTION_COLUMNS = ["step", "confidence", "set", "size", "best"]  # then a number for each state
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
    """Refuse a file that cannot or may not be written, before any work is done."""
    if output is not None:
        _check_place(output, endings)
        _check_replaced(output, inputs, force, ours)


def check_folder(
    folder: Path, patterns: Iterable[str], inputs: Iterable[Path], force: bool
) -> None:
    """Refuse to replace files in the folder of an experiment; a folder with cells is its own."""
    ours = (folder / "cells").is_dir()
    known = list(inputs)
    for output in sorted(path for pattern in patterns for path in folder.glob(pattern)):
        _check_replaced(output, known, force, lambda _: ours)


def _check_place(output: Path, endings: tuple[str, ...] = ENDINGS) -> None:
    """Refuse a file that cannot be written."""
    ending = find_ending(output)
    if output.is_dir():
        problem = "is a folder; name a file"
    elif ending not in endings:
        problem = (
            f"has {repr(ending) if ending else 'no ending'}; files end in {', '.join(endings)}"
        )
    else:
        try:
            place = find_destination(output)
        except OSError as error:
            problem = f"cannot be written: {error.strerror}; name another file"
        else:
            folder = place.parent if output.is_symlink() else output.parent
            if not folder.is_dir():
                problem = f"is in a folder that does not exist, {folder}; make it first"
            elif not os.access(folder, os.W_OK):
                problem = f"is in a folder that cannot be written to, {folder}; name another"
            else:
                return
    raise BadTable(f"output {output} {problem}")


def _check_replaced(
    output: Path, inputs: Iterable[str | Path | None], force: bool, ours: Callable[[Path], bool]
) -> None:
    """Refuse to replace an input, and without --force a file that this command did not write."""
    if not output.exists():
        return
    for source in inputs:
        if source is not None and _is_same_file(output, source):
            raise BadTable(
                f"output {output} is the file that the command reads ({name_source(str(source))}); "
                "name another file to write with --output"
            )
    if not force and output.stat().st_size and not ours(output):
        raise BadTable(
            f"output {output} exists already, and this command did not write it; name another "
            "file, or replace it with --force"
        )


def _is_same_file(output: Path, source: str | Path) -> bool:
    """Tell whether two paths, however spelt or linked, are one file."""
    with suppress(OSError, ValueError):  # a source that does not exist or is closed
        source_stat = os.fstat(0) if source == "-" else Path(source).stat()
        return os.path.samestat(output.stat(), source_stat)
    return False


def find_ending(path: Path) -> str:
    """Return the ending of a file, with that of the compression: ``.csv.gz``."""
    number = 2 if path.suffix.lower() == ".gz" else 1
    return "".join(path.suffixes[-number:]).lower()


def read_columns(path: Path) -> list[str]:
    """Return the columns of a file such as `write_frames` writes; none of any other file."""
    name = path.name.lower().removesuffix(".gz")
    try:
        if name.endswith(".parquet"):
            return list(pl.read_parquet_schema(path))
        text = read_beginning(path)
        if name.endswith((".csv", ".tsv")):
            separator = "\t" if name.endswith(".tsv") else ","
            return next(csv.reader(text.splitlines(), delimiter=separator))
        begin = FIRST_OBJECT.match(text)
        return list(json.JSONDecoder().raw_decode(text, begin.end())[0]) if begin else []
    except Exception:  # a file of another origin
        return []


def read_beginning(path: Path) -> str:
    """Return the first part of a text file; nothing if it cannot be read as text."""
    opened: Any = gzip.open if path.name.lower().endswith(".gz") else open
    try:
        with opened(path, "rt", encoding="utf-8") as file:
            text: str = file.read(BEGINNING)
            return text
    except (OSError, ValueError, EOFError):
        return ""


# --- Rows into a file


def write_frames(frames: Iterable[pl.DataFrame | list[dict[str, Any]]], output: Path) -> list[str]:
    """Write the rows of several tables, one after the other, without holding all in memory.

    The format is that of the file's ending: CSV, TSV, JSON, JSON lines or Parquet. A set in a row
    is a list, except in CSV and TSV: see `join_labels`, and `escape_formula` for spreadsheets.
    """
    _check_place(output)
    ending, escaped = find_ending(output), False

    def write(path: Path) -> None:
        nonlocal escaped
        if ending == ".parquet":
            _write_parquet(map(_as_frame, frames), path)
            return
        opened: Any = gzip.open if ending.endswith(".gz") else open
        with opened(path, "wb") as file:
            first = True
            for frame in frames:
                if ending == ".json":
                    first &= not _write_json(frame, file, first)
                elif ending.startswith(".jsonl"):
                    _as_frame(frame).write_ndjson(file)
                else:
                    table, odd = as_text(_as_frame(frame))
                    escaped |= odd
                    separator = "\t" if ending.startswith(".tsv") else ","
                    table.write_csv(file, include_header=first, separator=separator)
                    first = False
            if ending == ".json":
                file.write(b"[]" if first else b"\n]")

    write_whole(output, write)
    if not escaped:
        return []
    return [
        f"{output}: text that begins with =, +, - or @ is written after an apostrophe, so that no "
        "spreadsheet takes it for a formula; definetti reads it without the apostrophe"
    ]


def _as_frame(rows: pl.DataFrame | list[dict[str, Any]]) -> pl.DataFrame:
    frame = pl.DataFrame(rows, infer_schema_length=None) if isinstance(rows, list) else rows
    empty = [name for name, dtype in frame.schema.items() if dtype == pl.List(pl.Null)]
    return frame.cast(dict.fromkeys(empty, pl.List(pl.String)))


def _write_json(rows: pl.DataFrame | list[dict[str, Any]], file: Any, first: bool) -> bool:
    """Write rows as objects of a list; tell whether there were any."""
    dicts = rows if isinstance(rows, list) else rows.to_dicts()
    texts = [json.dumps(make_plain(row), default=str, allow_nan=False) for row in dicts]
    if texts:
        file.write((("[\n" if first else ",\n") + ",\n".join(texts)).encode())
    return bool(texts)


def _write_parquet(frames: Iterable[pl.DataFrame], path: Path) -> None:
    """Write each table to a temporary file, then all into one."""
    with TemporaryDirectory(dir=path.parent, prefix=".definetti-") as folder:
        files = []
        for number, frame in enumerate(frames):
            files.append(Path(folder) / f"{number}.parquet")
            frame.write_parquet(files[-1])
        whole = pl.concat([pl.scan_parquet(file) for file in files], how="vertical_relaxed")
        whole.sink_parquet(path, row_group_size=100_000, maintain_order=True)


def as_text(frame: pl.DataFrame) -> tuple[pl.DataFrame, bool]:
    """Return a table for CSV, without lists and formulas; and whether fields were escaped."""
    escaped = False
    for name, kind in frame.schema.items():
        if kind == pl.String or isinstance(kind, pl.List):
            distinct = frame[name].unique().drop_nulls()  # few, so that each is written once
            texts = [
                escape_formula(value if isinstance(value, str) else join_labels(value))
                for value in distinct.to_list()
            ]
            escaped |= any(re.search(ESCAPED, text) for text in texts)
            table = pl.DataFrame({name: distinct, "_text": pl.Series(texts, dtype=pl.String)})
            joined = frame.select(name).join(table, on=name, how="left", maintain_order="left")
            frame = frame.with_columns(joined["_text"].alias(name))
    return frame.rename({name: escape_formula(name) for name in frame.columns}), escaped


def join_labels(labels: Iterable[Any]) -> str:
    r"""Write labels in one field, with bars between: ``sun|a\|b|2``."""
    words = (str(label).replace("\\", r"\\").replace("|", r"\|") for label in labels)
    return "|".join(words)


def write_whole(output: Path, write: Callable[[Path], Any]) -> None:
    """Write a file, whole or not at all, or say why it could not be written."""
    try:
        replace_file(output, write)
    except Exception as error:
        if not isinstance(error, OSError) and not type(error).__module__.startswith("polars"):
            raise  # not the disk's fault, nor the table's
        reason = error.strerror if isinstance(error, OSError) else None
        reason = reason or str(error).split("\n", 1)[0]
        raise BadTable(f"output {output} could not be written: {reason}") from None


# --- A row per step


def list_prediction_steps(
    found: Any, lag: int, level: Any, keys: list[dict[str, Any]], beyond: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return a row per step: its keys, the set, the best state, and a number for each state.

    Keys are the other columns of new rows, and `beyond` those of steps after the last.
    """
    from definetti.sets import StepSets

    if isinstance(found, StepSets):
        kind, numbers = "probability", found.marginals
    else:
        kind, numbers = "p", found.step_p_values
    best, rows = found.best, []
    for k, (states, row) in enumerate(zip(found.steps, numbers, strict=True)):
        results = {
            "step": lag + k + 1, "confidence": write_level(level), "set": list(states),
            "size": len(states), "best": None if best is None else best[k],
            **{f"{kind}_{label}": float(p) for label, p in zip(found.states, row, strict=True)},
        }  # fmt: skip
        own = keys[lag + k] if lag + k < len(keys) else beyond
        rows.append({name_key(key, results): value for key, value in own.items()} | results)
    return rows


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
