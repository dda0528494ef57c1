"""Settings shared by every compiled function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function of arrays and scalars, keep the result on disk, release the GIL."""
    return cast(F, numba.njit(cache=True, nogil=True)(function))


def unrolled(size: int) -> tuple[bool, ...]:
    """Tell a kernel a small size by the length of a tuple, which its compiler knows in advance.

    Loops over that length are unrolled, which halves their time. A large size gives an empty
    tuple, so that one compiled function serves them all.

    Examples
    --------
    >>> unrolled(3)
    (True, True, True)
    >>> unrolled(100)
    ()
    """
    return (True,) * size if size <= 8 else ()
