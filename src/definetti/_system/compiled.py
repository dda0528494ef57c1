"""Settings shared by every compiled function."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import event
from numba.core.registry import CPUDispatcher

from definetti._system.signals import hold_signals

F = TypeVar("F", bound=Callable[..., Any])

# Numbers that a kernel may work through in one go, a tenth of a second or so: in between, Python
# hears Ctrl-C.
PIECE = 2**24


class Kernel(CPUDispatcher):
    """A compiled function that no signal disturbs on the way into it and out of it.

    Numba takes arguments apart and puts results together in Python, and does not look whether
    that failed: a KeyboardInterrupt there ends in a segmentation fault. Kernels that call each
    other have nothing to do with this.
    """

    def __call__(self, *arguments: Any) -> Any:
        return hold_signals(super().__call__, arguments)


class Notice(event.Listener):
    """Says on a terminal, for as long as it takes, that a kernel is being compiled.

    That happens once on a machine, and takes a second or so each; a file or a pipe hears nothing.
    """

    def __init__(self) -> None:
        self.depth = 0  # kernels compile the kernels that they call

    def on_start(self, event: Any) -> None:
        if not isinstance(event.data["dispatcher"], Kernel):
            return
        self.depth += 1
        if self.depth == 1:
            self._write("definetti: compiling for this machine, once; a few seconds")

    def on_end(self, event: Any) -> None:
        if not isinstance(event.data["dispatcher"], Kernel):
            return
        self.depth -= 1
        if self.depth == 0:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        if sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write(text)
            sys.stderr.flush()


def kernel(function: F) -> F:
    """Compile a function of arrays and scalars, keep the result on disk, release the GIL."""
    compiled = numba.njit(cache=True, nogil=True)(function)
    if isinstance(compiled, CPUDispatcher):  # the function itself, where compiling is turned off
        compiled.__class__ = Kernel  # numba has no way to ask for another kind
    return cast(F, compiled)


event.register("numba:compile", Notice())  # type: ignore[no-untyped-call,unused-ignore]


def cut_pieces(size: int, each: int) -> Iterator[slice]:
    """Cut rows, each of which is so much work, into pieces that do not take long.

    Examples
    --------
    >>> list(cut_pieces(5, PIECE // 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    >>> list(cut_pieces(0, 1))
    [slice(0, 0, None)]
    """
    most = max(1, PIECE // max(1, each))
    for begin in range(0, max(1, size), most):
        yield slice(begin, min(begin + most, size))


def call_by_rows(function: F, rows: Any, *others: Any, each: int) -> Any:
    """Call a kernel that treats each row by itself, for a piece of the rows after the other.

    Examples
    --------
    >>> call_by_rows(lambda rows, power: rows**power, np.array([2, 3, 4]), 2, each=PIECE)
    array([ 4,  9, 16])
    """
    found = [function(rows[part], *others) for part in cut_pieces(len(rows), each)]
    return found[0] if len(found) == 1 else np.concatenate(found)


def unroll_size(size: int) -> tuple[bool, ...]:
    """Tell a kernel a small size by the length of a tuple, which its compiler knows in advance.

    Loops over that length are unrolled, which halves their time. A large size gives an empty
    tuple, so that one compiled function serves them all.

    Examples
    --------
    >>> unroll_size(3)
    (True, True, True)
    >>> unroll_size(100)
    ()
    """
    return (True,) * size if size <= 8 else ()
