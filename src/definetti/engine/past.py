"""Rank many windows under a fixed model, each among windows of the past.

The reference of a window is a chain of earlier windows, linked by parents, so that one walk along
it ranks the window and no reference is rebuilt as the history grows. Past windows and the
candidates of all windows are scored together, anew whenever a new state appears.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray, distinct_rows
from definetti._system.compiled import cut_pieces, kernel
from definetti.data.history import Windows, windows_at
from definetti.engine.pvalues import Ranked, count_ranks, count_scores
from definetti.engine.segment import Segment
from definetti.engine.task import PredictionTask, all_candidates
from definetti.memory.base import MOST, trace_tokens
from definetti.models.base import Estimate
from definetti.symmetry import Departures, Remembering, Spaced, Symmetry, TogetherDepartures
from definetti.symmetry.base import PRESENT, checked_recent
from definetti.symmetry.blocks import Past, spaced_parents
from definetti.symmetry.departures import grown

Counts = npt.NDArray[np.int32]
ROWS = 2**16  # steps of windows scored together
CANDIDATES = 2**20  # of windows ranked together: about 30 MB
STEPS = 2**6  # steps of a walk that cost as much as one look-up in a tree


def past_by_state(task: PredictionTask, estimate: Estimate) -> list[FloatArray]:
    """Return the sorted scores of past windows for each last state."""
    past_scores: dict[tuple[int, ...], FloatArray] = {}
    every = map(task.complete_with, range(len(task.labels)))
    orbits = list(map(task.symmetry.orbit, every))
    for last, orbit in enumerate(orbits):
        if orbit not in past_scores:
            past_scores[orbit] = np.sort(task.past_scores(estimate, task.past_ends(last)))
    return [past_scores[orbit] for orbit in orbits]


def rank_after(task: PredictionTask, codes: IntArray, candidates: IntArray) -> Ranked:
    """Rank candidates of many windows, a row of codes each, that may follow one history.

    `task` is that of the first window, with a table that has all observations.
    """
    estimate = task.estimate(task.complete_with(0))
    start = np.full(len(codes), task.history.last)
    scores = score_candidates(task, estimate, start, codes, candidates)
    greater, equal, total = (np.empty(scores.shape, dtype=np.int64) for _ in range(3))
    past = past_by_state(task, estimate)
    for last in np.unique(candidates[:, -1]).tolist():
        own, shape = candidates[:, -1] == last, (len(codes), -1)
        weights = np.ones(len(past[last]), dtype=np.int64)
        above, tied, number = count_ranks(past[last], weights, scores[:, own].ravel(), True)
        greater[:, own], equal[:, own] = above.reshape(shape), tied.reshape(shape)
        total[:, own] = number
    return Ranked(greater, equal, total, scores)


def score_candidates(
    task: PredictionTask, estimate: Estimate, start: IntArray, new: IntArray, candidates: IntArray
) -> FloatArray:
    """Score all candidates of windows, ``(B, C)``; equal windows of symbols once.

    `start` and `new` are the state before each window and its observations.
    """
    number, horizon = len(candidates), new.shape[1]
    # Steps within the lag get any state; no score reads it.
    states = np.pad(candidates, [(0, 0), (task.lag, 0)])
    if task.history.symbols:
        own, again, _ = distinct_rows(np.column_stack([start, new]))
        start, new = start[own], new[own]
    scores = np.empty((len(start), number))
    most = max(1, ROWS // (number * horizon))
    for begin in range(0, len(start), most):
        part = slice(begin, begin + most)
        windows = Windows(
            start[part].repeat(number),
            np.tile(states, (len(start[part]), 1)),
            new[part].repeat(number, axis=0),
        )
        scores[part] = task.score_windows(estimate, windows).reshape(-1, number)
    return scores[again] if task.history.symbols else scores


class Chains(NamedTuple):
    """The references of a growing sequence, as linked lists of past windows.

    At ``T`` steps, the reference of a token consists of the latest window of the token's group that
    ends before ``T``, its parent, the parent of that, and so on.

    Attributes
    ----------
    groups : (T,) the token whose reference has the window that ends at each time, or −1
    parents : (T,) the end of the next older window of the same reference, or −1
    counted : (T,) whether that window is in the reference, or only begins the chain
    most : the maximal number of windows, the latest ones, in a reference
    """

    groups: IntArray
    parents: IntArray
    counted: npt.NDArray[np.bool_]
    most: int


def find_chains(symmetry: Symmetry, tokens: IntArray, horizon: int) -> Chains | None:
    """Return the references of a growing sequence; None for any but the built-in symmetries.

    Derived classes may override the reference, so only the exact types are recognised.
    """
    most = checked_recent(symmetry.recent)
    if type(symmetry) is Spaced:
        parents = spaced_parents(tokens, horizon)
        return Chains(tokens, parents, parents >= 0, most)  # the earliest cut ends the prefix
    if isinstance(symmetry, Departures) and type(symmetry) in (Departures, TogetherDepartures):
        chain = symmetry.forward_chain(tokens, horizon)
        groups, parents = (grown(array, len(tokens)) for array in (chain.groups, chain.parents))
        return Chains(groups, parents, groups >= 0, most)
    if type(symmetry) is Past and symmetry.stride == 1:
        ends = np.arange(len(tokens))
        counted = ends >= horizon
        groups, parents = np.where(counted, 0, -1), np.where(ends > horizon, ends - 1, -1)
        return Chains(groups, parents, counted, most)
    return None


@kernel
def latest_ends(groups: IntArray, asked: IntArray, lengths: IntArray) -> Counts:
    """Return the latest window of each group that ends before each time, or −1.

    `asked` has groups by time, ``(W, G)``, or ``(1, G)`` for all times, which are sorted.

    >>> groups, asked = np.array([0, 1, 0, -1]), np.array([[0, 1], [0, 1]])
    >>> latest_ends(groups, asked, np.array([1, 4]))
    array([[ 0, -1],
           [ 2,  1]], dtype=int32)
    """
    number = max(groups.max() if len(groups) else -1, asked.max() if asked.size else -1) + 1
    latest = np.full(number, -1, dtype=np.int32)
    ends = np.full((len(lengths), asked.shape[1]), -1, dtype=np.int32)
    t = 0
    for w in range(len(lengths)):
        while t < lengths[w]:
            if groups[t] >= 0:
                latest[groups[t]] = t
            t += 1
        row = min(w, len(asked) - 1)
        for g in range(asked.shape[1]):
            if asked[row, g] >= 0:
                ends[w, g] = latest[asked[row, g]]
    return ends


def rank_along_chains(
    chains: Chains, past: FloatArray, latest: Counts, scores: FloatArray
) -> tuple[Counts, Counts, Counts]:
    """Rank the candidates of many windows among their chains.

    `past` are the scores by time, `latest` the heads of the chains, ``(W, G)``, and candidate ``c``
    of `scores`, ``(W, C)``, is in group ``c % G``. Returns the counts of greater and equal scores,
    ``(W, C)``, and of all, ``(W, G)``, the candidate included.
    """
    counts = np.empty((2, *scores.shape), dtype=np.int32)
    total = np.empty(latest.shape, dtype=np.int32)
    most, width = min(chains.most, len(chains.parents)), latest.shape[1]
    ends, along = np.ascontiguousarray(latest.T), np.empty(len(past), dtype=np.bool_)
    many = most == len(past) and scores.size >= STEPS * width  # else walking is as fast
    if many and all(_follow_chain(chains.parents, own, along) for own in ends):
        for g, own in enumerate(ends):
            _follow_chain(chains.parents, own, along)
            among, asked = chains.counted & along, np.ascontiguousarray(scores[:, g::width])
            _rank_in_chain(among, past, own, asked, counts[:, :, g::width], total[:, g])
        return counts[0], counts[1], total
    for part in cut_pieces(len(scores), most * max(1, scores.shape[1])):
        _rank(*chains[1:3], past, latest[part], scores[part], most, counts[:, part], total[part])
    return counts[0], counts[1], total


@kernel
def _rank(
    parents: IntArray,
    counted: npt.NDArray[np.bool_],
    past: FloatArray,
    latest: Counts,
    scores: FloatArray,
    most: int,
    counts: Counts,
    total: Counts,
) -> None:
    """Walk along each chain, up to `most` windows, counting scores greater or equal."""
    windows, members = scores.shape
    width = latest.shape[1]
    chain, weights = np.empty(most), np.ones(most, dtype=np.int64)
    for g in range(width):
        end, size = np.int64(-1), 0  # of the previous chain
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
                above, same, _ = count_scores(chain[:size], weights, scores[w, c])
                counts[0, w, c], counts[1, w, c] = above, same + 1


@kernel
def _follow_chain(parents: IntArray, latest: Counts, along: npt.NDArray[np.bool_]) -> bool:
    """Mark the windows of the latest chain; tell whether all chains are parts of it."""
    along[:] = False
    node = np.int64(latest[-1]) if len(latest) else np.int64(-1)
    while node >= 0:
        along[node] = True
        node = parents[node]
    for w in range(len(latest)):
        if (latest[w] >= 0 and not along[latest[w]]) or (w > 0 and latest[w] < latest[w - 1]):
            return False
    return True


def _rank_in_chain(
    counted: npt.NDArray[np.bool_],
    past: FloatArray,
    latest: Counts,
    scores: FloatArray,
    counts: Counts,
    total: Counts,
) -> None:
    """Rank as `_rank` does, in O(log T) for a candidate, where there is one chain."""
    values, places = np.unique(past[counted], return_inverse=True)
    by_time = np.full(len(past), -1)
    by_time[counted] = places
    tree, done = np.zeros(len(values) + 1, dtype=np.int32), np.zeros(2, dtype=np.int64)
    for part in cut_pieces(len(scores), STEPS * max(1, scores.shape[1])):
        _rank_growing(
            by_time, values, tree, done, latest[part], scores[part], counts[:, part], total[part],
        )  # fmt: skip


@kernel
def _rank_growing(
    places: IntArray,
    values: FloatArray,
    tree: Counts,
    done: IntArray,
    latest: Counts,
    scores: FloatArray,
    counts: Counts,
    total: Counts,
) -> None:
    """Count scores by their `places` among sorted values in a binary indexed tree (Fenwick 1994).

    `done` has the time up to which scores are in the tree, and their number; both are updated.
    """
    for w in range(len(scores)):
        while done[0] <= latest[w]:
            k = places[done[0]] + 1
            done[0] += 1
            done[1] += k > 0
            while 0 < k < len(tree):
                tree[k] += 1
                k += k & -k
        total[w] = done[1] + 1
        for c in range(scores.shape[1]):
            below, upto = 0, 0
            k = np.searchsorted(values, scores[w, c])
            while k > 0:
                below += tree[k]
                k -= k & -k
            k = np.searchsorted(values, scores[w, c], side="right")
            while k > 0:
                upto += tree[k]
                k -= k & -k
            counts[0, w, c], counts[1, w, c] = done[1] - upto, upto - below + 1


class Ways(NamedTuple):
    """The references of the windows of a segment.

    Tokens are rows, ``(T, w)``, or None where they are the states, and codes.
    """

    chains: Chains
    rows: IntArray | None
    tokens: IntArray


def find_ways(segment: Segment) -> Ways | None:
    """Return the references of windows; None where windows must be ranked one by one."""
    symmetry, rows, tokens = segment.task.symmetry, None, segment.states
    if not segment.task.model.fixed:
        return None
    if isinstance(symmetry, Remembering):
        rows = trace_tokens(symmetry.memory, segment.states, segment.codes)
        _, tokens, number = distinct_rows(rows)
        if len(number) > MOST:
            return None  # refused at its window
        symmetry = symmetry.symmetry
    chains = find_chains(symmetry, tokens, segment.horizon)
    return None if chains is None else Ways(chains, rows, tokens)


def rank_past_windows(segment: Segment, ways: Ways) -> Iterator[tuple[slice, Ranked]]:
    """Yield the ranks of all candidates, a batch of windows at a time."""
    task = segment.task
    for first, last, size in segment.epochs():
        length = int(segment.lengths[last - 1])
        candidates = all_candidates(size, task.steps)
        estimate = segment.estimate(size)
        chains = ways.chains._replace(
            groups=ways.chains.groups[:length],
            parents=ways.chains.parents[:length],
            counted=ways.chains.counted[:length],
        )
        past = _score_past(segment, estimate, chains.counted)
        number = max(1, CANDIDATES // len(candidates))
        for begin in range(first, last, number):
            part = slice(begin, min(begin + number, last))
            start = segment.states[segment.lengths[part] - 1]
            scores = score_candidates(task, estimate, start, segment.new[part], candidates)
            asked = _groups(segment, ways, candidates, part)
            latest = latest_ends(chains.groups, asked, segment.lengths[part])
            greater, equal, total = rank_along_chains(chains, past, latest, scores)
            total = np.tile(total, (1, len(candidates) // total.shape[1]))
            yield part, Ranked(greater, equal, total, scores)


def _score_past(segment: Segment, estimate: Estimate, counted: npt.NDArray[np.bool_]) -> FloatArray:
    """Score the past windows that references may have, by the time at which they end."""
    scores, ends = np.full(len(counted), np.nan), np.flatnonzero(counted)
    most = max(1, ROWS // segment.horizon)
    for begin in range(0, len(ends), most):
        some = ends[begin : begin + most]
        windows = windows_at(some, segment.states, segment.codes, segment.horizon)
        again: Any = slice(None)
        if segment.task.history.symbols:
            own, again, _ = distinct_rows(np.column_stack(windows))
            windows = Windows(*(array[own] for array in windows))
        scores[some] = segment.task.score_windows(estimate, windows)[again]
    return scores


def _groups(segment: Segment, ways: Ways, candidates: IntArray, windows: slice) -> IntArray:
    """Return the groups that the candidates of windows belong to: (W, G) or (1, G)."""
    symmetry, lengths = segment.task.symmetry, segment.lengths[windows]
    if isinstance(symmetry, Past):
        return np.zeros((1, 1), dtype=np.int64)
    if symmetry.given == PRESENT:
        return np.asarray(ways.tokens[lengths - 1][:, None])
    if ways.rows is None:
        return np.arange(candidates.max() + 1)[None]
    assert isinstance(symmetry, Remembering)
    # The tokens that candidates end in; −1 for a token the sequence does not have.
    number, rows = len(candidates), ways.rows
    tokens = rows[lengths - 1].repeat(number, axis=0)
    observed = segment.new[windows].repeat(number, axis=0)
    for step in range(segment.horizon):
        states = np.tile(candidates[:, step], len(lengths))
        tokens = symmetry.memory.follow(tokens, states, observed[:, step])
    _, codes, _ = distinct_rows(np.concatenate([rows, tokens]))
    known = np.full(codes.max() + 1, -1)
    known[codes[: len(rows)]] = ways.tokens
    return np.asarray(known[codes[len(rows) :]].reshape(-1, number))
