"""How much memory the contents of a file may take, counted before it is allocated."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from definetti.exceptions import LoadError


class Budget:
    """Memory that was claimed so far, and the most that may be.

    Attributes
    ----------
    claimed, limit : numbers of bytes
    """

    def __init__(self, limit: float) -> None:
        self.claimed, self.limit = 0, limit


_current: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def count_memory(limit: float = math.inf) -> Iterator[Budget]:
    """Count what `claim_memory` is called with, and refuse more than a limit."""
    budget = Budget(limit)
    token = _current.set(budget)
    try:
        yield budget
    finally:
        _current.reset(token)


def claim_memory(size: int) -> None:
    """Count memory that reading a file is about to allocate; raise LoadError beyond the limit.

    The same is counted while a file is written, so that no file is written that cannot be read.
    Outside of both it has no effect.

    Examples
    --------
    >>> with count_memory(limit=1000):
    ...     claim_memory(900)
    ...     claim_memory(200)
    Traceback (most recent call last):
    definetti.exceptions.LoadError: takes more than 1,000 bytes of memory, which its size does...
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
