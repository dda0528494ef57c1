"""The contract of a statistic, and a statistic that calls a user's function."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.mixins import Named
from definetti.check.sample import Draws, Sample
from definetti.data.series import at_rows


class CannotTest(ValueError):
    """A statistic cannot be computed for a sample, for the reason in the message."""


class Effect(NamedTuple):
    """The effect that a test found, in words and as a number.

    Attributes
    ----------
    words : a sentence without its full stop
    size : the effect as a number
    row : number of rows before the change, where the test estimates one
    short_of : the minimum effect for advice, in words, where this one is smaller; else empty
    """

    words: str
    size: float
    row: int | None = None
    short_of: str = ""


class Statistic(Named, ABC):
    """A number for every rearrangement of a labelled sequence, large where an assumption fails.

    A statistic may be any function of the rearrangement: its p-value is exact. A statistic may have
    several parts, such as one for each column; the most extreme counts, and the p-value is exact.

    Attributes
    ----------
    question : the question that the test answers, in a few words
    across : whether steps move from one sequence to another, where there are several; else each
        sequence is rearranged separately
    reads_times : whether `measure` reads `Draws.times`; False, where `Draws.take` is enough, lets
        symbols be dealt in place of times
    """

    question: ClassVar[str] = ""
    across: ClassVar[bool] = False
    reads_times: ClassVar[bool] = True

    @abstractmethod
    def parts(self, sample: Sample) -> tuple[str, ...]:
        """Name the parts; raise `CannotTest` for a sample that does not allow the test."""

    @abstractmethod
    def measure(self, sample: Sample, draws: Draws) -> FloatArray:
        """Return the statistic of each rearrangement: ``(B, number of parts)``."""

    @abstractmethod
    def effect(self, sample: Sample, values: FloatArray, part: int) -> Effect:
        """Describe the effect.

        Parameters
        ----------
        values : (1 + M, number of parts) of the sample itself, then of the draws
        part : index of the most extreme part
        """

    @abstractmethod
    def remedy(self, sample: Sample, effect: Effect) -> str:
        """Return the remedy where the test fails, in words that follow a colon.

        Name only remedies that are feasible for this sample, or return an empty string. `remedy` is
        not called for an effect below the minimum.
        """


@dataclass(frozen=True)
class Own(Statistic):
    """A function of states and observations, large where something is wrong.

    Parameters
    ----------
    function : callable
        ``function(states, observations)`` with a list of labels and the observations in the form in
        which they were given, both rearranged; it returns a number, and keeps nothing between
        calls. Observations are None for a plain chain.
    """

    function: Callable[[list[Any], Any], float]

    question = "a function of one's own"

    def parts(self, sample: Sample) -> tuple[str, ...]:
        return ("",)

    def measure(self, sample: Sample, draws: Draws) -> FloatArray:
        values = []
        for tokens, times in zip(draws.tokens, draws.times, strict=True):
            states = [sample.labels[code] for code in sample.heads[tokens].tolist()]
            seen = None if sample.raw is None else at_rows(sample.raw, times)
            values.append(self._number(self.function(states, seen)))
        return np.array(values)[:, None]

    def _number(self, value: Any) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = np.nan
        if np.isnan(number):
            raise ValueError(
                f"tests: {self.function!r} returned {value!r}; return a number for every "
                "rearrangement, 0 where there is nothing to tell"
            )
        return number

    def effect(self, sample: Sample, values: FloatArray, part: int) -> Effect:
        own, drawn = float(values[0, 0]), float((values[1:, 0] / (len(values) - 1)).sum())
        return Effect(f"it is {own:.4g}, where rearrangements have {drawn:.4g}", own - drawn)

    def remedy(self, sample: Sample, effect: Effect) -> str:
        return "take symmetry='spaced', or a memory that holds what it measures"
