"""Read a growing file or standard input line by line; keep a journal of reported lines."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from stat import S_IMODE
from types import FrameType
from typing import Any, BinaryIO

from definetti.cli.errors import BadTable
from definetti.cli.table_files import GZIP, PARQUET, check_line, name_source, open_source

PIECE = 2**20  # bytes read at a time
MOST = 500  # lines in a batch
# First bytes of formats that are not lines of text.
BEGINNINGS = {PARQUET: "a Parquet file", GZIP: "gzipped"}
PAUSE = 0.1  # seconds between two reads of a growing file
ENDING = ".journal"
RECORD = re.compile(rb"(\d{1,18}) (.*)", re.DOTALL)
Line = tuple[int, bytes]  # the position in the source after a line, and the line


class Interrupts:
    """SIGINT and SIGTERM: deferred while rows are processed, immediate while waiting."""

    def __init__(self) -> None:
        self.heard = self.idle = False

    def __enter__(self) -> Interrupts:
        signals = (signal.SIGINT, signal.SIGTERM)
        self._before = [(number, signal.signal(number, self._hear)) for number in signals]
        return self

    def __exit__(self, *_: Any) -> None:
        for number, handler in self._before:
            signal.signal(number, handler)

    def _hear(self, _: int, __: FrameType | None) -> None:
        self.heard = True
        if self.idle:
            raise KeyboardInterrupt

    def wait(self, action: Callable[[], Any]) -> Any:
        """Call a function that may be interrupted; return None if it was."""
        self.idle = True
        try:
            return None if self.heard else action()
        except KeyboardInterrupt:
            return None
        finally:
            self.idle = False


def follow_lines(
    source: str, offset: int, follow: bool, interrupts: Interrupts, *, whole: bool = False
) -> Iterator[tuple[list[bytes], int]]:
    """Yield batches of lines, each with the position of its end in bytes."""
    rest = b""
    with open_source(source) as file:
        if offset:  # a pipe cannot seek
            if os.fstat(file.fileno()).st_size < offset:
                raise BadTable(
                    f"{source} is shorter than when it was read before, so it was replaced; name "
                    "another file with --save"
                )
            file.seek(offset)
        while not interrupts.heard:
            piece = interrupts.wait(lambda: os.read(file.fileno(), PIECE))
            if piece is None:
                return
            kind = next((BEGINNINGS[mark] for mark in BEGINNINGS if piece.startswith(mark)), None)
            if kind is not None and not offset + len(rest):
                raise BadTable(
                    f"{name_source(source)} is {kind}, and a stream is read line by line; give "
                    "CSV, TSV or JSON lines, as they are"
                )
            if b"\0" in piece:
                raise BadTable(
                    f"{name_source(source)} has a zero byte, so it is no text; write it as UTF-8"
                )
            *lines, rest = (rest + piece).split(b"\n")
            check_line(name_source(source), len(rest))
            ended = not piece and (source == "-" or not follow)
            if ended and rest and not whole:
                lines, rest = [*lines, rest], b""
            for begin in range(0, len(lines), MOST):
                some = lines[begin : begin + MOST]
                last = ended and begin + MOST >= len(lines)
                offset += sum(map(len, some)) + len(some) - last
                yield some, offset
                if interrupts.heard:
                    return
            if ended:
                return
            if not piece:
                if source != "-" and os.fstat(file.fileno()).st_size < offset:
                    raise BadTable(f"{source} has become shorter while it was followed")
                interrupts.wait(lambda: time.sleep(PAUSE))


class Journal:
    r"""Lines of a stream that were reported after its state was saved, each with its position.

    Writing the whole state after each batch would take work that grows with the stream. So the
    state is saved at intervals; lines reported since then are appended to the journal, and replayed
    on resuming. The first line names the state that the journal belongs to: the journal of an
    earlier state is ignored. A last line without an end was cut off by a kill.
    """

    def __init__(self, state: Path) -> None:
        self.state, self.path = state, state.with_name(state.name + ENDING)
        self.name: str | None = None  # of the state; None before it is known
        self._file: BinaryIO | None = None

    def begin(self, name: str) -> None:
        """Begin an empty journal of the state that was just saved with this name."""
        self.remove()
        self.name = name

    def append(self, line: Line) -> None:
        """Append a reported line."""
        if self._file is None:
            assert self.name is not None
            self.path.unlink(missing_ok=True)
            opener = partial(os.open, mode=S_IMODE(self.state.stat().st_mode))
            self._file = open(self.path, "xb", opener=opener)  # noqa: SIM115 (kept open)
            self._file.write(self.name.encode() + b"\n")
        self._file.write(b"%d %s\n" % line)
        self._file.flush()  # hand it to the system, so that a kill does not lose it

    def read(self) -> list[Line]:
        """Return the lines of the journal; none if it belongs to another state."""
        try:
            first, *records = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        if self.name is None or first != self.name.encode():
            return []
        matches = [RECORD.fullmatch(record) for record in records[:-1]]
        lines = [(int(match[1]), match[2]) for match in matches if match is not None]
        if len(lines) < len(matches):
            raise BadTable(
                f"{self.path} is broken; remove it to resume from {self.state}, which reports "
                "the rows after it again"
            )
        return lines

    def remove(self) -> None:
        """Remove the journal, after the state was saved with all its lines."""
        self.close()
        self.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
