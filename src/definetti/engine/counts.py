"""Rank all one-step windows of a segment from counts.

All that a step is compared with is in a few tables of counts, which the next label changes in one
place each, so that the cost of a window does not grow with the history. The model is refitted on
the counts, or fixed and made into a table of scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.data.history import Windows
from definetti.engine.pvalues import Ranked
from definetti.engine.segment import Segment
from definetti.engine.step_kernels import count_step, place_in_past
from definetti.engine.stream import (
    LEAST,
    Stream,
    find_priors,
    find_step_reference,
    find_step_score,
)


@kernel
def rank_steps(
    pooled: IntArray,
    emissions: IntArray,
    steps: IntArray,
    ring: IntArray,
    entered: IntArray,
    met: npt.NDArray[np.bool_],
    states: IntArray,
    codes: IntArray,
    lengths: IntArray,
    priors: tuple[float, float],
    surprise: bool,
) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Rank steps to all states among the latest to each; learn their labels in between.

    Parameters
    ----------
    pooled, emissions, steps, ring, entered : as `Stream` has them, of all before the first step of
        `states`, with room for the steps that come; they are changed
    met : (n,) the states met in the present segment; changed, too
    states, codes : (L + 1,) the last state so far, and the segment that follows it
    lengths : (W,) how many steps of the segment are learned before each ranking
    priors, surprise : as in `Stream`

    Returns
    -------
    greater, equal, total : (W, n) as in `Rank`
    scores : (W, n) nonconformity scores
    """
    windows, n = len(lengths), len(pooled)
    greater = np.empty((windows, n), dtype=np.int64)
    equal = np.empty((windows, n), dtype=np.int64)
    total = np.empty((windows, n), dtype=np.int64)
    scores = np.empty((windows, n))
    done = 0
    for w in range(windows):
        while done < lengths[w]:
            done += 1
            earlier, state, code = states[done - 1], states[done], codes[done] + 1
            if met[state]:
                count_step(steps, ring, entered, earlier, state, code)
            met[state] = True
            pooled[earlier, state] += 1
            emissions[state, code] += 1
        placed, own = place_in_past(
            pooled, emissions, steps, states[done], codes[done + 1], priors, surprise
        )
        for i in range(n):
            greater[w, i], equal[w, i] = placed[i, 0], placed[i, 1]
            total[w, i], scores[w, i] = placed[i, 2], own[i]
    return greater, equal, total, scores


STEPS = 2**16  # windows that are ranked in one go: in between, Python hears Ctrl-C
CELLS = 2**22  # scores that a table of steps may have


def find_way(segment: Segment) -> str:
    """Return what steps are ranked among from counts, "past" or "class"; else nothing."""
    task, n, symbols = segment.task, len(segment.names), len(segment.table)
    if segment.horizon > 1 or (task.unseen.any() and not segment.data.plain):
        return ""  # what is not seen yet is left out of the past, too
    way = find_step_reference(task.symmetry, n, symbols)
    if task.model.fixed:
        tabled = task.history.symbols and not task.lag and n * n * (symbols + 1) <= CELLS
        return way if tabled and way == "class" else ""
    priors = find_priors(task.model, segment.table)
    if priors is None or min(priors) < LEAST or not find_step_score(task.score):
        return ""
    return way


def rank_counted_windows(segment: Segment, way: str) -> Iterator[tuple[slice, Ranked]]:
    """Yield the ranks of all states at all windows, some windows at a time."""
    task, fixed = segment.task, segment.task.model.fixed
    symbols = np.full(len(segment.begins), len(segment.table)) if fixed else _symbols(segment)
    surprise = find_step_score(task.score) == "surprise"
    recent = task.symmetry.recent if way == "past" else None
    priors = (0.0, 0.0) if fixed else find_priors(task.model, segment.table)
    assert priors is not None
    stream = Stream.of(task.history, int(symbols[0]), priors, surprise, recent)
    learned = segment.known
    for first, last in _pieces(segment, symbols):
        size = int(segment.sizes[first])
        stream.grow(size, int(symbols[first]))
        if fixed:
            stream.table = _score_steps(segment, size)
        rank = _rank_past if way == "past" else _rank_class
        ranks = rank(stream, segment, learned, first, last)
        learned = int(segment.lengths[last - 1])
        yield slice(first, last), Ranked(*ranks)


def _symbols(segment: Segment) -> IntArray:
    """Return how many symbols are known when each window is predicted, its own included."""
    known = len(segment.data.table)
    met = np.maximum.accumulate(np.append(known - 1, segment.codes[segment.known :]))
    return np.asarray(met[segment.begins + 1] + 1)


def _pieces(segment: Segment, symbols: IntArray) -> Iterator[tuple[int, int]]:
    """Yield windows between which neither a state nor a symbol is new, not too many at a time."""
    fresh = (np.diff(segment.sizes) > 0) | (np.diff(symbols) > 0)
    edges = [0, *(np.flatnonzero(fresh) + 1).tolist(), len(symbols)]
    for begin, end in pairwise(edges):
        for first in range(begin, end, STEPS):
            yield first, min(first + STEPS, end)


Ranks = tuple[IntArray, IntArray, IntArray, FloatArray]


def _rank_past(stream: Stream, segment: Segment, learned: int, first: int, last: int) -> Ranks:
    met = np.zeros(stream.n_states, dtype=np.bool_)
    met[np.unique(segment.states[:learned])] = True
    end = int(segment.lengths[last - 1]) + 1
    states, codes = segment.states[learned - 1 : end], segment.codes[learned - 1 : end]
    lengths = segment.lengths[first:last] - learned
    stream.make_room(len(states))
    return rank_steps(
        stream.pooled, stream.emissions, stream.steps, stream.ring, stream.entered, met, states,
        codes, lengths, stream.priors, stream.surprise,
    )  # fmt: skip


def _rank_class(stream: Stream, segment: Segment, learned: int, first: int, last: int) -> Ranks:
    shape = last - first, stream.n_states
    greater, equal, total = (np.empty(shape, dtype=object) for _ in range(3))
    scores = np.empty(shape)
    for row, length in enumerate(segment.lengths[first:last].tolist()):
        for time in range(learned, length):
            stream.learn(int(segment.states[time]), int(segment.codes[time]))
        learned = length
        ranked = stream.class_ranks(int(segment.codes[length]))
        greater[row], equal[row], total[row] = ranked.greater, ranked.equal, ranked.total
        scores[row] = ranked.scores
    return greater, equal, total, scores


def _score_steps(segment: Segment, size: int) -> FloatArray:
    """Score each step, by the state before it, its state and its symbol, a missing one first."""
    shape = size, size, len(segment.table) + 1
    start, states, codes = np.indices(shape).reshape(3, -1)
    windows = Windows(start, states[:, None], codes[:, None] - 1)
    return segment.task.score_windows(segment.estimate(size), windows).reshape(shape)
