"""Scores of the past under a fixed model: each window is scored once and for all."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.data.history import History

if TYPE_CHECKING:
    from definetti.question import Question

Scored = Callable[[IntArray], FloatArray]


def past_scores(
    history: History, setting: Hashable, stream: Hashable, ends: IntArray, scored: Scored
) -> FloatArray:
    """Score the windows of a history that end at given times, in rising order of score.

    Parameters
    ----------
    setting : all that the score of a window depends on but the window
    stream : a name for what the times have in common, under which they are found again
    ends : the times, latest first
    scored : from times to the scores of the windows that end there; asked only for what is new

    Examples
    --------
    >>> history = History(n_states=2)
    >>> history.append(np.array([0, 1, 0, 1]), np.array([0, 1, 1, 0]))
    >>> past_scores(history, "setting", "stream", np.array([3, 1]), lambda ends: 1.0 / ends)
    array([0.33333333, 1.        ])
    >>> past_scores(history, "setting", "stream", np.array([3, 1]), lambda ends: 1 / 0)
    array([0.33333333, 1.        ])
    """
    memory, key = history.lasting, ("sorted", stream)
    old_ends, old = memory.recall(setting, key, lambda: (ends[:0], np.zeros(0)))
    fresh = len(ends) - len(old_ends)
    if fresh >= 0 and np.array_equal(ends[fresh:], old_ends):
        # The usual case in rolling prediction: what is new is put in its place.
        new = np.sort(_noted(history, setting, ends[:fresh], scored))
        scores = np.insert(old, np.searchsorted(old, new), new)
    else:
        scores = np.sort(_noted(history, setting, ends, scored))
    memory.note(setting, key, (ends, scores))
    return scores


def all_scores(
    question: Question, name: Hashable, scored: Callable[[IntArray], FloatArray]
) -> FloatArray:
    """Score all windows of the past, the oldest first, each once and for all if that is possible.

    Parameters
    ----------
    name : a name for the way of scoring, under which scores are found again
    scored : from ends of windows to their scores
    """
    history = question.history
    ends = np.arange(len(question.observations), len(history))
    if not len(ends):
        return np.zeros(0)
    if not question.model.fixed:
        return scored(ends)
    key = "in order", name
    known = history.lasting.recall(question.setting, key, lambda: np.zeros(0))
    if len(known) < len(ends):  # in rolling prediction, what is new alone
        known = np.concatenate([known, scored(ends[len(known) :])])
        history.lasting.note(question.setting, key, known)
    return known


def _noted(history: History, setting: Hashable, ends: IntArray, scored: Scored) -> FloatArray:
    """Look scores up among those noted for each time, NaN where none was; add what is missing."""
    memory, length = history.lasting, len(history)
    notes = memory.recall(setting, "scores", lambda: np.zeros(0))
    if len(notes) < length:
        notes = np.concatenate([notes, np.full(2 * length - len(notes), np.nan)])
        memory.note(setting, "scores", notes)
    todo = ends[np.isnan(notes[ends])]
    if len(todo):
        notes[todo] = scored(todo)
    return notes[ends]
