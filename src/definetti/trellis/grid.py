"""Counting paths on a grid of costs.

There may be 20 ** 1000 paths, and as many times more of one cost than of another, so that floats
cannot hold their numbers. What is kept instead is a probability: paths are drawn with weights that
fall exponentially with their cost, and the chance of each node and cost is carried forward. At the
rate at which the typical path just fits the budget, chances too small to keep are too small to
matter. What is dropped is added to the upper bound all the same.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import cut_pieces, kernel
from definetti.trellis.trellis import Trellis, headroom

# Counts are widened by this to cover the rounding of products of probabilities.
_ROUNDING = 1e-9
MOST_BINS = 2**40
# Smaller chances are dropped.
_NEGLIGIBLE = 1e-30


class _Grid(NamedTuple):
    """Costs in whole bins."""

    least: FloatArray  # (h, n) least cost of a path up to each node
    moves: FloatArray
    tops: IntArray  # (h, n) the most bins that a path of the set has used up at a node, or -1
    width: float  # of a bin
    noise: float  # largest rounding error of an addition
    up: bool  # whether to round up


def count_on_grid(
    trellis: Trellis, least: FloatArray, limits: FloatArray, *, width: float, noise: float, up: bool
) -> list[int]:
    """Bound the number of paths to each last state: from below if rounded up, else from above."""
    n = trellis.n_states
    tops = np.floor((headroom(trellis, limits) - least) / width)
    if np.isnan(tops).any() or not tops[-1].max() < MOST_BINS:
        raise ValueError(
            "costs and limits must be numbers that are not infinite below zero, and bins not too "
            "many to be counted"
        )
    # No node has more to spend than some last state, but for rounding.
    tops = tops.clip(-1, max(tops[-1].max(), -1)).astype(np.int64)
    grid = _Grid(least, trellis.moves, tops, width=width, noise=noise, up=up)
    rate = _find_best_rate(grid)
    log_weight, onward, scales = _weigh(grid, rate)
    if log_weight == -np.inf:
        return [0] * n
    chances, dropped = _carry_chances(grid, rate, onward, scales)
    if up:
        return [math.ceil(_scale(c * (1 - _ROUNDING), log_weight)) for c in chances.tolist()]
    return [
        math.floor(_scale((c + dropped) * (1 + _ROUNDING), log_weight)) if top >= 0 else 0
        for c, top in zip(chances.tolist(), tops[-1].tolist(), strict=True)
    ]


def _find_best_rate(grid: _Grid) -> float:
    """Find, by golden section, the rate at which the typical path just fits its budget.

    The logarithm of the weight of all paths is convex in the rate; any rate gives valid bounds.
    """
    h, n = grid.tops.shape
    low, high = 0.0, h * math.log(n) / max(1, int(grid.tops[-1].max()))
    golden = (math.sqrt(5) - 1) / 2
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = _weigh(grid, left)[0], _weigh(grid, right)[0]
    for _ in range(14):  # to a thousandth of where it may lie
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = _weigh(grid, left)[0]
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = _weigh(grid, right)[0]
    return float(low + high) / 2


def _scale(number: float, log_weight: float) -> Fraction:
    """Multiply a number by a weight that no float can hold."""
    power = math.floor(log_weight / math.log(2))
    return Fraction(number * math.exp(log_weight - power * math.log(2))) * Fraction(2) ** power


@kernel
def find_least_addition(
    least: FloatArray, moves: FloatArray, room: FloatArray, noise: float
) -> float:
    """Return the least positive addition of an edge of the set to the least cost."""
    wide = moves.shape[1] > 1
    finest = np.inf
    for k in range(len(moves)):
        for i in range(least.shape[1]):
            for j in range(least.shape[1]):
                cost = least[k, i] + moves[k, i if wide else 0, j]
                if cost <= room[k + 1, j] and cost - least[k + 1, j] > noise:
                    finest = min(finest, cost - least[k + 1, j])
    return finest


@kernel
def _count_bins(grid: _Grid, k: int, i: int, j: int) -> int:
    """Return the bins that an edge adds to the least cost, -1 if more than there can be."""
    least, moves, width, top = grid.least, grid.moves, grid.width, grid.tops[k + 1, j]
    addition = least[k, i] + moves[k, i if moves.shape[1] > 1 else 0, j] - least[k + 1, j]
    if not addition <= (top + 1) * width:  # false for NaN, too
        return -1
    if grid.up:
        bins = int(np.ceil(max(addition - grid.noise, 0.0) / width))
    else:
        bins = int((max(addition, 0.0) + grid.noise) / width)
    return bins if bins <= top else -1


@kernel
def _weigh(grid: _Grid, rate: float) -> tuple[float, FloatArray, FloatArray]:
    """Return log-weights of all paths, (h, n) from each node on, and (h - 1,) common factors.

    A path weighs exp(-rate) for each bin used and exp(rate) for each unused.
    """
    tops = grid.tops
    h, n = tops.shape
    onward = np.full((h, n), -np.inf)
    scales = np.zeros(h - 1)
    terms = np.empty(n)
    most = tops[-1].max()
    for s in range(n):
        if tops[-1, s] >= 0:
            onward[-1, s] = rate * (tops[-1, s] - most)
    for k in range(h - 2, -1, -1):
        for i in range(n):
            if tops[k, i] < 0:
                continue
            for j in range(n):
                bins = _count_bins(grid, k, i, j)
                terms[j] = onward[k + 1, j] - rate * bins if bins >= 0 else -np.inf
            peak = terms.max()
            if peak > -np.inf:
                onward[k, i] = peak + np.log(np.exp(terms - peak).sum())
        scales[k] = onward[k].max()
        if scales[k] == -np.inf:
            return -np.inf, onward, scales
        onward[k] -= scales[k]
    peak = onward[0].max()
    if peak == -np.inf:
        return -np.inf, onward, scales
    total = rate * most + scales.sum() + peak + np.log(np.exp(onward[0] - peak).sum())
    return total, onward, scales


def _carry_chances(
    grid: _Grid, rate: float, onward: FloatArray, scales: FloatArray
) -> tuple[FloatArray, float]:
    """Carry chances forward, for a path drawn by its weight.

    Returns for each last state the expectation of 1 / weight of a path within its budget, and the
    chance of all that was dropped.
    """
    h, n = grid.tops.shape
    size = int(grid.tops.max()) + 1
    now, begin, end = _begin_chances(onward[0], size)
    dropped = 0.0
    for part in cut_pieces(h - 1, n * n * size):
        now, begin, end, dropped = _carry(
            grid, rate, onward, scales, part.start, part.stop, now, begin, end, dropped
        )
    return _end_chances(now, begin, end, grid.tops[-1], rate), dropped


@kernel
def _begin_chances(onward: FloatArray, size: int) -> tuple[FloatArray, IntArray, IntArray]:
    """Chance of each first state; and which bins are in use: from begin up to end, excluded."""
    n = len(onward)
    now = np.zeros((n, size))
    begin, end = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    total = np.exp(onward - onward.max()).sum()
    for i in range(n):
        if onward[i] > -np.inf:
            now[i, 0] = np.exp(onward[i] - onward.max()) / total
            end[i] = 1
    return now, begin, end


@kernel
def _carry(
    grid: _Grid,
    rate: float,
    onward: FloatArray,
    scales: FloatArray,
    from_step: int,
    to_step: int,
    now: FloatArray,
    begin: IntArray,
    end: IntArray,
    dropped: float,
) -> tuple[FloatArray, IntArray, IntArray, float]:
    """Carry the chances on from one step to another."""
    tops, (n, size) = grid.tops, now.shape
    after = np.zeros((n, size))
    begin_after, end_after = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    used = np.empty(n, dtype=np.int64)
    for k in range(from_step, to_step):
        for j in range(n):
            low, high = size, 0
            for i in range(n):
                used[i] = -1
                if end[i] > begin[i] and onward[k + 1, j] > -np.inf:
                    used[i] = _count_bins(grid, k, i, j)
                if used[i] >= 0:
                    low = min(low, begin[i] + used[i])
                    high = max(high, min(end[i] + used[i], tops[k + 1, j] + 1))
            row = after[j]
            row[low:high] = 0.0
            for i in range(n):
                if used[i] >= 0:
                    shift = used[i]
                    chance = np.exp(onward[k + 1, j] - rate * shift - scales[k] - onward[k, i])
                    source = now[i, begin[i] : min(end[i], tops[k + 1, j] + 1 - shift)]
                    target = row[begin[i] + shift :]
                    for b in range(len(source)):
                        target[b] += source[b] * chance
            while low < high and row[low] < _NEGLIGIBLE:
                dropped += row[low]
                low += 1
            while low < high and row[high - 1] < _NEGLIGIBLE:
                dropped += row[high - 1]
                high -= 1
            begin_after[j], end_after[j] = low, high
        now, after = after, now
        begin, begin_after = begin_after, begin
        end, end_after = end_after, end
    return now, begin, end, dropped


@kernel
def _end_chances(
    now: FloatArray, begin: IntArray, end: IntArray, tops: IntArray, rate: float
) -> FloatArray:
    chances = np.zeros(len(now))
    for s in range(len(now)):
        for b in range(begin[s], end[s]):
            chances[s] += now[s, b] * np.exp(-rate * (tops[s] - b))
    return chances
