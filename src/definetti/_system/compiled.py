"""Compile kernels on first call, with the same settings for all.

Numba takes longer to import than all other modules together, so it is imported when the first
kernel is called: making an estimator, or ``--help``, does not need it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import update_wrapper
from glob import escape
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar, cast

import numpy as np

from definetti._system.interrupts import hold_signals

F = TypeVar("F", bound=Callable[..., Any])

# Numbers per kernel call, about a tenth of a second: between calls, Python handles Ctrl-C.
PIECE = 2**24

_making = RLock()  # one kernel is compiled at a time


class Kernel:
    """A function that is compiled on first call, cached on disk, and releases the GIL.

    Numba unboxes arguments and boxes results in Python without checking for errors: a
    KeyboardInterrupt there ends in a segmentation fault, so signals are held during calls.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._dispatcher: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        return hold_signals(self._dispatcher or self._first, arguments)

    def _first(self, *arguments: Any) -> Any:
        return self.dispatcher(*arguments)

    def __reduce__(self) -> str:
        return self.py_func.__qualname__  # pickle by name

    @property
    def dispatcher(self) -> Callable[..., Any]:
        """The compiled function, or the function itself if compiling is turned off."""
        with _making:
            if self._dispatcher is None:
                import numba

                dispatcher: Any = numba.njit(cache=True, nogil=True)(self.py_func)
                if hasattr(dispatcher, "_cache"):  # missing if compiling is turned off
                    dispatcher._cache = _robust_cache(self.py_func)
                self._dispatcher = dispatcher
            return cast(Callable[..., Any], self._dispatcher)

    @property
    def _numba_type_(self) -> Any:
        """The Numba type of this kernel inside other kernels."""
        from numba.core.types import Dispatcher

        return Dispatcher(self.dispatcher)


def kernel(function: F) -> F:
    """Compile a function of arrays and scalars when it is first called."""
    return cast(F, Kernel(function))


def _robust_cache(function: Callable[..., Any]) -> Any:
    """Return a cache of compiled code that replaces damaged files, and tolerates a missing disk."""
    from numba.core import caching

    Base: Any = caching.FunctionCache

    class RobustCache(Base):
        """Cache of compiled code whose files may be truncated by a full disk or a kill."""

        def load_overload(self, *arguments: Any) -> Any:
            try:
                return super().load_overload(*arguments)
            except Exception:  # a truncated pickle may raise anything; compile again
                self._remove_files()
                return None

        def save_overload(self, *arguments: Any) -> None:
            try:
                # Numba writes the index before the code. If the process ended in between, an old
                # file of the same name would be loaded as the new code.
                self._remove_files(keep=set(self._cache_file._load_index().values()))
                super().save_overload(*arguments)
            except Exception:  # full or read-only disk; the code is still in memory
                self._remove_files()

        def _remove_files(self, keep: set[str] | None = None) -> None:
            index = Path(self._cache_file._index_path)
            with suppress(OSError):
                if keep is None:
                    index.unlink(missing_ok=True)
                for path in index.parent.glob(f"{escape(index.stem)}.*.nbc"):
                    if path.name not in (keep or ()):
                        path.unlink(missing_ok=True)

    return RobustCache(function)


def cut_pieces(size: int, row_work: int) -> Iterator[slice]:
    """Yield slices of `size` rows, `row_work` numbers each, short enough for one kernel call."""
    most = max(1, PIECE // max(1, row_work))
    for begin in range(0, max(1, size), most):
        yield slice(begin, min(begin + most, size))


def call_by_rows(function: F, rows: Any, *others: Any, row_work: int) -> Any:
    """Call a kernel that is independent by row on one piece of rows after the other."""
    pieces = [function(rows[part], *others) for part in cut_pieces(len(rows), row_work)]
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def unroll_size(size: int) -> tuple[bool, ...]:
    """Return a tuple whose length passes a small size to a kernel at compile time.

    Loops over that length are unrolled, which halves their time; large sizes share one function.
    """
    return (True,) * size if size <= 8 else ()
