"""Predict window after window of a history, each from all labels before it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from definetti import ConformalHMM
from definetti.engine.pvalues import Rank
from definetti.evaluation.rolling import roll_windows
from definetti.exceptions import NotExactWarning
from definetti.experiments.worlds import Recording

TRAINED, LABELLED = 0.5, 0.75  # shares of a history: trained on, labelled before the first window


class StudiedMethod(NamedTuple):
    """A way to make sets: an estimator for so many labelled steps, and whether to break ties."""

    name: str
    make: Callable[[int], ConformalHMM]
    smoothed: bool = False


class Outcome(NamedTuple):
    """One window: its true last state, who was ranked where, the truth's rank, and the time."""

    last: Hashable
    ranks: Sequence[Rank]
    truth: Rank | None
    uniform: float
    seconds: float

    def covered(self, alpha: Fraction, smoothed: bool) -> bool:
        return self.truth is not None and self.truth.exceeds(alpha, self._broken(smoothed))

    def size(self, alpha: Fraction, smoothed: bool) -> int:
        return sum(rank.exceeds(alpha, self._broken(smoothed)) for rank in self.ranks)

    def _broken(self, smoothed: bool) -> float | None:
        return self.uniform if smoothed else None


def begins(length: int, horizon: int, count: int) -> list[int]:
    """Return where windows begin: in the last part, evenly spread, none overlapping another.

    >>> begins(100, horizon=3, count=4)
    [75, 81, 87, 96]
    """
    first = int(LABELLED * length)
    slots = (length - first) // horizon
    chosen = np.linspace(0, slots - 1, min(count, slots)).astype(int)
    return [first + horizon * int(slot) for slot in chosen]


def rank_windows(
    history: Recording, method: StudiedMethod, horizon: int, count: int
) -> list[Outcome]:
    """Rank all candidates for each window; labels are revealed once a window is judged."""
    windows = begins(len(history.states), horizon, count)
    known = windows[0]
    with warnings.catch_warnings():
        # The baseline is not valid; that is what it is here for.
        warnings.simplefilter("ignore", NotExactWarning)
        cp = method.make(len(history.states)).fit(*history.piece(0, known))
    rng = np.random.default_rng(0)
    found = []
    started = time.perf_counter()
    for window in roll_windows(cp, *history[:2], windows, horizon, known):
        ranks = cp.predict_ranks(window.observations)
        seconds = time.perf_counter() - started
        truth = ranks.get(window.truth)
        uniform = float(rng.random())
        found.append(Outcome(window.truth[-1], list(ranks.values()), truth, uniform, seconds))
        started = time.perf_counter()
    return found
