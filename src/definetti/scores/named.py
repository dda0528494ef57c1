"""Scores by their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from definetti.scores.base import Score
from definetti.scores.joint import Joint
from definetti.scores.marginal import Band, Filter, Smoother
from definetti.scores.own import OnWindows
from definetti.scores.path import Path

NAMED: dict[str, type[Score]] = {
    "path": Path,
    "filter": Filter,
    "smoother": Smoother,
    "joint": Joint,
    "band": Band,
}


def resolve(score: str | Score | Callable[..., Any]) -> Score:
    """Find a score by its name; any other callable is a function of labelled windows.

    >>> resolve("path")
    Path()
    """
    if isinstance(score, Score):
        return score
    if isinstance(score, str) and score in NAMED:
        return NAMED[score]()
    if callable(score) and not isinstance(score, type):
        return OnWindows(score)
    raise ValueError(
        f"score must be one of {', '.join(map(repr, NAMED))}, a definetti.scores.Score or a "
        f"function of windows, got {score!r}"
    )
