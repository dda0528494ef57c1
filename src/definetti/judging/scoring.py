"""All windows of a stretch scored under one model: those of the past, and candidates of the new.

Windows of symbols come again and again, and each is scored once. Others are written out in pieces
that a cache holds and whose memory is used again: the system takes longer to find new memory than
it takes to fill it.
"""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import FloatArray, IntArray, distinct_rows
from definetti.data.history import windows_at
from definetti.data.windows import Windows
from definetti.judging.stretch import Stretch
from definetti.models.estimate import Estimate

ROWS = 2**16  # steps of windows that are scored in one go


def score_past(stretch: Stretch, estimate: Estimate, ends: IntArray) -> FloatArray:
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


def score_candidates(
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
