"""Count the paths of a set: exactly where they are few, within bounds where they are many.

The bounds come from counting on a grid of costs. With `arrivals` as potentials each edge costs
what it adds to the least cost of its end, at least zero, and a path is in the set when
these additions stay within the *budget* of its last state. Rounding them down to whole bins counts
every path of the set and some others; rounding them up leaves some out.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from definetti._system.arrays import FloatArray, IntArray, as_float
from definetti._system.compiled import PIECE, kernel
from definetti.trellis.grid import count_on_grid, find_least_addition
from definetti.trellis.trellis import Trellis, arrivals, headroom

# Limits are moved by this, relative to their size where they are larger than one, to cover the
# rounding of sums of costs: ten times what a thousand steps can add up to.
_MARGIN = 1e-11


def count(trellis: Trellis, limits: FloatArray, bound: int) -> int | None:
    """Count the paths of a set; return None if they are more than a bound.

    The walk visits prefixes of paths of the set only. Where all paths with a prefix are in the
    set it counts them at once, so that its time is at most that of writing down `bound` paths.

    Parameters
    ----------
    limits : as in `headroom`
    bound : the number above which to give up

    Examples
    --------
    >>> trellis = Trellis(np.array([0.0, 1.0]), np.array([[[0.0, 2.0], [3.0, 0.5]]]))
    >>> count(trellis, np.array([1.0, 2.0]), bound=3)
    3
    >>> count(trellis, np.array([1.0, 2.0]), bound=2) is None
    True
    """
    h, n = trellis.horizon, trellis.n_states
    if trellis.worst:
        exact = _count_worst(trellis, limits)
        return exact if exact <= bound else None
    total, limits = _count_unlimited(trellis, limits)
    # The number of ways to complete a prefix of each length, if the last state is given.
    ways = [n ** max(h - 2 - k, 0) for k in range(h)]
    weights = np.array([as_float(w) for w in ways])
    for last in np.flatnonzero(arrivals(trellis)[-1] <= limits):
        if total > bound:
            break
        alone = np.arange(n) == last
        possible = headroom(trellis, np.where(alone, limits, -np.inf))
        certain = headroom(trellis, np.where(alone, limits, np.inf), every=True)
        tally = _tally(trellis, possible, certain, weights, as_float(bound - total))
        total += sum(t * w for t, w in zip(tally.tolist(), ways, strict=True))
    return total if total <= bound else None


def count_bounds(trellis: Trellis, limits: FloatArray, bins: int) -> tuple[int, int]:
    """Return two numbers between which the number of paths of a set lies.

    They are equal where the worst term of a path is its cost, whatever the bins.

    Parameters
    ----------
    limits : as in `headroom`
    bins : the number of bins of the largest budget, to which the time is proportional. The bounds
        are as far apart as if the limits had been moved by the width of a bin for each step.

    Examples
    --------
    >>> trellis = Trellis(np.zeros(2), np.tile([[[0.0, 1.0]]], (99, 1, 1)))
    >>> low, high = count_bounds(trellis, np.array([2.1, -np.inf]), bins=1000)
    >>> low, high, 2 * (1 + 98 + 98 * 97 // 2)  # at most two of the 98 moves between go up
    (9704, 9704, 9704)
    """
    if trellis.worst:
        exact = _count_worst(trellis, limits)
        return exact, exact
    unlimited, limits = _count_unlimited(trellis, limits)
    least = arrivals(trellis)
    # A limit of -inf stays as it is.
    margin = _MARGIN * np.where(np.isfinite(limits), np.maximum(1.0, abs(limits)), 0.0)
    budget = float((limits + margin - least[-1]).max())
    if budget < 0:
        return unlimited, unlimited
    # Half of the margin that the limits have been given, shared among the steps.
    possible = least[-1] <= limits + margin
    noise = 0.5 * float(margin[possible].min()) / trellis.horizon
    width = max(budget, 1e-100) / bins
    finest = find_least_addition(least, trellis.moves, headroom(trellis, limits + margin), noise)
    if width < finest < np.inf:
        # Where all additions are multiples of the least, as whole numbers are, none is rounded.
        width = finest / math.ceil(finest / width)
    upper = count_on_grid(trellis, least, limits + margin, width=width, noise=noise, up=False)
    lower = count_on_grid(trellis, least, limits - margin, width=width, noise=noise, up=True)
    best = (least[-1] <= limits).tolist()  # where at least the best path is in the set
    every = trellis.n_states ** (trellis.horizon - 1)
    low = sum(max(x, int(is_in)) for x, is_in in zip(lower, best, strict=True))
    high = sum(min(x, every) for x in upper)
    return unlimited + low, unlimited + high


def size_bounds(
    trellis: Trellis, limits: FloatArray, ratio: float = 2.0, max_bins: int = 65536
) -> tuple[int, int]:
    """Return bounds on the number of paths of a set, refined to a ratio or up to `max_bins`.

    Parameters
    ----------
    limits : as in `headroom`
    ratio : the upper bound is to be at most this many times the lower
    max_bins : the number of bins, see `count_bounds`, not to be exceeded

    Examples
    --------
    >>> trellis = Trellis(np.zeros(2), np.tile([[[0.0, 1.0]]], (99, 1, 1)))
    >>> low, high = size_bounds(trellis, np.array([30.5, -np.inf]), ratio=1.01)
    >>> low <= 2 * sum(math.comb(98, ups) for ups in range(31)) <= high <= 1.01 * low
    True
    """
    bins, idle = min(256, max_bins), 0
    low, high = count_bounds(trellis, limits, bins)
    # Paths that tie with a limit may keep the bounds apart, however fine the grid.
    while high > Fraction(ratio) * low and 2 * bins <= max_bins and idle < 4:
        bins *= 2
        lower, upper = count_bounds(trellis, limits, bins)
        idle = idle + 1 if lower <= low and upper >= high else 0
        low, high = max(low, lower), min(high, upper)
    return low, high


def _count_unlimited(trellis: Trellis, limits: FloatArray) -> tuple[int, FloatArray]:
    """Count the paths to last states without a limit, and close these states."""
    free = limits == np.inf
    number = int(free.sum()) * trellis.n_states ** (trellis.horizon - 1)
    return number, np.where(free, -np.inf, limits)


def _count_worst(trellis: Trellis, limits: FloatArray) -> int:
    """Count the paths none of whose terms is above the limit."""
    total = 0
    for limit in np.unique(limits):
        first, moves = trellis.first <= limit, trellis.moves <= limit
        ends = limits == limit
        if moves.shape[1] > 1:
            numbers = first.astype(object)  # whole numbers of any size
            for allowed in moves:
                numbers = numbers @ allowed.astype(object)
        else:  # every state may follow every other
            choices = np.vstack([first, moves[:, 0]])
            numbers = choices[-1].astype(object) * math.prod(choices[:-1].sum(axis=1).tolist())
        total += int(numbers[ends].sum())
    return total


def _tally(
    trellis: Trellis,
    possible: FloatArray,
    certain: FloatArray,
    weights: FloatArray,
    bound: float,
) -> IntArray:
    """Count, by length, the shortest prefixes all of whose continuations are in the set."""
    h = trellis.horizon
    tally = np.zeros(h, dtype=np.int64)
    upcoming = np.zeros(h, dtype=np.int64)  # the state to be tried next at each step
    costs = np.zeros(h)
    k, counted = 0, 0.0
    while k >= 0:
        k, counted = _walk(
            trellis, possible, certain, weights, bound, tally, upcoming, costs, k, counted, PIECE,
        )  # fmt: skip
    return tally


@kernel
def _walk(
    trellis: Trellis,
    possible: FloatArray,
    certain: FloatArray,
    weights: FloatArray,
    bound: float,
    tally: IntArray,
    upcoming: IntArray,
    costs: FloatArray,
    k: int,
    counted: float,
    turns: int,
) -> tuple[int, float]:
    """Continue the walk for `turns` turns; return its position, -1 where it has ended."""
    first, moves, _ = trellis
    (h, n), wide = possible.shape, moves.shape[1] > 1
    for _ in range(turns):
        if k < 0:
            break
        j = upcoming[k]
        if j == n:
            k -= 1
            continue
        upcoming[k] += 1
        cost = first[j]
        if k > 0:
            cost = costs[k - 1] + moves[k - 1, upcoming[k - 1] - 1 if wide else 0, j]
        if cost <= certain[k, j] and cost <= possible[k, j]:
            tally[k] += 1
            counted += weights[k]
            if counted > bound * (1 + 1e-9):  # rounded; the exact numbers are compared later
                return -1, counted
        elif cost <= possible[k, j] and k + 1 < h:
            costs[k] = cost
            k += 1
            upcoming[k] = 0
    return k, counted
