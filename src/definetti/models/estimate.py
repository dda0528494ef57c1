"""What a score may ask of a model."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.data.sound import check_indices, check_shape
from definetti.data.windows import Windows


class Estimate(Protocol):
    """Probabilities of the states in ``B`` windows of ``h`` steps.

    Attributes
    ----------
    labels : the labels of the ``n`` states
    """

    @property
    def labels(self) -> tuple[Hashable, ...]: ...

    def filtering(self, windows: Windows) -> FloatArray:
        """Probability of each state given the observations so far: ``(B, h, n)``."""
        ...

    def smoothing(self, windows: Windows) -> FloatArray:
        """Probability of each state given all observations of the window: ``(B, h, n)``."""
        ...

    def joint(self, windows: Windows, order: int) -> FloatArray:
        """Probability of each run of ``order + 1`` states of the window: ``(B, h − order)``."""
        ...

    def log_posterior(self, windows: Windows) -> FloatArray:
        """Log-probability of the states of the window given its observations: ``(B,)``."""
        ...

    def log_emission(self, windows: Windows) -> FloatArray:
        """Log-likelihood of the observations of the window given its states: ``(B,)``.

        Of a model that knows states alone, up to a term that is the same for all states: what
        their log-probability gains by the observations.
        """
        ...

    def pairwise(self, windows: Windows) -> FloatArray:
        """Probability of each two successive states of the window: ``(B, h − 1, n, n)``."""
        ...

    def log_kernels(self, windows: Windows) -> tuple[FloatArray, FloatArray]:
        """Log-probability of each last state, ``(B, n)``, and of each state given the next one.

        The latter has the shape ``(B, h − 1, n, n)``, state by next state; along a path all add
        up to `log_posterior`.
        """
        ...

    def decode(self, codes: IntArray) -> npt.NDArray[Any]:
        """Observations as they came."""
        ...


def at_states(probabilities: FloatArray, states: IntArray) -> FloatArray:
    """Pick, at each step, the probability of the state that the window has there: ``(B, h)``."""
    return _at_states(_checked(probabilities, states), states)


def mean_at_states(probabilities: FloatArray, states: IntArray) -> FloatArray:
    """Average over the steps what `at_states` picks: ``(B,)``."""
    return _mean_at_states(_checked(probabilities, states), states)


def _checked(probabilities: Any, states: IntArray) -> FloatArray:
    """Return probabilities, which may be those of a model of the user's, if they fit the states."""
    found = np.asarray(probabilities, dtype=np.float64)
    check_shape(found, (*states.shape, *found.shape[2:3]), "the model's probabilities")
    check_indices(states, 0, found.shape[2] if found.ndim == 3 else 0, "states")
    return found


@kernel
def _at_states(probabilities: FloatArray, states: IntArray) -> FloatArray:
    size, steps = states.shape
    picked = np.empty((size, steps))
    for b in range(size):
        for k in range(steps):
            picked[b, k] = probabilities[b, k, states[b, k]]
    return picked


@kernel
def _mean_at_states(probabilities: FloatArray, states: IntArray) -> FloatArray:
    size, steps = states.shape
    mean = np.zeros(size)
    for b in range(size):
        for k in range(steps):
            mean[b] += probabilities[b, k, states[b, k]]
    mean /= steps
    return mean
