"""The figures of one method at one horizon and level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from definetti.engine.pvalues import miscoverage
from definetti.evaluation.summarize import exact_interval, find_worst_state, split_by_last_state
from studies.rolling import Outcome, StudiedMethod

LEVELS = (0.8, 0.9)
ENOUGH = 20  # windows that end in a state, for its own coverage to mean something


class StudyRow(NamedTuple):
    """A line of the table.

    Attributes
    ----------
    coverage, low, high : the share of windows whose set held the truth, and its exact interval
    worst, worst_state : the least coverage given the true last state; None where no state has
        enough windows
    size : how many sequences a set held on average
    seconds : median time per prediction, with the labels revealed since the one before
    """

    data: str
    method: str
    horizon: int
    level: float
    windows: int
    coverage: float
    low: float
    high: float
    worst: float | None
    worst_state: str | None
    size: float
    seconds: float


def sum_up_windows(
    data: str, method: StudiedMethod, horizon: int, outcomes: Sequence[Outcome]
) -> list[StudyRow]:
    """Sum up windows, once for each level."""
    found = []
    lasts = [outcome.last for outcome in outcomes]
    # The first prediction of all compiles; the median does not see it.
    seconds = float(np.median([outcome.seconds for outcome in outcomes]))
    for level in LEVELS:
        alpha = miscoverage(level)
        covered = np.array([o.covered(alpha, method.smoothed) for o in outcomes])
        size = float(np.mean([o.size(alpha, method.smoothed) for o in outcomes]))
        worst, state = find_worst_state(split_by_last_state(covered, lasts, ENOUGH))
        found.append(
            StudyRow(
                data,
                method.name,
                horizon,
                level,
                len(outcomes),
                float(covered.mean()),
                *exact_interval(int(covered.sum()), len(outcomes)),
                worst,
                state,
                size,
                seconds,
            )
        )
    return found
