"""Results into files, whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from definetti.cli.reading import BadTable, polars


def write_rows(rows: list[dict[str, Any]], output: Path) -> None:
    """Write rows as CSV, TSV, JSON, JSON lines or Parquet, by the ending of the file."""
    ending = output.suffix.lower()
    frame = polars().DataFrame(rows, infer_schema_length=None)
    writers: dict[str, Callable[[Path], Any]] = {
        ".csv": frame.write_csv,
        ".tsv": lambda path: frame.write_csv(path, separator="\t"),
        ".parquet": frame.write_parquet,
        ".jsonl": frame.write_ndjson,
        ".json": lambda path: path.write_text(json.dumps(rows, indent=1), encoding="utf-8"),
    }
    if ending not in writers:
        raise BadTable(
            f"--output {output}: files end in {', '.join(writers)}, and {ending or 'nothing'!r} is "
            "none of these"
        )
    write_whole(output, writers[ending])


def write_whole(output: Path, write: Callable[[Path], Any]) -> None:
    """Write beside the file first and then put it in its place: no half of it is ever seen."""
    try:
        handle, name = tempfile.mkstemp(dir=output.parent, prefix=f".{output.name}-")
    except OSError as error:
        raise BadTable(f"--output {output}: {error.strerror or error}") from None
    os.close(handle)
    beside = Path(name)
    try:
        write(beside)
        beside.chmod(0o644)
        beside.replace(output)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
