"""Read tables from files or standard input: CSV, TSV, JSON, JSON lines, Parquet, gzipped or not."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from stat import S_ISREG
from typing import Any

import numpy as np

from definetti.cli.errors import BadTable, find_memory, take_first_line
from definetti.cli.lazy import pl
from definetti.cli.text_tables import LIST, MARKS, check_names, decode_text, parse_table

GZIP, PARQUET, ZIP = b"\x1f\x8b", b"PAR1", b"PK\x03\x04"
BINARY = (GZIP, PARQUET, ZIP, *MARKS)  # formats that may hold zero bytes and no line ends
PIECE = 2**20  # bytes read at a time
LONGEST = 2**24  # maximal bytes in a line of a stream
# Limits of an unpacked gzip file: bytes that are always allowed, and the ratio to its size. Tables
# of sleep records shrink to a third, and those of few symbols to a twentieth.
FLOOR, RATIO = 2**27, 100
TIMES = 4  # copies of the content in memory while it is parsed
VALUE = 32  # maximal bytes per value while reading, except for long text


def name_source(source: str) -> str:
    """Return the name of a source for messages."""
    return "standard input" if source == "-" else source


def read_table(
    source: str, state: str | None = None, group: str | None = None, symbols: Sequence[str] = ()
) -> pl.DataFrame:
    """Read a table; ``-`` is standard input.

    The format is recognised by the contents, so standard input and any file name work.
    """
    name = name_source(source)
    with open_source(source) as file:
        content = _read_all(file, name)
    if content[:2] == GZIP:
        content = _unpack(content, name)
    if not content.strip():
        raise BadTable(f"{name} is empty; give a file with a header and rows")
    if content[:4] == ZIP:
        raise BadTable(f"{name} is a ZIP archive or a spreadsheet; save it as CSV")
    if content[:4] == PARQUET:
        table = _read_parquet(content, name)
    else:
        table = parse_table(decode_text(content, name), name, state, group, symbols)
    if not len(table):
        raise BadTable(f"{name} has no rows; give at least one below the header")
    return table


@contextmanager
def open_source(source: str) -> Iterator[Any]:
    """Open a file, or standard input for ``-``; errors name the file."""
    if source == "-" and sys.stdin is None:  # closed by the parent process
        raise BadTable("standard input is closed; pipe rows into it, or name a file")
    if not source:
        raise BadTable("the name of a file is empty; name a file, or give - for standard input")
    try:
        with nullcontext(sys.stdin.buffer) if source == "-" else Path(source).open("rb") as file:
            yield file
    except BadTable:
        raise
    except FileNotFoundError:
        raise BadTable(f"{source}: no such file") from None
    except IsADirectoryError:
        raise BadTable(f"{source} is a folder; name a file in it") from None
    except (OSError, ValueError) as error:  # a zero byte in a name raises ValueError
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise BadTable(f"{source} cannot be read: {reason}") from None


def _read_all(file: Any, name: str, most: int | None = None) -> bytes:
    """Read a file to its end; refuse endless lines, and contents larger than memory or `most`."""
    memory = find_memory()
    room = None if memory is None else memory // TIMES
    content, bounded = bytearray(), most is not None
    with suppress(OSError, ValueError, AttributeError):  # not a file with a descriptor
        bounded |= S_ISREG(os.fstat(file.fileno()).st_mode)  # a regular file may be one long line
    while piece := file.read(PIECE):
        if not content and not bounded:
            bounded = piece.startswith(BINARY) or bool(LIST.match(piece.decode("latin-1")))
        content += piece
        if most is not None and len(content) > most:
            raise BadTable(
                f"{name} is a gzip file that holds more than {most / 1e6:,.0f} MB, {RATIO} times "
                "its size; if that is right, unpack it and give the file"
            )
        if room is not None and len(content) > room:
            raise BadTable(
                f"{name} has more than {room / 1e9:.1f} GB, and to read it takes {TIMES} times as "
                "much memory, which is more than there is; give fewer rows"
            )
        if bounded:
            continue
        if b"\0" in piece:
            break  # binary: decoding raises the error
        check_line(name, len(content) - content.rfind(b"\n"))
    return bytes(content)


def check_line(name: str, length: int) -> None:
    """Refuse a line of a stream that is too long."""
    if length > LONGEST:
        raise BadTable(
            f"{name}: a line has more than {LONGEST / 1e6:.0f} MB and no end yet; give a header "
            "and a row a line"
        )


def _unpack(content: bytes, name: str) -> bytes:
    """Unpack a gzip file; refuse disproportionately large contents."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            return _read_all(file, name, max(FLOOR, RATIO * len(content)))
    except (OSError, EOFError, zlib.error) as error:
        raise BadTable(f"{name}: broken gzip file ({error}); pack it again") from None


def _read_parquet(content: bytes, name: str) -> pl.DataFrame:
    """Read a Parquet file; raise MemoryError where the reader would end the process.

    Equal values take no space in a Parquet file, so a small file may hold a table of any size.
    """
    try:
        rows = pl.scan_parquet(io.BytesIO(content)).select(pl.len()).collect().item()
        columns = list(pl.read_parquet_schema(io.BytesIO(content)))
        np.empty(rows * len(columns) * VALUE, dtype=np.uint8)  # probe: never touched, so free
        table = pl.read_parquet(io.BytesIO(content))
    except (MemoryError, BadTable):  # BadTable: polars is missing
        raise
    except Exception as error:  # any error means a broken file
        raise BadTable(
            f"{name}: broken Parquet file ({take_first_line(error)}); write it again"
        ) from None
    check_names(columns, name)
    return table
