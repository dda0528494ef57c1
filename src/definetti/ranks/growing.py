"""Step 5 for a sequence that grows: all its windows ranked in one walk.

What a window is compared with is a chain of earlier windows, and chains share their beginnings:
they make a forest. A walk through it adds a window's score on the way down and takes it away on
the way back, so that at each place just the scores are there which a candidate is compared with;
counts of these (`_prefixes.py`) tell how many are stranger.

Time goes by memory more than by arithmetic: each root has scores and counts of its own, of 32 bits,
which a cache holds where those of all do not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.ranks._prefixes import Counts, add_at, count_below, no_prefixes


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


class Grown(NamedTuple):
    """The scores of the past, sorted for each root of the forest by itself.

    Attributes
    ----------
    values : (D,) the scores below each root, each once, in rising order, one root after the other
    bounds : (R + 1,) where those of each root begin
    places : (T,) which of the values of its root the score of each end is
    """

    values: FloatArray
    bounds: IntArray
    places: Counts


def sort_by_root(parents: IntArray, ends: IntArray, scores: FloatArray) -> Grown:
    """Sort the scores of the windows that end at some times.

    Examples
    --------
    >>> found = sort_by_root(np.array([-1, -1, 0, 1]), np.arange(4), np.array([0.3, 7, 0.1, 7]))
    >>> found.values, found.bounds, found.places
    (array([0.1, 0.3, 7. ]), array([0, 2, 3]), array([1, 0, 0, 0], dtype=int32))
    """
    roots, number = _find_roots(parents)
    order = _one_after_other(np.argsort(scores), roots[ends], number)
    values, own = scores[order], roots[ends[order]]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (values[1:] != values[:-1]) | (own[1:] != own[:-1])
    bounds = np.searchsorted(own[new], np.arange(number + 1))
    places = np.zeros(len(parents), dtype=np.int32)
    places[ends[order]] = new.cumsum() - 1 - bounds[own]
    return Grown(values[new], bounds, places)


@kernel
def _find_roots(parents: IntArray) -> tuple[Counts, int]:
    roots, number = np.empty(len(parents), dtype=np.int32), 0
    for node in range(len(parents)):
        if parents[node] < 0:
            roots[node] = number
            number += 1
        else:
            roots[node] = roots[parents[node]]
    return roots, number


@kernel
def _one_after_other(order: IntArray, roots: Counts, number: int) -> IntArray:
    """Sort an order by root, as it is within each."""
    room = np.zeros(number + 1, dtype=np.int64)
    for root in roots:
        room[root + 1] += 1
    room = room.cumsum()
    found = np.empty_like(order)
    for k in order:
        found[room[roots[k]]] = k
        room[roots[k]] += 1
    return found


@kernel
def rank_growing(
    parents: IntArray,
    counted: npt.NDArray[np.bool_],
    values: FloatArray,
    bounds: IntArray,
    places: Counts,
    latest: Counts,
    scores: FloatArray,
) -> tuple[Counts, Counts, Counts]:
    """Rank the candidates of many windows among the chains that each is compared with.

    Parameters
    ----------
    parents : (T,) for each end of a window that of the next older one of its chain, −1 for none
    counted : (T,) whether it is compared with, and does not only begin the chain
    values, bounds, places : as in `Grown`
    latest : (W, G) where the chain of each window and group begins, −1 where it is empty
    scores : (W, C) of the candidates; candidate ``c`` is in group ``c % G``

    Returns
    -------
    greater, equal : (W, C) how many are stranger, and as strange, the candidate included
    total : (W, G) how many there are, the candidate included

    Examples
    --------
    >>> parents, counted = np.array([-1, 0, 1]), np.array([True, True, True])
    >>> past = sort_by_root(parents, np.arange(3), np.array([0.2, 0.1, 0.2]))
    >>> latest, scores = np.array([[1], [2]], dtype=np.int32), np.array([[0.2, 0.05], [0.1, 0.2]])
    >>> rank_growing(parents, counted, *past, latest, scores)
    (array([[0, 2],
           [2, 0]], dtype=int32), array([[2, 1],
           [2, 3]], dtype=int32), array([[3],
           [4]], dtype=int32))
    """
    length = len(parents)
    windows, members = scores.shape
    width = latest.shape[1]
    greater = np.zeros((windows, members), dtype=np.int32)
    equal = np.ones((windows, members), dtype=np.int32)
    total = np.ones((windows, width), dtype=np.int32)
    # Who asks at each place, and which places follow it: lists in arrays.
    first = np.full(length, -1, dtype=np.int32)
    following = np.full(windows * width, -1, dtype=np.int32)
    for pair in range(windows * width - 1, -1, -1):
        node = latest[pair // width, pair % width]
        if node >= 0:
            following[pair] = first[node]
            first[node] = pair
    child = np.full(length, -1, dtype=np.int32)
    sibling = np.full(length, -1, dtype=np.int32)
    wanted = first >= 0
    for node in range(length - 1, -1, -1):  # a way that nobody asks about is not gone
        parent = parents[node]
        if wanted[node] and parent >= 0:
            wanted[parent] = True
            sibling[node] = child[parent]
            child[parent] = node
    number_of_root = -1
    for root in range(length):
        if parents[root] >= 0:
            continue
        number_of_root += 1
        if not wanted[root]:
            continue
        begin, end = bounds[number_of_root], bounds[number_of_root + 1]
        own_values = values[begin:end]
        distinct = end - begin
        there = no_prefixes(distinct)
        present, forks = 0, 0
        node, entered = np.int64(root), True
        while node >= 0:
            if entered:
                if counted[node]:
                    add_at(there, places[node], 1)
                    present += 1
                pair = first[node]
                while pair >= 0:
                    w, g = pair // width, pair % width
                    total[w, g] = present + 1
                    for c in range(g, members, width):
                        own = scores[w, c]
                        at = _find(own_values, own)
                        above = at + (at < distinct and own_values[at] == own)
                        below = count_below(there, above)
                        greater[w, c] = present - below
                        equal[w, c] = below - count_below(there, at) + 1
                    pair = following[pair]
            if child[node] >= 0:
                onward = child[node]
                forks -= not entered
                child[node] = sibling[onward]
                forks += child[node] >= 0
                node, entered = np.int64(onward), True
                continue
            if forks == 0:
                break  # nothing is left to come back for
            if counted[node]:
                add_at(there, places[node], -1)
                present -= 1
            node, entered = parents[node], False
    return greater, equal, total


@kernel
def _find(values: FloatArray, score: float) -> int:
    """Count the values below a score, as `np.searchsorted` does, without a branch to guess."""
    place, left = 0, len(values)
    while left > 0:
        half = (left + 1) // 2
        place += half * (values[place + half - 1] < score)
        left -= half
    return place
