"""The contract of a nonconformity score, and scores that users write as functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray
from definetti._system.mixins import Named
from definetti.data.history import Windows
from definetti.models.base import Estimate
from definetti.trellis.trellis import Trellis


class Score(Named, ABC):
    """A function from an estimated model and ``B`` windows to ``B`` numbers.

    It may depend on the completed sequence through these two alone, and use codes only to look
    things up in the model, never as numbers: the code of a symbol depends on when it first
    occurred, and a rearrangement changes that. It must be chosen before the labels are seen, and
    keep nothing between calls. Then every score is valid, and the choice affects only the size of
    sets. A score needs `__call__` alone; all else has a safe default.
    """

    name: str  # what to call it in a result

    def __init_subclass__(cls, *, name: str = "", **others: Any) -> None:
        super().__init_subclass__(name=name, **others)
        if "name" not in cls.__dict__:
            cls.name = cls.known_as

    @property
    def key(self) -> Hashable:
        """The identity of the score: equal keys give equal numbers for equal windows.

        Scores of the past are found again under it. By default a score is like itself alone.
        """
        return Itself(self)

    @abstractmethod
    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        """Return ``(B,)`` numbers, large where a window is nonconforming; infinity is allowed."""

    def trellis(self, estimate: Estimate, window: Windows) -> Trellis | None:
        """Return the score of all paths through one window, where it goes step by step."""
        return None

    def with_lag(self, lag: int) -> Score:
        """Return the score of the steps after the first `lag` alone, whatever came in these."""
        names = [
            repr(name) for name, one in Score.named.items() if one.with_lag is not Score.with_lag
        ]
        raise ValueError(
            f"conformity_score={self.name!r} does not tell the last steps from the first, which "
            f"lag={lag} asks for; use one of {', '.join(names)}, or derive it from "
            "definetti.scores.StepScore"
        )


@dataclass(frozen=True)
class StepScore(Score):
    """A score that can be asked about the last steps of a window alone.

    Parameters
    ----------
    lag : int, default 0
        How many of the first steps to leave out, their states being unknown for good.
    """

    lag: int = field(default=0, kw_only=True, repr=False)

    @property
    def key(self) -> Hashable:
        values = (getattr(self, one.name) for one in fields(self))
        plain = (int, float, str, type(None))
        return type(self), *(v if isinstance(v, plain) else Itself(v) for v in values)

    def with_lag(self, lag: int) -> Score:
        return replace(self, lag=lag)


class Itself:
    """A key for something that may be unhashable, or equal to others: the thing itself."""

    def __init__(self, thing: object) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Itself) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)


def blamed(error: Exception) -> Exception:
    """Say that an error is the score's; derived classes of errors may want more than a message."""
    kind = TypeError if isinstance(error, TypeError) else ValueError
    return kind(f"score must return one number per window: {error}")


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
    labelled history has scores every new pair as nonconforming, and leaves out the truth.
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
