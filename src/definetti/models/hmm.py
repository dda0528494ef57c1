"""The hidden Markov model as an estimate from labelled counts."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from definetti._system.arrays import FloatArray, IntArray
from definetti.data.history import Completion, History, padded
from definetti.emissions import Categorical, Emission
from definetti.emissions.categorical import log_frequencies
from definetti.models.base import Model
from definetti.models.estimate import Parameters


class HMM(BaseEstimator, Model):
    """A hidden Markov model estimated by counting, Step 2 of Algorithm 1.

    Parameters
    ----------
    prior : float, default 1/2
        Added to every count before normalising. The estimate stays a function of the counts, so
        no prior costs validity; 1/2 shrinks sets when data are few, 0 is the paper's estimator.
    emission : Emission, optional
        The law of the observations; `Categorical` with the same prior if left out.

    Examples
    --------
    >>> HMM(prior=0)
    HMM(prior=0)
    """

    def __init__(self, prior: float = 0.5, emission: Emission | None = None) -> None:
        self.prior = prior
        self.emission = emission

    def check(self) -> None:
        prior = np.nan
        if isinstance(self.prior, Real) and not isinstance(self.prior, bool):
            with suppress(OverflowError):
                prior = float(self.prior)
        if not 0 <= prior < np.inf:
            raise ValueError(f"prior must be a finite number ≥ 0, got {self.prior!r}; try 0.5")
        if isinstance(self.emission, type):
            name = self.emission.__name__
            raise TypeError(f"emission is the class {name}; pass an instance: emission={name}()")
        if not isinstance(self.emission_, Emission):
            raise TypeError(
                f"emission must be a definetti.emissions.Emission, such as Categorical(), or "
                f"derive from it, got {self.emission!r}"
            )

    @property
    def emission_(self) -> Emission:
        return Categorical(float(self.prior)) if self.emission is None else self.emission

    def trained(self, history: History, table: Any, labels: tuple[Hashable, ...]) -> TrainedHMM:
        emission = self.emission_.fix(table, history.observations, history.states, labels)
        statistics = emission.statistics(
            table, history.observations, history.states, history.n_states
        )
        counts = history.transitions.astype(np.float64)
        return TrainedHMM(counts, statistics, float(self.prior), emission, labels, table)

    def estimate(
        self, completion: Completion, table: Any, statistics: FloatArray, labels: Any
    ) -> Parameters:
        n, emission = completion.n_states, self.emission_
        added = emission.statistics(table, completion.observations, completion.states, n)
        statistics = padded(statistics, *added.shape) + added
        transition = refitted(completion, float(self.prior))
        return Parameters(transition, emission, table, statistics, labels)


@dataclass(frozen=True, eq=False, repr=False)
class TrainedHMM(Model):
    """A hidden Markov model that no longer changes: the paper's "pre-trained predictor".

    Its alphabet does not change either: symbols that it was not trained on share one cell.

    Attributes
    ----------
    transitions : (n, n) counts, or probabilities
    statistics : what is known of the observations in each state
    prior : added to each of `transitions`
    emission, states, table : the law of the observations, the labels, the observations known
    """

    transitions: FloatArray
    statistics: FloatArray
    prior: float
    emission: Emission
    states: tuple[Hashable, ...]
    table: Any

    fixed = True

    def __repr__(self) -> str:
        return f"TrainedHMM(emission={self.emission!r}, states={self.states!r})"

    @property
    def emission_(self) -> Emission:
        return self.emission

    def estimate(
        self, completion: Completion, table: Any, statistics: FloatArray, labels: Any
    ) -> Parameters:
        n = completion.n_states
        transition = probabilities(padded(self.transitions, n, n), self.prior)
        width = self.emission.statistics(table, NONE, NONE, n).shape
        known = padded(self.statistics, *width)
        return Parameters(transition, self.emission, table, known, labels)


NONE: IntArray = np.zeros(0, dtype=np.int64)


def refitted(completion: Completion, prior: float) -> FloatArray:
    """Return the transition matrix of a completed sequence.

    All candidates share the rows of the states that they do not leave.
    """
    pool, n = completion.history.pool, completion.n_states

    def shared() -> FloatArray:
        return probabilities(padded(pool.transitions, n, n).astype(np.float64), prior)

    transition = pool.present.recall(("counts", n), ("transition", prior), shared).copy()
    states, counts = completion.left
    transition[states] = probabilities(counts, prior)
    return transition


def probabilities(counts: FloatArray, prior: float) -> FloatArray:
    """Normalise rows of counts; a row of nothing is uniform."""
    return np.exp(log_frequencies(counts, prior))
