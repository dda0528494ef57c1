"""Prediction sets judged by the truth, window after window."""

from __future__ import annotations

import copy
from collections.abc import Hashable
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from definetti.sequence import piece
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
) -> Evaluation:
    """Predict each window of a stretch from all that came before it, then learn its labels.

    A copy learns; the predictor itself is left as it is.
    """
    learner = copy.deepcopy(predictor)
    rows, nodes, places = [], [], []
    late = {"lag": lag} if lag else {}  # not all predictors know of late labels
    for begin in range(0, len(truth) - horizon + 1, horizon):
        end = begin + horizon
        window = tuple(truth[begin + lag : end])
        seen = None if new_observations is None else piece(new_observations, begin, end)
        s = learner.predict_set(seen, confidence_level, horizon=horizon, **late)
        p = np.nan
        if not isinstance(s, StepSets):
            p = learner.p_value(seen, window, **late)
        codes = np.array([_place(label, s.states) for label in window])
        right = s.nodes[np.arange(len(codes)), codes] & (codes >= 0)
        rows.append((window in s, *_sizes(s), p, 1 - right.mean(), s.nodes.sum(axis=1).mean()))
        nodes.append(s.nodes)
        places.append(codes)
        if end + horizon <= len(truth):
            learner.partial_fit(seen, truth[begin:end])
    n = s.nodes.shape[1]  # states may have come up on the way
    grown = [np.pad(each, [(0, 0), (0, n - each.shape[1])]) for each in nodes]
    columns: list[Any] = [np.array(column) for column in zip(*rows, strict=True)]
    return Evaluation(*columns)._replace(
        states=s.states,
        truth=np.concatenate(places),
        nodes=np.concatenate(grown),
        confidence_level=s.confidence_level,
    )


def _place(label: Hashable, states: tuple[Hashable, ...]) -> int:
    return states.index(label) if label in states else -1


def _sizes(s: PredictionSet | LatticeSet | StepSets) -> tuple[float, float]:
    """Return the number of sequences in a set, as a number or an infinity, and their share."""
    if isinstance(s, PredictionSet):
        return len(s), s.scaled_size
    every = len(s.states) ** s.horizon
    number = s.size().high if isinstance(s, LatticeSet) else prod(s.widths.tolist())
    return (float(number) if number < 2**1000 else np.inf), float(Fraction(number, every))
