"""Rows that a stream has reported since its state was last saved: an append-only file beside it."""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path
from stat import S_IMODE
from typing import BinaryIO

from definetti.cli.fields import BadTable

ENDING = ".journal"
RECORD = re.compile(rb"(\d{1,18}) (.*)", re.DOTALL)
Line = tuple[int, bytes]  # the position in the source after a line, and the line


class Journal:
    r"""Lines of a stream that were reported after its state was saved, each with its position.

    To write the whole state after each batch would take work that grows with the stream. So it is
    saved once in a while, the lines reported since are appended here, and whoever goes on replays
    them. The first line is the name of the state that the journal belongs to: one that belongs to
    an earlier state is stale, and ignored. A last line without an end was cut off by a kill.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     state = Path(folder) / "on.definetti"
    ...     state.touch()
    ...     journal = Journal(state)
    ...     journal.begin("a1")
    ...     journal.append((12, b"hat,sun"))
    ...     journal.read()
    ...     journal.remove()
    [(12, b'hat,sun')]
    """

    def __init__(self, state: Path) -> None:
        self.state, self.path = state, state.with_name(state.name + ENDING)
        self.name: str | None = None  # of the state; None before it is known
        self._file: BinaryIO | None = None

    def begin(self, name: str) -> None:
        """Begin an empty journal of a state that was just saved under a name."""
        self.remove()
        self.name = name

    def append(self, line: Line) -> None:
        """Add a line that was reported."""
        if self._file is None:
            assert self.name is not None
            self.path.unlink(missing_ok=True)
            opener = partial(os.open, mode=S_IMODE(self.state.stat().st_mode))
            self._file = open(self.path, "xb", opener=opener)  # noqa: SIM115 (kept open)
            self._file.write(self.name.encode() + b"\n")
        self._file.write(b"%d %s\n" % line)
        self._file.flush()  # to the system: it is there whatever ends this process

    def read(self) -> list[Line]:
        """Return the lines of the journal, none where it is another state's."""
        try:
            first, *records = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        if self.name is None or first != self.name.encode():
            return []
        found = [RECORD.fullmatch(record) for record in records[:-1]]
        lines = [(int(one[1]), one[2]) for one in found if one is not None]
        if len(lines) < len(found):
            raise BadTable(
                f"{self.path} is broken; remove it to go on from {self.state}, which reports the "
                "rows after it again"
            )
        return lines

    def remove(self) -> None:
        """Remove the journal, of which a state that was just saved has everything."""
        self.close()
        self.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
