"""Prediction sets judged by the truth, window after window."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable, Iterator
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from definetti._system.arrays import IntArray
from definetti._system.progress import show_progress
from definetti.data.labels import piece
from definetti.sets import Evaluation, LatticeSet, PredictionSet, StepSets

if TYPE_CHECKING:
    from definetti.conformal import ConformalHMM


def judged(
    predictor: ConformalHMM,
    new_observations: Any,
    truth: list[Any],
    confidence_level: float | None,
    horizon: int,
    lag: int = 0,
    verbose: bool = False,
) -> Evaluation:
    """Predict each window of a stretch from all that came before it, then learn its labels.

    A copy learns; the predictor itself is left as it is. If `verbose`, a bar counts the windows.
    """
    rows, nodes, places = [], [], []
    late = {"lag": lag} if lag else {}  # not all predictors know of late labels
    for learner, seen, whole in learning(predictor, new_observations, truth, horizon, verbose):
        window = whole[lag:]
        s = learner.predict_set(seen, confidence_level, horizon=horizon, **late)
        p = np.nan
        if not isinstance(s, StepSets):
            p = learner.p_value(seen, window, **late)
        codes = places_of(window, s.states)
        right = s.nodes[np.arange(len(codes)), codes] & (codes >= 0)
        rows.append((window in s, *_sizes(s), p, 1 - right.mean(), s.nodes.sum(axis=1).mean()))
        nodes.append(s.nodes)
        places.append(codes)
    n = s.nodes.shape[1]  # states may have come up on the way
    grown = [np.pad(each, [(0, 0), (0, n - each.shape[1])]) for each in nodes]
    columns: list[Any] = [np.array(column) for column in zip(*rows, strict=True)]
    return Evaluation(*columns)._replace(
        states=s.states,
        truth=np.concatenate(places),
        nodes=np.concatenate(grown),
        confidence_level=s.confidence_level,
    )


def learning(
    predictor: Any, new_observations: Any, truth: list[Any], horizon: int, verbose: bool
) -> Iterator[tuple[Any, Any, tuple[Hashable, ...]]]:
    """Yield, for each window, a predictor that knows all before it, what is seen, and the truth.

    It is one predictor, a copy, that learns the labels of a window once it was judged by it.
    """
    learner = copy.deepcopy(predictor)
    begins = range(0, len(truth) - horizon + 1, horizon)
    if len(begins) > 1 and hasattr(learner, "verbose"):
        learner.verbose = False  # one bar for all windows, and none within it
    watching = verbose and len(begins) > 1
    what = f"{type(predictor).__name__}: predicting windows"  # whose, where several are judged
    for begin in show_progress(begins, len(begins), what, watching):
        end = begin + horizon
        seen = None if new_observations is None else piece(new_observations, begin, end)
        yield learner, seen, tuple(truth[begin:end])
        if end + horizon <= len(truth):
            learner.partial_fit(seen, truth[begin:end])


def places_of(labels: Iterable[Hashable], states: tuple[Hashable, ...]) -> IntArray:
    """Return the codes of labels, −1 for one that is not among the states.

    >>> places_of(["rain", "snow"], ("sun", "rain"))
    array([ 1, -1])
    """
    return np.array([states.index(label) if label in states else -1 for label in labels])


def _sizes(s: PredictionSet | LatticeSet | StepSets) -> tuple[float, float]:
    """Return the number of sequences in a set, as a number or an infinity, and their share."""
    if isinstance(s, PredictionSet):
        return len(s), s.scaled_size
    every = len(s.states) ** s.horizon
    number = s.size().high if isinstance(s, LatticeSet) else prod(s.widths.tolist())
    return (float(number) if number < 2**1000 else np.inf), float(Fraction(number, every))
