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

        A model of states alone returns it up to a term that is the same for all states: the
        log-probability of the states given the observations, minus that without them.
        """
        ...

    def pairwise(self, windows: Windows) -> FloatArray:
        """Probability of each two successive states of the window: ``(B, h − 1, n, n)``."""
        ...

    def log_kernels(self, windows: Windows) -> tuple[FloatArray, FloatArray]:
        """Log-probability of each last state, ``(B, n)``, and of each state given the next one.

        The latter has the shape ``(B, h − 1, n, n)``, state by next state; along a path their
        sum is `log_posterior`.
        """
        ...

    def decode(self, codes: IntArray) -> npt.NDArray[Any]:
        """Observations in their original form."""
        ...


def at_states(probabilities: FloatArray, states: IntArray) -> FloatArray:
    """Return the probability of the window's state at each step: ``(B, h)``."""
    values = np.asarray(probabilities, dtype=np.float64)  # a user's own model may return any type
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
    """A rule that returns an `Estimate` for every completed sequence, Step 2.

    A subclass must define `emission_` and `estimate`; all other methods have safe defaults.

    Attributes
    ----------
    states, table : the labels and the observations known to the model beforehand, if any
    fixed : whether the estimate is the same for every completed sequence: the probabilities of a
        window depend on that window alone, not on other observations
    """

    states: Labels | None = None
    table: Any = None
    fixed: bool = False

    @property
    @abstractmethod
    def emission_(self) -> Emission:
        """The emission, which codes observations and sums up their statistics."""

    @abstractmethod
    def estimate(
        self, completion: Completion, table: Any, statistics: FloatArray, labels: Any
    ) -> Estimate:
        """Return the estimate for a completed sequence, given its history's statistics.

        It must depend only on what all rearrangements share: the counts of the completed sequence.

        Parameters
        ----------
        completion : the history and the candidate; `Completion.pooled_transitions` counts the steps
            of all segments, the candidate's included
        table : the observations by code, the candidate's included
        statistics : statistics of the history alone; those of the candidate are to be added:
            ``emission_.statistics(table, completion.observations, completion.states, n)``
        labels : labels of the states, the candidate's included
        """

    @property
    def ordered(self) -> bool:
        """Whether states are identified by column order alone, so that they must be declared."""
        return self.emission_.ordered

    @property
    def knows_states(self) -> bool:
        """Whether the model is fixed, with its states named or identified by column order."""
        return self.fixed and (self.states is not None or self.ordered)

    def check(self) -> None:
        """Raise an error if a parameter is invalid."""

    def check_ready(self) -> None:
        """Raise an error if a fixed model is incomplete once all data are read."""

    def infer_types(self, observations: Any) -> Kinds | None:
        """Return the kinds of values that the emission is chosen by; None if it is not chosen."""
        return None

    def choose(self, kinds: Kinds | None) -> Model:
        """Return the model for observations of these kinds."""
        return self

    def with_states(self, labels: Labels) -> Model:
        """Return the model for so many states, if they are identified by column order."""
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
        """Return the model fixed on rows outside calibration; a rule may choose among several.

        Parameters
        ----------
        chosen : what `choose` returned for the observations
        lengths : lengths of the segments, or the series, that the rows consist of
        """
        return chosen.trained(history, table, labels)

    def describe(self, columns: Sequence[str]) -> list[str]:
        """Describe the law of the columns in plain words."""
        return self.emission_.describe(columns)

    def describe_choice(self, horizon: int) -> str:
        """Describe the choice among several models for windows of `horizon` steps, if any."""
        return ""


class GivesModel(ABC):
    """A fitted estimator whose model another estimator can use."""

    @abstractmethod
    def fixed_model(self) -> Model:
        """Return the estimator's model, fixed on all data of the fit."""


def described(model: Any, columns: Sequence[str] = (), fixed_on: int = 0) -> str:
    """Describe a model's law of each column, and the rows that fixed the model."""
    parts = model.describe(columns) or ["a Markov chain, nothing observed"]
    if fixed_on:
        parts.append(f"fixed on the first {fixed_on:,} rows")
    elif not model.fixed:
        parts.append("fitted anew with each candidate")
    return "; ".join(parts)
