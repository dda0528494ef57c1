"""What may be replaced: never an input; what this command did not write, with --force alone.

A file says itself who wrote it: by its columns, or by a mark in it. That holds wherever the file
was taken to, and there is no list of files to be kept.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from definetti.cli.fields import BadTable
from definetti.cli.reading import name_source

BEGINNING = 1 << 20  # characters in which the first row, or the mark, must be
FIRST_OBJECT = re.compile(r"\s*\[?\s*(?=\{)")


def check_replaced(
    output: Path, inputs: Iterable[str | Path | None], force: bool, ours: Callable[[Path], bool]
) -> None:
    """Refuse to replace an input, and what is not ours if nobody said so.

    Parameters
    ----------
    inputs : what the command reads; ``-`` is standard input
    ours : tells whether this command wrote a file, some time before
    """
    if not output.exists():
        return
    for source in inputs:
        if source is not None and _is_same_file(output, source):
            raise BadTable(
                f"output {output} is the file that the command reads ({name_source(str(source))}), "
                "and would be lost; name another file to write with --output"
            )
    if not force and output.stat().st_size and not ours(output):
        raise BadTable(
            f"output {output} is there already, and this command did not write it; name another "
            "file, or replace it with --force"
        )


def check_folder(
    folder: Path, patterns: Iterable[str], inputs: Iterable[Path], force: bool
) -> None:
    """Refuse the same for the files that an experiment writes to a folder.

    Whatever folder it wrote to before has its cells.
    """
    ours = (folder / "cells").is_dir()
    known = list(inputs)
    for output in sorted(path for pattern in patterns for path in folder.glob(pattern)):
        check_replaced(output, known, force, lambda _: ours)


def _is_same_file(output: Path, source: str | Path) -> bool:
    """Tell whether two names, however they are spelt and linked, are of one file."""
    with suppress(OSError, ValueError):  # a source that is not there, closed, or has no such name
        there = os.fstat(0) if source == "-" else Path(source).stat()
        return os.path.samestat(output.stat(), there)
    return False


def read_columns(path: Path) -> list[str]:
    """Return the columns of a file such as `write_rows` writes; none if it is no such file."""
    name = path.name.lower().removesuffix(".gz")
    try:
        if name.endswith(".parquet"):
            import polars as pl

            return list(pl.read_parquet_schema(path))
        text = read_beginning(path)
        if name.endswith((".csv", ".tsv")):
            separator = "\t" if name.endswith(".tsv") else ","
            return next(csv.reader(text.splitlines(), delimiter=separator))
        begin = FIRST_OBJECT.match(text)
        return list(json.JSONDecoder().raw_decode(text, begin.end())[0]) if begin else []
    except Exception:  # whatever a foreign file is, it is not ours
        return []


def read_beginning(path: Path) -> str:
    """Return the first part of a text; nothing if it cannot be read as one."""
    opened: Any = gzip.open if path.name.lower().endswith(".gz") else open
    try:
        with opened(path, "rt", encoding="utf-8") as file:
            found: str = file.read(BEGINNING)
            return found
    except (OSError, ValueError, EOFError):
        return ""
