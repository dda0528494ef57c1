"""Passes over a trellis, forwards and backwards: what the paths of a set have in common.

Each takes one look at every edge. A pass that adds up terms is exact but for rounding, about
1e-13 of the limits on a thousand steps; limits are meant to have more slack than that. A pass that
takes largest terms does not round at all.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray
from definetti._system.compiled import kernel
from definetti.trellis.trellis import Trellis, add_term


def arrivals(trellis: Trellis) -> FloatArray:
    """Least cost of a path up to each node, its own term included.

    Returns
    -------
    (h, n) array

    Examples
    --------
    >>> arrivals(Trellis(np.array([0.0, 1.0]), np.array([[[0.0, 2.0], [3.0, 0.5]]])))
    array([[0. , 1. ],
           [0. , 1.5]])
    """
    trellis.check()
    return _arrivals(*trellis)


def completions(trellis: Trellis, terminal: FloatArray) -> FloatArray:
    """Least cost of going on from each node, its own term excluded, to the end.

    Parameters
    ----------
    terminal : (n,) cost, above -inf, of each last state. It is a term like the others: added to
        them, or compared with them where the worst term counts.

    Returns
    -------
    (h, n) array

    Examples
    --------
    >>> trellis = Trellis(np.array([0.0, 1.0]), np.array([[[0.0, 2.0], [3.0, 0.5]]]))
    >>> completions(trellis, np.array([np.inf, 0.0]))
    array([[2. , 0.5],
           [inf, 0. ]])
    """
    trellis.check_last(terminal, "terminal")
    return _completions(trellis.moves, trellis.worst, terminal)


def headroom(trellis: Trellis, limits: FloatArray, every: bool = False) -> FloatArray:
    """Largest cost with which a path may arrive at each node and still end within the limits.

    It is a pass of `completions` with the sign turned, in which a limit of +inf swallows any
    term: whatever comes before, the path is in the set.

    Parameters
    ----------
    limits : (n,) largest cost of a path of the set that ends in each state
    every : whether it shall be in the set however it goes on, instead of in at least one way

    Returns
    -------
    (h, n) array

    Examples
    --------
    >>> trellis = Trellis(np.array([0.0, 1.0]), np.array([[[0.0, 2.0], [3.0, 0.5]]]))
    >>> headroom(trellis, np.array([5.0, 2.0]))
    array([[5., 2.],
           [5., 2.]])
    >>> headroom(trellis, np.array([5.0, 2.0]), every=True)
    array([[0. , 1.5],
           [5. , 2. ]])
    """
    trellis.check_last(limits, "limits")
    return _headroom(trellis.moves, trellis.worst, limits, every)


def nodes(trellis: Trellis, limits: FloatArray) -> npt.NDArray[np.bool_]:
    """Nodes that lie on some path of the set.

    Parameters
    ----------
    limits : (n,) largest cost of a path of the set that ends in each state. With a limit of +inf
        all paths that end there belong, impossible ones too; with -inf, none.

    Returns
    -------
    (h, n) array of truth values

    Examples
    --------
    >>> trellis = Trellis(np.array([0.0, 1.0]), np.array([[[0.0, 2.0], [3.0, 0.5]]]))
    >>> nodes(trellis, np.array([-np.inf, 1.75]))
    array([[False,  True],
           [False,  True]])
    """
    return arrivals(trellis) <= headroom(trellis, limits)


def edges(trellis: Trellis, limits: FloatArray) -> npt.NDArray[np.bool_]:
    """Edges that lie on some path of the set.

    Parameters
    ----------
    limits : as in `nodes`

    Returns
    -------
    (h - 1, n, n) array of truth values

    Examples
    --------
    >>> trellis = Trellis(np.array([0.0, 1.0]), np.array([[[0.0, 2.0], [3.0, 0.5]]]))
    >>> edges(trellis, np.array([1.0, 1.75]))
    array([[[ True, False],
            [False,  True]]])
    """
    join = np.maximum if trellis.worst else np.add
    taken = join(arrivals(trellis)[:-1, :, None], trellis.moves)
    return np.asarray(taken <= headroom(trellis, limits)[1:, None, :])


@kernel
def _arrivals(first: FloatArray, moves: FloatArray, worst: bool) -> FloatArray:
    n = len(first)
    wide = moves.shape[1] > 1
    least = np.full((len(moves) + 1, n), np.inf)
    least[0] = first
    for k in range(len(moves)):
        for i in range(n):
            row = moves[k, i if wide else 0]
            for j in range(n):
                least[k + 1, j] = min(least[k + 1, j], add_term(least[k, i], row[j], worst))
    return least


@kernel
def _completions(moves: FloatArray, worst: bool, terminal: FloatArray) -> FloatArray:
    n = len(terminal)
    wide = moves.shape[1] > 1
    least = np.full((len(moves) + 1, n), np.inf)
    least[-1] = terminal
    for k in range(len(moves) - 1, -1, -1):
        for i in range(n):
            row = moves[k, i if wide else 0]
            for j in range(n):
                least[k, i] = min(least[k, i], add_term(least[k + 1, j], row[j], worst))
    return least


@kernel
def _headroom(moves: FloatArray, worst: bool, limits: FloatArray, every: bool) -> FloatArray:
    n = len(limits)
    wide = moves.shape[1] > 1
    room = np.full((len(moves) + 1, n), np.inf if every else -np.inf)
    room[-1] = limits
    for k in range(len(moves) - 1, -1, -1):
        for i in range(n):
            row = moves[k, i if wide else 0]
            for j in range(n):
                left = room[k + 1, j]
                if worst:
                    # A term within the largest limit in reach leaves that limit as it was; a
                    # term above it is above all the others too.
                    left = left if row[j] <= left else -np.inf
                elif left < np.inf:  # not inf - inf
                    left -= row[j]
                room[k, i] = min(room[k, i], left) if every else max(room[k, i], left)
    return room
