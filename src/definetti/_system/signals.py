"""Signals that wait while what they would interrupt cannot bear it.

A handler written in Python, such as the one that turns Ctrl-C into a KeyboardInterrupt, runs in
the main thread, wherever that is about to run Python. To block signals would not do: the system
hands them to some other thread then, and the handler runs all the same.
"""

from __future__ import annotations

import signal
from _signal import getsignal, raise_signal
from _signal import signal as handle  # `signal.signal` takes twenty times as long
from _thread import get_ident
from collections.abc import Callable
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


def hold_signals(call: Callable[..., Result], arguments: tuple[Any, ...]) -> Result:
    """Call a function; signals that come meanwhile are given to their handlers afterwards.

    Examples
    --------
    >>> def interrupted():
    ...     raise_signal(signal.SIGINT)
    ...     print("still here")
    >>> try:
    ...     hold_signals(interrupted, ())
    ... except KeyboardInterrupt:
    ...     print("and stopped")
    still here
    and stopped
    """
    if _held:  # nothing to be done, and in other threads there never is
        return call(*arguments)
    free = [number for number in HELD if _is_free(getsignal(number))]
    if not free or get_ident() != main_thread().ident:  # no handler runs in other threads
        return call(*arguments)
    return _hold_each(call, arguments, tuple(free))


def _is_free(handler: Any) -> bool:
    """Tell whether a handler is Python's business, and is not held already."""
    return handler is not _note_signal and callable(handler)


def _hold_each(
    call: Callable[..., Result], arguments: tuple[Any, ...], numbers: tuple[int, ...]
) -> Result:
    """Hold the first of some signals, then the others, then call."""
    global _held
    if not numbers:
        _held = True
        try:
            return call(*arguments)
        finally:
            _held = False
    number, others = numbers[0], numbers[1:]
    handler = getsignal(number)
    if not _is_free(handler):
        return _hold_each(call, arguments, others)
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
