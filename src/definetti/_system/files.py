"""Files that are written whole or not at all, and that are read within limits of memory."""

from __future__ import annotations

import errno
import math
import os
import secrets
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from stat import S_IMODE, S_ISREG
from types import FrameType
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.interrupts import mark_writing
from definetti.exceptions import LoadError

# What ends a process without further ado; Ctrl-C is an exception, and needs no more than `finally`.
ENDS = [
    signal.Signals[name] for name in ("SIGTERM", "SIGHUP") if name in signal.Signals.__members__
]
PIECE = 2**16  # characters that are looked at together
QUOTE = ord('"')


def replace_file(path: Path, write: Callable[[Path], Any]) -> None:
    """Write a file beside its place and move it there: no one ever sees half of it.

    A file that is there keeps its mode, and a link stays one: what it leads to is replaced.
    """
    place = find_destination(path)
    mode = S_IMODE(place.stat().st_mode) if place.exists() else None
    place.parent.mkdir(parents=True, exist_ok=True)
    # Nobody can guess the name, and what is there already is not opened, a link least of all. The
    # umask is the system's to apply: it cannot be read without being changed for all threads.
    part = place.with_name(f".{secrets.token_hex(8)}.part")
    with mark_writing(), remove_if_ended(part):
        try:
            part.touch(0o666 if mode is None else 0o600, exist_ok=False)
            write(part)
            if mode is not None:
                part.chmod(mode)
            part.replace(place)
        finally:
            part.unlink(missing_ok=True)


def find_destination(path: Path) -> Path:
    """Return where a file will be written: where the links lead, there or not.

    Refused is what cannot be moved into place: folders, pipes, devices, and links in a circle.
    """
    place = Path(os.path.realpath(path))
    if place.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    # A link to /dev/stdout leads to a name that is none, so the path itself is asked.
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "it is a pipe or a device, and not a file", str(path))
    return place


@contextmanager
def remove_if_ended(part: Path) -> Iterator[None]:
    """Remove a file if a signal ends the process, which then ends as it would have.

    Who handles these signals, or ignores them, goes on doing so. Only the main thread can listen.
    """
    listens = threading.current_thread() is threading.main_thread()
    taken = [end for end in ENDS if listens and signal.getsignal(end) is signal.SIG_DFL]

    def tidy(number: int, frame: FrameType | None) -> None:
        part.unlink(missing_ok=True)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    for end in taken:
        signal.signal(end, tidy)
    try:
        yield
    finally:
        for end in taken:
            signal.signal(end, signal.SIG_DFL)


class Budget:
    """Bytes of memory that were claimed so far, and the most that may be."""

    def __init__(self, limit: float) -> None:
        self.claimed, self.limit = 0, limit


_current: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def count_memory(limit: float = math.inf) -> Iterator[Budget]:
    """Count what `claim_memory` is called with, and refuse more than a limit."""
    budget = Budget(limit)
    token = _current.set(budget)
    try:
        yield budget
    finally:
        _current.reset(token)


def claim_memory(size: int) -> None:
    """Count memory that reading a file is about to allocate; raise LoadError beyond the limit.

    The same is counted while a file is written, so that no file is written that cannot be read.
    """
    budget = _current.get()
    if budget is None:
        return
    budget.claimed += size
    if budget.claimed > budget.limit:
        raise LoadError(
            f"takes more than {int(budget.limit):,} bytes of memory, which its size does not "
            "warrant"
        )


def make_plain(value: Any) -> Any:
    """Return values for strict JSON: None for numbers that are not finite, and text for keys."""
    if isinstance(value, dict):
        return {str(key): make_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [make_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def structure(text: str) -> Iterator[npt.NDArray[np.uint8]]:
    r"""Yield the UTF-8 bytes of JSON that lie outside strings, in pieces.

    Up to the first character that is not JSON, strings are those that a parser finds.
    """
    if "\\" in text:  # pairs of backslashes first: what is left escapes the next character
        text = text.replace("\\\\", "").replace('\\"', "")
    inside = False
    for begin in range(0, len(text), PIECE):
        piece = text[begin : begin + PIECE].encode("utf-8", "surrogatepass")
        signs = np.frombuffer(piece, dtype=np.uint8)
        quotes = signs == QUOTE
        in_string = np.logical_xor.accumulate(quotes) ^ inside  # the quote that opens included
        inside = bool(in_string[-1])
        yield signs[~(in_string | quotes)]


def measure_depth(text: str) -> int:
    """Return how many brackets of JSON text are open at most, those inside strings not counted."""
    depth = deepest = 0
    for signs in structure(text):
        opens = (signs == ord("[")) | (signs == ord("{"))
        closes = (signs == ord("]")) | (signs == ord("}"))
        depths = depth + np.cumsum(opens.astype(np.int64) - closes)
        if len(depths):
            depth, deepest = int(depths[-1]), max(deepest, int(depths.max()))
    return deepest
