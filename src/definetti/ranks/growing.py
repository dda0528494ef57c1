"""Step 5 for a sequence that grows: all its windows ranked in one walk.

What a window is compared with is a chain of earlier windows, and chains share their beginnings:
they make a forest. A walk through it adds a window's score on the way down and takes it away on
the way back, so that at each place just the scores are there which a candidate is compared with. A
tree of counts (Fenwick 1994) tells how many are stranger. Scores that a chain of small gaps joins
are tied, as in `ranks.pvalue`: joining them is undone on the way back, too.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.ranks.pvalue import tied

Counts = npt.NDArray[np.int32]


@kernel
def latest_ends(groups: IntArray, asked: IntArray, lengths: IntArray) -> IntArray:
    """Return the latest window of a group that ends before each of some times; −1 for none.

    Parameters
    ----------
    groups : (T,) the group of the window that ends at each time, −1 for none
    asked : (W, G) groups; any that is not there has no window
    lengths : (W,) times, in rising order

    Examples
    --------
    >>> groups, asked = np.array([0, 1, 0, -1]), np.array([[0, 1], [0, 1]])
    >>> latest_ends(groups, asked, np.array([1, 4]))
    array([[ 0, -1],
           [ 2,  1]])
    """
    number = max(groups.max() if len(groups) else -1, asked.max() if asked.size else -1) + 1
    latest = np.full(number, -1, dtype=np.int64)
    found = np.full(asked.shape, -1, dtype=np.int64)
    t = 0
    for w in range(len(lengths)):
        while t < lengths[w]:
            if groups[t] >= 0:
                latest[groups[t]] = t
            t += 1
        for g in range(asked.shape[1]):
            if asked[w, g] >= 0:
                found[w, g] = latest[asked[w, g]]
    return found


@kernel
def rank_growing(
    parents: IntArray,
    counted: npt.NDArray[np.bool_],
    places: IntArray,
    values: FloatArray,
    latest: IntArray,
    scores: FloatArray,
) -> tuple[Counts, Counts, Counts]:
    """Rank the candidates of many windows among the chains that each is compared with.

    Parameters
    ----------
    parents : (T,) for each end of a window that of the next older one of its chain, −1 for none
    counted : (T,) whether it is compared with, and does not only begin the chain
    places : (T,) which of the values its score is
    values : (D,) all scores there are, each once, in rising order
    latest : (W, G) where the chain of each window and group begins, −1 where it is empty
    scores : (W, C) of the candidates; candidate ``c`` is in group ``c % G``

    Returns
    -------
    greater, equal : (W, C) how many are stranger, and as strange, the candidate included
    total : (W, G) how many there are, the candidate included

    Examples
    --------
    >>> rank_growing(
    ...     np.array([-1, 0, 1]),
    ...     np.array([True, True, True]),
    ...     np.array([1, 0, 1]),
    ...     np.array([0.1, 0.2]),
    ...     np.array([[1], [2]]),
    ...     np.array([[0.2, 0.05], [0.1, 0.2]]),
    ... )
    (array([[0, 2],
           [2, 0]], dtype=int32), array([[2, 1],
           [2, 3]], dtype=int32), array([[3],
           [4]], dtype=int32))
    """
    length, distinct = len(parents), len(values)
    windows, members = scores.shape
    width = latest.shape[1]
    greater = np.zeros((windows, members), dtype=np.int32)
    equal = np.ones((windows, members), dtype=np.int32)
    total = np.ones((windows, width), dtype=np.int32)
    # Who asks at each place, and which places follow it: lists in arrays.
    first = np.full(length, -1, dtype=np.int64)
    following = np.full(windows * width, -1, dtype=np.int64)
    for pair in range(windows * width - 1, -1, -1):
        node = latest[pair // width, pair % width]
        if node >= 0:
            following[pair] = first[node]
            first[node] = pair
    child = np.full(length, -1, dtype=np.int64)
    sibling = np.full(length, -1, dtype=np.int64)
    wanted = first >= 0
    for node in range(length - 1, -1, -1):  # a way that nobody asks about is not gone
        parent = parents[node]
        if wanted[node] and parent >= 0:
            wanted[parent] = True
            sibling[node] = child[parent]
            child[parent] = node
    tree = np.zeros(distinct + 1, dtype=np.int32)
    number = np.zeros(distinct, dtype=np.int32)
    top = 1
    while 2 * top <= distinct:
        top *= 2
    # Stretches of tied values that are there: what each belongs to, and where a stretch ends.
    joined = np.arange(distinct)
    size = np.ones(distinct, dtype=np.int64)
    low, high = np.arange(distinct), np.arange(distinct)
    undo = np.empty((distinct + 1, 3), dtype=np.int64)
    done, present = 0, 0
    unions = np.zeros(length, dtype=np.int8)
    for root in range(length):
        if not wanted[root] or parents[root] >= 0:
            continue
        node, entered = root, True
        while node >= 0:
            if entered:
                if counted[node]:
                    place = places[node]
                    below = _below(tree, place) if number[place] == 0 else 0
                    if number[place] == 0:
                        for side in range(2):
                            wished = below if side == 0 else below + 1
                            if wished < 1 or wished > present:
                                continue
                            other = _select(tree, wished, top)
                            near = (
                                tied(values[other], values[place])
                                if side == 0
                                else tied(values[place], values[other])
                            )
                            if near:
                                a, b = _stretch(joined, other), _stretch(joined, place)
                                if size[a] > size[b]:
                                    a, b = b, a
                                undo[done, 0], undo[done, 1], undo[done, 2] = a, low[b], high[b]
                                done += 1
                                joined[a] = b
                                size[b] += size[a]
                                low[b], high[b] = min(low[a], low[b]), max(high[a], high[b])
                                unions[node] += 1
                    _add(tree, place, 1)
                    number[place] += 1
                    present += 1
                pair = first[node]
                while pair >= 0:
                    w, g = pair // width, pair % width
                    total[w, g] = present + 1
                    for c in range(g, members, width):
                        own = scores[w, c]
                        place = np.searchsorted(values, own)
                        before = _below(tree, place)
                        start, stop = before, before
                        if before > 0:
                            other = _select(tree, before, top)
                            if tied(values[other], own):
                                start = _below(tree, low[_stretch(joined, other)])
                        if before < present:
                            other = _select(tree, before + 1, top)
                            if tied(own, values[other]):
                                stop = _below(tree, high[_stretch(joined, other)] + 1)
                        greater[w, c] = present - stop
                        equal[w, c] = stop - start + 1
                    pair = following[pair]
            if child[node] >= 0:
                onward = child[node]
                child[node] = sibling[onward]
                node, entered = onward, True
                continue
            if counted[node]:
                place = places[node]
                _add(tree, place, -1)
                number[place] -= 1
                present -= 1
                while unions[node] > 0:
                    unions[node] -= 1
                    done -= 1
                    a = undo[done, 0]
                    b = joined[a]
                    joined[a] = a
                    size[b] -= size[a]
                    low[b], high[b] = undo[done, 1], undo[done, 2]
            node, entered = parents[node], False
    return greater, equal, total


@kernel
def _add(tree: Counts, place: int, change: int) -> None:
    place += 1
    while place < len(tree):
        tree[place] += change
        place += place & -place


@kernel
def _below(tree: Counts, place: int) -> int:
    """Count what is there below a place."""
    found = 0
    while place > 0:
        found += tree[place]
        place -= place & -place
    return found


@kernel
def _select(tree: Counts, wished: int, top: int) -> int:
    """Return the place of the so many-th of all that is there, from one on."""
    place, step = 0, top
    while step > 0:
        onward = place + step
        if onward < len(tree) and tree[onward] < wished:
            place = onward
            wished -= tree[onward]
        step //= 2
    return place


@kernel
def _stretch(joined: IntArray, place: int) -> int:
    while joined[place] != place:
        place = joined[place]
    return place
