"""Signals, Ctrl-C and workers: what interrupts or ends the process, and when it may.

Kernels cannot bear an exception on their way in and out. `hold_signals` lets signals wait there. A
handler written in Python, such as the one that turns Ctrl-C into a KeyboardInterrupt, runs in the
main thread, wherever that is about to run Python. To block signals would not do: the system hands
them to some other thread then, and the handler runs all the same.

The command `definetti` ends on Ctrl-C in one line and exit code 1. A KeyboardInterrupt is an
exception like others, and while modules are loaded it may be swallowed, be turned into an
ImportError, or be printed by someone else. So a process that is only loading leaves at once; one
that may have files to tidy up is interrupted as usual.
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

# Those whose handlers are apt to raise something. The last is the first to be heard again.
HELD = tuple(
    int(getattr(signal, name)) for name in ("SIGALRM", "SIGTERM", "SIGINT") if hasattr(signal, name)
)
_noted: set[int] = set()
_held = False  # whether the main thread is in a call that holds them
CODE = 1
MESSAGE = "definetti: stopped; no file is half-written"
LOADER = "<frozen importlib._bootstrap"
SHOW_CURSOR = "\x1b[?25h"  # a progress bar hides it
_state = {"asked": False, "writing": 0}
PAUSE = 0.5  # seconds between two looks


def hold_signals(call: Callable[..., Result], arguments: tuple[Any, ...]) -> Result:
    """Call a function; signals that come meanwhile are given to their handlers afterwards."""
    if _held or get_ident() != main_thread().ident:  # no handler runs in other threads
        return call(*arguments)
    handlers = [(number, getsignal(number)) for number in HELD]
    return _hold_each(call, arguments, [pair for pair in handlers if callable(pair[1])])


def _hold_each(
    call: Callable[..., Result], arguments: tuple[Any, ...], handlers: list[tuple[int, Any]]
) -> Result:
    """Hold the first of some signals, then the others, then call."""
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
        except BaseException:  # raised by the handler of another signal, before this was done
            handle(number, handler)
            raise
        finally:
            if number in _noted:
                _noted.remove(number)
                raise_signal(number)


def _note_signal(number: int, frame: FrameType | None) -> None:
    _noted.add(number)


def listen_for_interrupts() -> None:
    """Take Ctrl-C over, for the rest of the process; where it is ignored, it stays so."""
    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _handle_interrupt)
        sys.unraisablehook = _handle_unraisable
        # Done last of all that is done at exit, by when Python no longer keeps any handler.
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)


def is_stopping() -> bool:
    """Tell whether Ctrl-C was pressed: then any error may be a consequence of it."""
    return bool(_state["asked"])


@contextmanager
def mark_writing() -> Iterator[None]:
    """Mark what has files to tidy up: there Ctrl-C never leaves at once."""
    _state["writing"] += 1
    try:
        yield
    finally:
        _state["writing"] -= 1


@contextmanager
def block_interrupts() -> Iterator[None]:
    """Start processes that do not hear Ctrl-C: who started them ends them, without tracebacks."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing.resource_tracker import ensure_running

    ensure_running()  # would let Ctrl-C in again if it were started together with the others
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # passed on to processes
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def leave() -> None:
    """Say so and end the process, without anything that could fail on the way."""
    cursor = SHOW_CURSOR if sys.stderr is not None and sys.stderr.isatty() else ""
    try:
        os.write(2, f"{cursor}{MESSAGE}\n".encode())  # the buffer may be in use right now
    finally:
        os._exit(CODE)


def end() -> None:
    """Leave; where processes work for this one, say so and end in the regular way.

    There those who began them end them; by themselves they would wait for more for minutes.
    """
    if not _has_workers():
        leave()
    print(MESSAGE, file=sys.stderr)
    prepare_exit()
    sys.exit(CODE)


def prepare_exit() -> None:
    """Let Ctrl-C cut short what others do at exit, and be told of once and by us alone."""
    if is_stopping():
        warnings.simplefilter("ignore")  # of tasks that were cancelled, say
    if signal.getsignal(signal.SIGINT) is _handle_interrupt:
        signal.signal(signal.SIGINT, lambda *_: os._exit(CODE) if is_stopping() else leave())


def _handle_interrupt(number: int, frame: FrameType | None) -> None:
    _state["asked"] = True
    if is_loading(frame) and not _has_to_tidy_up():
        leave()
    raise KeyboardInterrupt


def is_loading(frame: FrameType | None) -> bool:
    """Tell whether a module is being loaded."""
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
    """Leave, too, where someone's callback has swallowed Ctrl-C."""
    if not isinstance(what.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(what)
    elif not _has_to_tidy_up():
        leave()


def end_with_parent(parent: int) -> None:
    """End this process when its parent has ended, a kill included; called as a worker starts.

    An idle worker would not notice for minutes. Windows keeps the number of a parent that is gone.
    """
    if sys.platform != "win32":
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PAUSE)
    os._exit(1)  # from a thread, whatever the worker is at; only the parent writes files
