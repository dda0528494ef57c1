"""A whole sequence smoothed from an unknown first state."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.data.history import Completion, History
from definetti.data.labels import plain
from definetti.models.base import Model
from definetti.models.function import Predictor, checked_probabilities
from definetti.models.hmm import HMM, NONE, Parameters, probabilities
from definetti.models.hmmlearn import HmmlearnEmission
from definetti.models.kernels.backward import smoothing


@dataclass(frozen=True, eq=False)
class WholeSmoother:
    """A fixed hidden Markov model with a law of the first state.

    Attributes
    ----------
    model : the model, which no data changes
    labels : the states that it knows
    initial : (n,) the law of the first state
    """

    model: Model
    labels: tuple[Hashable, ...]
    initial: FloatArray

    @classmethod
    def trained(
        cls,
        model: Model,
        observations: Any,
        states: IntArray,
        begins: IntArray,
        labels: tuple[Hashable, ...],
    ) -> WholeSmoother:
        """Fix a model on labelled sequences, one after the other, that begin at given times."""
        table, observed = model.emission_.encode(observations, model.table, "observations")
        history = History(len(labels), model.emission_.symbols)
        for sequence, seen in zip(
            np.split(states, begins[1:]), np.split(observed, begins[1:]), strict=True
        ):
            history.append(sequence, seen, gap=True)
        fixed = model.trained(history, table, labels)
        if not isinstance(model, HMM):  # whose matrices come from elsewhere
            return cls.from_fixed(fixed, labels)
        first = np.bincount(states[begins], minlength=len(labels)).astype(np.float64)
        return cls(fixed, labels, probabilities(first[None], float(model.prior))[0])

    @classmethod
    def from_fixed(cls, model: Model, labels: tuple[Hashable, ...] = ()) -> WholeSmoother:
        """Take a model that is fixed; the first state has its own law there, or the stationary."""
        labels = tuple(model.states or labels)
        emission = model.emission_
        if isinstance(emission, HmmlearnEmission):
            return cls(model, labels, np.asarray(emission.model.startprob_)[emission.order])
        return cls(model, labels, stationary(estimated(model, model.table, labels).transition))

    def marginals(self, observations: Any, name: str) -> FloatArray:
        """Return the probability of each state at each step, given the whole sequence: (h, n).

        What the table of observations holds beside those trained on and those of the sequence
        itself would tell of other sequences, so it holds nothing else.
        """
        table, codes = self.model.emission_.encode(observations, self.model.table, name)
        n = len(self.labels)
        estimate = estimated(self.model, table, self.labels)
        # A virtual state comes before the first step, and nothing returns to it.
        steps = np.zeros((n + 1, n + 1))
        steps[:n, :n], steps[n, :n] = estimate.transition, self.initial
        logs = np.full((1, len(codes), n + 1), -np.inf)
        logs[0, :, :n] = estimate.log_likelihood(codes)
        return smoothing(steps, logs, np.array([n]))[0, :, :n]


@dataclass(frozen=True, eq=False)
class WholePredictor:
    """Probabilities of each state at each step of a sequence, from elsewhere.

    Attributes
    ----------
    model : how observations are read; `definetti.models.function.Predictor`
    labels : the states, in the order of the columns
    given : whether the observations are the probabilities themselves
    """

    model: Predictor
    labels: tuple[Hashable, ...]
    given: bool = False

    def marginals(self, observations: Any, name: str) -> FloatArray:
        """Return the probability of each state at each step: (h, n)."""
        seen = plain(observations)
        steps, function = len(seen), cast(Any, self.model.function)
        found = seen if self.given else function(seen)
        values = np.asarray(plain(found))
        if values.shape[:1] == (steps,):
            values = values[None]
        shape = 1, steps, len(self.labels)
        return np.asarray(checked_probabilities(values, shape)[0])


def estimated(model: Model, table: Any, labels: tuple[Hashable, ...]) -> Parameters:
    """Return the matrices of a fixed model; whatever has none is refused."""
    n = len(labels)
    nothing = Completion(History(n), NONE, NONE, n)
    estimate = model.estimate(nothing, table, np.zeros((n, 0)), labels)
    if not isinstance(estimate, Parameters):
        raise TypeError(
            f"model is {model!r}, which has no transition matrix; use 'auto', an HMM, given_hmm "
            "or a fitted hmmlearn model"
        )
    return estimate


def stationary(transition: FloatArray) -> FloatArray:
    """Return the law that a chain keeps; the uniform one if it may keep several.

    >>> stationary(np.array([[0.9, 0.1], [0.2, 0.8]])).round(3)
    array([0.667, 0.333])
    >>> stationary(np.eye(2))
    array([0.5, 0.5])
    """
    n = len(transition)
    change = transition.T - np.eye(n)
    if np.linalg.matrix_rank(change) < n - 1:
        return np.full(n, 1.0 / n)
    system = np.vstack([change, np.ones(n)])
    law = np.linalg.lstsq(system, np.append(np.zeros(n), 1.0), rcond=None)[0].clip(0.0)
    return np.asarray(law / law.sum())
