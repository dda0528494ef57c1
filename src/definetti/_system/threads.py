"""Work that threads share, as far as somebody has said how many there may be."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_threads(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Call a function for each item; in as many threads as `joblib.parallel_config` says.

    Kernels and linear algebra release the interpreter's lock. Each item is worked out by itself, so
    that no number depends on how many threads there are. By default there is one.

    Examples
    --------
    >>> import joblib
    >>> with joblib.parallel_config(n_jobs=2):
    ...     map_threads(abs, [-1, 2, -3])
    [1, 2, 3]
    """
    joblib = sys.modules.get("joblib")
    if joblib is None:  # nobody can have said anything, and to import it takes a while
        return [function(item) for item in items]
    number = joblib.Parallel().n_jobs  # asked for threads at once, it forgets what was said
    if number == 1:
        return [function(item) for item in items]
    parallel = joblib.Parallel(n_jobs=number, require="sharedmem")
    return list(parallel(joblib.delayed(function)(item) for item in items))
