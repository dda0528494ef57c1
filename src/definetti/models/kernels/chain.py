"""A hidden Markov model as a score asks it."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.data.history import Windows
from definetti.models.kernels import backward, forward, paths


class Chain(ABC):
    """Probabilities of the states in windows, from what the chain makes of what is seen there."""

    @abstractmethod
    def seen(self, windows: Windows) -> tuple[forward.Transition, forward.Coded, IntArray]:
        """Return the transitions, what each step's observation says, and the first states."""

    def filtering(self, windows: Windows) -> FloatArray:
        return forward.filtering(*self.seen(windows))

    def smoothing(self, windows: Windows) -> FloatArray:
        return backward.smoothing(*self.seen(windows))

    def joint(self, windows: Windows, order: int) -> FloatArray:
        return backward.joint(*self.seen(windows), windows.states, order)

    def log_posterior(self, windows: Windows) -> FloatArray:
        return paths.log_posterior(*self.seen(windows), windows.states)

    def log_emission(self, windows: Windows) -> FloatArray:
        _, seen, _ = self.seen(windows)
        return np.asarray(seen.logs[seen.codes, windows.states].sum(axis=1))

    def pairwise(self, windows: Windows) -> FloatArray:
        return backward.pairwise(*self.seen(windows))[:, 1:]

    def log_kernels(self, windows: Windows) -> tuple[FloatArray, FloatArray]:
        return paths.log_kernels(*self.seen(windows))
