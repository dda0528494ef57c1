"""The contract of models and estimates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.data.history import Completion, History, Windows
from definetti.data.labels import check_indices, check_shape
from definetti.emissions.base import Emission, Labels

if TYPE_CHECKING:
    from definetti.emissions.choice import Kinds


class Estimate(Protocol):
    """Probabilities of the states in ``B`` windows of ``h`` steps."""

    @property
    def labels(self) -> Labels:
        """Labels of the ``n`` states."""
        ...

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

    def log_emission(self, windows: Windows) -> FloatArray:
        """Log-likelihood of the observations of the window given its states: ``(B,)``.

        Of a model that knows states alone, up to a term that is the same for all states: what
        their log-probability gains by the observations.
        """
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


def at_states(probabilities: FloatArray, states: IntArray) -> FloatArray:
    """Pick, at each step, the probability of the state that the window has there: ``(B, h)``."""
    values = np.asarray(probabilities, dtype=np.float64)  # it may be that of a user's own model
    check_shape(values, (*states.shape, *values.shape[2:3]), "the model's probabilities")
    check_indices(states, 0, values.shape[2] if values.ndim == 3 else 0, "states")
    return _at_states(values, states)


@kernel
def _at_states(probabilities: FloatArray, states: IntArray) -> FloatArray:
    size, steps = states.shape
    picked = np.empty((size, steps))
    for b in range(size):
        for k in range(steps):
            picked[b, k] = probabilities[b, k, states[b, k]]
    return picked


class Model(ABC):
    """What stands behind the score: an `Estimate` for every completed sequence, Step 2.

    Whoever writes `emission_` and `estimate` has a model; all else has a default that is safe.

    Attributes
    ----------
    states, table : the labels and the observations that the model knows already, if it does
    fixed : whether the estimate is the same for every completed sequence, and depends on nothing
        but what it is asked about: not on what else was observed
    """

    states: Labels | None = None
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

        Parameters
        ----------
        completion : the history and the candidate; `Completion.pooled_transitions` counts the steps
            of all segments, the candidate's included
        table : the observations by code, those of the candidate included
        statistics : those of the history alone, of the shape that
            ``emission_.statistics(table, completion.observations, completion.states, n)`` has, to
            which these are to be added
        labels : those of the states, those of the candidate included
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

    def infer_types(self, observations: Any) -> Kinds | None:
        """Return what of observations the choice of a law goes by; None where nothing does."""
        return None

    def choose(self, kinds: Kinds | None) -> Model:
        """Return the model for what is observed."""
        return self

    def with_states(self, labels: Labels) -> Model:
        """Return the model, one whose columns are ordered, that knows how many states there are."""
        return self

    def trained(self, history: History, table: Any, labels: Labels) -> Model:
        """Return the model fixed on a labelled segment."""
        raise ValueError("train_size is given, but the model is trained already; leave it out")

    def fixed_on(
        self,
        chosen: Model,
        history: History,
        table: Any,
        labels: Labels,
        lengths: Sequence[int] = (),
    ) -> Model:
        """Return the model fixed on rows that do not calibrate; a rule may choose among several.

        Parameters
        ----------
        chosen : what `choose` returned for the observations
        lengths : of the segments, or the series, that the rows consist of
        """
        return chosen.trained(history, table, labels)

    def describe(self, columns: Sequence[str]) -> list[str]:
        """Say, for people who do not read Python, what law the columns have."""
        return self.emission_.describe(columns)

    def describe_choice(self, horizon: int) -> str:
        """Say what was chosen among several models for windows of so many steps, if anything."""
        return ""


class GivesModel(ABC):
    """Something fitted that can stand behind the score of another estimator."""

    @abstractmethod
    def fixed_model(self) -> Model:
        """Return its model, fixed on all that it was fitted on."""


def described(model: Any, columns: Sequence[str] = (), fixed_on: int = 0) -> str:
    """Say what a model takes each column for, and what it was fixed on."""
    parts = model.describe(columns) or ["a Markov chain, nothing observed"]
    if fixed_on:
        parts.append(f"fixed on the first {fixed_on:,} rows")
    elif not model.fixed:
        parts.append("fitted anew with each candidate")
    return "; ".join(parts)
