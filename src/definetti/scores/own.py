"""A score of the user's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray
from definetti.data.history import Windows
from definetti.models.base import Estimate
from definetti.scores.base import StepScore, blamed


class LabelledWindows(NamedTuple):
    """Windows as a user knows them: labels and observations as they came.

    Attributes
    ----------
    start : (B,) the state just before the window
    states : (B, h) the states in the window; those asked about, where labels come late
    observations : (B, h) the observations in the window, None where missing
    """

    start: npt.NDArray[Any]
    states: npt.NDArray[Any]
    observations: npt.NDArray[Any]


@dataclass(frozen=True)
class OnWindows(StepScore):
    """Any function from `LabelledWindows` to one number a window.

    Valid if it is a function of the window alone: written down before the labels are looked at,
    and keeping nothing between calls. One that knows which pairs of a state and an observation the
    labelled history has finds every new pair strange, and leaves out the truth.
    """

    function: Callable[[LabelledWindows], Any]

    squares = False

    @property
    def name(self) -> str:  # type: ignore[override]
        return getattr(self.function, "__name__", type(self.function).__name__)

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        labels = np.fromiter(estimate.labels, dtype=object, count=len(estimate.labels))
        observations = estimate.decode(windows.observations)
        states = labels[windows.states[:, self.lag :]]
        labelled = LabelledWindows(labels[windows.start], states, observations)
        try:
            return np.asarray(self.function(labelled), dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise blamed(error) from error
