"""All windows of a stretch ranked at once under a model that no window changes.

The windows of the past and the candidates of all windows are scored together, and each window is
ranked along the chain of what it is compared with. Where a new state comes up, which may change
even a fixed model, all begins anew. Windows of symbols come again and again, and each is scored
once. Others are written out in pieces that a cache holds and whose memory is used again: the system
takes longer to find new memory than it takes to fill it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray, distinct_rows
from definetti.data.candidates import all_candidates
from definetti.data.history import Completion, windows_at
from definetti.data.labels import MISSING
from definetti.data.windows import Windows
from definetti.judging.stretch import Stretch
from definetti.memory.tokens import MOST, trace_tokens
from definetti.models.estimate import Estimate
from definetti.ranks.rolling import latest_ends, rank_along_chains, rank_in_whole_past
from definetti.symmetry import Remembering
from definetti.symmetry.base import PRESENT, Chains, checked_recent

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
    scores : (W, C) how strange each is
    """

    first: int
    last: int
    size: int
    candidates: IntArray
    greater: npt.NDArray[Any]
    equal: npt.NDArray[Any]
    total: npt.NDArray[Any]
    scores: FloatArray


class Ways(NamedTuple):
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


def find_ways(stretch: Stretch) -> Ways | None:
    """Return what windows are compared with; None where it must be asked for one by one."""
    symmetry, rows, tokens = stretch.question.symmetry, None, stretch.states
    if isinstance(symmetry, Remembering):
        rows = trace_tokens(symmetry.memory, stretch.states, stretch.codes)
        _, tokens, number = distinct_rows(rows)
        if len(number) > MOST:
            return None  # it is refused, at its window
        symmetry = symmetry.symmetry
    chains = symmetry.chains(tokens, stretch.horizon)
    if chains is None:
        return None
    chains.check(len(stretch.states), stretch.horizon)
    return Ways(chains, rows, tokens)


def rank_fixed_windows(stretch: Stretch, ways: Ways) -> Iterator[RankedWindows]:
    """Yield the ranks of all candidates of all windows, some windows at a time."""
    question, chains = stretch.question, ways.chains
    for first, last, size in stretch.epochs():
        length = int(stretch.lengths[last - 1])
        labels = stretch.names[:size]
        candidates = all_candidates(size, question.steps)
        steps = np.zeros(stretch.horizon, dtype=np.int64)
        completion = Completion(question.history, steps, steps + MISSING, size)
        statistics = np.zeros((size, 0))
        estimate = question.model.estimate(completion, stretch.table, statistics, labels)
        counted = chains.counted[:length]
        ends = np.flatnonzero(counted)
        parents = chains.parents[:length]
        past = np.full(length, np.nan)
        past[ends] = _score_past(stretch, estimate, ends)
        number = max(1, CANDIDATES // len(candidates))
        for begin in range(first, last, number):
            end = min(begin + number, last)
            scores = _score_candidates(stretch, estimate, candidates, begin, end)
            asked = _groups(stretch, ways, candidates, begin, end)
            latest = latest_ends(chains.groups[:length], asked, stretch.lengths[begin:end])
            if chains.shared and chains.recent is None:
                ranks = rank_in_whole_past(counted, past, latest, scores)
            else:
                most = checked_recent(chains.recent)
                ranks = rank_along_chains(parents, counted, past, latest, scores, most)
            yield from _cut(RankedWindows(begin, end, size, candidates, *ranks, scores))


def _score_past(stretch: Stretch, estimate: Estimate, ends: IntArray) -> FloatArray:
    """Score the windows of the sequence that end at given times."""
    scores = np.empty(len(ends))
    most = max(1, ROWS // stretch.horizon)
    for begin in range(0, len(ends), most):
        part = slice(begin, begin + most)
        windows = windows_at(ends[part], stretch.states, stretch.codes, stretch.horizon)
        if stretch.question.history.symbols:
            own, again, _ = distinct_rows(np.column_stack(windows))
            windows = Windows(*(one[own] for one in windows))
        found = stretch.question.score_windows(estimate, windows)
        scores[part] = found[again] if stretch.question.history.symbols else found
    return scores


def _score_candidates(
    stretch: Stretch, estimate: Estimate, candidates: IntArray, first: int, last: int
) -> FloatArray:
    """Score all candidates of some windows: (W, C)."""
    question, number = stretch.question, len(candidates)
    # Steps that are not asked about have some state, which no score looks at.
    states = np.pad(candidates, [(0, 0), (question.lag, 0)])
    start, new = stretch.states[stretch.lengths[first:last] - 1], stretch.new[first:last]
    if question.history.symbols:
        own, again, _ = distinct_rows(np.column_stack([start, new]))
        start, new = start[own], new[own]
    scores = np.empty((len(start), number))
    most = max(1, ROWS // (number * stretch.horizon))
    for begin in range(0, len(start), most):
        part = slice(begin, begin + most)
        windows = Windows(
            start[part].repeat(number),
            np.tile(states, (len(start[part]), 1)),
            new[part].repeat(number, axis=0),
        )
        scores[part] = question.score_windows(estimate, windows).reshape(-1, number)
    return scores[again] if question.history.symbols else scores


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


def _groups(stretch: Stretch, ways: Ways, candidates: IntArray, first: int, last: int) -> IntArray:
    """Return the tokens by which the candidates of some windows are compared: (W, G) or (1, G)."""
    lengths = stretch.lengths[first:last]
    if ways.chains.shared:
        return np.zeros((1, 1), dtype=np.int64)
    if stretch.question.symmetry.given == PRESENT:
        return np.asarray(ways.tokens[lengths - 1][:, None])
    if ways.rows is None:
        return np.arange(candidates.max() + 1)[None]
    return _last_tokens(stretch, ways, candidates, first, last)


def _last_tokens(
    stretch: Stretch, ways: Ways, candidates: IntArray, first: int, last: int
) -> IntArray:
    """Return the tokens that candidates end in, −1 for one that is nowhere in the sequence."""
    symmetry, rows = stretch.question.symmetry, ways.rows
    assert isinstance(symmetry, Remembering)
    assert rows is not None
    number = len(candidates)
    tokens = rows[stretch.lengths[first:last] - 1].repeat(number, axis=0)
    observed = stretch.new[first:last].repeat(number, axis=0)
    for step in range(stretch.horizon):
        states = np.tile(candidates[:, step], last - first)
        tokens = symmetry.memory.follow(tokens, states, observed[:, step])
    length = len(rows)
    _, codes, _ = distinct_rows(np.concatenate([rows, tokens]))
    known = np.full(codes.max() + 1, -1)
    known[codes[:length]] = ways.tokens
    return np.asarray(known[codes[length:]].reshape(-1, number))
