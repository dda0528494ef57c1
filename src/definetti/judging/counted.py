"""All one-step windows of a stretch ranked at once under a model refitted on counts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.data.candidates import all_candidates
from definetti.judging.along import RankedWindows
from definetti.judging.stretch import Stretch
from definetti.ranks.counting import rank_steps
from definetti.ranks.stream import Stream
from definetti.strategies import LEAST, find_priors, find_step_reference, find_step_score

STEPS = 2**16  # windows that are ranked in one go: in between, Python hears Ctrl-C


def find_way(stretch: Stretch) -> str:
    """Return what steps are compared with, "past" or "class"; nothing where counts do not tell."""
    question = stretch.question
    if stretch.horizon > 1 or question.model.fixed or not find_step_score(question.score):
        return ""
    if question.unseen.any() and not stretch.data.plain:
        return ""  # what is not seen yet is left out of the past, too
    priors = find_priors(question.model, stretch.table)
    if priors is None or min(priors) < LEAST:
        return ""
    return find_step_reference(question.symmetry, len(stretch.names), len(stretch.table))


def rank_counted_windows(stretch: Stretch, way: str) -> Iterator[RankedWindows]:
    """Yield the ranks of all states at all windows, some windows at a time."""
    question, history = stretch.question, stretch.question.history
    priors = find_priors(question.model, stretch.table)
    assert priors is not None
    symbols = _symbols(stretch)
    surprise = find_step_score(question.score) == "surprise"
    recent = question.symmetry.recent if way == "past" else None
    stream = Stream.of(history, int(symbols[0]), priors, surprise, recent)
    learned = stretch.known
    for first, last in _pieces(stretch, symbols):
        size = int(stretch.sizes[first])
        stream.grow(size, int(symbols[first]))
        rank = _rank_past if way == "past" else _rank_class
        ranks = rank(stream, stretch, learned, first, last)
        learned = int(stretch.lengths[last - 1])
        yield RankedWindows(first, last, size, all_candidates(size, 1), *ranks)


def _symbols(stretch: Stretch) -> IntArray:
    """Return how many symbols are known when each window is predicted, its own included."""
    known = len(stretch.data.table)
    met = np.maximum.accumulate(np.append(known - 1, stretch.codes[stretch.known :]))
    return np.asarray(met[stretch.begins + 1] + 1)


def _pieces(stretch: Stretch, symbols: IntArray) -> Iterator[tuple[int, int]]:
    """Yield windows between which neither a state nor a symbol is new, not too many at a time."""
    fresh = (np.diff(stretch.sizes) > 0) | (np.diff(symbols) > 0)
    edges = [0, *(np.flatnonzero(fresh) + 1).tolist(), len(symbols)]
    for begin, end in pairwise(edges):
        for first in range(begin, end, STEPS):
            yield first, min(first + STEPS, end)


Ranks = tuple[IntArray, IntArray, IntArray, FloatArray]


def _rank_past(stream: Stream, stretch: Stretch, learned: int, first: int, last: int) -> Ranks:
    met = np.zeros(stream.n_states, dtype=np.bool_)
    met[np.unique(stretch.states[:learned])] = True
    end = int(stretch.lengths[last - 1]) + 1
    states, codes = stretch.states[learned - 1 : end], stretch.codes[learned - 1 : end]
    lengths = stretch.lengths[first:last] - learned
    stream.make_room(len(states))
    return rank_steps(
        stream.pooled, stream.emissions, stream.steps, stream.ring, stream.entered, met, states,
        codes, lengths, stream.priors, stream.surprise,
    )  # fmt: skip


def _rank_class(stream: Stream, stretch: Stretch, learned: int, first: int, last: int) -> Ranks:
    shape = last - first, stream.n_states
    greater, equal, total = (np.empty(shape, dtype=object) for _ in range(3))
    scores = np.empty(shape)
    for row, length in enumerate(stretch.lengths[first:last].tolist()):
        for time in range(learned, length):
            stream.learn(int(stretch.states[time]), int(stretch.codes[time]))
        learned = length
        placed = stream.place_all(int(stretch.codes[length]))
        scores[row] = placed.scores
        for state, whole in enumerate(placed.wholes()):
            greater[row, state], equal[row, state] = whole.greater, whole.equal
            total[row, state] = whole.total
    return greater, equal, total, scores
