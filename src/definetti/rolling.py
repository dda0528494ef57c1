"""Prediction sets judged by the truth, window after window."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from definetti.sequence import piece
from definetti.sets import Evaluation

if TYPE_CHECKING:
    from definetti.conformal import ConformalHMM


def judged(
    predictor: ConformalHMM,
    new_observations: Any,
    truth: list[Any],
    confidence_level: float | None,
    horizon: int,
) -> Evaluation:
    """Predict each window of a stretch from all that came before it, then learn its labels.

    A copy learns; the predictor itself is left as it is.
    """
    learner = copy.deepcopy(predictor)
    rows = []
    for begin in range(0, len(truth) - horizon + 1, horizon):
        end = begin + horizon
        window = tuple(truth[begin:end])
        seen = None if new_observations is None else piece(new_observations, begin, end)
        s = learner.predict_set(seen, confidence_level, horizon=horizon)
        rows.append((window in s, len(s), s.scaled_size, learner.p_value(seen, window)))
        if end + horizon <= len(truth):
            learner.partial_fit(seen, window)
    return Evaluation(*map(np.array, zip(*rows, strict=True)))
