"""Scores by what the user gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from definetti.scores.base import Score
from definetti.scores.own import OnWindows


def resolve(score: str | Score | Callable[..., Any]) -> Score:
    """Find a score by its name; any other callable is a function of labelled windows.

    >>> resolve("path")
    Path()
    """
    if isinstance(score, Score):
        return score
    if isinstance(score, str) and score in Score.named:
        found: Score = Score.named[score]()
        return found
    if callable(score) and not isinstance(score, type):
        return OnWindows(score)
    raise ValueError(
        f"score must be one of {', '.join(map(repr, Score.named))}, a definetti.scores.Score or a "
        f"function of windows, got {score!r}"
    )
