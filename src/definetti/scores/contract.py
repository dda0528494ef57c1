"""What a score has to offer."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from definetti.arrays import FloatArray
from definetti.hmm.model import Parameters
from definetti.windows import Windows


class Score(ABC):
    """A function from an estimated model and ``B`` windows to ``B`` numbers.

    It may look at the completed sequence through these two alone, and at codes only to look
    things up in the model, never as numbers: which symbol gets which code depends on when it was
    first met, and a rearrangement changes that. Then every score is valid, and the choice is a
    matter of size.
    """

    @abstractmethod
    def __call__(self, parameters: Parameters, windows: Windows) -> FloatArray:
        """Return ``(B,)`` numbers, large where a window is strange; infinity is allowed."""


def evaluate(score: Score, parameters: Parameters, windows: Windows) -> FloatArray:
    """Score windows and refuse an answer that cannot be ranked."""
    values = np.asarray(score(parameters, windows), dtype=np.float64)
    if values.shape != windows.start.shape:
        raise ValueError(
            f"score returned shape {values.shape} for {len(windows.start)} windows; "
            f"return one number per window, shape {windows.start.shape}"
        )
    if np.isnan(values).any():
        raise ValueError(
            f"score returned NaN for window {int(np.isnan(values).argmax())}; "
            "return a number, or infinity for the strangest"
        )
    return values
