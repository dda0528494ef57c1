"""A trellis: every path of states, and what it costs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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
        return float(join([np.max(one, where=np.isfinite(one), initial=0.0) for one in steps]))

    def check(self) -> None:
        """Refuse costs that are not of one trellis: kernels do not look."""
        n, moves = len(self.first), self.moves
        check_shape(self.first, (n,), "first")
        sources = 1 if np.ndim(moves) == 3 and np.shape(moves)[1] == 1 else n
        check_shape(moves, (len(moves), sources, n), "moves")

    def check_last(self, values: FloatArray, name: str) -> None:
        """Refuse what is not a number for each last state."""
        self.check()
        check_shape(values, (self.n_states,), name)

    def cost(self, paths: IntArray) -> FloatArray:
        """Cost of each path, for an array of shape (B, h)."""
        self.check()
        check_shape(paths, (len(paths), self.horizon), "paths")
        check_indices(paths, 0, self.n_states, "paths")
        return _cost(self.first, self.moves, self.worst, paths)


@kernel
def add_term(cost: float, term: float, worst: bool) -> float:
    """Cost of a path that has one more term."""
    return max(cost, term) if worst else cost + term


@kernel
def _cost(first: FloatArray, moves: FloatArray, worst: bool, paths: IntArray) -> FloatArray:
    wide = moves.shape[1] > 1  # else the cost of a move does not depend on where it starts
    costs = np.empty(len(paths))
    for b in range(len(paths)):
        cost = first[paths[b, 0]]
        for k in range(len(moves)):
            before = paths[b, k] if wide else 0
            cost = add_term(cost, moves[k, before, paths[b, k + 1]], worst)
        costs[b] = cost
    return costs
