"""A score of the user's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti.arrays import FloatArray
from definetti.hmm.model import Parameters
from definetti.scores.contract import Score
from definetti.windows import Windows


class LabelledWindows(NamedTuple):
    """Windows as a user knows them: labels and observations as they came.

    Attributes
    ----------
    start : (B,) the state just before the window
    states : (B, h) the states in the window
    observations : (B, h) the observations in the window, None where missing
    """

    start: npt.NDArray[Any]
    states: npt.NDArray[Any]
    observations: npt.NDArray[Any]


@dataclass(frozen=True)
class OnWindows(Score):
    """Any function from `LabelledWindows` to one number a window; valid whatever it computes."""

    function: Callable[[LabelledWindows], Any]

    def __call__(self, parameters: Parameters, windows: Windows) -> FloatArray:
        labels = np.fromiter(parameters.labels, dtype=object, count=len(parameters.labels))
        observations = parameters.emission.decode(parameters.table, windows.observations)
        labelled = LabelledWindows(labels[windows.start], labels[windows.states], observations)
        return np.asarray(self.function(labelled), dtype=np.float64)
