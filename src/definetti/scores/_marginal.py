"""The mean over the steps of what each is by itself."""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import FloatArray
from definetti.data.history import Windows
from definetti.models.base import at_states, mean_at_states
from definetti.trellis.trellis import Trellis


def by_steps(probabilities: FloatArray) -> Trellis:
    """Return the trellis of one minus the mean of ``(h, n)`` probabilities along a path."""
    terms = (1.0 - probabilities) / len(probabilities)
    return Trellis(terms[0], terms[1:, None])


def mean_strangeness(probabilities: FloatArray, windows: Windows, lag: int) -> FloatArray:
    """Return one minus the mean probability of the states after the first `lag`: ``(B,)``."""
    if lag:
        return np.asarray(1.0 - at_states(probabilities, windows.states)[:, lag:].mean(axis=1))
    return 1.0 - mean_at_states(probabilities, windows.states)
