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

from definetti.arrays import IntArray
from definetti.windows import Windows

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
    seen = [np.flatnonzero(row) for row in emissions]
    size = emissions.sum(axis=1).tolist()
    starts, states, codes, weights = [], [], [], []
    for trail in trails(exits.tolist(), root, last, horizon):
        window = trail.states[-2::-1]
        # Observations are drawn without replacement from each state's own. The factor makes
        # all trails count the same number of draws from every state.
        factor = prod(
            perm(size[v] - window.count(v), min(size[v], horizon) - window.count(v))
            for v in range(len(size))
        )
        symbols = np.stack(np.meshgrid(*(seen[v] for v in window), indexing="ij"), axis=-1)
        symbols = symbols.reshape(-1, horizon)
        ways = np.full(len(symbols), trail.weight * factor, dtype=object)
        for k, v in enumerate(window):
            drawn = sum((symbols[:, j] == symbols[:, k]) * (window[j] == v) for j in range(k))
            ways *= emissions[v, symbols[:, k]] - drawn
        possible = np.flatnonzero(ways)
        starts.append(np.full(len(possible), trail.states[-1]))
        states.append(np.broadcast_to(window, (len(possible), horizon)))
        codes.append(symbols[possible] - 1)
        weights.append(ways[possible])
    windows = Windows(np.concatenate(starts), np.concatenate(states), np.concatenate(codes))
    return windows, np.concatenate(weights)
