"""What a score has to offer."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from definetti.arrays import FloatArray
from definetti.hmm.estimate import Estimate
from definetti.windows import Windows


class Score(ABC):
    """A function from an estimated model and ``B`` windows to ``B`` numbers.

    It may look at the completed sequence through these two alone, and at codes only to look
    things up in the model, never as numbers: which symbol gets which code depends on when it was
    first met, and a rearrangement changes that. Then every score is valid, and the choice is a
    matter of size.
    """

    @property
    def name(self) -> str:
        """What to call it in a result."""
        return type(self).__name__.lower()

    @abstractmethod
    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        """Return ``(B,)`` numbers, large where a window is strange; infinity is allowed."""


def evaluate(score: Score, estimate: Estimate, windows: Windows) -> FloatArray:
    """Score windows and refuse an answer that cannot be ranked."""
    try:
        values = np.asarray(score(estimate, windows), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(f"score must return one number per window: {error}") from error
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
