"""Tables from files: CSV, TSV, JSON lines, Parquet, gzipped or not, or from standard input."""

from __future__ import annotations

import csv
import gzip
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

GZIP, PARQUET = b"\x1f\x8b", b"PAR1"


class BadTable(ValueError):
    """A file that cannot be read, with what is wrong and where."""


def read_table(source: str) -> pl.DataFrame:
    """Read a table; ``-`` is standard input.

    The kind of file is told by its contents, so that standard input and odd names will do.
    """
    name = "standard input" if source == "-" else source
    content = _bytes(source)
    if content[:2] == GZIP:
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError) as error:
            raise BadTable(f"{name}: broken gzip file ({error}); pack it again") from None
    if not content.strip():
        raise BadTable(f"{name} is empty; give a file with a header and rows")
    if content[:4] == PARQUET:
        return _polars_read("read_parquet", name, content)
    text = _decoded(content, name)
    if text.lstrip()[:1] == "{":
        return _polars_read("read_ndjson", name, content)
    header = text.split("\n", 1)[0]
    separator = max(",;\t", key=header.count)  # the first of those that are as frequent
    table = _read_csv(content, name, separator, text)
    if not len(table):
        raise BadTable(f"{name} has a header and no rows")
    return table


def _bytes(source: str) -> bytes:
    if source == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(source).read_bytes()
    except FileNotFoundError:
        raise BadTable(f"{source}: no such file") from None
    except OSError as error:
        raise BadTable(f"{source}: {error.strerror or error}") from None


def _decoded(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = content[: error.start].count(b"\n")
        raise BadTable(
            f"{name}: row {row} has a byte, 0x{content[error.start]:02x}, that is not UTF-8 text; "
            "save the file as UTF-8"
        ) from None


def _polars_read(reader: str, name: str, content: bytes) -> pl.DataFrame:
    try:
        found: pl.DataFrame = getattr(polars(), reader)(io.BytesIO(content))
    except Exception as error:  # whatever the reader calls it, it is the file's fault
        raise BadTable(f"{name}: {_first_line(error)}") from None
    if not len(found):
        raise BadTable(f"{name} has no rows")
    return found


def _read_csv(content: bytes, name: str, separator: str, text: str) -> pl.DataFrame:
    _check_header(text, name, separator)
    try:
        found: pl.DataFrame = polars().read_csv(
            io.BytesIO(content),
            separator=separator,
            infer_schema_length=None,
            try_parse_dates=True,
            encoding="utf8",
        )
        return found
    except Exception as error:  # look for the row, which the reader does not tell
        _check_rows(text, name, separator)
        raise BadTable(f"{name}: {_first_line(error)}") from None


def _check_header(text: str, name: str, separator: str) -> None:
    header = next(csv.reader(io.StringIO(text), delimiter=separator))
    for column in header:
        if header.count(column) > 1:
            raise BadTable(f"{name}: the header has {column!r} twice; rename one")


def _check_rows(text: str, name: str, separator: str) -> None:
    rows = csv.reader(io.StringIO(text), delimiter=separator)
    width = len(next(rows))
    for number, row in enumerate(rows, 1):
        if row and len(row) != width:
            raise BadTable(
                f"{name}: row {number} has {len(row)} fields and the header has {width}; mend the "
                "row, or quote fields with a separator in them"
            )


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]


def polars() -> Any:
    """Import polars, or say how to get it."""
    try:
        import polars
    except ImportError:
        raise BadTable("reading files needs polars; pip install 'definetti[cli]'") from None
    return polars
