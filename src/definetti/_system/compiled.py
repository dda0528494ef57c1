"""Settings shared by every compiled function.

Numba, which compiles them, takes longer to import than all else together. It is imported when the
first kernel is called: who only makes an estimator, or reads what a command can do, waits for none.
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

# Numbers that a kernel may work through in one go, a tenth of a second or so: in between, Python
# hears Ctrl-C.
PIECE = 2**24

_making = RLock()  # one kernel at a time is handed to the compiler


class Kernel:
    """A function that is compiled when it is first called, kept on disk, and releases the GIL.

    Numba takes arguments apart and puts results together in Python, and does not look whether that
    failed: a KeyboardInterrupt there ends in a segmentation fault, so signals are held meanwhile.
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
        return self.py_func.__qualname__  # found again where it was defined

    @property
    def dispatcher(self) -> Callable[..., Any]:
        """What Numba makes of it: the function itself, where compiling is turned off."""
        with _making:
            if self._dispatcher is None:
                import numba

                dispatcher: Any = numba.njit(cache=True, nogil=True)(self.py_func)
                if hasattr(dispatcher, "_cache"):  # not where compiling is turned off
                    dispatcher._cache = _robust_cache(self.py_func)
                self._dispatcher = dispatcher
            return cast(Callable[..., Any], self._dispatcher)

    @property
    def _numba_type_(self) -> Any:
        """What a kernel that calls this one takes it for."""
        from numba.core.types import Dispatcher

        return Dispatcher(self.dispatcher)


def kernel(function: F) -> F:
    """Have a function of arrays and scalars compiled when it is first called."""
    return cast(F, Kernel(function))


def _robust_cache(function: Callable[..., Any]) -> Any:
    """Return a cache of compiled code that replaces damaged files, and can do without a disk."""
    from numba.core import caching

    Base: Any = caching.FunctionCache

    class RobustCache(Base):
        """Compiled code in files that may have been cut short, by a full disk or a kill."""

        def load_overload(self, *arguments: Any) -> Any:
            try:
                return super().load_overload(*arguments)
            except Exception:  # whatever reading half a pickle leads to; it is compiled anew
                self._remove_files()
                return None

        def save_overload(self, *arguments: Any) -> None:
            try:
                # Numba writes the index before the code: a file of that name from an earlier
                # version would be taken for the new code if the process ended in between.
                self._remove_files(keep=set(self._cache_file._load_index().values()))
                super().save_overload(*arguments)
            except Exception:  # a disk that is full or not writable; the code is there all the same
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
    """Cut rows, each of which is so much work, into pieces that do not take long."""
    most = max(1, PIECE // max(1, row_work))
    for begin in range(0, max(1, size), most):
        yield slice(begin, min(begin + most, size))


def call_by_rows(function: F, rows: Any, *others: Any, row_work: int) -> Any:
    """Call a kernel that treats each row by itself, for a piece of the rows after the other."""
    pieces = [function(rows[part], *others) for part in cut_pieces(len(rows), row_work)]
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def unroll_size(size: int) -> tuple[bool, ...]:
    """Tell a kernel a small size by the length of a tuple, which its compiler knows in advance.

    Loops over that length are unrolled, which halves their time; one function serves large sizes.
    """
    return (True,) * size if size <= 8 else ()
