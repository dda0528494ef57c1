"""Integer log-likelihoods of counts, and the best split of a segment in two.

Likelihoods of chains are sums of ``n log n`` over counts. They are kept in units of ``2**-30``,
rounded once for each count, so that equal counts give equal sums in whatever order they are added.

Likelihood ratios are computed for all split points of a segment except those near its ends, one
step at a time: each step moves one count from the right side to the left. Each segment has its own
split.
"""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import CodeArray, FloatArray, IntArray
from definetti._system.compiled import kernel

UNIT = 2.0**30
GONE = -(2**31)  # stands for a missing number
ROOM = 2**22  # the most cells that are counted in a table; more are counted by sorting
EDGE = 20  # no split in the first or the last twentieth of a segment


def entropy_table(most: int) -> IntArray:
    """Return ``n log n`` for ``n`` from 0 to `most`, in units."""
    n = np.arange(most + 1, dtype=np.float64)
    return np.rint(n * np.log(np.maximum(n, 1.0)) * UNIT).astype(np.int64)


@kernel
def deal(values: CodeArray, times: CodeArray) -> CodeArray:
    """Return the values at the times of each row, ``(B, T)``."""
    dealt = np.empty(times.shape, dtype=values.dtype)
    for b in range(len(times)):
        for t in range(times.shape[1]):
            dealt[b, t] = values[times[b, t]]
    return dealt


def sum_by_segment(
    names: CodeArray, cells: CodeArray, begins: IntArray, table: IntArray
) -> IntArray:
    """Add up ``n log n`` over the counts of cells in each segment of each row, in units.

    `names` ``(B, T)`` are indices of `cells`; in both −1 stands for none.
    """
    size, segments = int(cells.max()) + 1, np.arange(len(begins) - 1)
    keys = np.append(cells, -1).astype(np.int64)[names]
    keys += np.where(keys < 0, 0, np.repeat(segments * size, np.diff(begins)))
    return _sum_cells(keys, size * len(segments), table)


def _sum_cells(keys: IntArray, room: int, table: IntArray) -> IntArray:
    """Add up ``n log n`` over the counts of each row's keys, all below `room`, −1 for none."""
    if room <= ROOM:
        return _sum_counts(keys, room, table)
    counts = [np.unique(row[row >= 0], return_counts=True)[1] for row in keys]
    return np.array([table[row].sum() for row in counts])


@kernel
def _sum_counts(keys: IntArray, room: int, table: IntArray) -> IntArray:
    counts = np.zeros(room, dtype=np.int64)
    sums = np.zeros(len(keys), dtype=np.int64)
    for b in range(len(keys)):
        for key in keys[b]:
            if key >= 0:
                counts[key] += 1
        for key in keys[b]:  # over the keys that occur: of many cells few are counted
            if key >= 0:
                sums[b] += table[counts[key]]
                counts[key] = 0
    return sums


def sum_pairs(
    names: CodeArray,
    links: CodeArray,
    first: IntArray,
    second: IntArray,
    room: int,
    table: IntArray,
) -> IntArray:
    """Add up ``n log n`` over the counts of each row's pairs of successive names, in units.

    A link is at least 0 where the next step is in the same segment. The key of a pair is the sum of
    `first` at the earlier name and `second` at the later one, and is below `room`.
    """
    if room < names.shape[1]:
        return np.asarray(table[count_pairs(names, links, first, second, room)].sum(axis=1))
    early, late = names[:, :-1], names[:, 1:]
    gone = (links[:, :-1] < 0) | (early < 0) | (late < 0)
    return _sum_cells(np.where(gone, -1, first[early] + second[late]), room, table)


@kernel
def count_pairs(
    names: CodeArray, links: CodeArray, first: IntArray, second: IntArray, room: int
) -> IntArray:
    """Count each row's pairs by their keys: ``(B, room)``; parameters as of `sum_pairs`."""
    counts = np.zeros((len(names), 2, room), dtype=np.int64)
    for b in range(len(names)):
        before = names[b, 0]
        for t in range(1, names.shape[1]):
            name = names[b, t]
            if links[b, t - 1] >= 0 and before >= 0 and name >= 0:
                key = first[np.uint64(before)] + second[np.uint64(name)]
                counts[b, t & 1, np.uint64(key)] += 1  # in turns, so that none waits
            before = name
    total: IntArray = counts[:, 0] + counts[:, 1]
    return total


@kernel
def split_cells(
    cells: CodeArray,
    groups: CodeArray,
    begins: IntArray,
    gains: IntArray,
    all_cells: IntArray,
    all_groups: IntArray,
) -> tuple[IntArray, IntArray, IntArray]:
    """Find the best split of counts, where cells have their own shares of a group on each side.

    At each time of ``(B, T)`` a cell of a group is counted, −1 for none; `gains` are the steps of
    `entropy_table`. Return ``(B,)`` log-likelihood ratios in units, summed over segments, the best
    split of the segment with the largest ratio, and that largest ratio. Draws have the counts of
    the sample: those of a single segment are given, and not counted again.
    """
    total = np.zeros(len(cells), dtype=np.int64)
    where = np.zeros(len(cells), dtype=np.int64)
    largest = np.full(len(cells), -1, dtype=np.int64)
    room, wide, single = len(all_cells), len(all_groups), len(begins) == 2
    # Unsigned, so that indices need no check for negative values. Counts on the left of the split,
    # and in the segment.
    left, whole = np.zeros(room, dtype=np.uint64), np.zeros(room, dtype=np.uint64)
    own, every = np.zeros(wide, dtype=np.uint64), np.zeros(wide, dtype=np.uint64)
    one = np.uint64(1)
    if single:
        whole[:], every[:] = all_cells, all_groups
    for b in range(len(cells)):
        for s in range(len(begins) - 1):
            row = cells[b, begins[s] : begins[s + 1]]
            group = groups[b, begins[s] : begins[s + 1]]
            if single:
                left[:], own[:] = 0, 0
            else:  # over the steps that occur: of many cells few are in a segment
                for t in range(len(row)):
                    if row[t] >= 0:
                        left[row[t]], whole[row[t]] = 0, 0
                        own[group[t]], every[group[t]] = 0, 0
                for t in range(len(row)):
                    if row[t] >= 0:
                        whole[row[t]] += one
                        every[group[t]] += one
            ratio, best, place = 0, 0, 0
            edge = len(row) // EDGE
            for t in range(len(row) - edge):
                if row[t] >= 0:
                    c, g = np.uint64(row[t]), np.uint64(group[t])
                    i, j = left[c], own[g]
                    left[c], own[g] = i + one, j + one
                    ratio += gains[i] - gains[whole[c] - i - one]
                    ratio -= gains[j] - gains[every[g] - j - one]
                    if ratio > best and edge <= t + 1:
                        best, place = ratio, t + 1
            total[b] += best
            if best > largest[b]:
                largest[b], where[b] = best, begins[s] + place
    return total, where, largest


@kernel
def split_scores(
    scores: CodeArray,
    groups: CodeArray,
    begins: IntArray,
    sample_sum: IntArray,
    sample_size: IntArray,
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Find the best split of numbers, where groups have their own means on each side, variance one.

    `GONE` stands for none. Return what `split_cells` returns, with twice the log-likelihood ratios.
    """
    total = np.zeros(len(scores))
    where = np.zeros(len(scores), dtype=np.int64)
    largest = np.full(len(scores), -1.0)
    wide, single = len(sample_sum), len(begins) == 2
    all_sum, sums = np.zeros(wide, dtype=np.int64), np.zeros(wide, dtype=np.int64)
    all_size, sizes = np.zeros(wide, dtype=np.int64), np.zeros(wide, dtype=np.int64)
    means, parts = np.zeros(wide), np.zeros(wide)
    if single:
        all_sum[:], all_size[:] = sample_sum, sample_size
        means[:] = all_sum / np.maximum(all_size, 1)
    for b in range(len(scores)):
        for s in range(len(begins) - 1):
            row = scores[b, begins[s] : begins[s + 1]]
            group = groups[b, begins[s] : begins[s + 1]]
            if single:
                sums[:], sizes[:], parts[:] = 0, 0, 0.0
            else:  # over the steps that occur: of many groups few are in a segment
                for g in group:
                    all_sum[g], all_size[g], sums[g], sizes[g], parts[g] = 0, 0, 0, 0, 0.0
                for t in range(len(row)):
                    if row[t] != GONE:
                        all_sum[group[t]] += row[t]
                        all_size[group[t]] += 1
                for g in group:
                    means[g] = all_sum[g] / max(all_size[g], 1)
            ratio, best, place = 0.0, 0.0, 0
            edge = len(row) // EDGE
            for t in range(len(row) - edge):
                if row[t] != GONE:
                    g = np.uint64(group[t])
                    sums[g] += row[t]
                    sizes[g] += 1
                    n, every = sizes[g], all_size[g]
                    part = 0.0
                    if n < every:
                        off = sums[g] - means[g] * n
                        part = off * off * (every / (n * (every - n)))
                    ratio += part - parts[g]
                    parts[g] = part
                    if ratio > best and edge <= t + 1:
                        best, place = ratio, t + 1
            total[b] += best
            if best > largest[b]:
                largest[b], where[b] = best, begins[s] + place
    return total, where, largest
