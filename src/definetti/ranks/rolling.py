"""Step 5 for a sequence that grows: each window is ranked among the latest of its chain.

What a window is compared with is a chain of earlier windows, from the latest end to its parents
(`definetti.symmetry.base.Chains`). At most `recent` of them are walked along and counted; where
there is no such bound, a window takes time in proportion to its past.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import cut_pieces, kernel

Counts = npt.NDArray[np.int32]


@kernel
def latest_ends(groups: IntArray, asked: IntArray, lengths: IntArray) -> Counts:
    """Return the latest window of a group that ends before each of some times; −1 for none.

    Parameters
    ----------
    groups : (T,) the group of the window that ends at each time, −1 for none
    asked : (W, G) groups, or (1, G) where they are the same at all times; any that is not there
        has no window
    lengths : (W,) times, in rising order

    Examples
    --------
    >>> groups, asked = np.array([0, 1, 0, -1]), np.array([[0, 1], [0, 1]])
    >>> latest_ends(groups, asked, np.array([1, 4]))
    array([[ 0, -1],
           [ 2,  1]], dtype=int32)
    """
    number = max(groups.max() if len(groups) else -1, asked.max() if asked.size else -1) + 1
    latest = np.full(number, -1, dtype=np.int32)
    found = np.full((len(lengths), asked.shape[1]), -1, dtype=np.int32)
    t = 0
    for w in range(len(lengths)):
        while t < lengths[w]:
            if groups[t] >= 0:
                latest[groups[t]] = t
            t += 1
        row = min(w, len(asked) - 1)
        for g in range(asked.shape[1]):
            if asked[row, g] >= 0:
                found[w, g] = latest[asked[row, g]]
    return found


def rank_along_chains(
    parents: IntArray,
    counted: npt.NDArray[np.bool_],
    past: FloatArray,
    latest: Counts,
    scores: FloatArray,
    most: int,
) -> tuple[Counts, Counts, Counts]:
    """Rank the candidates of many windows among the chains that each is compared with.

    Parameters
    ----------
    parents : (T,) for each end of a window that of the next older one of its chain, −1 for none
    counted : (T,) whether it is compared with, and does not only begin the chain
    past : (T,) the score of the window that ends at each time, where it is counted
    latest : (W, G) where the chain of each window and group begins, −1 where it is empty
    scores : (W, C) of the candidates; candidate ``c`` is in group ``c % G``
    most : how many windows of a chain are compared with, at most

    Returns
    -------
    greater, equal : (W, C) how many scores are greater, and equal, the candidate included
    total : (W, G) how many there are, the candidate included

    Examples
    --------
    >>> parents, counted = np.array([-1, 0, 1]), np.array([True, True, True])
    >>> past, latest = np.array([0.2, 0.1, 0.2]), np.array([[1], [2]], dtype=np.int32)
    >>> rank_along_chains(parents, counted, past, latest, np.array([[0.2], [0.1]]), 2)
    (array([[0],
           [1]], dtype=int32), array([[2],
           [2]], dtype=int32), array([[3],
           [3]], dtype=int32))
    """
    greater = np.empty(scores.shape, dtype=np.int32)
    equal = np.empty(scores.shape, dtype=np.int32)
    total = np.empty(latest.shape, dtype=np.int32)
    most = min(most, len(parents))
    for part in cut_pieces(len(scores), most * max(1, scores.shape[1])):
        _rank(
            parents, counted, past, latest[part], scores[part], most,
            greater[part], equal[part], total[part],
        )  # fmt: skip
    return greater, equal, total


@kernel
def _rank(
    parents: IntArray,
    counted: npt.NDArray[np.bool_],
    past: FloatArray,
    latest: Counts,
    scores: FloatArray,
    most: int,
    greater: Counts,
    equal: Counts,
    total: Counts,
) -> None:
    windows, members = scores.shape
    width = latest.shape[1]
    chain = np.empty(most)
    for g in range(width):
        end, size = np.int64(-1), 0  # of the chain that was walked along last
        for w in range(windows):
            if latest[w, g] != end:
                end = np.int64(latest[w, g])
                node, size = end, 0
                while node >= 0 and size < most:
                    if counted[node]:
                        chain[size] = past[node]
                        size += 1
                    node = parents[node]
            total[w, g] = size + 1
            for c in range(g, members, width):
                own, above, same = scores[w, c], 0, 1
                for k in range(size):
                    above += chain[k] > own
                    same += chain[k] == own
                greater[w, c], equal[w, c] = above, same


def rank_in_whole_past(
    counted: npt.NDArray[np.bool_], past: FloatArray, latest: Counts, scores: FloatArray
) -> tuple[Counts, Counts, Counts]:
    """Rank the candidates of many windows among all windows that ended before each.

    As `rank_along_chains` does along the one chain of all windows, in ``O(log T)`` a candidate.

    Parameters
    ----------
    counted, past, scores : as there
    latest : (W, 1) where the chain of each window begins, in rising order

    Examples
    --------
    >>> counted, past = np.array([True, True, True]), np.array([0.2, 0.1, 0.2])
    >>> latest = np.array([[1], [2]], dtype=np.int32)
    >>> rank_in_whole_past(counted, past, latest, np.array([[0.2], [0.1]]))
    (array([[0],
           [2]], dtype=int32), array([[2],
           [2]], dtype=int32), array([[3],
           [4]], dtype=int32))
    """
    ends = np.flatnonzero(counted)
    values, places = np.unique(past[ends], return_inverse=True)
    return _rank_in_whole_past(ends, values, places, latest, scores)


@kernel
def _rank_in_whole_past(
    ends: IntArray, values: FloatArray, places: IntArray, latest: Counts, scores: FloatArray
) -> tuple[Counts, Counts, Counts]:
    windows, members = scores.shape
    greater = np.empty((windows, members), dtype=np.int32)
    equal = np.empty((windows, members), dtype=np.int32)
    total = np.empty((windows, 1), dtype=np.int32)
    tree = np.zeros(len(values) + 1, dtype=np.int32)  # of counts by value (Fenwick 1994)
    present = 0
    for w in range(windows):
        while present < len(ends) and ends[present] <= latest[w, 0]:
            node = places[present] + 1
            while node < len(tree):
                tree[node] += 1
                node += node & -node
            present += 1
        total[w, 0] = present + 1
        for c in range(members):
            below, upto = 0, 0
            node = np.searchsorted(values, scores[w, c])
            while node > 0:
                below += tree[node]
                node -= node & -node
            node = np.searchsorted(values, scores[w, c], side="right")
            while node > 0:
                upto += tree[node]
                node -= node & -node
            greater[w, c], equal[w, c] = present - upto, upto - below + 1
    return greater, equal, total
