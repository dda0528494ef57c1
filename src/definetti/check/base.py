"""What a statistic has to offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

from definetti._system.arrays import FloatArray
from definetti._system.registry import Named
from definetti.check.sample import Draws, Sample


class CannotTest(ValueError):
    """Why a statistic says nothing of a sample."""


class Effect(NamedTuple):
    """What was found, for a person.

    Attributes
    ----------
    words : a sentence without its full stop
    size : the number in it
    row : how many rows come before the place in task, if there is one
    short_of : the minimum effect for advice, in words, where this one is smaller; else empty
    """

    words: str
    size: float
    row: int | None = None
    short_of: str = ""


class Statistic(Named, ABC):
    """A number for every rearrangement of a labelled sequence, large where an assumption fails.

    It may depend on the rearrangement in any way: its p-value is exact. It may have several parts,
    one for each column say, of which the strangest counts, at no cost in exactness.

    Attributes
    ----------
    asks : the task that it puts, in a few words
    across : whether steps are to move from one sequence to another, where there are several; else
        each is rearranged by itself
    """

    asks: ClassVar[str] = ""
    across: ClassVar[bool] = False

    @abstractmethod
    def parts(self, sample: Sample) -> tuple[str, ...]:
        """Name the parts; raise `CannotTest` where the sample has nothing to say."""

    @abstractmethod
    def measure(self, sample: Sample, draws: Draws) -> FloatArray:
        """Return the statistic of each rearrangement: ``(B, number of parts)``."""

    @abstractmethod
    def effect(self, sample: Sample, values: FloatArray, part: int) -> Effect:
        """Say what was found.

        Parameters
        ----------
        values : (1 + M, number of parts) of the sample itself, then of the draws
        part : the strangest
        """

    @abstractmethod
    def remedy(self, sample: Sample, effect: Effect) -> str:
        """Say what to do where it fails, in words that follow a colon.

        Name only what is feasible for this sample: return an empty text if nothing is. It is not
        called for an effect that is short of the minimum.
        """
