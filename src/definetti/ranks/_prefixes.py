"""How many things lie below a place, while they come and go.

Places are in blocks, and blocks in blocks of blocks. A place, or a block, knows how many things are
before it in the block that it is in. To look up is one number a level; to add changes a stretch of
neighbours, which a processor does many at a time. A tree of counts (Fenwick 1994) has as many
levels as a number has bits, each somewhere else in memory.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from definetti._system.compiled import kernel

BITS = 8  # of the size of a block
Counts = npt.NDArray[np.int32]
Prefixes = tuple[Counts, Counts, Counts]


@kernel
def no_prefixes(places: int) -> Prefixes:
    """Return what knows so many places, where nothing is.

    Examples
    --------
    >>> prefixes = no_prefixes(1_000)
    >>> for place in (3, 700, 700):
    ...     add_at(prefixes, place, 1)
    >>> count_below(prefixes, 700), count_below(prefixes, 1_000)
    (1, 3)
    """
    block = 1 << BITS
    blocks = (places >> BITS) + 1
    upper = (blocks >> BITS) + 1
    return (
        np.zeros(blocks * block, dtype=np.int32),
        np.zeros(upper * block, dtype=np.int32),
        np.zeros(upper + 1, dtype=np.int32),
    )


@kernel
def add_at(prefixes: Prefixes, place: int, change: int) -> None:
    """Let so many things more be at a place."""
    single, blocks, upper = prefixes
    _add_after(single, place, ((place >> BITS) + 1) << BITS, change)
    place >>= BITS
    _add_after(blocks, place, ((place >> BITS) + 1) << BITS, change)
    _add_after(upper, place >> BITS, len(upper), change)


@kernel
def _add_after(counts: Counts, place: int, end: int, change: int) -> None:
    part = counts[place + 1 : end]
    for k in range(len(part)):
        part[k] += change


@kernel
def count_below(prefixes: Prefixes, place: int) -> int:
    """Count what is below a place; all there is, below that after the last."""
    single, blocks, upper = prefixes
    found: int = single[place] + blocks[place >> BITS] + upper[place >> 2 * BITS]
    return found
