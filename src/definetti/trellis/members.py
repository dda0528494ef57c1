"""List the paths that end in a state one by one, from the best (Lawler 1972).

The paths not yet given are kept as disjoint groups. A group is known by a path that was given, its
*parent*, and a range of positions: it holds the paths that agree with the parent up to one of these
positions and deviate there. The cost of its best path is known from the best ways to complete each
deviation, so that a group is split only when its turn comes.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.data.labels import check_indices, check_shape
from definetti.trellis.trellis import Trellis, add_term

Path = npt.NDArray[np.int32]  # half the memory of int64; the paths given are kept


def members(
    trellis: Trellis, last: int, finite: Trellis | None = None
) -> Iterator[tuple[float, IntArray]]:
    """Yield all paths that end in a state, each once, from the best to the worst.

    Impossible paths, of infinite cost, come at the end. Ties come in any order, and costs that
    differ by rounding only count as ties. A path takes time proportional to h times n.

    Parameters
    ----------
    last : the state in which the paths end
    finite : the result of `finite_terms`, to share it among several last states

    Yields
    ------
    the cost of a path, and the path, an (h,) array

    Examples
    --------
    >>> trellis = Trellis(np.array([0.0, 1.0]), np.array([[[0.0, 2.0], [3.0, 0.5]]]))
    >>> [(cost, path.tolist()) for cost, path in members(trellis, 1)]
    [(1.5, [1, 1]), (2.0, [0, 1])]
    """
    end = trellis.horizon - 1
    trellis.check()
    check_indices(np.array([last]), 0, trellis.n_states, "last")
    if finite is not None:
        finite.check()
        check_shape(finite.first, trellis.first.shape, "first")
        check_shape(finite.moves, trellis.moves.shape, "moves")
    finite = finite_terms(trellis) if finite is None else finite._replace(worst=trellis.worst)
    least, following = _best_completions(finite, last)
    # Ties in cost are broken by age: paths cannot be compared.
    heap: list[tuple[float, int, Path, int, int, int, int]] = []
    age = count()

    def keep(parent: Path, low: int, high: int, cost: float = -1.0, state: int = -1) -> None:
        if low < high:
            best, position, deviation = _best_deviation(
                finite, least, parent, low, high, cost, state
            )
            if position >= 0:
                heappush(heap, (best, next(age), parent, low, high, position, deviation))

    # All paths deviate from a path of no states; they all share the last state.
    nowhere = np.full(end + 1, -1, dtype=np.int32)
    if end == 0:
        yield float(trellis.first[last]), np.array([last])
    keep(nowhere, 0, min(1, end))
    while heap:
        cost, _, parent, low, high, position, state = heappop(heap)
        path = _deviate(parent, position, state, following)
        whole = path.astype(np.int64)
        yield float(trellis.cost(whole[None])[0]), whole
        keep(parent, low, position)
        keep(parent, position + 1, high)
        keep(parent, position, position + 1, cost, state)
        keep(path, position + 1, end)


def finite_terms(trellis: Trellis) -> Trellis:
    """Make impossible terms so costly that no possible path costs as much as one of them."""
    first, moves = trellis.first, trellis.moves
    if np.isfinite(first).all() and np.isfinite(moves).all():
        return trellis
    huge = 2.0 * trellis._replace(worst=False).most + 1.0
    return trellis._replace(
        first=np.where(np.isinf(first), huge, first), moves=np.where(np.isinf(moves), huge, moves)
    )


@kernel
def _best_completions(trellis: Trellis, last: int) -> tuple[FloatArray, Path]:
    """Least cost from each node to the last state, and the node that comes next on that way."""
    first, moves, worst = trellis
    n, steps, wide = len(first), len(moves), moves.shape[1] > 1
    least = np.zeros((steps + 1, n))
    following = np.full((steps + 1, n), last, dtype=np.int32)
    for k in range(steps - 1, -1, -1):
        for i in range(n):
            row = moves[k, i if wide else 0]
            if k == steps - 1:
                least[k, i] = row[last]
                continue
            least[k, i] = np.inf
            for j in range(n):
                cost = add_term(least[k + 1, j], row[j], worst)
                if cost < least[k, i]:
                    least[k, i] = cost
                    following[k, i] = j
    return least, following


@kernel
def _best_deviation(
    trellis: Trellis,
    least: FloatArray,
    parent: Path,
    low: int,
    high: int,
    cost: float,
    state: int,
) -> tuple[float, int, int]:
    """Cost, position and state of the best deviation in a range that comes after a given one."""
    first, moves, worst = trellis
    wide = moves.shape[1] > 1
    best, position, deviation = np.inf, -1, -1
    before = 0.0  # the cost of the parent up to the position, in the same order each time
    for k in range(high):
        row = first if k == 0 else moves[k - 1, parent[k - 1] if wide else 0]
        if k >= low:
            for s in range(len(first)):
                if s == parent[k]:
                    continue
                total = add_term(add_term(before, row[s], worst), least[k, s], worst)
                after = total > cost or (total == cost and s > state)
                if after and (position < 0 or total < best):
                    best, position, deviation = total, k, s
        before = add_term(before, row[parent[k]], worst)
    return best, position, deviation


@kernel
def _deviate(parent: Path, position: int, state: int, following: Path) -> Path:
    """Follow the parent up to a position, and the best way from there."""
    path = parent.copy()
    path[position] = state
    for k in range(position + 1, len(path)):
        path[k] = following[k - 1, path[k - 1]]
    return path
