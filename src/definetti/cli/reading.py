"""Tables from files: CSV, TSV, JSON, JSON lines, Parquet, gzipped or not, or standard input."""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from definetti.cli.text import BadTable, cleaned, decoded, ragged

if TYPE_CHECKING:
    import polars as pl

__all__ = ["BadTable", "called", "polars", "read_table"]

GZIP, PARQUET, ZIP = b"\x1f\x8b", b"PAR1", b"PK\x03\x04"
LIST = re.compile(r"\s*\[\s*[{\]]")  # a header may begin with a bracket, too


def called(source: str) -> str:
    """Return what a source is called in messages."""
    return "standard input" if source == "-" else source


def read_table(source: str) -> pl.DataFrame:
    """Read a table; ``-`` is standard input.

    The kind of file is told by its contents, so that standard input and odd names will do.
    """
    name = called(source)
    content = _bytes(source)
    if content[:2] == GZIP:
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise BadTable(f"{name}: broken gzip file ({error}); pack it again") from None
    if not content.strip():
        raise BadTable(f"{name} is empty; give a file with a header and rows")
    if content[:4] == ZIP:
        raise BadTable(f"{name} is a ZIP archive or a spreadsheet; save it as CSV")
    if content[:4] == PARQUET:
        table = _parquet(content, name)
    else:
        text = decoded(content, name)
        if text.lstrip()[:1] == "{":
            table = _json_lines(text, name)
        else:
            table = _json(text, name) if LIST.match(text) else _csv(text, name)
    if not len(table):
        raise BadTable(f"{name} has no rows; give at least one below the header")
    return table


def _bytes(source: str) -> bytes:
    if source == "-":
        if sys.stdin is None:  # closed by whoever started the process
            raise BadTable("standard input is closed; pipe rows into it, or name a file")
        return sys.stdin.buffer.read()
    if not source:
        raise BadTable("the name of a file is empty; name a file, or give - for standard input")
    try:
        return Path(source).read_bytes()
    except FileNotFoundError:
        raise BadTable(f"{source}: no such file") from None
    except IsADirectoryError:
        raise BadTable(f"{source} is a folder; name a file in it") from None
    except (OSError, ValueError) as error:  # a name with a zero byte is a ValueError
        reason = getattr(error, "strerror", None) or error
        raise BadTable(f"{source} cannot be read: {reason}") from None


def _parquet(content: bytes, name: str) -> pl.DataFrame:
    try:
        found: pl.DataFrame = polars().read_parquet(io.BytesIO(content))
    except Exception as error:  # whatever the reader calls it, it is the file's fault
        raise BadTable(f"{name}: broken Parquet file ({_first(error)}); write it again") from None
    return found


def _json_lines(text: str, name: str) -> pl.DataFrame:
    try:
        # All rows say what the columns hold: a key may come up late, and whole numbers end.
        found: pl.DataFrame = polars().read_ndjson(
            io.BytesIO(text.encode()), infer_schema_length=None
        )
    except Exception as error:  # look for the row, which the reader does not tell
        for number, line in enumerate(filter(str.strip, text.split("\n")), 1):
            try:
                row = json.loads(line)
            except ValueError as wrong:
                raise BadTable(
                    f"{name}: row {number} is not JSON ({wrong}); each line must be an object, "
                    'such as {"state": "sun", "seen": 1}'
                ) from None
            _check_object(row, number, name)
        raise BadTable(f"{name}: {_first(error)}") from None
    return found


def _json(text: str, name: str) -> pl.DataFrame:
    """Read a list of objects, as `--output` writes it."""
    try:
        rows = json.loads(text)
    except ValueError as wrong:
        raise BadTable(f"{name} is not JSON ({wrong}); mend it there") from None
    for number, row in enumerate(rows, 1):
        _check_object(row, number, name)
    if not any(rows):
        raise BadTable(f"{name} has no rows; give at least one object")
    return _json_lines("\n".join(map(json.dumps, rows)), name)


def _check_object(row: Any, number: int, name: str) -> None:
    if not isinstance(row, dict):
        raise BadTable(
            f"{name}: row {number} is a {type(row).__name__}, {row!r}; each must be an object, "
            'such as {"state": "sun", "seen": 1}'
        )


def _csv(text: str, name: str) -> pl.DataFrame:
    text, separator = cleaned(text, name)
    try:
        found: pl.DataFrame = polars().read_csv(
            io.BytesIO(text.encode()),
            separator=separator,
            infer_schema_length=None,
            try_parse_dates=True,
            encoding="utf8",
        )
    except Exception as error:  # look for the row, which the reader does not tell
        ragged(text, name, separator)
        raise BadTable(f"{name}: {_first(error)}") from None
    if len(found) and found.width > 1 and found[:, -1].null_count():
        ragged(text, name, separator)  # rows that are too short have been filled up
    return found


def _first(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]


def polars() -> Any:
    """Import polars, or say how to get it."""
    try:
        import polars
    except ImportError:
        raise BadTable("reading files needs polars; pip install 'definetti[cli]'") from None
    return polars
