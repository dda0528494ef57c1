"""An estimator that learns the labels of a stream when it is asked, not before."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import narwhals as nw

from definetti.conformal import ConformalHMM


class Follower:
    """An estimator, and the labelled rows that it does not know yet.

    Taking rows in one by one costs more than all at once, and where sets come from counts the
    estimator is hardly ever asked.

    Parameters
    ----------
    cp : a fitted estimator, which is the follower's own
    forgets : whether rows are let go, so that the estimator stays as it is
    """

    def __init__(self, cp: ConformalHMM, forgets: bool) -> None:
        self.forgets = forgets
        self.missed = 0
        self._cp = cp
        self._rows: list[Any] = []
        self._labels: list[Hashable] = []

    @property
    def known(self) -> ConformalHMM:
        """The estimator as it is, which need not know the last labels."""
        return self._cp

    @property
    def cp(self) -> ConformalHMM:
        """The estimator, which knows all labels."""
        if self.missed:
            raise ValueError(
                f"keep= was given, so that {self.missed} labelled rows are known by their counts "
                "alone, which is not enough for this; leave keep out"
            )
        if self._labels:
            self._cp.partial_fit(self.stacked(self._rows), self._labels)
            self._rows, self._labels = [], []
        return self._cp

    def learn(self, observation: Any, label: Hashable) -> None:
        """Let the sequence go on."""
        if self.forgets:
            self.missed += 1
            return
        self._rows.append(observation)
        self._labels.append(label)

    def new_segment(self) -> None:
        """Begin a new segment."""
        if not self.forgets:
            self.cp.new_segment()

    def stacked(self, rows: list[Any]) -> Any:
        """Put observations together as an estimator reads them; None for a plain chain."""
        return None if self._cp._data.plain else stack_rows(rows)


def stack_rows(rows: list[Any]) -> Any:
    """Put single observations into a list, and frames of one row into a frame."""
    frames = [nw.from_native(row, eager_only=True, pass_through=True) for row in rows]
    if rows and all(isinstance(frame, nw.DataFrame) for frame in frames):
        return nw.concat(frames).to_native()
    return rows
