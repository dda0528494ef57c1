"""A trellis: the costs of all paths of states, and the nodes and edges of a set of paths.

A pass that adds up terms is exact but for rounding, about 1e-13 of the limits on a thousand steps;
limits are meant to have more slack than that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.data.labels import check_indices, check_shape


class Trellis(NamedTuple):
    """Costs of all paths of ``h`` steps through ``n`` states; small is good.

    Terms are at least zero, and infinite where a path is impossible.

    Attributes
    ----------
    first : (n,) cost of each first state
    moves : (h - 1, n, n) cost ``moves[k, i, j]`` of state j at step k + 1 after state i at step k;
        of shape (h - 1, 1, n) where it does not depend on i
    worst : whether a path costs the largest of its terms instead of their sum

    Examples
    --------
    >>> trellis = Trellis(np.array([0.0, 1.0]), np.array([[[0.0, 2.0], [3.0, 0.5]]]))
    >>> trellis.horizon, trellis.n_states
    (2, 2)
    >>> trellis.cost(np.array([[0, 1], [1, 1]]))
    array([2. , 1.5])
    >>> trellis._replace(worst=True).cost(np.array([[0, 1], [1, 1]]))
    array([2., 1.])
    """

    first: FloatArray
    moves: FloatArray
    worst: bool = False

    @property
    def horizon(self) -> int:
        """Number of steps of a path."""
        return len(self.moves) + 1

    @property
    def n_states(self) -> int:
        """Number of states at each step."""
        return len(self.first)

    @property
    def most(self) -> float:
        """A cost that no possible path exceeds."""
        join = np.max if self.worst else np.sum
        steps = [self.first, *self.moves]
        return float(join([np.max(step, where=np.isfinite(step), initial=0.0) for step in steps]))

    def check(self) -> None:
        """Raise an error if shapes do not fit together: kernels do not check."""
        n, moves = len(self.first), self.moves
        check_shape(self.first, (n,), "first")
        sources = 1 if np.ndim(moves) == 3 and np.shape(moves)[1] == 1 else n
        check_shape(moves, (len(moves), sources, n), "moves")

    def check_last(self, values: FloatArray, name: str) -> None:
        """Raise an error unless there is one value for each last state."""
        self.check()
        check_shape(values, (self.n_states,), name)

    def cost(self, paths: IntArray) -> FloatArray:
        """Cost of each path, for an array of shape (B, h)."""
        self.check()
        check_shape(paths, (len(paths), self.horizon), "paths")
        check_indices(paths, 0, self.n_states, "paths")
        return _cost(self, paths)


@kernel
def add_term(cost: float, term: float, worst: bool) -> float:
    """Cost of a path that has one more term."""
    return max(cost, term) if worst else cost + term


@kernel
def _cost(trellis: Trellis, paths: IntArray) -> FloatArray:
    first, moves, worst = trellis
    wide = moves.shape[1] > 1  # else the cost of a move does not depend on where it starts
    costs = np.empty(len(paths))
    for b in range(len(paths)):
        cost = first[paths[b, 0]]
        for k in range(len(moves)):
            before = paths[b, k] if wide else 0
            cost = add_term(cost, moves[k, before, paths[b, k + 1]], worst)
        costs[b] = cost
    return costs


def arrivals(trellis: Trellis) -> FloatArray:
    """Return the least cost of a path up to each node, its own term included: ``(h, n)``.

    >>> arrivals(Trellis(np.array([0.0, 1.0]), np.array([[[0.0, 2.0], [3.0, 0.5]]])))
    array([[0. , 1. ],
           [0. , 1.5]])
    """
    trellis.check()
    return _arrivals(trellis)


def completions(trellis: Trellis, terminal: FloatArray) -> FloatArray:
    """Return the least cost of going on from each node, its own term excluded: ``(h, n)``.

    Parameters
    ----------
    terminal : (n,) cost, above -inf, of each last state: a term like the others

    Examples
    --------
    >>> trellis = Trellis(np.array([0.0, 1.0]), np.array([[[0.0, 2.0], [3.0, 0.5]]]))
    >>> completions(trellis, np.array([np.inf, 0.0]))
    array([[2. , 0.5],
           [inf, 0. ]])
    """
    trellis.check_last(terminal, "terminal")
    n = trellis.n_states
    moves = np.broadcast_to(trellis.moves, (len(trellis.moves), n, n))
    backwards = np.ascontiguousarray(moves[::-1].swapaxes(1, 2))
    return _arrivals(Trellis(terminal, backwards, trellis.worst))[::-1]


def headroom(trellis: Trellis, limits: FloatArray, every: bool = False) -> FloatArray:
    """Return the largest cost of arriving at each node and still ending within limits: ``(h, n)``.

    Parameters
    ----------
    limits : (n,) largest cost of a path of the set that ends in each state. With a limit of +inf
        all paths that end there belong, impossible ones too; with -inf, none.
    every : whether all continuations must be in the set, instead of at least one

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
    return _headroom(trellis, limits, every)


def nodes(trellis: Trellis, limits: FloatArray) -> npt.NDArray[np.bool_]:
    """Return which nodes lie on some path of the set with limits as in `headroom`: ``(h, n)``.

    >>> trellis = Trellis(np.array([0.0, 1.0]), np.array([[[0.0, 2.0], [3.0, 0.5]]]))
    >>> nodes(trellis, np.array([-np.inf, 1.75]))
    array([[False,  True],
           [False,  True]])
    """
    return arrivals(trellis) <= headroom(trellis, limits)


def edges(trellis: Trellis, limits: FloatArray) -> npt.NDArray[np.bool_]:
    """Return which edges lie on some path of the set with limits as in `headroom`: (h - 1, n, n).

    >>> trellis = Trellis(np.array([0.0, 1.0]), np.array([[[0.0, 2.0], [3.0, 0.5]]]))
    >>> edges(trellis, np.array([1.0, 1.75]))
    array([[[ True, False],
            [False,  True]]])
    """
    join = np.maximum if trellis.worst else np.add
    taken = join(arrivals(trellis)[:-1, :, None], trellis.moves)
    return np.asarray(taken <= headroom(trellis, limits)[1:, None, :])


@kernel
def _arrivals(trellis: Trellis) -> FloatArray:
    first, moves, worst = trellis
    n, wide = len(first), moves.shape[1] > 1
    least = np.full((len(moves) + 1, n), np.inf)
    least[0] = first
    for k in range(len(moves)):
        for i in range(n):
            row = moves[k, i if wide else 0]
            for j in range(n):
                least[k + 1, j] = min(least[k + 1, j], add_term(least[k, i], row[j], worst))
    return least


@kernel
def _headroom(trellis: Trellis, limits: FloatArray, every: bool) -> FloatArray:
    _, moves, worst = trellis
    n, wide = len(limits), moves.shape[1] > 1
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
