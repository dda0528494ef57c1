"""The hidden Markov model as an estimate from labelled counts."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from definetti.arrays import FloatArray, IntArray
from definetti.history import Completion, History, padded
from definetti.hmm.emissions import Categorical, Emission
from definetti.hmm.emissions.categorical import log_frequencies


class Parameters(NamedTuple):
    """An estimated model: what a score may ask.

    Attributes
    ----------
    transition : (n, n) row-stochastic matrix
    emission, table, statistics : the estimate of the law of the observations
    labels : the labels of the states
    """

    transition: FloatArray
    emission: Emission
    table: Any
    statistics: FloatArray
    labels: tuple[Hashable, ...]

    def log_likelihood(self, observations: IntArray) -> FloatArray:
        """Log-likelihood of coded observations in each state: ``observations.shape + (n,)``."""
        return self.emission.log_likelihood(self.table, self.statistics, observations)


class HMM(BaseEstimator):
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
        """Refuse parameters that make no model."""
        if not isinstance(self.prior, (int, float)) or not 0 <= self.prior < np.inf:
            raise ValueError(f"prior must be a finite number ≥ 0, got {self.prior!r}; try 0.5")

    @property
    def emission_(self) -> Emission:
        return Categorical(self.prior) if self.emission is None else self.emission

    def statistics(self, history: History, table: Any) -> FloatArray:
        """Sum up the observations of a labelled history."""
        return self.emission_.statistics(
            table, history.observations, history.states, history.n_states
        )

    def parameters(
        self,
        completion: Completion,
        table: Any,
        statistics: FloatArray,
        labels: tuple[Hashable, ...],
    ) -> Parameters:
        """Estimate from a completed sequence, given the statistics of its history."""
        n = completion.n_states
        added = self.emission_.statistics(table, completion.observations, completion.states, n)
        transition = np.exp(log_frequencies(completion.transitions.astype(float), self.prior))
        statistics = padded(statistics, *added.shape) + added
        return Parameters(transition, self.emission_, table, statistics, labels)
