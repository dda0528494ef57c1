"""Windows that departed from the present state in any of several series."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from definetti._system.arrays import IntArray
from definetti.data.history import Completion, History
from definetti.data.sound import ANY
from definetti.symmetry.base import Chains
from definetti.symmetry.departures import Departures


@dataclass(frozen=True)
class TogetherDepartures(Departures):
    """Compare with what followed the present state in all series; exact where they have one law.

    The history is all series, one after the other, and the one that goes on comes last. No window
    leads from one into the next.

    With all windows, the promise is that of `Departures`, counted over all series: of the first
    ``M`` windows that depart from a state, in whatever series and in the order in which these come,
    at most ``α M`` are missed on average.

    With the first window of every *other* series alone, it holds at any time of the clock, given
    the present state: the first visit to it is known to come before the window is, and so the
    windows of different series, and the one to be predicted, are independent and have one law.

    The latest `recent` windows are those of the series that goes on first, then those of the
    others, from the last series to the first.

    Parameters
    ----------
    begins : where stretches begin in the history, the first at 0
    owners : the number of the series that each stretch belongs to
    first : whether the first window of each other series is taken alone
    """

    begins: tuple[int, ...] = (0,)
    owners: tuple[int, ...] = (0,)
    first: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        words = "over all series, exact where these have one law"
        if self.first:
            words = "of the first window of each other series, at any time where all have one law"
        object.__setattr__(self, "spans", words)
        object.__setattr__(self, "by_clock", self.first)
        object.__setattr__(self, "shared_calibration", self.first)

    def check(self, history: History) -> None:
        self._check_cuts(len(history))

    def _check_cuts(self, length: int) -> None:
        begins, owners = tuple(self.begins), tuple(self.owners)
        whole = all(isinstance(one, (int, np.integer)) for one in (*begins, *owners))
        rising = whole and begins[:1] == (0,) and all(a < b for a, b in pairwise(begins))
        if not (rising and len(owners) == len(begins) and begins[-1] <= length):
            raise ValueError(
                f"begins does not cut a history of {length:,} steps into stretches, each "
                "with its owner; give the place of each first step, 0 first"
            )
        if not all(0 <= one < ANY for one in owners):
            raise ValueError(f"owners must be whole numbers from 0 on, got {owners}")

    def lesson(self, completion: Completion) -> IntArray:
        raise ValueError(
            "TogetherDepartures needs a fixed model: what a refitted one may learn from all series "
            "is not known; give a trained model, or use series='all' with train_size"
        )

    def broken_off(self, length: int) -> TogetherDepartures:
        """Return the same for a last series that goes on, after a gap, at a time."""
        if self.begins[-1] == length:
            return self
        return replace(self, begins=(*self.begins, length), owners=(*self.owners, self.owners[-1]))

    def chains(self, tokens: IntArray, horizon: int) -> Chains:
        self._check_cuts(len(tokens))
        return super().chains(tokens, horizon)

    def _ends(self, history: History, horizon: int) -> IntArray:
        self._check_cuts(len(history))  # it may be another than the one that was checked
        return super()._ends(history, horizon)

    @property
    def _cuts(self) -> tuple[Any, ...]:
        return tuple(self.begins), tuple(self.owners), bool(self.first)


TogetherDepartures.known_as = Departures.known_as  # a name for people; there is one in the registry
