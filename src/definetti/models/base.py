"""What a model has to offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from definetti._system.arrays import FloatArray
from definetti.data.history import Completion, History
from definetti.emissions.base import Emission
from definetti.models.estimate import Estimate

if TYPE_CHECKING:
    from definetti.emissions._choice import Kinds


class Model(ABC):
    """What stands behind the score: an `Estimate` for every completed sequence, Step 2.

    Whoever writes `emission_` and `estimate` has a model; all else has a default that is safe.

    Attributes
    ----------
    states, table : the labels and the observations that the model knows already, if it does
    fixed : whether the estimate is the same for every completed sequence, and depends on nothing
        but what it is asked about: not on what else was observed
    """

    states: tuple[Hashable, ...] | None = None
    table: Any = None
    fixed: bool = False

    @property
    @abstractmethod
    def emission_(self) -> Emission:
        """How observations are told apart, and counted."""

    @abstractmethod
    def estimate(
        self, completion: Completion, table: Any, statistics: FloatArray, labels: Any
    ) -> Estimate:
        """Return the estimate for a completed sequence, given its history's statistics.

        It is a function of what all rearrangements share: the counts of the completed sequence.
        """

    @property
    def ordered(self) -> bool:
        """Whether states are known by the order of columns alone, and so must be declared."""
        return self.emission_.ordered

    @property
    def knows_states(self) -> bool:
        """Whether it is fixed already, and knows which of its states is which."""
        return self.fixed and (self.states is not None or self.ordered)

    def check(self) -> None:
        """Refuse parameters that make no model."""

    def check_ready(self) -> None:
        """Refuse, of a fixed model, to be asked what it cannot answer, once all data are read."""

    def look(self, observations: Any) -> Kinds | None:
        """Return what of observations the choice of a law goes by; None where nothing does."""
        return None

    def choose(self, kinds: Kinds | None) -> Model:
        """Return the model for what is observed."""
        return self

    def told_states(self, labels: tuple[Hashable, ...]) -> Model:
        """Return the model, one whose columns are ordered, that knows how many states there are."""
        return self

    def trained(self, history: History, table: Any, labels: tuple[Hashable, ...]) -> Model:
        """Return the model fixed on a labelled stretch."""
        raise ValueError("train_size is given, but the model is trained already; leave it out")


class GivesModel(ABC):
    """Something fitted that can stand behind the score of another estimator."""

    @abstractmethod
    def fixed_model(self) -> Model:
        """Return its model, fixed on all that it was fitted on."""
