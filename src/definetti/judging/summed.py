"""All one-step windows of a stretch ranked under a model refitted on sums, many at a time.

With every label each score of the past changes, so that a window takes time in proportion to what
it is compared with; but what Python does for one window it does here for a block of them. The sums
are added up in the order in which labels come, and every law, score and rank is to the last bit
what it is for a window by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti._system.threads import map_threads
from definetti.data.candidates import all_candidates
from definetti.data.labels import MISSING
from definetti.data.windows import Windows
from definetti.emissions.categorical import log_frequencies
from definetti.judging.along import Ranked
from definetti.judging.stretch import Stretch
from definetti.models.estimates import ChainEstimates
from definetti.question import evaluate_each
from definetti.symmetry.base import checked_recent

CELLS = 2**21  # log-likelihoods that are held at once
MOST = 256  # windows of a block


def is_summed(stretch: Stretch) -> bool:
    """Tell whether windows are ranked so: one step, past steps to the same state, a law of sums."""
    question, model = stretch.question, stretch.question.model
    if stretch.horizon > 1 or model.fixed or question.unseen.any() or question.lag:
        return False
    if model.summing() is None or not model.emission_.by_statistics:
        return False
    if stretch.sizes[0] != len(stretch.names) or not question.symmetry.learns_all:
        return False  # states come up on the way
    return question.symmetry.one_step(len(stretch.names), 0) == "past"


def rank_summed_windows(stretch: Stretch) -> Iterator[Ranked]:
    """Yield the ranks of all states at all windows, a block of windows at a time."""
    size, first = int(stretch.sizes[0]), 0
    candidates, most = all_candidates(size, 1), checked_recent(stretch.question.symmetry.recent)
    sums, counts = _begin(stretch)
    while first < len(stretch.begins):
        room = CELLS // (size * (min(int(stretch.lengths[first]), most) + MOST))
        last = min(first + max(1, min(room, MOST)), len(stretch.begins))
        sums, counts, own = _follow(stretch, sums[-1], counts[-1], first, last)
        ranks = np.empty((3, last - first, size), dtype=np.int64)
        scores = np.empty((last - first, size))
        each = map_threads(partial(_rank, stretch, sums, counts, own, first), range(size))
        for state, (placed, found) in enumerate(each):
            ranks[:, :, state], scores[:, state] = placed.T, found
        greater, equal, total = ranks
        yield Ranked(first, last, size, candidates, greater, equal, total, scores)
        first = last


def _begin(stretch: Stretch) -> tuple[FloatArray, IntArray]:
    question = stretch.question
    n = int(stretch.sizes[0])
    counts = np.zeros((1, n, n), dtype=np.int64)
    known = question.history.pool.transitions
    counts[0, : len(known), : len(known)] = known
    return question.statistics[None], counts


def _follow(
    stretch: Stretch, sums: FloatArray, counts: IntArray, first: int, last: int
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return sums and counts before each window of a block and after it, and what each adds."""
    lengths = stretch.lengths[first:last]
    size, emission = last - first, stretch.question.model.emission_
    # By itself, as if each were a state of its own.
    own = emission.statistics(stretch.table, stretch.codes[lengths], np.arange(size), size)
    states, before = stretch.states[lengths], stretch.states[lengths - 1]
    added = np.zeros((size + 1, *sums.shape))
    added[0] = sums
    added[np.arange(1, size + 1), states] = own
    moves = np.zeros((size + 1, *counts.shape), dtype=np.int64)
    moves[0] = counts
    moves[np.arange(1, size + 1), before, states] = 1
    return added.cumsum(axis=0), moves.cumsum(axis=0), own


def _rank(
    stretch: Stretch, sums: FloatArray, counts: IntArray, own: FloatArray, first: int, state: int
) -> tuple[IntArray, FloatArray]:
    """Rank a state at each window of a block among the past steps to it: (B, 3), and its scores."""
    question, size, n = stretch.question, len(own), sums.shape[1]
    lengths = stretch.lengths[first : first + size]
    start, new = stretch.states[lengths - 1], stretch.codes[lengths]
    learned, moves = sums[:-1].copy(), counts[:-1].copy()
    learned[:, state] += own
    moves[np.arange(size), start, state] += 1
    prior = question.model.summing()
    assert prior is not None
    logs = log_frequencies(moves.reshape(-1, n).astype(np.float64), prior)
    visits = np.flatnonzero(stretch.states[: lengths[-1]] == state)
    past = visits[1:]  # the earliest only ends the prefix
    ends = np.searchsorted(past, lengths)
    begins = np.maximum(ends - checked_recent(question.symmetry.recent), 0)
    past, ends, begins = past[begins[0] :], ends - begins[0], begins - begins[0]
    asked = np.concatenate([stretch.codes[past], new])
    codes = np.append(np.unique(asked[asked != MISSING]), MISSING)
    emission = question.model.emission_
    columns = emission.judge_each(stretch.table, learned, codes)
    picks = np.arange(size * n).reshape(size, n)
    transitions = np.exp(logs).reshape(size, n, n)
    names = stretch.names[:n]
    estimates = ChainEstimates(transitions, columns, picks, codes, emission, stretch.table, names)
    models, places = _pairs(begins, ends)
    times = past[places]
    windows = Windows(
        stretch.states[times - 1], stretch.states[times][:, None], stretch.codes[times][:, None]
    )
    others = evaluate_each(question.score, estimates, models, windows)
    mine = Windows(start, np.full((size, 1), state), new[:, None])
    scores = evaluate_each(question.score, estimates, np.arange(size), mine)
    return _place(others, np.append(0, (ends - begins).cumsum()), scores), scores


@kernel
def _pairs(begins: IntArray, ends: IntArray) -> tuple[IntArray, IntArray]:
    """List each window with the places from its first to its last."""
    number = (ends - begins).sum()
    models, places = np.empty(number, dtype=np.int64), np.empty(number, dtype=np.int64)
    found = 0
    for b in range(len(ends)):
        for k in range(begins[b], ends[b]):
            models[found], places[found] = b, k
            found += 1
    return models, places


@kernel
def _place(others: FloatArray, begins: IntArray, scores: FloatArray) -> IntArray:
    """Count what is stranger than each score, and as strange, and all, it included: (B, 3)."""
    placed = np.empty((len(scores), 3), dtype=np.int64)
    for b in range(len(scores)):
        here = others[begins[b] : begins[b + 1]]
        placed[b, 0] = (here > scores[b]).sum()
        placed[b, 1] = 1 + (here == scores[b]).sum()
        placed[b, 2] = 1 + len(here)
    return placed
