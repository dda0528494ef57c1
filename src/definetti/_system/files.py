"""Write files atomically, and limit the memory that reading a file takes."""

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

# Signals that end a process at once; Ctrl-C raises an exception, for which `finally` suffices.
ENDS = [
    signal.Signals[name] for name in ("SIGTERM", "SIGHUP") if name in signal.Signals.__members__
]
PIECE = 2**16  # characters processed at a time
QUOTE = ord('"')


def replace_file(path: Path, write: Callable[[Path], Any]) -> None:
    """Write a temporary file beside a path and move it there, so that no file is half-written.

    An existing file keeps its mode; a link stays a link, and its target is replaced.
    """
    place = find_destination(path)
    mode = S_IMODE(place.stat().st_mode) if place.exists() else None
    place.parent.mkdir(parents=True, exist_ok=True)
    # The name is random, and an existing file or link is never opened. `touch` applies the umask,
    # which cannot be read without changing it for all threads.
    part = place.with_name(f".{secrets.token_hex(8)}.part")
    with mark_writing(), remove_if_ended(part):
        try:
            part.touch(0o666 if mode is None else 0o600, exist_ok=False)
            write(part)
            if mode is not None:
                part.chmod(mode)
            part.replace(place)
        except BaseException:
            # Polars raises KeyboardInterrupt itself, and Python raises another at the next step,
            # which may be this one.
            try:
                part.unlink(missing_ok=True)
            finally:
                part.unlink(missing_ok=True)
            raise


def find_destination(path: Path) -> Path:
    """Return the path that a file will have after links are followed; it need not exist.

    Raise OSError for folders, pipes, devices and circular links.
    """
    place = Path(os.path.realpath(path))
    if place.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    # Test the path itself: a link to /dev/stdout resolves to a name that does not exist.
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "it is a pipe or a device, and not a file", str(path))
    return place


@contextmanager
def remove_if_ended(part: Path) -> Iterator[None]:
    """Remove a file if a signal ends the process, then let the signal end it.

    Existing handlers stay in place. Only the main thread can set handlers.
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
    """Bytes of memory claimed so far, and their limit."""

    def __init__(self, limit: float) -> None:
        self.claimed, self.limit = 0, limit


_current: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def count_memory(limit: float = math.inf) -> Iterator[Budget]:
    """Sum the sizes passed to `claim_memory`; refuse more than a limit."""
    budget = Budget(limit)
    token = _current.set(budget)
    try:
        yield budget
    finally:
        _current.reset(token)


def claim_memory(size: int) -> None:
    """Count memory that reading a file is about to allocate; raise LoadError beyond the limit.

    The same sizes are counted while writing, so that every written file can be read.
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
    """Convert values for strict JSON: None for numbers that are not finite, text for keys."""
    if isinstance(value, dict):
        return {str(key): make_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [make_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def structure(text: str) -> Iterator[npt.NDArray[np.uint8]]:
    r"""Yield the UTF-8 bytes of JSON outside of strings, in pieces.

    Strings are those of a JSON parser, up to the first syntax error.
    """
    if "\\" in text:  # drop pairs of backslashes first: any other escapes the next character
        text = text.replace("\\\\", "").replace('\\"', "")
    inside = False
    for begin in range(0, len(text), PIECE):
        piece = text[begin : begin + PIECE].encode("utf-8", "surrogatepass")
        signs = np.frombuffer(piece, dtype=np.uint8)
        quotes = signs == QUOTE
        in_string = np.logical_xor.accumulate(quotes) ^ inside  # includes the opening quote
        inside = bool(in_string[-1])
        yield signs[~(in_string | quotes)]


def measure_depth(text: str) -> int:
    """Return the maximal depth of brackets in JSON text, outside of strings."""
    depth = deepest = 0
    for signs in structure(text):
        opens = (signs == ord("[")) | (signs == ord("{"))
        closes = (signs == ord("]")) | (signs == ord("}"))
        depths = depth + np.cumsum(opens.astype(np.int64) - closes)
        if len(depths):
            depth, deepest = int(depths[-1]), max(deepest, int(depths.max()))
    return deepest
