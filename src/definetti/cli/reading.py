"""Tables from files: CSV, TSV, JSON, JSON lines, Parquet, gzipped or not, or standard input."""

from __future__ import annotations

import gzip
import io
import re
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from definetti.cli.fields import (
    ESCAPED,
    FORMULA,
    NUMBERS,
    BadTable,
    check_inner_quotes,
    check_open_quotes,
    check_widths,
    clean_lines,
    decode_text,
    take_first_line,
)
from definetti.cli.kinds import parse_dates
from definetti.cli.objects import read_lines, read_list

if TYPE_CHECKING:
    import polars as pl

GZIP, PARQUET, ZIP = b"\x1f\x8b", b"PAR1", b"PK\x03\x04"
LIST = re.compile(r"\s*\[\s*[{\]]")  # a header may begin with a bracket, too
VALUE = 32  # bytes that a value takes while it is read, at most but for long text


def import_polars() -> Any:
    """Import polars, or say how to get it."""
    try:
        import polars
    except ImportError:
        raise BadTable("reading files needs polars; pip install 'definetti[cli]'") from None
    return polars


def name_source(source: str) -> str:
    """Return what a source is called in messages."""
    return "standard input" if source == "-" else source


def read_table(source: str, state: str | None = None, group: str | None = None) -> pl.DataFrame:
    """Read a table; ``-`` is standard input.

    The kind of file is told by its contents, so that standard input and odd names will do.

    Parameters
    ----------
    state : the column with the states, if there is one: in CSV it is text, whatever it looks like,
        and in JSON all of one kind
    group : the column that tells series apart, likewise; whole numbers are numbers, if no two of
        them would be one, as 7 and 007
    """
    name = name_source(source)
    content = _read_bytes(source)
    if content[:2] == GZIP:
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise BadTable(f"{name}: broken gzip file ({error}); pack it again") from None
    if not content.strip():
        raise BadTable(f"{name} is empty; give a file with a header and rows")
    if content[:4] == ZIP:
        raise BadTable(f"{name} is a ZIP archive or a spreadsheet; save it as CSV")
    import_polars()  # here, so that nothing below has to ask whether it is there
    if content[:4] == PARQUET:
        table = _read_parquet(content, name)
    else:
        table = parse_table(decode_text(content, name), name, state, group)
    if not len(table):
        raise BadTable(f"{name} has no rows; give at least one below the header")
    return table


def parse_table(
    text: str, name: str, state: str | None = None, group: str | None = None
) -> pl.DataFrame:
    """Read a table from text: JSON lines, a JSON list, or CSV."""
    labels = [one for one in (state, group) if one is not None]
    if text.lstrip()[:1] == "{":
        return read_lines(text, name, labels)
    if LIST.match(text):
        return read_list(text, name, labels)
    table = _read_csv(text, name, labels)
    return table if group not in table.columns else _number_series(table, group)


def _number_series(table: pl.DataFrame, group: str) -> pl.DataFrame:
    """Return a table whose series are numbers where all are whole numbers, each written alike.

    >>> import polars as pl
    >>> [
    ...     _number_series(pl.DataFrame({"who": who}), "who")["who"].to_list()
    ...     for who in (["7", "10"], ["7", "007"], ["7", "Ann"])
    ... ]
    [[7, 10], ['7', '007'], ['7', 'Ann']]
    """
    import polars as pl

    numbers = table[group].cast(pl.Int64, strict=False)
    same = (numbers.cast(pl.String) == table[group]).all(ignore_nulls=False)
    return table.with_columns(numbers) if same else table


def _read_bytes(source: str) -> bytes:
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
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise BadTable(f"{source} cannot be read: {reason}") from None


def _read_parquet(content: bytes, name: str) -> pl.DataFrame:
    import polars as pl

    try:
        _check_room(content)
        found = pl.read_parquet(io.BytesIO(content))
    except MemoryError:
        raise
    except Exception as error:  # whatever the reader calls it, it is the file's fault
        raise BadTable(
            f"{name}: broken Parquet file ({take_first_line(error)}); write it again"
        ) from None
    return found


def _check_room(content: bytes) -> None:
    """Raise MemoryError where there is no room for a table; its reader would end the process.

    Equal values take no room in such a file, so that a small one may be a table of any size.
    """
    import numpy as np

    pl = import_polars()
    rows = pl.scan_parquet(io.BytesIO(content)).select(pl.len()).collect().item()
    columns = len(pl.read_parquet_schema(io.BytesIO(content)))
    np.empty(rows * columns * VALUE, dtype=np.uint8)  # never touched, so that it costs nothing


def _read_csv(text: str, name: str, labels: list[str]) -> pl.DataFrame:
    import polars as pl

    text, separator = clean_lines(text, name)
    try:
        found = pl.read_csv(
            io.BytesIO(text.encode()),
            separator=separator,
            infer_schema_length=None,
            encoding="utf8",
            schema_overrides=dict.fromkeys(labels, pl.String),
        )
    except Exception as error:  # look for the row, which the reader does not tell
        for complain in (check_open_quotes, check_widths, check_inner_quotes):
            complain(text, name, separator)
        raise BadTable(f"{name}: {take_first_line(error)}") from None
    if len(found) and found.width > 1 and found[:, -1].null_count():
        check_widths(text, name, separator)  # rows that are too short have been filled up
    return parse_dates(read_formulas(found), labels)


def read_formulas(table: pl.DataFrame) -> pl.DataFrame:
    """Take out the apostrophes that `writing.escape_formula` put before what is no formula.

    Only of columns in which nothing looks like a formula itself: those were not written so.
    """
    import polars as pl

    for series in table.select(pl.selectors.string()).get_columns():
        escaped = series.str.contains(ESCAPED).fill_null(False)
        formulas = series.str.contains(FORMULA) & ~series.str.contains(NUMBERS)
        if escaped.any() and not formulas.any():
            whole = pl.when(escaped).then(pl.col(series.name).str.slice(1))
            table = table.with_columns(whole.otherwise(pl.col(series.name)).alias(series.name))
    return table
