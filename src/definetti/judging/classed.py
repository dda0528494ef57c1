"""All one-step windows of a stretch ranked in the whole class, under a model that none changes.

With symbols the score of a step is one of a table, made once; how many members of the class end in
each step follows from counts that a label changes in one place.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.data.candidates import all_candidates
from definetti.data.history import Completion
from definetti.data.labels import MISSING
from definetti.data.windows import Windows
from definetti.judging.along import RankedWindows
from definetti.judging.stretch import Stretch
from definetti.ranks.stream import Stream
from definetti.strategies import find_step_reference

CELLS = 2**22  # scores that a table may have


def is_classed(stretch: Stretch) -> bool:
    """Tell whether windows are ranked so: one step, symbols, and classes that are counted."""
    question, n, symbols = stretch.question, len(stretch.names), len(stretch.table)
    ahead = question.unseen.any() and not stretch.data.plain
    if stretch.horizon > 1 or ahead or question.lag:
        return False
    if not question.history.symbols or n * n * (symbols + 1) > CELLS:
        return False
    return find_step_reference(question.symmetry, n, symbols) == "class"


def rank_classed_windows(stretch: Stretch) -> Iterator[RankedWindows]:
    """Yield the ranks of all states at all windows, between states that come up."""
    symbols, learned = len(stretch.table), stretch.known
    stream = Stream.of(stretch.question.history, symbols)
    for first, last, size in stretch.epochs():
        stream.grow(size, symbols)
        table = _score_steps(stretch, size)
        shape = last - first, size
        greater, equal, total = (np.empty(shape, dtype=object) for _ in range(3))
        scores = np.empty(shape)
        for row, length in enumerate(stretch.lengths[first:last].tolist()):
            for time in range(learned, length):
                stream.learn(int(stretch.states[time]), int(stretch.codes[time]))
            learned, code = length, int(stretch.codes[length])
            weights = stream.sources()
            sources = np.array([list(map(bool, one)) for one in weights], dtype=np.int64)
            placed = _place(table, stream.emissions, sources, stream.last, code).tolist()
            for state, (own, steps) in enumerate(zip(weights, placed, strict=True)):
                each = np.array(steps, dtype=object).T @ np.array(own, dtype=object)
                parts = each if any(own) else (0, 1, 1)  # nothing to compare it with
                greater[row, state], equal[row, state], total[row, state] = parts
            scores[row] = table[stream.last, :, code + 1]
        yield RankedWindows(
            first, last, size, all_candidates(size, 1), greater, equal, total, scores
        )


def _score_steps(stretch: Stretch, size: int) -> FloatArray:
    """Score each step, by the state before it, its state and its symbol, a missing one first."""
    question, nothing = stretch.question, np.zeros(1, dtype=np.int64)
    completion = Completion(question.history, nothing, nothing + MISSING, size)
    labels, statistics = stretch.names[:size], np.zeros((size, 0))
    estimate = question.model.estimate(completion, stretch.table, statistics, labels)
    shape = size, size, len(stretch.table) + 1
    start, states, codes = np.indices(shape).reshape(3, -1)
    windows = Windows(start, states[:, None], codes[:, None] - 1)
    return question.score_windows(estimate, windows).reshape(shape)


@kernel
def _place(
    table: FloatArray, emissions: IntArray, sources: IntArray, last: int, code: int
) -> IntArray:
    """Count, by state and the state before it, observations that make it stranger, as strange, all.

    Parameters
    ----------
    table : (n, n, m + 1) scores by state before, state and symbol, a missing one first
    emissions : (n, m + 1) counts, without the new step
    sources : (n, n) by state and the state before it, above 0 where some member comes so
    """
    n, width = emissions.shape
    placed = np.zeros((n, n, 3), dtype=np.int64)
    for state in range(n):
        emissions[state, code + 1] += 1
        own = table[last, state, code + 1]
        for u in range(n):
            for k in range(width):
                count = emissions[state, k]
                if sources[state, u] and count:
                    score = table[u, state, k]
                    placed[state, u, 0] += count * (score > own)
                    placed[state, u, 1] += count * (score == own)
                    placed[state, u, 2] += count
        emissions[state, code + 1] -= 1
    return placed
