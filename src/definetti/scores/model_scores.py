"""Nonconformity scores made of the probabilities that a model gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from definetti._system.arrays import FloatArray
from definetti.data.history import Windows, unseen
from definetti.models.base import Estimate, at_states, mean_at_states
from definetti.scores.base import Score, StepScore
from definetti.trellis.trellis import Trellis


def by_steps(probabilities: FloatArray) -> Trellis:
    """Return the trellis of one minus the mean of ``(h, n)`` probabilities along a path."""
    terms = (1.0 - probabilities) / len(probabilities)
    return Trellis(terms[0], terms[1:, None])


def mean_nonconformity(probabilities: FloatArray, windows: Windows, lag: int) -> FloatArray:
    """Return one minus the mean probability of the states after the first `lag`: ``(B,)``."""
    if lag:
        return np.asarray(1.0 - at_states(probabilities, windows.states)[:, lag:].mean(axis=1))
    return 1.0 - mean_at_states(probabilities, windows.states)


@dataclass(frozen=True)
class Band(StepScore, name="band"):
    """One minus the smallest smoother probability: its sets tend to products, step by step.

    Parameters
    ----------
    max_errors : int, default 0
        How many of the most nonconforming steps to ignore.
    """

    max_errors: int = 0

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        steps = self.steps(estimate, windows)
        if self.max_errors >= steps.shape[1]:
            return np.zeros(len(steps))
        return np.asarray(
            np.partition(steps, -1 - self.max_errors, axis=1)[:, -1 - self.max_errors]
        )

    def steps(self, estimate: Estimate, windows: Windows) -> FloatArray:
        """Return the nonconformity of each step, ``(B, h)``."""
        picked = at_states(estimate.smoothing(windows), windows.states)
        return np.asarray(1.0 - picked[:, self.lag :])

    def trellis(self, estimate: Estimate, window: Windows) -> Trellis | None:
        if self.max_errors:
            return None
        scores = 1.0 - estimate.smoothing(window)[0, self.lag :]
        return Trellis(scores[0], scores[1:, None], worst=True)


@dataclass(frozen=True)
class Emission(Score, name="emission"):
    """Minus the log-likelihood of the observations given the window's states.

    For monitoring: it sees a change of what is observed in a state, and none of the chain. Sets
    made with it are large.
    """

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        return -estimate.log_emission(windows)


@dataclass(frozen=True)
class Filter(StepScore, name="filter"):
    """One minus the mean filter probability: the paper's equation in Step 4 of Algorithm 1."""

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        return mean_nonconformity(estimate.filtering(windows), windows, self.lag)

    def trellis(self, estimate: Estimate, window: Windows) -> Trellis:
        return by_steps(estimate.filtering(window)[0, self.lag :])


@dataclass(frozen=True)
class Joint(StepScore, name="joint"):
    """One minus the mean probability of ``order + 1`` states in a row: the paper's last variant.

    Order 0 is the smoother; an order beyond the window stands for the whole window.
    """

    order: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.order, int) or self.order < 0:
            raise ValueError(f"order must be a whole number ≥ 0, got {self.order!r}; try 1")

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        runs = estimate.joint(windows, self._order(windows))
        return np.asarray(1.0 - runs[:, self.lag :].mean(axis=1))

    def trellis(self, estimate: Estimate, window: Windows) -> Trellis | None:
        if (order := self._order(window)) > 1:
            return None  # three states in a row are more than a trellis can see
        if order == 0:
            return by_steps(estimate.smoothing(window)[0, self.lag :])
        moves = 1.0 - estimate.pairwise(window)[0, self.lag :]
        return Trellis(np.zeros(moves.shape[-1]), moves / len(moves))

    def _order(self, windows: Windows) -> int:
        return min(self.order, int(windows.states.shape[1]) - self.lag - 1)


@dataclass(frozen=True)
class Path(StepScore, name="path"):
    """Minus the log-probability of the path given all observations: the smallest sets."""

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        if not self.lag:
            return -estimate.log_posterior(windows)
        ends, kernels = estimate.log_kernels(windows)
        # Backwards, the chain says nothing of the first steps: they are summed out.
        states, number = windows.states, np.arange(len(windows.start))[:, None]
        steps = np.arange(self.lag, states.shape[1] - 1)
        back = kernels[number, steps, states[:, self.lag : -1], states[:, self.lag + 1 :]]
        return np.asarray(-back.sum(axis=1) - ends[number[:, 0], states[:, -1]])

    def trellis(self, estimate: Estimate, window: Windows) -> Trellis:
        ends, kernels = (-part[0] for part in estimate.log_kernels(window))
        moves = kernels[self.lag :]
        if not len(moves):
            return Trellis(ends, moves)
        moves[-1] += ends
        return Trellis(np.zeros(len(ends)), moves)


@dataclass(frozen=True)
class Smoother(StepScore, name="smoother"):
    """One minus the mean smoother probability: later observations count too."""

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        return mean_nonconformity(estimate.smoothing(windows), windows, self.lag)

    def trellis(self, estimate: Estimate, window: Windows) -> Trellis:
        return by_steps(estimate.smoothing(window)[0, self.lag :])


@dataclass(frozen=True)
class Transition(Score, name="transition"):
    """Minus the log-probability of the window's states, whatever was observed.

    For monitoring: it sees a change of the chain, and none of the observations. Sets made with it
    are large.
    """

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        return -estimate.log_posterior(unseen(windows))
