"""Sums of ``n log n`` over counts, in whole numbers.

Likelihoods of chains are such sums. They are kept in units of ``2**-30``, rounded once for each
count, so that equal counts give equal sums in whatever order they are added up.
"""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import CodeArray, IntArray
from definetti._system.compiled import kernel

UNIT = 2.0**30
GONE = -(2**31)  # in the place of a number that is missing
ROOM = 2**22  # cells that are counted in a table; where there may be more, they are sorted


def entropy_table(most: int) -> IntArray:
    """Return ``n log n`` for ``n`` from 0 to `most`, in units.

    >>> entropy_table(2) / UNIT
    array([0.        , 0.        , 1.38629436])
    """
    n = np.arange(most + 1, dtype=np.float64)
    return np.rint(n * np.log(np.maximum(n, 1.0)) * UNIT).astype(np.int64)


@kernel
def deal(values: CodeArray, times: CodeArray) -> CodeArray:
    """Return, for each step of each row, the value of the time that it is dealt.

    One pass over memory in no order; whoever goes over the result again goes in order.
    """
    found = np.empty(times.shape, dtype=values.dtype)
    for b in range(len(times)):
        for t in range(times.shape[1]):
            found[b, t] = values[times[b, t]]
    return found


def hold_names(like: CodeArray, room: int) -> CodeArray:
    """Return an array that holds a name below `room` for each entry of another, −1 for now."""
    return np.full(like.shape, -1, dtype=np.int32 if room < 2**31 else np.int64)


def name_by_segment(names: CodeArray, cells: CodeArray, begins: IntArray) -> CodeArray:
    """Name cells in each segment by itself.

    Parameters
    ----------
    names : (B, T) which of the cells each is, −1 for none
    cells : what each name stands for, −1 for nothing
    begins : (S + 1,) where segments begin, and the last ends

    Examples
    --------
    >>> name_by_segment(np.array([[0, 1, -1, 1]]), np.array([0, 2]), np.array([0, 2, 4]))
    array([[ 0,  2, -1,  5]], dtype=int32)
    """
    size = int(cells.max()) + 1
    found = hold_names(names, size * (len(begins) - 1))
    _name_by_segment(found, names, cells, begins, size)
    return found


@kernel
def _name_by_segment(
    found: CodeArray, names: CodeArray, cells: CodeArray, begins: IntArray, size: int
) -> None:
    for b in range(len(names)):
        for s in range(len(begins) - 1):
            for t in range(begins[s], begins[s + 1]):
                name = names[b, t]
                if name >= 0 and cells[name] >= 0:
                    found[b, t] = s * size + cells[name]


def sum_cells(keys: CodeArray, room: int, table: IntArray) -> IntArray:
    """Add up ``n log n`` over the counts of each row's keys; those below 0 do not count.

    Parameters
    ----------
    keys : (B, T) names of cells, below `room`
    table : as of `entropy_table`, up to T

    Returns
    -------
    (B,) sums, in units, as whole numbers

    Examples
    --------
    >>> sum_cells(np.array([[3, 0, 3, -1]]), 4, entropy_table(4)) / UNIT
    array([1.38629436])
    """
    return _tabled(keys, room, table) if room <= ROOM else _sorted(keys, table)


@kernel
def _tabled(keys: CodeArray, room: int, table: IntArray) -> IntArray:
    counts = np.zeros(room, dtype=np.int64)
    sums = np.zeros(len(keys), dtype=np.int64)
    for b in range(len(keys)):
        for key in keys[b]:
            if key >= 0:
                counts[key] += 1
        if room < keys.shape[1]:
            sums[b] = add_up(counts, table)
            counts[:] = 0
            continue
        for key in keys[b]:
            if key >= 0:
                sums[b] += table[counts[key]]
                counts[key] = 0
    return sums


@kernel
def add_up(counts: IntArray, table: IntArray) -> int:
    """Add up ``n log n`` over counts, in units."""
    total = 0
    for n in counts:
        total += table[n]
    return total


@kernel
def _sorted(keys: CodeArray, table: IntArray) -> IntArray:
    sums = np.zeros(len(keys), dtype=np.int64)
    for b in range(len(keys)):
        row = np.sort(keys[b])
        n = 0
        for k in range(len(row)):
            n = n + 1 if k and row[k] == row[k - 1] else 1
            if row[k] >= 0:
                sums[b] += table[n] - table[n - 1]
    return sums
