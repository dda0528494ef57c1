"""What a confidence sequence has to offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.checks import checked_number
from definetti._system.mixins import Named
from definetti.martingales._checks import checked_share


@dataclass(frozen=True)
class ConfidenceSequence(Named, ABC):
    """An interval for coverage so far that holds at all times together, whenever one looks.

    An interval such as Clopper and Pearson's holds at one time chosen beforehand; whoever looks at
    it after every step will see it fail sooner or later. Here the probability that the interval
    *ever* leaves out what it is for is at most `alpha`. It depends on the counts alone, so that
    there is nothing to be saved.

    Parameters
    ----------
    alpha : float, default 0.05
        The probability that any of the intervals, ever, is wrong.
    parts : int, default 1
        How many shares are looked at, one for each state say, that are all to hold together: the
        union bound. With 1 each holds by itself.

    Attributes
    ----------
    assumes : what it rests on, in words
    """

    alpha: float = 0.05
    parts: int = field(default=1, kw_only=True)

    assumes: ClassVar[str] = ""

    def __post_init__(self) -> None:
        checked_share(self.alpha, "alpha", "0.05 is usual")
        checked_number(self.parts, "parts")

    @abstractmethod
    def bounds(self, successes: FloatArray, trials: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return low and high for each pair of counts; all trials are at least one."""

    def interval(self, successes: Any, trials: Any) -> tuple[FloatArray, FloatArray]:
        """Return low and high for counts, numbers or arrays; 0 and 1 where there are no trials."""
        hit, all_ = np.broadcast_arrays(
            np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
        )
        if not ((hit >= 0) & (hit <= all_)).all():
            raise ValueError("successes must be whole numbers between 0 and trials")
        seen = all_ > 0
        low, high = np.zeros(hit.shape), np.ones(hit.shape)
        low[seen], high[seen] = self.bounds(hit[seen], all_[seen])
        return low, high

    @property
    def share(self) -> float:
        """The probability of being wrong that each part is given."""
        return self.alpha / self.parts
