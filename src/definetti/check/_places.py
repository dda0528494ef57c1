"""The place of each step among those before it, and how places hang together, in one pass each."""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import CodeArray, FloatArray, IntArray
from definetti._system.compiled import kernel


@kernel
def place_among_earlier(cells: CodeArray, begins: CodeArray, coins: FloatArray) -> FloatArray:
    """Place each cell of a row among those of its group before it, ties by a coin.

    Parameters
    ----------
    cells : (B, T) whole numbers in order, group after group; −1 for nothing
    begins : (C,) the first cell of each cell's group
    coins : (T,) between 0 and 1, of the steps of every row

    Returns
    -------
    (B, T) between 0 and 1, NaN for nothing
    """
    rows, length = cells.shape
    found = np.full((rows, length), np.nan)
    room = len(begins)
    ends = np.empty(room, dtype=begins.dtype)
    for c in range(room - 1, -1, -1):
        ends[c] = ends[c + 1] if c + 1 < room and begins[c + 1] == begins[c] else c + 1
    for b in range(rows):
        tree = np.zeros(room, dtype=begins.dtype)  # of each group, sums over cells (Fenwick 1994)
        same = np.zeros(room, dtype=begins.dtype)
        total = np.zeros(room, dtype=begins.dtype)
        for t in range(length):
            c = cells[b, t]
            if c < 0:
                continue
            g = begins[c]
            less, j = 0, c - g
            while j > 0:
                less += tree[g + j - 1]
                j -= j & -j
            found[b, t] = (less + coins[t] * (same[c] + 1)) / (total[g] + 1)
            same[c] += 1
            total[g] += 1
            j, wide = c - g + 1, ends[c] - g
            while j <= wide:
                tree[g + j - 1] += 1
                j += j & -j
    return found


@kernel
def correlate_lags(residuals: FloatArray, begins: IntArray, lags: int) -> FloatArray:
    """Return the autocorrelation of each row at lags 1, 2, …, within segments.

    Parameters
    ----------
    residuals : (B, T) numbers, NaN for nothing
    begins : (S + 1,) where segments begin, and the last ends
    """
    found = np.zeros((len(residuals), lags))
    off = np.empty(residuals.shape[1])
    for b in range(len(residuals)):
        mean, spread, size = 0.0, 0.0, 0
        for one in residuals[b]:
            if not np.isnan(one):
                mean += one
                size += 1
        mean /= max(size, 1)
        for t in range(len(off)):
            off[t] = 0.0 if np.isnan(residuals[b, t]) else residuals[b, t] - mean
            spread += off[t] * off[t]
        if spread <= 0:
            continue
        total = np.zeros(lags)
        for s in range(len(begins) - 1):
            for t in range(begins[s], begins[s + 1]):  # all lags in one pass
                later = off[t + 1 : min(t + 1 + lags, begins[s + 1])]
                for k in range(len(later)):
                    total[k] += off[t] * later[k]
        found[b] = total / spread
    return found


@kernel
def count_bins(places: FloatArray, bins: int) -> IntArray:
    """Count the places of each row, between 0 and 1, in bins of equal width; NaN is left out."""
    counts = np.zeros((len(places), bins), dtype=np.int64)
    for b in range(len(places)):
        for place in places[b]:
            if not np.isnan(place):
                counts[b, min(int(place * bins), bins - 1)] += 1
    return counts


@kernel
def order_statistics(places: FloatArray, ranks: IntArray) -> FloatArray:
    """Return the values of some ranks, from 0, among the places of each row; NaN is left out.

    Two passes and no sorting, but of the few places that share a narrow bin with one of them.
    """
    rows, length = places.shape
    bins = max(1, length // 8)
    found = np.empty((rows, len(ranks)))
    for b in range(rows):
        begins = np.zeros(bins + 1, dtype=np.int64)
        for place in places[b]:
            if not np.isnan(place):
                begins[min(int(place * bins), bins - 1) + 1] += 1
        begins = np.cumsum(begins)
        filled, size = np.full(bins, -1, dtype=np.int64), 0  # where the places of a bin are kept
        own = np.searchsorted(begins, ranks, side="right") - 1
        for one in own:
            if filled[one] < 0:
                filled[one] = size
                size += begins[one + 1] - begins[one]
        kept = np.empty(size)
        for place in places[b]:
            if not np.isnan(place):
                one = min(int(place * bins), bins - 1)
                if filled[one] >= 0:
                    kept[filled[one]] = place
                    filled[one] += 1
        for k in range(len(ranks)):
            one = own[k]
            first = filled[one] - (begins[one + 1] - begins[one])
            if k == 0 or own[k - 1] != one:
                kept[first : filled[one]].sort()
            found[b, k] = kept[first + ranks[k] - begins[one]]
    return found
