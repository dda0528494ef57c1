"""Make standard output and error accept any character; show a progress bar."""

from __future__ import annotations

import codecs
import errno
import io
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

# ASCII replacements for the signs in our messages.
SIGNS = {"≥": ">=", "≤": "<=", "…": "...", "–": "-", "—": "-", "−": "-", "×": "x", "·": "."}
LEGIBLE = "definetti.legible"
BROKEN = 2  # exit code where standard output could not be written
_failed: list[OSError] = []
Item = TypeVar("Item")
PATIENCE = 2.0  # seconds before the progress bar appears


def guard_output() -> None:
    """Replace characters that cannot be encoded, and record errors of standard output."""
    codecs.register_error(LEGIBLE, _spell_out)
    buffer = getattr(sys.stdout, "buffer", None)
    raw = getattr(buffer, "raw", buffer)
    if type(raw) is io.FileIO:  # not if output is captured, nor in a Windows console
        out: Any = Remembering(raw.fileno(), "w", closefd=False)
        out = out if raw is buffer else io.BufferedWriter(out)
        old: Any = sys.stdout
        sys.stdout = io.TextIOWrapper(
            out, old.encoding, LEGIBLE,
            line_buffering=old.line_buffering, write_through=old.write_through,
        )  # fmt: skip
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=LEGIBLE)


def has_failed() -> bool:
    """Return whether standard output could not be written: other errors then result from this."""
    return bool(_failed)


def tell_failure() -> int:
    """Print the error of standard output and return the exit code; a closed pipe is no error."""
    reason = _failed[0]
    if reason.errno == errno.EPIPE:
        return 0
    said = reason.strerror or reason
    print(f"definetti: standard output could not be written: {said}", file=sys.stderr)
    return BROKEN


class Remembering(io.FileIO):
    """A file that discards writes after its first error, so that nothing fails at exit."""

    def write(self, data: Any) -> int:
        if _failed:
            return len(data)
        try:
            return super().write(data)
        except OSError as error:
            _failed.append(error)
            raise


def _spell_out(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replace signs by ASCII and letters by codes; question marks would merge labels."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    codes = (sign.encode("ascii", "backslashreplace").decode("ascii") for sign in signs)
    return "".join(
        SIGNS.get(sign, code) for sign, code in zip(signs, codes, strict=True)
    ), error.end


def show_progress(items: Iterable[Item], total: int, what: str, verbose: bool) -> Iterator[Item]:
    """Yield items; if `verbose`, show a bar after two seconds in a terminal or a notebook."""
    if not verbose:
        yield from items
        return
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    # Show no bar in a file or a pipe, even if colours are forced.
    if not (console.is_jupyter or (console.is_terminal and console.file.isatty())):
        yield from items
        return
    began = time.monotonic()
    bar = Progress(console=console)
    task = bar.add_task(what, total=total)
    try:
        for done, item in enumerate(items):
            if not bar.live.is_started and time.monotonic() - began > PATIENCE:
                bar.start()
            bar.update(task, completed=done)
            yield item
        bar.update(task, completed=total)
    finally:
        if bar.live.is_started:
            bar.stop()
