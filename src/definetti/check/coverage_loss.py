"""Measure what a departure from the assumption costs: coverage of the default sets.

With many rows every test rejects. To see whether that matters, the default estimator is fitted on
the first half of the latest rows and predicts windows of the second half, each from all rows before
the window.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from definetti._system.arrays import IntArray
from definetti.data.labels import piece
from definetti.evaluation.backtest import segments_after, spread_windows
from definetti.evaluation.intervals import exact_interval
from definetti.evaluation.window_loop import count_windows, roll_segments
from definetti.memory import Memory

LATEST = 100_000  # the most rows that are used
SLOW_WINDOWS = 500  # the most windows where each takes milliseconds
FEWEST = 20  # the fewest windows for a measurement


class MeasuredCoverage(NamedTuple):
    """Coverage of the default estimator's sets over the windows of a history.

    Attributes
    ----------
    coverage : share of windows whose true states are in their set
    low, high : its exact 95 % interval, with windows taken as independent
    level : the confidence level of the sets
    horizon, windows : the steps of a window, and how many windows were predicted
    size : the mean number of sequences in a set
    """

    coverage: float
    low: float
    high: float
    level: float
    horizon: int
    windows: int
    size: float

    @property
    def verdict(self) -> str:
        """A sentence that says whether coverage is lost."""
        ahead = "one step" if self.horizon == 1 else f"{self.horizon:,} steps"
        measured = (
            f"Default sets {ahead} ahead covered {self.coverage:.3f} [{self.low:.3f}, "
            f"{self.high:.3f}] of {self.windows:,} windows of this history, promised {self.level:g}"
        )
        if self.high < self.level:
            return f"{measured}: {self.level - self.coverage:.3f} of coverage is lost."
        return f"{measured}: no loss of coverage is seen."


class NotMeasured(ValueError):
    """Coverage cannot be measured, for the reason in the message."""


def measure_coverage(
    observations: Any,
    states: Sequence[Any],
    begins: IntArray,
    memory: Memory,
    horizon: int,
    entropy: int,
) -> MeasuredCoverage:
    """Fit the default estimator on the first half of the latest rows; predict the second half."""
    from definetti.conformal import ConformalHMM

    first = max(len(states) - LATEST, 0)
    length = len(states) - first
    ends = np.maximum(begins - first, 0)
    lengths = [end - begin for begin, end in pairwise(ends.tolist()) if end > begin]
    half = length // 2
    ahead = segments_after(half, lengths)
    number = count_windows(ahead, horizon)
    if number < FEWEST:
        raise NotMeasured(f"its second half has {number} windows, and {FEWEST} are needed")

    def rows(begin: int, end: int) -> tuple[Any, Any]:
        seen = None if observations is None else piece(observations, begin, end)
        return seen, list(states[begin:end])

    known = np.diff(np.minimum(np.cumsum(lengths), half), prepend=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # shortcomings show in coverage and size
        try:
            cp = ConformalHMM(memory=memory, random_state=entropy)
            cp.fit(*rows(first, first + half), lengths=known[known > 0].tolist())
            places = spread_windows(number, SLOW_WINDOWS)
            judged = roll_segments(
                cp, *rows(first + half, len(states)), ahead, horizon, places, True, levels=[None]
            ).evaluation(0)
        except (ValueError, TypeError, MemoryError) as error:
            raise NotMeasured(str(error)) from None
    windows = len(judged.covered)
    covered = int(judged.covered.sum())
    return MeasuredCoverage(
        covered / windows, *exact_interval(covered, windows), float(cp.confidence_level), horizon,
        windows, judged.size,
    )  # fmt: skip
