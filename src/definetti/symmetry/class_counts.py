"""Count the windows of the classes of many candidates in one compiled pass.

`count_windows` lists the windows of one completed sequence, this module those of all candidates of
a history. Numbers of members outgrow every machine number, so each is kept in digits of 32 bits, in
integers of 64: billions of such numbers can be added digit by digit.
"""

from __future__ import annotations

from math import log2
from typing import NamedTuple

import numpy as np

from definetti._system.arrays import IntArray
from definetti._system.compiled import kernel
from definetti.data.history import History, Windows, padded
from definetti.symmetry.full import with_symbols

BITS = 32  # of a digit
LOWEST = 2**BITS - 1
FACTOR = 31  # bits of a factor, whose product with a digit is then a machine number
ROOM = 2**24  # largest number of digits in all


class Classes(NamedTuple):
    """Classes of many candidates, and the windows that each class is compared with."""

    classes: IntArray  # (C,) the class of each candidate; one class has the same counts
    own: IntArray  # (C,) which window is the candidate's own
    moves: IntArray  # (G, n, n) counts of transitions, the candidate included
    pairs: IntArray  # (G, n, m + 1) counts of states and symbols, missing ones first
    begins: IntArray  # (G + 1,) where the windows of each class begin
    start: IntArray  # (R,) the windows, class after class
    states: IntArray  # (R, h)
    codes: IntArray  # (R, h)
    weights: IntArray  # (R, L) how often each occurs, in digits of 32 bits, lowest first

    @property
    def windows(self) -> Windows:
        return Windows(self.start, self.states, self.codes)

    @property
    def each(self) -> IntArray:
        """The class of each window."""
        return np.repeat(np.arange(len(self.moves)), np.diff(self.begins))


def count_classes(
    history: History,
    candidates: IntArray,
    observations: IntArray,
    n_states: int,
    n_symbols: int,
    most: int,
) -> Classes | None:
    """List the windows of each candidate's class; None where that costs too much or overflows.

    `most` is the number of windows that a class may have, and a tenth of the steps to count them.
    """
    horizon, pool = candidates.shape[1], history.pool
    length = pool.length + horizon
    transitions, pooled = (padded(part.transitions, n_states, n_states) for part in (history, pool))
    emissions = padded(pool.emissions, n_states, n_symbols + 1)
    n, steps = _sizes(emissions, candidates, observations)
    bits = length.bit_length()
    if steps**horizon > most or n ** (horizon + 3) > 10 * most or bits > FACTOR:
        return None
    # Determinants are worked out in machine numbers, from products of two minors. With so many
    # exits in all, no minor of n − 2 rows is larger (Hadamard's bound), and no number of trees.
    minors = (n - 2) * (log2(length / max(n - 2, 1)) + 0.5)
    if 2 * minors + 1 > 62 or (n - 1) * log2(length) > 62:
        return None
    digits = (2 * horizon * (1 + n) + n) * bits // BITS + 1
    if len(candidates) * steps**horizon * digits > ROOM:
        return None
    ends = history.first, history.last
    parts = _counted(
        transitions, pooled, emissions, *ends, candidates, observations, steps**horizon, digits
    )
    return Classes(*parts)


@kernel
def _sizes(emissions: IntArray, candidates: IntArray, observations: IntArray) -> tuple[int, int]:
    """Return bounds on the states of a completed sequence and on its pairs of state and symbol."""
    number, horizon = candidates.shape
    n, width = emissions.shape
    states, steps = 0, 0
    known = emissions.copy()
    for c in range(number):
        for k in range(horizon):
            known[candidates[c, k], observations[k] + 1] += 1
        here, symbols = 0, 0
        for v in range(n):
            there = 0
            for y in range(width):
                there += known[v, y] > 0
            here += there > 0
            symbols = max(symbols, there)
        states, steps = max(states, here), max(steps, here * symbols)
        for k in range(horizon):
            known[candidates[c, k], observations[k] + 1] -= 1
    return states, steps


@kernel
def _is_alone(transitions: IntArray, root: int, candidate: IntArray) -> bool:
    """Return whether a candidate ends in a state that occurs nowhere else."""
    last = candidate[-1]
    return not (last == root or transitions[:, last].any() or (candidate[:-1] == last).any())


@kernel
def _classes(
    transitions: IntArray, root: int, last: int, candidates: IntArray, observations: IntArray
) -> tuple[IntArray, IntArray]:
    """Return the class of each candidate, by its counts, and a candidate of each class."""
    number, horizon = candidates.shape
    n = len(transitions)
    keys = np.empty((number, 2 * horizon), dtype=np.int64)  # its moves and its pairs, sorted
    classes = np.empty(number, dtype=np.int64)
    first = np.empty(number, dtype=np.int64)
    n_classes = 0
    for c in range(number):
        before = last
        for k in range(horizon):
            state = candidates[c, k]
            keys[c, k] = before * n + state
            keys[c, horizon + k] = (observations[k] + 1) * n + state
            before = state
        keys[c, :horizon].sort()
        keys[c, horizon:].sort()
        classes[c] = n_classes
        if not _is_alone(transitions, root, candidates[c]):  # it has a class of its own
            for g in range(n_classes):
                if (keys[first[g]] == keys[c]).all():
                    classes[c] = g
                    break
        if classes[c] == n_classes:
            first[n_classes] = c
            n_classes += 1
    return classes, first[:n_classes]


@kernel
def _times(digits: IntArray, factor: int) -> None:
    """Multiply a number in digits by one of at most ``2 ** FACTOR``."""
    carried = 0
    for k in range(len(digits)):
        product = digits[k] * factor + carried
        digits[k] = product & LOWEST
        carried = product >> BITS


@kernel
def _times_trees(digits: IntArray, number: int) -> None:
    """Multiply a number in digits by one of up to twice as many bits."""
    high = digits.copy()
    _times(high, number >> FACTOR)
    _times(high, 1 << FACTOR)
    _times(digits, number & ((1 << FACTOR) - 1))
    carried = 0
    for k in range(len(digits)):
        carried += digits[k] + high[k]
        digits[k] = carried & LOWEST
        carried >>= BITS


@kernel
def _trees(exits: IntArray, root: int) -> int:
    """Count the trees directed to the root, as `trees` does."""
    n = len(exits)
    inner = np.empty(n, dtype=np.int64)
    size = 0
    for v in range(n):
        if v != root and exits[v].any():
            inner[size] = v
            size += 1
    if size == 0:
        return 1
    a = np.empty((size, size), dtype=np.int64)
    for i in range(size):
        for j in range(size):
            a[i, j] = -exits[inner[i], inner[j]]
        a[i, i] = exits[inner[i]].sum() - exits[inner[i], inner[i]]
    # A Laplacian's leading minors are above zero, or the whole is zero: no rows change places.
    previous = 1
    for k in range(size - 1):
        if a[k, k] == 0:
            return 0
        for i in range(k + 1, size):
            for j in range(k + 1, size):
                a[i, j] = (a[i, j] * a[k, k] - a[i, k] * a[k, j]) // previous
        previous = a[k, k]
    return int(a[size - 1, size - 1])


@kernel
def _times_orders(
    weight: IntArray, left: IntArray, root: int, common: IntArray, sizes: IntArray, path: IntArray
) -> None:
    """Multiply by the number of ways along a path, and of orders of the remaining exits."""
    horizon = len(path) - 1
    for k in range(horizon, 0, -1):
        ways = left[path[k], path[k - 1]] + 1
        for j in range(k - 1, 0, -1):
            ways += path[j] == path[k] and path[j - 1] == path[k - 1]
        _times(weight, ways)
    for v in range(len(left)):
        for factor in range(common[v] + 1, left[v].sum() - (v != root) + 1):
            _times(weight, factor)
        # Observations are drawn without replacement from each state's own. All paths are to count
        # the same number of draws from every state.
        drawn = (path[1:] == v).sum()
        for used in range(drawn, min(sizes[v], horizon)):
            _times(weight, sizes[v] - used)


@kernel
def _trails(
    left: IntArray, root: int, last: int, sizes: IntArray, horizon: int, digits: int
) -> tuple[IntArray, IntArray]:
    """List the states of all windows of a class, after the state before, and their weights.

    As `trails`, times the ways to draw observations in `count_windows`. `left`, the edge counts of
    the reversed sequence, is changed during the walk.
    """
    n, listed = len(left), 0
    paths = np.empty((n**horizon, horizon + 1), dtype=np.int64)
    weights = np.zeros((n**horizon, digits), dtype=np.int64)
    common = np.empty(n, dtype=np.int64)
    for v in range(n):
        common[v] = max(left[v].sum() - horizon - (v != root), 0)
    path, tried = np.empty(horizon + 1, dtype=np.int64), np.empty(horizon + 1, dtype=np.int64)
    path[horizon], tried[horizon] = last, -1
    at = horizon  # the walk goes backwards
    while at <= horizon:
        if at > 0:
            v = path[at]
            if tried[at] >= 0:
                left[v, tried[at]] += 1
            tried[at] += 1
            while tried[at] < n and left[v, tried[at]] == 0:
                tried[at] += 1
            if tried[at] < n:
                left[v, tried[at]] -= 1
                at -= 1
                path[at], tried[at] = tried[at + 1], -1
                continue
        else:
            trees = _trees(left, root)
            if trees > 0:
                paths[listed], weights[listed, 0] = path, 1
                _times_trees(weights[listed], trees)
                _times_orders(weights[listed], left, root, common, sizes, path)
                listed += 1
        at += 1
    return paths[:listed], weights[:listed]


@kernel
def _counted(
    transitions: IntArray,
    pooled: IntArray,
    emissions: IntArray,
    first: int,
    last: int,
    candidates: IntArray,
    observations: IntArray,
    most: int,
    digits: int,
) -> tuple[IntArray, ...]:
    """Return the fields of `Classes`."""
    number, horizon = candidates.shape
    n, width = emissions.shape
    classes, represented = _classes(transitions, first, last, candidates, observations)
    own = np.empty(number, dtype=np.int64)
    groups = len(represented)
    begins = np.zeros(groups + 1, dtype=np.int64)
    moves = np.empty((groups, n, n), dtype=np.int64)
    pairs = np.empty((groups, n, width), dtype=np.int64)
    room = groups * most
    start = np.empty(room, dtype=np.int64)
    states = np.empty((room, horizon), dtype=np.int64)
    codes = np.empty((room, horizon), dtype=np.int64)
    weights = np.empty((room, digits), dtype=np.int64)
    listed = 0
    for g in range(groups):
        candidate, exits = candidates[represented[g]], transitions.T.copy()
        moves[g], pairs[g] = pooled, emissions
        before = last
        for k in range(horizon):
            exits[candidate[k], before] += 1
            moves[g, before, candidate[k]] += 1
            pairs[g, candidate[k], observations[k] + 1] += 1
            before = candidate[k]
        if _is_alone(transitions, first, candidate):
            start[listed], states[listed], codes[listed] = last, candidate, observations
            weights[listed, 0], weights[listed, 1:] = 1, 0
            listed += 1
        else:
            sizes = pairs[g].sum(axis=1)
            paths, ways = _trails(exits, first, before, sizes, horizon, digits)
            path, seen, drawn = with_symbols(paths[:, 1:], pairs[g])
            for r in range(len(path)):
                start[listed], states[listed] = paths[path[r], 0], paths[path[r], 1:]
                codes[listed], weights[listed] = seen[r], ways[path[r]]
                for k in range(horizon):
                    _times(weights[listed], drawn[r, k])
                listed += 1
        begins[g + 1] = listed
    for c in range(number):
        for r in range(begins[classes[c]], begins[classes[c] + 1]):
            if (
                start[r] == last
                and (states[r] == candidates[c]).all()
                and (codes[r] == observations).all()
            ):
                own[c] = r
                break
    return (
        classes, own, moves, pairs, begins, start[:listed], states[:listed], codes[:listed],
        weights[:listed],
    )  # fmt: skip
