"""The place of each step among those before it, and how places hang together, in one pass each."""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel


@kernel
def place_among_earlier(cells: IntArray, begins: IntArray, coins: FloatArray) -> FloatArray:
    """Place each cell of a row among those of its group before it, ties by a coin.

    Parameters
    ----------
    cells : (B, T) names in order, group after group; −1 for nothing
    begins : (C,) the first cell of each cell's group
    coins : (B, T) between 0 and 1

    Returns
    -------
    (B, T) between 0 and 1, NaN for nothing
    """
    rows, length = cells.shape
    found = np.full((rows, length), np.nan)
    room = len(begins)
    ends = np.empty(room, dtype=np.int64)
    for c in range(room - 1, -1, -1):
        ends[c] = ends[c + 1] if c + 1 < room and begins[c + 1] == begins[c] else c + 1
    for b in range(rows):
        tree = np.zeros(room, dtype=np.int64)  # of each group, sums over its cells (Fenwick 1994)
        same = np.zeros(room, dtype=np.int64)
        total = np.zeros(room, dtype=np.int64)
        for t in range(length):
            c = cells[b, t]
            if c < 0:
                continue
            g = begins[c]
            less, j = 0, c - g
            while j > 0:
                less += tree[g + j - 1]
                j -= j & -j
            found[b, t] = (less + coins[b, t] * (same[c] + 1)) / (total[g] + 1)
            same[c] += 1
            total[g] += 1
            j, wide = c - g + 1, ends[c] - g
            while j <= wide:
                tree[g + j - 1] += 1
                j += j & -j
    return found


@kernel
def correlate_lags(residuals: FloatArray, begins: IntArray, lags: int) -> FloatArray:
    """Return the autocorrelation of each row at lags 1, 2, …, within stretches.

    Parameters
    ----------
    residuals : (B, T) numbers, NaN for nothing
    begins : (S + 1,) where stretches begin, and the last ends
    """
    found = np.zeros((len(residuals), lags))
    for b in range(len(residuals)):
        there = ~np.isnan(residuals[b])
        off = np.where(there, residuals[b], 0.0)
        mean = off.sum() / max(there.sum(), 1)
        off = np.where(there, off - mean, 0.0)
        spread = (off * off).sum()
        if spread <= 0:
            continue
        for s in range(len(begins) - 1):
            for k in range(1, lags + 1):
                total = 0.0
                for t in range(begins[s], begins[s + 1] - k):
                    total += off[t] * off[t + k]
                found[b, k - 1] += total / spread
    return found
