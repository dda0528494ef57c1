"""The sequence read backwards, as a graph: from each state to the states that came before it.

Of many states few follow each other. A list of the edges there are takes room, and time to look
through, by their number, not by the square of the number of states.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from definetti._system.arrays import IntArray
from definetti._system.compiled import kernel
from definetti.data.history import Completion


class Exits(NamedTuple):
    """Edges of the reversed sequence, those of each state together.

    Attributes
    ----------
    begins, ends : (n,) where the edges of a state begin and end
    ways : (E,) where each leads, in rising order within a state
    counts : (E,) how often it occurs
    """

    begins: IntArray
    ends: IntArray
    ways: IntArray
    counts: IntArray


def exits_of(completion: Completion) -> Exits:
    """Return the edges of a completed sequence; those of its history are listed once.

    >>> from definetti.data.history import History
    >>> history = History(n_states=2)
    >>> history.append(np.array([0, 0, 1]), np.array([0, 0, 0]))
    >>> exits_of(Completion(history, np.array([1, 0]), np.array([0, 0]), 2))
    Exits(begins=array([0, 2]), ends=array([2, 4]), ways=array([0, 1, 0, 1]), \
counts=array([1, 1, 1, 1]))
    """
    history = completion.history

    def listed() -> tuple[IntArray, IntArray, IntArray]:
        later, earlier = np.nonzero(history.transitions.T)
        return later, earlier, history.transitions[earlier, later]

    edges = history.present.recall("exits", "listed", listed)
    return Exits(*_joined(completion.n_states, *edges, *completion.moves))


@kernel
def _joined(
    n: int,
    later: IntArray,
    earlier: IntArray,
    counts: IntArray,
    new_earlier: IntArray,
    new_later: IntArray,
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Put the steps of a candidate among the edges, each in its place."""
    room = np.zeros(n, dtype=np.int64)
    for v in later:
        room[v] += 1
    for v in new_later:
        room[v] += 1
    begins = room.cumsum() - room
    ends = begins.copy()
    ways = np.zeros(room.sum(), dtype=np.int64)
    number = np.zeros(room.sum(), dtype=np.int64)
    for e in range(len(later)):
        v = later[e]
        ways[ends[v]] = earlier[e]
        number[ends[v]] = counts[e]
        ends[v] += 1
    for k in range(len(new_later)):
        v, u = new_later[k], new_earlier[k]
        e = begins[v] + np.searchsorted(ways[begins[v] : ends[v]], u)
        if e == ends[v] or ways[e] != u:
            for later_one in range(ends[v], e, -1):
                ways[later_one] = ways[later_one - 1]
                number[later_one] = number[later_one - 1]
            ways[e] = u
            number[e] = 0
            ends[v] += 1
        number[e] += 1
    return begins, ends, ways, number
