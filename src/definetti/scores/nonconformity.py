"""Nonconformity scores: the contract, those made of a model's probabilities, and their rounding.

Validity needs a score that is one deterministic function of the window and the estimate. Scores
that are equal in exact arithmetic may differ in their last bits, because sums are taken in another
order. Rounding to about thirty bits, once, where a score is produced, makes them equal: from there
on a tie is ``==`` and a rank is a count.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray
from definetti._system.compiled import kernel
from definetti._system.mixins import Named
from definetti.data.history import Windows, unseen
from definetti.models.base import Estimate, at_states
from definetti.trellis.trellis import Trellis


class Score(Named, ABC):
    """A function from an estimated model and ``B`` windows to ``B`` numbers.

    A score may depend on the completed sequence through these two alone, and use codes only to look
    up values in the model: a rearrangement changes the code of a symbol. It must be chosen before
    the labels are seen, and keep no state between calls. Then every score is valid, and the choice
    affects only the size of sets. A subclass must define `__call__`; the rest has safe defaults.
    """

    name: str  # the name in results

    def __init_subclass__(cls, *, name: str = "", **others: Any) -> None:
        super().__init_subclass__(name=name, **others)
        if "name" not in cls.__dict__:
            cls.name = cls.known_as

    @property
    def key(self) -> Hashable:
        """The identity of the score: equal keys give equal numbers for equal windows.

        Past scores are cached under the key. By default a score equals itself alone.
        """
        return Itself(self)

    @abstractmethod
    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        """Return ``(B,)`` numbers, large where a window is nonconforming; infinity is allowed."""

    def trellis(self, estimate: Estimate, window: Windows) -> Trellis | None:
        """Return the trellis of the scores of all paths through one window, if there is one."""
        return None

    def with_lag(self, lag: int) -> Score:
        """Return the score of the steps after the first `lag`, whatever the states in these."""
        names = [
            repr(name)
            for name, score in Score.named.items()
            if score.with_lag is not Score.with_lag
        ]
        raise ValueError(
            f"conformity_score={self.name!r} cannot leave out the first steps of a window, "
            f"which lag={lag} requires; use one of {', '.join(names)}, or derive it from "
            "definetti.scores.StepScore"
        )


@dataclass(frozen=True)
class StepScore(Score):
    """A score that can be restricted to the last steps of a window.

    Parameters
    ----------
    lag : int, default 0
        How many of the first steps to leave out, their states being unknown for good.
    """

    lag: int = field(default=0, kw_only=True, repr=False)

    @property
    def key(self) -> Hashable:
        values = (getattr(self, parameter.name) for parameter in fields(self))
        plain = (int, float, str, type(None))
        return type(self), *(v if isinstance(v, plain) else Itself(v) for v in values)

    def with_lag(self, lag: int) -> Score:
        return replace(self, lag=lag)


class Itself:
    """A key that compares objects, which may be unhashable, by identity."""

    def __init__(self, thing: object) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Itself) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)


def blamed(error: Exception) -> Exception:
    """Return an error that names the score as the cause, of a type that takes a message alone."""
    kind = TypeError if isinstance(error, TypeError) else ValueError
    return kind(f"score must return one number per window: {error}")


class LabelledWindows(NamedTuple):
    """Windows of labels and observations in their original form.

    Attributes
    ----------
    start : (B,) the state just before the window
    states : (B, h) the states in the window, without the first `lag`
    observations : (B, h) the observations in the window, None where missing
    """

    start: npt.NDArray[Any]
    states: npt.NDArray[Any]
    observations: npt.NDArray[Any]


@dataclass(frozen=True)
class OnWindows(StepScore):
    """Any function from `LabelledWindows` to one number per window.

    Valid if the function depends on the window alone, is chosen before the labels are seen, and
    keeps no state between calls.
    """

    function: Callable[[LabelledWindows], Any]

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


def by_steps(probabilities: FloatArray) -> Trellis:
    """Return the trellis of one minus the mean of ``(h, n)`` probabilities along a path."""
    terms = (1.0 - probabilities) / len(probabilities)
    return Trellis(terms[0], terms[1:, None])


def mean_nonconformity(probabilities: FloatArray, windows: Windows, lag: int) -> FloatArray:
    """Return one minus the mean probability of the states after the first `lag`: ``(B,)``."""
    return np.asarray(1.0 - at_states(probabilities, windows.states)[:, lag:].mean(axis=1))


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

    For monitoring: sensitive to changes of the observations in a state, not of the chain. Sets
    made with this score are large.
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
            return None  # terms of a trellis have at most two states
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
        # In the backward chain the first steps are summed out.
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

    For monitoring: sensitive to changes of the chain, not of the observations. Sets made with this
    score are large.
    """

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        return -estimate.log_posterior(unseen(windows))


BITS = 30  # kept after the binary point below two, and after the leading bit above
SUMMATION_ERROR = 2.0**-40  # of sums of weights taken in another order, relative to the unit


@kernel
def _unit(score: float) -> float:
    """Return the power of two to which the grid is relative: one for all scores below two."""
    if abs(score) < 2.0:
        return 1.0
    return math.ldexp(1.0, math.frexp(abs(score))[1] - 1)


@kernel
def rounded(score: float) -> float:
    """Round one score to a multiple of ``2 ** -30``, or of as much of its leading bit."""
    if not np.isfinite(score):
        return score
    grid = _unit(score) * 2.0**-BITS
    return float(np.rint(score / grid) * grid)


@kernel
def _round_all(scores: FloatArray) -> FloatArray:
    rounded_scores = np.empty(len(scores))
    for k in range(len(scores)):
        rounded_scores[k] = rounded(scores[k])
    return rounded_scores


def round_scores(scores: FloatArray) -> FloatArray:
    """Round scores of any shape, each by itself; infinities stay."""
    flat = np.ascontiguousarray(scores, dtype=np.float64).ravel()
    return _round_all(flat).reshape(scores.shape)


def upper_edge(score: float) -> float:
    """Return the largest unrounded sum that may round to a score, with room for summation errors.

    A sum of weights taken in another order is compared with this, so that no tied path is dropped.
    """
    if not np.isfinite(score):
        return score
    unit = _unit(score)
    return float(score + unit * (2.0 ** -(BITS + 1) + SUMMATION_ERROR))


def lower_edge(score: float) -> float:
    """Return the bound that unrounded sums must stay below to round to less than a score."""
    if not np.isfinite(score):
        return float(np.finfo(np.float64).max)
    return float(score - _unit(score) * (2.0 ** -(BITS + 1) + SUMMATION_ERROR))
