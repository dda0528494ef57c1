"""Scores of the past under a fixed model: each window is scored once and for all."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

import numpy as np

from definetti._system.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from definetti.question import Question


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
