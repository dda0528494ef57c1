"""Rank all windows of a segment under a fixed model, each among the latest of its chain.

What a window is compared with is a chain of earlier windows, from the latest end to its parents
(`definetti.symmetry.base.Chains`). The windows of the past and the candidates of all windows are
scored together, in pieces that fit into a cache; where a new state comes up, all begins anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray, distinct_rows
from definetti._system.compiled import cut_pieces, kernel
from definetti.data.candidates import all_candidates
from definetti.data.history import Completion, Windows, windows_at
from definetti.data.labels import MISSING
from definetti.engine.segment import Segment
from definetti.memory.base import MOST, trace_tokens
from definetti.models.base import Estimate
from definetti.symmetry import Remembering
from definetti.symmetry.base import PRESENT, Chains, checked_recent

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


CANDIDATES = 2**23  # of all windows that are ranked at once: about 220 MB
ROWS = 2**16  # steps of windows that are scored in one go
READ = 2**17  # candidates whose ranks are handed on in one go, which a cache holds


class RankedWindows(NamedTuple):
    """The ranks of all candidates of some windows.

    Attributes
    ----------
    first, last : which windows, the last excluded
    size : how many states there are
    candidates : (C, steps) their states
    greater, equal : (W, C) as in `Rank`
    total : (W, G) those of candidate ``c`` are in column ``c % G``
    scores : (W, C) nonconformity scores
    """

    first: int
    last: int
    size: int
    candidates: IntArray
    greater: npt.NDArray[Any]
    equal: npt.NDArray[Any]
    total: npt.NDArray[Any]
    scores: FloatArray


class WindowChains(NamedTuple):
    """What each candidate of each window is compared with.

    Attributes
    ----------
    chains : the windows of the past, and how they hang together
    rows : (T, w) the tokens of the sequence; None where they are its states
    tokens : (T,) their codes
    """

    chains: Chains
    rows: IntArray | None
    tokens: IntArray


def find_ways(segment: Segment) -> WindowChains | None:
    """Return what windows are compared with; None where it must be asked for one by one."""
    symmetry, rows, tokens = segment.task.symmetry, None, segment.states
    if isinstance(symmetry, Remembering):
        rows = trace_tokens(symmetry.memory, segment.states, segment.codes)
        _, tokens, number = distinct_rows(rows)
        if len(number) > MOST:
            return None  # it is refused, at its window
        symmetry = symmetry.symmetry
    chains = symmetry.chains(tokens, segment.horizon)
    if chains is None:
        return None
    chains.check(len(segment.states), segment.horizon)
    return WindowChains(chains, rows, tokens)


def rank_fixed_windows(segment: Segment, ways: WindowChains) -> Iterator[RankedWindows]:
    """Yield the ranks of all candidates of all windows, some windows at a time."""
    task, chains = segment.task, ways.chains
    for first, last, size in segment.epochs():
        length = int(segment.lengths[last - 1])
        labels = segment.names[:size]
        candidates = all_candidates(size, task.steps)
        steps = np.zeros(segment.horizon, dtype=np.int64)
        completion = Completion(task.history, steps, steps + MISSING, size)
        statistics = np.zeros((size, 0))
        estimate = task.model.estimate(completion, segment.table, statistics, labels)
        counted = chains.counted[:length]
        ends = np.flatnonzero(counted)
        parents = chains.parents[:length]
        past = np.full(length, np.nan)
        past[ends] = _score_past(segment, estimate, ends)
        number = max(1, CANDIDATES // len(candidates))
        for begin in range(first, last, number):
            end = min(begin + number, last)
            scores = _score_candidates(segment, estimate, candidates, begin, end)
            asked = _groups(segment, ways, candidates, begin, end)
            latest = latest_ends(chains.groups[:length], asked, segment.lengths[begin:end])
            if chains.shared and chains.recent is None:
                ranks = rank_in_whole_past(counted, past, latest, scores)
            else:
                most = checked_recent(chains.recent)
                ranks = rank_along_chains(parents, counted, past, latest, scores, most)
            yield from _cut(RankedWindows(begin, end, size, candidates, *ranks, scores))


def _score_past(segment: Segment, estimate: Estimate, ends: IntArray) -> FloatArray:
    """Score the windows of the sequence that end at given times."""
    scores = np.empty(len(ends))
    most = max(1, ROWS // segment.horizon)
    for begin in range(0, len(ends), most):
        part = slice(begin, begin + most)
        windows = windows_at(ends[part], segment.states, segment.codes, segment.horizon)
        if segment.task.history.symbols:
            own, again, _ = distinct_rows(np.column_stack(windows))
            windows = Windows(*(one[own] for one in windows))
        found = segment.task.score_windows(estimate, windows)
        scores[part] = found[again] if segment.task.history.symbols else found
    return scores


def _score_candidates(
    segment: Segment, estimate: Estimate, candidates: IntArray, first: int, last: int
) -> FloatArray:
    """Score all candidates of some windows: (W, C)."""
    task, number = segment.task, len(candidates)
    # Steps that are not asked about have some state, which no score looks at.
    states = np.pad(candidates, [(0, 0), (task.lag, 0)])
    start, new = segment.states[segment.lengths[first:last] - 1], segment.new[first:last]
    if task.history.symbols:
        own, again, _ = distinct_rows(np.column_stack([start, new]))
        start, new = start[own], new[own]
    scores = np.empty((len(start), number))
    most = max(1, ROWS // (number * segment.horizon))
    for begin in range(0, len(start), most):
        part = slice(begin, begin + most)
        windows = Windows(
            start[part].repeat(number),
            np.tile(states, (len(start[part]), 1)),
            new[part].repeat(number, axis=0),
        )
        scores[part] = task.score_windows(estimate, windows).reshape(-1, number)
    return scores[again] if task.history.symbols else scores


def _cut(ranked: RankedWindows) -> Iterator[RankedWindows]:
    """Yield the ranks of some windows, a piece after the other."""
    most = max(1, READ // len(ranked.candidates))
    for begin in range(0, ranked.last - ranked.first, most):
        part = slice(begin, begin + most)
        greater, equal, total, scores = (
            one[part] for one in (ranked.greater, ranked.equal, ranked.total, ranked.scores)
        )
        first, last = ranked.first + begin, min(ranked.first + begin + most, ranked.last)
        yield RankedWindows(
            first, last, ranked.size, ranked.candidates, greater, equal, total, scores
        )


def _groups(
    segment: Segment, ways: WindowChains, candidates: IntArray, first: int, last: int
) -> IntArray:
    """Return the tokens by which the candidates of some windows are compared: (W, G) or (1, G)."""
    lengths = segment.lengths[first:last]
    if ways.chains.shared:
        return np.zeros((1, 1), dtype=np.int64)
    if segment.task.symmetry.given == PRESENT:
        return np.asarray(ways.tokens[lengths - 1][:, None])
    if ways.rows is None:
        return np.arange(candidates.max() + 1)[None]
    return _last_tokens(segment, ways, candidates, first, last)


def _last_tokens(
    segment: Segment, ways: WindowChains, candidates: IntArray, first: int, last: int
) -> IntArray:
    """Return the tokens that candidates end in, −1 for one that is nowhere in the sequence."""
    symmetry, rows = segment.task.symmetry, ways.rows
    assert isinstance(symmetry, Remembering)
    assert rows is not None
    number = len(candidates)
    tokens = rows[segment.lengths[first:last] - 1].repeat(number, axis=0)
    observed = segment.new[first:last].repeat(number, axis=0)
    for step in range(segment.horizon):
        states = np.tile(candidates[:, step], last - first)
        tokens = symmetry.memory.follow(tokens, states, observed[:, step])
    length = len(rows)
    _, codes, _ = distinct_rows(np.concatenate([rows, tokens]))
    known = np.full(codes.max() + 1, -1)
    known[codes[:length]] = ways.tokens
    return np.asarray(known[codes[length:]].reshape(-1, number))
