"""Signals, Ctrl-C and worker processes: when they may interrupt or end the process.

An exception must not be raised while a kernel takes arguments or returns results, so `hold_signals`
delays signals there. Handlers in Python, such as the one that turns Ctrl-C into KeyboardInterrupt,
run in the main thread whenever it executes Python. Blocking signals would not help: the system
delivers them to another thread, and the handler still runs in the main thread.

The command `definetti` ends on Ctrl-C with one line and exit code 1. While modules are loaded, a
KeyboardInterrupt may be swallowed, turned into an ImportError, or printed by other code. So a
process that is only loading exits at once; a process with files to tidy up gets the exception.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
import warnings
from _signal import getsignal, raise_signal
from _signal import signal as handle  # `signal.signal` takes twenty times as long
from _thread import get_ident
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import main_thread
from types import FrameType
from typing import Any, TypeVar

Result = TypeVar("Result")

# Signals whose handlers may raise exceptions. The last one is released first.
HELD = tuple(
    int(getattr(signal, name)) for name in ("SIGALRM", "SIGTERM", "SIGINT") if hasattr(signal, name)
)
_noted: set[int] = set()
_held = False  # whether the main thread is in a call that holds signals
CODE = 1
MESSAGE = "definetti: stopped; no file is half-written"
LOADER = "<frozen importlib._bootstrap"
SHOW_CURSOR = "\x1b[?25h"  # a progress bar hides it
_state = {"asked": False, "writing": 0}
PAUSE = 0.5  # seconds between two checks of the parent process


def hold_signals(call: Callable[..., Result], arguments: tuple[Any, ...]) -> Result:
    """Call a function; run the handlers of signals that arrive meanwhile after it returns."""
    if _held or get_ident() != main_thread().ident:  # handlers run in the main thread only
        return call(*arguments)
    handlers = [(number, getsignal(number)) for number in HELD]
    return _hold_each(call, arguments, [pair for pair in handlers if callable(pair[1])])


def _hold_each(
    call: Callable[..., Result], arguments: tuple[Any, ...], handlers: list[tuple[int, Any]]
) -> Result:
    """Hold the signals recursively, then call the function."""
    global _held
    if not handlers:
        _held = True
        try:
            return call(*arguments)
        finally:
            _held = False
    (number, handler), *others = handlers
    handle(number, _note_signal)
    try:
        return _hold_each(call, arguments, others)
    finally:
        try:
            handle(number, handler)
        except BaseException:  # the handler of another signal raised first
            handle(number, handler)
            raise
        finally:
            if number in _noted:
                _noted.remove(number)
                raise_signal(number)


def _note_signal(number: int, frame: FrameType | None) -> None:
    _noted.add(number)


def listen_for_interrupts() -> None:
    """Install the handler of Ctrl-C for the rest of the process, unless Ctrl-C is ignored."""
    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _handle_interrupt)
        sys.unraisablehook = _handle_unraisable
        # Runs last at exit, when Python no longer has handlers.
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)


def is_stopping() -> bool:
    """Return whether Ctrl-C was pressed: then any error may be a consequence of it."""
    return bool(_state["asked"])


@contextmanager
def mark_writing() -> Iterator[None]:
    """Mark a block with files to tidy up, in which Ctrl-C does not exit at once."""
    _state["writing"] += 1
    try:
        yield
    finally:
        _state["writing"] -= 1


@contextmanager
def block_interrupts() -> Iterator[None]:
    """Start processes with Ctrl-C blocked: the parent ends them, without tracebacks."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing.resource_tracker import ensure_running

    ensure_running()  # starting it later would unblock Ctrl-C
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # inherited by processes
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def leave() -> None:
    """Print the message and end the process, with no step that could fail."""
    cursor = SHOW_CURSOR if sys.stderr is not None and sys.stderr.isatty() else ""
    try:
        os.write(2, f"{cursor}{MESSAGE}\n".encode())  # the buffer may be in use
    finally:
        os._exit(CODE)


def end() -> None:
    """End the process: at once, or by a regular exit if there are worker processes.

    A regular exit ends the workers, which would otherwise wait for minutes.
    """
    if not _has_workers():
        leave()
    print(MESSAGE, file=sys.stderr)
    prepare_exit()
    sys.exit(CODE)


def prepare_exit() -> None:
    """Let Ctrl-C during exit end the process at once, with one message."""
    if is_stopping():
        warnings.simplefilter("ignore")  # for example of cancelled tasks
    if signal.getsignal(signal.SIGINT) is _handle_interrupt:
        signal.signal(signal.SIGINT, lambda *_: os._exit(CODE) if is_stopping() else leave())


def _handle_interrupt(number: int, frame: FrameType | None) -> None:
    _state["asked"] = True
    if is_loading(frame) and not _has_to_tidy_up():
        leave()
    raise KeyboardInterrupt


def is_loading(frame: FrameType | None) -> bool:
    """Return whether a module is being loaded."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(LOADER):
            return True
        frame = frame.f_back
    return False


def _has_to_tidy_up() -> bool:
    return bool(_state["writing"]) or _has_workers()


def _has_workers() -> bool:
    loaded = sys.modules.get("multiprocessing")
    return loaded is not None and bool(loaded.active_children())


def _handle_unraisable(what: Any) -> None:
    """End the process if a callback swallowed Ctrl-C."""
    if not isinstance(what.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(what)
    elif not _has_to_tidy_up():
        leave()


def end_with_parent(parent: int) -> None:
    """End this process when its parent ends or is killed; called as a worker starts.

    An idle worker would not notice for minutes. Windows keeps the id of a parent that has ended.
    """
    if sys.platform != "win32":
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PAUSE)
    os._exit(1)  # from a thread, at any time; only the parent writes files
