"""Where a segment is best split in two, each part with a law of its own.

Likelihood ratios for all split points of every segment, but for those near its ends, one step at a
time: each step moves one count from the right to the left. Of several segments each has a split of
its own.
"""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import CodeArray, FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.check._cells import GONE

EDGE = 20  # of a segment, the first and the last twentieth are too short for a law of their own


@kernel
def split_cells(
    cells: CodeArray,
    groups: CodeArray,
    begins: IntArray,
    gains: IntArray,
    all_cells: IntArray,
    all_groups: IntArray,
) -> tuple[IntArray, IntArray, IntArray]:
    """Split counts: in each part cells have shares of their group.

    Draws within segments have the counts of the sample: of a single segment they are given, and
    not counted again.

    Parameters
    ----------
    cells : (B, T) which of them is counted at each time, −1 for none
    groups : (B, T) what it is a share of
    begins : (S + 1,) where segments begin, and the last ends
    gains : (T,) by how much ``n log n`` grows from each count to the next, in the units of
        `definetti.check._cells.entropy_table`
    all_cells, all_groups : how often each cell, and each group, is counted in the whole sample

    Returns
    -------
    (B,) the log-likelihood ratio in units, summed over segments; where the best split of the
    segment with the largest lies; and that largest
    """
    total = np.zeros(len(cells), dtype=np.int64)
    where = np.zeros(len(cells), dtype=np.int64)
    largest = np.full(len(cells), -1, dtype=np.int64)
    room, wide, single = len(all_cells), len(all_groups), len(begins) == 2
    # Without signs, so that no index has to be looked at for being negative.
    left, both = np.zeros(room, dtype=np.uint64), np.zeros(room, dtype=np.uint64)
    own, every = np.zeros(wide, dtype=np.uint64), np.zeros(wide, dtype=np.uint64)
    one = np.uint64(1)
    if single:
        both[:], every[:] = all_cells, all_groups
    for b in range(len(cells)):
        for s in range(len(begins) - 1):
            if not single:
                for t in range(begins[s], begins[s + 1]):
                    cell = cells[b, t]
                    if cell >= 0:
                        both[cell] += one
                        every[groups[b, t]] += one
            ratio, best, place = 0, 0, begins[s]
            edge = (begins[s + 1] - begins[s]) // EDGE
            low, high = begins[s] + edge, begins[s + 1] - edge
            for t in range(begins[s], high):
                if cells[b, t] >= 0:
                    c, g = np.uint64(cells[b, t]), np.uint64(groups[b, t])
                    i, j = left[c], own[g]
                    left[c], own[g] = i + one, j + one
                    ratio += gains[i] - gains[both[c] - i - one]
                    ratio -= gains[j] - gains[every[g] - j - one]
                    if ratio > best and low <= t + 1:
                        best, place = ratio, t + 1
            if single:
                left[:] = 0
                own[:] = 0
            else:
                for t in range(begins[s], begins[s + 1]):
                    cell, group = cells[b, t], groups[b, t]
                    if cell >= 0:
                        left[cell], both[cell], own[group], every[group] = 0, 0, 0, 0
            total[b] += best
            if best > largest[b]:
                largest[b], where[b] = best, place
    return total, where, largest


@kernel
def split_scores(
    scores: CodeArray,
    groups: CodeArray,
    begins: IntArray,
    sample_sum: IntArray,
    sample_size: IntArray,
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Split numbers: in each part each group has a mean of its own, all with variance one.

    Parameters
    ----------
    scores : (B, T) whole numbers, `GONE` where there is none
    groups, begins : as of `split_cells`
    sample_sum, sample_size : of the scores of each group in the whole sample, and how many

    Returns
    -------
    (B,) twice the log-likelihood ratio, place and largest, as of `split_cells`
    """
    total = np.zeros(len(scores))
    where = np.zeros(len(scores), dtype=np.int64)
    largest = np.full(len(scores), -1.0)
    wide, single = len(sample_sum), len(begins) == 2
    all_sum, sums = np.zeros(wide, dtype=np.int64), np.zeros(wide, dtype=np.int64)
    all_size, sizes = np.zeros(wide, dtype=np.int64), np.zeros(wide, dtype=np.int64)
    if single:
        all_sum[:], all_size[:] = sample_sum, sample_size
    means, parts = np.zeros(wide), np.zeros(wide)
    for b in range(len(scores)):
        for s in range(len(begins) - 1):
            if not single:
                for t in range(begins[s], begins[s + 1]):
                    if scores[b, t] != GONE:
                        all_sum[groups[b, t]] += scores[b, t]
                        all_size[groups[b, t]] += 1
            if wide < begins[s + 1] - begins[s]:
                for g in range(wide):
                    means[g] = all_sum[g] / max(all_size[g], 1)
            else:
                for t in range(begins[s], begins[s + 1]):
                    g = groups[b, t]
                    means[g] = all_sum[g] / max(all_size[g], 1)
            ratio, best, place = 0.0, 0.0, begins[s]
            edge = (begins[s + 1] - begins[s]) // EDGE
            low, high = begins[s] + edge, begins[s + 1] - edge
            for t in range(begins[s], high):
                g, score = groups[b, t], scores[b, t]
                if score != GONE:
                    sums[g] += score
                    sizes[g] += 1
                    n, every = sizes[g], all_size[g]
                    part = 0.0
                    if n < every:
                        off = sums[g] - means[g] * n
                        part = off * off * (every / (n * (every - n)))
                    ratio += part - parts[g]
                    parts[g] = part
                    if ratio > best and low <= t + 1:
                        best, place = ratio, t + 1
            if single:
                sums[:], sizes[:], parts[:] = 0, 0, 0.0
            else:
                for t in range(begins[s], begins[s + 1]):
                    g = groups[b, t]
                    all_sum[g], all_size[g], sums[g], sizes[g], parts[g] = 0, 0, 0, 0, 0.0
            total[b] += best
            if best > largest[b]:
                largest[b], where[b] = best, place
    return total, where, largest
