"""Scores of the past under a fixed model: each stretch is scored once and for all."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.models.estimate import Estimate

if TYPE_CHECKING:
    from definetti.question import Question


def past_scores(
    question: Question, estimate: Estimate, ends: IntArray, stream: Hashable
) -> FloatArray:
    """Score the stretches of the history that end at given times, in rising order of score.

    Parameters
    ----------
    ends : the times, latest first
    stream : a name for what the times have in common, under which they are found again
    """
    if not question.model.fixed:
        return np.sort(question.score_windows(estimate, question.windows_ending(ends)))
    memory, key = question.history.lasting, ("sorted", stream)
    old_ends, old = memory.recall(question.setting, key, lambda: (ends[:0], np.zeros(0)))
    fresh = len(ends) - len(old_ends)
    if fresh >= 0 and np.array_equal(ends[fresh:], old_ends):
        # The usual case in rolling prediction: what is new is put in its place.
        new = np.sort(_noted(question, estimate, ends[:fresh]))
        scores = np.insert(old, np.searchsorted(old, new), new)
    else:
        scores = np.sort(_noted(question, estimate, ends))
    memory.note(question.setting, key, (ends, scores))
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


def _noted(question: Question, estimate: Estimate, ends: IntArray) -> FloatArray:
    """Look scores up among those noted for each time, NaN where none was; add what is missing."""
    memory, length = question.history.lasting, len(question.history)
    notes = memory.recall(question.setting, "scores", lambda: np.zeros(0))
    if len(notes) < length:
        notes = np.concatenate([notes, np.full(2 * length - len(notes), np.nan)])
        memory.note(question.setting, "scores", notes)
    todo = ends[np.isnan(notes[ends])]
    if len(todo):
        notes[todo] = question.score_windows(estimate, question.windows_ending(todo))
    return notes[ends]
