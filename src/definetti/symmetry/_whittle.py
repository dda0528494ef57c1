"""The windows of the whole class, counted exactly.

By the BEST theorem the trails from the last state to the first ``r`` that use each labelled edge
of ``R`` once are ``t_r(R) · R_r! · Π_{v ≠ r} (R_v − 1)!`` in number, with ``t_r(R)`` the number of
trees directed to ``r``, a determinant (Whittle's formula is the same count without the labels).
The members with a given window are counted by taking the window's edges out first. All in whole
numbers, however large.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import perm, prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import IntArray
from definetti._system.compiled import kernel
from definetti.data.windows import Windows

Matrix = list[list[int]]


def determinant(matrix: Matrix) -> int:
    """Determinant of a matrix of whole numbers, by Bareiss' division-free elimination.

    >>> determinant([[2, -1], [-1, 3]])
    5
    """
    a = [row[:] for row in matrix]
    n, sign, previous = len(a), 1, 1
    for k in range(n - 1):
        pivot = next((i for i in range(k, n) if a[i][k]), None)
        if pivot is None:
            return 0
        if pivot != k:
            a[k], a[pivot], sign = a[pivot], a[k], -sign
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                a[i][j] = (a[i][j] * a[k][k] - a[i][k] * a[k][j]) // previous
        previous = a[k][k]
    return sign * a[-1][-1] if n else 1


def trees(exits: Matrix, root: int) -> int:
    """Count the trees directed to the root on the states that still have exits."""
    inner = [v for v, row in enumerate(exits) if v != root and any(row)]
    laplacian = [[-exits[v][u] for u in inner] for v in inner]
    for k, v in enumerate(inner):
        laplacian[k][k] = sum(exits[v]) - exits[v][v]
    return determinant(laplacian)


class Trail(NamedTuple):
    """The states of a window, backwards from the last, and how many members it stands for."""

    states: tuple[int, ...]
    weight: int


def trails(exits: Matrix, root: int, last: int, horizon: int) -> Iterator[Trail]:
    """Walk over all windows of states ``(x_N, …, x_{N−h})`` of the class, with their weights."""
    left = [row[:] for row in exits]
    # Exits of v beyond its last `horizon` cannot be used up: what they contribute is common.
    common = [max(sum(row) - horizon - (v != root), 0) for v, row in enumerate(exits)]

    def walk(path: tuple[int, ...], weight: int) -> Iterator[Trail]:
        if len(path) == horizon + 1:
            free = [max(sum(row) - (v != root), 0) for v, row in enumerate(left)]
            orders = prod(perm(f, f - c) for f, c in zip(free, common, strict=True))
            weight *= orders * trees(left, root)
            if weight:
                yield Trail(path, weight)
            return
        v = path[-1]
        for u, edges in enumerate(left[v]):
            if edges:
                left[v][u] -= 1
                yield from walk((*path, u), weight * edges)
                left[v][u] += 1

    return walk((last,), 1)


def count_windows(
    exits: IntArray, root: int, last: int, horizon: int, emissions: IntArray
) -> tuple[Windows, npt.NDArray[Any]]:
    """List the distinct windows of the class with the number of members that have each.

    Parameters
    ----------
    exits : (n, n) edge counts of the reversed sequence
    emissions : (n, m + 1) how often each state came with each code; the first column is for
        missing observations
    """
    size = emissions.sum(axis=1).tolist()
    starts, paths, weights = [], [], []
    for trail in trails(exits.tolist(), root, last, horizon):
        window = trail.states[-2::-1]
        # Observations are drawn without replacement from each state's own. The factor makes
        # all trails count the same number of draws from every state.
        factor = prod(
            perm(size[v] - window.count(v), min(size[v], horizon) - window.count(v))
            for v in range(len(size))
        )
        starts.append(trail.states[-1])
        paths.append(window)
        weights.append(trail.weight * factor)
    states = np.array(paths, dtype=np.int64)
    path, codes, ways = with_symbols(states, emissions)
    total = np.array(weights, dtype=object)[path]
    for k in range(horizon):
        total *= ways[:, k]
    return Windows(np.array(starts, dtype=np.int64)[path], states[path], codes), total


@kernel
def with_symbols(states: IntArray, emissions: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """List the symbols that each path may come with, and the ways to draw each of them."""
    paths, horizon = states.shape
    width = emissions.shape[1]
    room = 0
    for r in range(paths):
        here = 1
        for k in range(horizon):
            here *= int(np.count_nonzero(emissions[states[r, k]]))
        room += here
    path = np.empty(room, dtype=np.int64)
    codes = np.empty((room, horizon), dtype=np.int64)
    ways = np.empty((room, horizon), dtype=np.int64)
    left = emissions.copy()
    symbols = np.empty(horizon, dtype=np.int64)
    found = 0
    for r in range(paths):
        k = 0
        symbols[0] = -1
        while k >= 0:
            if k == horizon:
                path[found] = r
                for j in range(horizon):
                    codes[found, j] = symbols[j] - 1
                    ways[found, j] = left[states[r, j], symbols[j]] + 1
                    for i in range(j + 1, horizon):
                        same = states[r, i] == states[r, j] and symbols[i] == symbols[j]
                        ways[found, j] += same
                found += 1
                k -= 1
                continue
            v = states[r, k]
            if symbols[k] >= 0:
                left[v, symbols[k]] += 1
            symbols[k] += 1
            while symbols[k] < width and left[v, symbols[k]] == 0:
                symbols[k] += 1
            if symbols[k] == width:
                k -= 1
                continue
            left[v, symbols[k]] -= 1
            k += 1
            if k < horizon:
                symbols[k] = -1
    return path[:found], codes[:found], ways[:found]
