"""What a score may ask of a model."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.data.labels import MISSING
from definetti.data.windows import Windows
from definetti.emissions import Emission
from definetti.models.kernels import backward, forward, paths


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


class Parameters(NamedTuple):
    """A hidden Markov model.

    Attributes
    ----------
    transition : (n, n) row-stochastic matrix
    emission, table, statistics : the estimate of the law of the observations
    labels : the labels of the states
    """

    transition: FloatArray
    emission: Emission
    table: Any
    statistics: FloatArray
    labels: tuple[Hashable, ...]

    def log_likelihood(self, observations: IntArray) -> FloatArray:
        """Log-likelihood of coded observations in each state: ``observations.shape + (n,)``."""
        return self.emission.log_likelihood(self.table, self.statistics, observations)

    def filtering(self, windows: Windows) -> FloatArray:
        return forward.filtering(*self._seen(windows))

    def smoothing(self, windows: Windows) -> FloatArray:
        return backward.smoothing(*self._seen(windows))

    def joint(self, windows: Windows, order: int) -> FloatArray:
        return backward.joint(*self._seen(windows), windows.states, order)

    def log_posterior(self, windows: Windows) -> FloatArray:
        return paths.log_posterior(*self._seen(windows), windows.states)

    def pairwise(self, windows: Windows) -> FloatArray:
        return backward.pairwise(*self._seen(windows))[:, 1:]

    def log_kernels(self, windows: Windows) -> tuple[FloatArray, FloatArray]:
        return paths.log_kernels(*self._seen(windows))

    def decode(self, codes: IntArray) -> npt.NDArray[Any]:
        return self.emission.decode(self.table, codes)

    def _seen(self, windows: Windows) -> tuple[FloatArray, forward.Coded, IntArray]:
        # Each distinct observation is judged once.
        if self.emission.symbols and len(self.table) < windows.observations.size:
            distinct, places = np.arange(len(self.table) + 1), windows.observations
            distinct[-1] = MISSING  # −1, which finds the last row
        else:
            distinct, places = np.unique(windows.observations, return_inverse=True)
        logs = self.log_likelihood(distinct)
        coded = forward.Coded(logs, places.reshape(windows.observations.shape))
        return self.transition, coded, windows.start


class Marginals(NamedTuple):
    """Probabilities of each state by itself, from a function that knows no chain.

    A run of states has the product of its probabilities: a poor estimate of the joint law makes
    larger sets, not invalid ones.

    Attributes
    ----------
    probabilities : function from `Windows` to ``(B, h, n)``
    """

    probabilities: Callable[[Windows], FloatArray]
    decoded: Callable[[IntArray], npt.NDArray[Any]]
    labels: tuple[Hashable, ...]

    def filtering(self, windows: Windows) -> FloatArray:
        return self.probabilities(windows)

    def smoothing(self, windows: Windows) -> FloatArray:
        return self.probabilities(windows)

    def joint(self, windows: Windows, order: int) -> FloatArray:
        at = at_states(self.probabilities(windows), windows.states)
        runs = np.lib.stride_tricks.sliding_window_view(at, order + 1, axis=1)
        return np.asarray(runs.prod(axis=2))

    def log_posterior(self, windows: Windows) -> FloatArray:
        with np.errstate(divide="ignore"):  # an impossible state makes an impossible path
            logs = np.log(at_states(self.probabilities(windows), windows.states))
        return np.asarray(logs.sum(axis=1))

    def pairwise(self, windows: Windows) -> FloatArray:
        p = self.probabilities(windows)
        return np.asarray(p[:, :-1, :, None] * p[:, 1:, None, :])

    def log_kernels(self, windows: Windows) -> tuple[FloatArray, FloatArray]:
        with np.errstate(divide="ignore"):
            logs = np.log(self.probabilities(windows))
        # No state tells of another.
        return logs[:, -1], np.repeat(logs[:, :-1, :, None], logs.shape[2], axis=3)

    def decode(self, codes: IntArray) -> npt.NDArray[Any]:
        return self.decoded(codes)


@kernel
def at_states(probabilities: FloatArray, states: IntArray) -> FloatArray:
    """Pick, at each step, the probability of the state that the window has there: ``(B, h)``."""
    size, steps = states.shape
    picked = np.empty((size, steps))
    for b in range(size):
        for k in range(steps):
            picked[b, k] = probabilities[b, k, states[b, k]]
    return picked


@kernel
def mean_at_states(probabilities: FloatArray, states: IntArray) -> FloatArray:
    """Average over the steps what `at_states` picks: ``(B,)``."""
    size, steps = states.shape
    mean = np.zeros(size)
    for b in range(size):
        for k in range(steps):
            mean[b] += probabilities[b, k, states[b, k]]
    mean /= steps
    return mean
