"""Where a stretch is best split in two, each part with a law of its own.

Likelihood ratios for all split points of every stretch, but for those near its ends, one step at a
time: each step moves one count from the right to the left. Of several stretches each has a split of
its own.
"""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import CodeArray, FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.check._cells import GONE

EDGE = 20  # of a stretch, the first and the last twentieth are too short for a law of their own


@kernel
def split_cells(
    cells: CodeArray,
    groups: CodeArray,
    begins: IntArray,
    table: IntArray,
    room: int,
    wide: int,
) -> tuple[IntArray, IntArray, IntArray]:
    """Split counts: in each part cells have shares of their group.

    Parameters
    ----------
    cells : (B, T) which of them is counted at each time, −1 for none
    groups : (B, T) what it is a share of
    begins : (S + 1,) where stretches begin, and the last ends
    table : as of `definetti.check._cells.entropy_table`, up to T
    room, wide : above all cells, and all groups

    Returns
    -------
    (B,) the log-likelihood ratio in units, summed over stretches; where the best split of the
    stretch with the largest lies; and that largest
    """
    total = np.zeros(len(cells), dtype=np.int64)
    where = np.zeros(len(cells), dtype=np.int64)
    largest = np.full(len(cells), -1, dtype=np.int64)
    left, right = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64)
    own, rest = np.zeros(wide, dtype=np.int64), np.zeros(wide, dtype=np.int64)
    for b in range(len(cells)):
        for s in range(len(begins) - 1):
            for t in range(begins[s], begins[s + 1]):
                c = cells[b, t]
                if c >= 0:
                    right[c] += 1
                    rest[groups[b, t]] += 1
            ratio, best, place = 0, 0, begins[s]
            edge = (begins[s + 1] - begins[s]) // EDGE
            low, high = begins[s] + edge, begins[s + 1] - edge
            for t in range(begins[s], begins[s + 1]):
                c, g = cells[b, t], groups[b, t]
                if c >= 0:
                    ratio += table[left[c] + 1] - table[left[c]]
                    ratio += table[right[c] - 1] - table[right[c]]
                    ratio -= table[own[g] + 1] - table[own[g]]
                    ratio -= table[rest[g] - 1] - table[rest[g]]
                    left[c] += 1
                    right[c] -= 1
                    own[g] += 1
                    rest[g] -= 1
                    if ratio > best and low <= t + 1 <= high:
                        best, place = ratio, t + 1
            for t in range(begins[s], begins[s + 1]):
                c = cells[b, t]
                if c >= 0:
                    left[c] = 0
                    own[groups[b, t]] = 0
            total[b] += best
            if best > largest[b]:
                largest[b], where[b] = best, place
    return total, where, largest


@kernel
def split_scores(
    scores: CodeArray, groups: CodeArray, begins: IntArray, wide: int
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Split numbers: in each part each group has a mean of its own, all with variance one.

    Parameters
    ----------
    scores : (B, T) whole numbers, `GONE` where there is none
    groups, begins, wide : as of `split_cells`

    Returns
    -------
    (B,) twice the log-likelihood ratio, place and largest, as of `split_cells`
    """
    total = np.zeros(len(scores))
    where = np.zeros(len(scores), dtype=np.int64)
    largest = np.full(len(scores), -1.0)
    all_sum, sums = np.zeros(wide, dtype=np.int64), np.zeros(wide, dtype=np.int64)
    all_size, sizes = np.zeros(wide, dtype=np.int64), np.zeros(wide, dtype=np.int64)
    parts = np.zeros(wide)
    for b in range(len(scores)):
        for s in range(len(begins) - 1):
            for t in range(begins[s], begins[s + 1]):
                if scores[b, t] != GONE:
                    all_sum[groups[b, t]] += scores[b, t]
                    all_size[groups[b, t]] += 1
            ratio, best, place = 0.0, 0.0, begins[s]
            edge = (begins[s + 1] - begins[s]) // EDGE
            low, high = begins[s] + edge, begins[s + 1] - edge
            for t in range(begins[s], begins[s + 1]):
                g, score = groups[b, t], scores[b, t]
                if score != GONE:
                    sums[g] += score
                    sizes[g] += 1
                    n, m = sizes[g], all_size[g] - sizes[g]
                    part = 0.0
                    if m > 0:
                        off = sums[g] - all_sum[g] * (n / all_size[g])
                        part = off * off * (1 / n + 1 / m)
                    ratio += part - parts[g]
                    parts[g] = part
                    if ratio > best and low <= t + 1 <= high:
                        best, place = ratio, t + 1
            for t in range(begins[s], begins[s + 1]):
                g = groups[b, t]
                all_sum[g], all_size[g], sums[g], sizes[g], parts[g] = 0, 0, 0, 0, 0.0
            total[b] += best
            if best > largest[b]:
                largest[b], where[b] = best, place
    return total, where, largest
