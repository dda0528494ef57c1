"""Results into files, whole or not at all."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from definetti._system.files import find_destination, replace_file
from definetti.cli.fields import BadTable
from definetti.cli.overwriting import check_replaced
from definetti.cli.printing import make_plain
from definetti.cli.reading import import_polars

FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?"
NUMBERS = re.compile(rf"{NUMBER}(\|{NUMBER})*", re.ASCII | re.IGNORECASE)
ENDINGS = (".csv", ".tsv", ".parquet", ".jsonl", ".json")


def check_output(
    output: Path,
    inputs: Iterable[str | None],
    force: bool,
    ours: Callable[[Path], bool],
    endings: tuple[str, ...] = ENDINGS,
) -> None:
    """Refuse a file that cannot or may not be written, before any work is done for it.

    Parameters
    ----------
    inputs, force, ours : as `overwriting.check_replaced` has them
    endings : what the file may end in
    """
    check_place(output, endings)
    check_replaced(output, inputs, force, ours)


def check_place(output: Path, endings: tuple[str, ...] = ENDINGS) -> None:
    """Refuse a file that cannot be written."""
    if output.is_dir():
        raise BadTable(f"output {output} is a folder; name a file")
    ending = output.suffix.lower()
    if ending not in endings:
        raise BadTable(
            f"output {output}: files end in {', '.join(endings)}, and "
            f"{repr(ending) if ending else 'no ending'} is none of these"
        )
    try:
        place = find_destination(output)
    except OSError as error:
        raise BadTable(
            f"output {output} cannot be written: {error.strerror}; name another file"
        ) from None
    folder = place.parent if output.is_symlink() else output.parent
    if not folder.is_dir():
        raise BadTable(f"output {output}: there is no folder {folder}; make it first")
    if not os.access(folder, os.W_OK):
        raise BadTable(f"output {output}: the folder {folder} cannot be written to; name another")


def write_rows(rows: list[dict[str, Any]], output: Path) -> None:
    """Write rows as CSV, TSV, JSON, JSON lines or Parquet, by the ending of the file.

    A list in a row stays one, but for CSV and TSV, which have text alone: see `join_labels`, and
    `escape_formula` for what spreadsheets make of it.
    """
    check_place(output)
    pl = import_polars()
    if output.suffix.lower() in (".csv", ".tsv"):
        rows = [
            {escape_formula(key): _write_field(one) for key, one in row.items()} for row in rows
        ]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    empty = [name for name, dtype in frame.schema.items() if dtype == pl.List(pl.Null)]
    frame = frame.cast(dict.fromkeys(empty, pl.List(pl.String)))
    writers: dict[str, Callable[[Path], Any]] = {
        ".csv": frame.write_csv,
        ".tsv": lambda path: frame.write_csv(path, separator="\t"),
        ".parquet": frame.write_parquet,
        ".jsonl": frame.write_ndjson,
        ".json": lambda path: path.write_text(
            json.dumps(make_plain(rows), indent=1, default=str, allow_nan=False), encoding="utf-8"
        ),
    }
    write_whole(output, writers[output.suffix.lower()])


def _write_field(value: Any) -> Any:
    """Return what stands for a value where a file has text alone."""
    text = join_labels(value) if isinstance(value, list) else value
    return escape_formula(text) if isinstance(text, str) else text


def join_labels(labels: Iterable[Any]) -> str:
    r"""Write labels in one field, with bars between, such that no label can be taken for two.

    >>> print(join_labels(["sun", "a|b", 2]))
    sun|a\|b|2
    """
    words = (str(label).replace("\\", r"\\").replace("|", r"\|") for label in labels)
    return "|".join(words)


def escape_formula(text: str) -> str:
    """Write a field of a CSV such that no spreadsheet takes it for a formula: after an apostrophe.

    Numbers, and sets of numbers, stay as they are. An apostrophe that was there before such a
    formula is followed by another, so that no two fields become one.

    >>> [escape_formula(text) for text in ("sun", "=1+1", "'=1+1", "-1", "-1|+2.5", "-1|x")]
    ['sun', "'=1+1", "''=1+1", '-1', '-1|+2.5', "'-1|x"]
    """
    return f"'{text}" if FORMULA.match(text) and not NUMBERS.fullmatch(text) else text


def write_whole(output: Path, write: Callable[[Path], Any]) -> None:
    """Write a file, whole or not at all, or say why it could not be written."""
    try:
        replace_file(output, write)
    except Exception as error:
        if not isinstance(error, OSError) and not type(error).__module__.startswith("polars"):
            raise  # not the disk's fault, nor the table's
        reason = getattr(error, "strerror", None) or str(error).split("\n", 1)[0]
        raise BadTable(f"output {output} could not be written: {reason}") from None
