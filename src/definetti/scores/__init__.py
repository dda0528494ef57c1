"""How strange is a window? Large means strange: one score a file, one contract."""

from definetti.scores.base import Score, StepScore
from definetti.scores.joint import Joint
from definetti.scores.marginal import Band, Filter, Smoother
from definetti.scores.named import resolve
from definetti.scores.own import LabelledWindows, OnWindows
from definetti.scores.path import Path

__all__ = [
    "Band",
    "Filter",
    "Joint",
    "LabelledWindows",
    "OnWindows",
    "Path",
    "Score",
    "Smoother",
    "StepScore",
    "resolve",
]
