"""What a score has to offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass, field, fields, replace
from typing import Any

from definetti._system.arrays import FloatArray
from definetti._system.mixins import Named
from definetti.data.history import Windows
from definetti.models.base import Estimate
from definetti.trellis.trellis import Trellis


class Score(Named, ABC):
    """A function from an estimated model and ``B`` windows to ``B`` numbers.

    It may look at the completed sequence through these two alone, and at codes only to look
    things up in the model, never as numbers: which symbol gets which code depends on when it was
    first met, and a rearrangement changes that. It must be written down before the labels are
    looked at, and keep nothing between calls. Then every score is valid, and the choice is a
    matter of size. Whoever writes `__call__` has a score; all else has a default that is safe.
    """

    name: str  # what to call it in a result

    def __init_subclass__(cls, *, name: str = "", **others: Any) -> None:
        super().__init_subclass__(name=name, **others)
        if "name" not in cls.__dict__:
            cls.name = cls.known_as

    @property
    def key(self) -> Hashable:
        """What tells it from other scores: equal keys, equal numbers for equal windows.

        Scores of the past are found again under it. By default a score is like itself alone.
        """
        return Itself(self)

    @property
    def squares(self) -> bool:
        """Whether it asks for a square of states for every step: `pairwise` or `log_kernels`."""
        return True

    @abstractmethod
    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        """Return ``(B,)`` numbers, large where a window is strange; infinity is allowed."""

    def trellis(self, estimate: Estimate, window: Windows) -> Trellis | None:
        """Return the score of all paths through one window, where it goes step by step."""
        return None

    def with_lag(self, lag: int) -> Score:
        """Return the score of the steps after the first `lag` alone, whatever came in these."""
        names = [
            repr(name) for name, one in Score.named.items() if one.with_lag is not Score.with_lag
        ]
        raise ValueError(
            f"score={self.name!r} does not tell the last steps from the first, which lag={lag} "
            f"asks for; use one of {', '.join(names)}, or derive it from definetti.scores.StepScore"
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
