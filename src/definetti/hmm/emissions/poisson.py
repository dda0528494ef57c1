"""Observations that are counts."""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma
from typing import Any

import numpy as np

from definetti.arrays import FloatArray, IntArray
from definetti.compiled import kernel
from definetti.hmm.emissions.pooled import checked_prior, entry_sums, shrunk
from definetti.hmm.emissions.rows import Rows


@dataclass(frozen=True)
class Poisson:
    """Poisson counts in one or more columns, independent given the state.

    A state's rate is ``(S + p m) / (N + p)``, where ``S`` is the sum of its ``N`` counts and ``m``
    the mean over all states: the mean under a gamma prior worth ``p`` observations. A column of
    zeros has no influence.

    Parameters
    ----------
    prior : float, default 1/2
        ``p``, the weight of the pooled rate, in observations.

    Examples
    --------
    >>> emission = Poisson()
    >>> table, codes = emission.encode([0, 1, 7, 9, None], None, "observations")
    >>> states = np.array([0, 0, 1, 1, 1])
    >>> statistics = emission.statistics(table, codes, states, n_states=2)
    >>> np.exp(emission.log_likelihood(table, statistics, codes)).round(3)
    array([[0.287, 0.001],
           [0.358, 0.005],
           [0.   , 0.148],
           [0.   , 0.108],
           [1.   , 1.   ]])
    """

    prior: float = 0.5

    symbols = False

    def __post_init__(self) -> None:
        checked_prior(self.prior)

    def encode(self, observations: Any, table: Rows | None, name: str) -> tuple[Rows, IntArray]:
        table = Rows() if table is None else table
        vectors = table.read(observations, name)
        vectors.refuse(vectors.values < 0, "counts are 0, 1, 2, …; use Gaussian() for such numbers")
        fraction = np.nan_to_num(vectors.values) % 1 != 0
        vectors.refuse(fraction, "counts are whole numbers; use Gaussian() for such numbers")
        return table.added(vectors)

    def decode(self, table: Rows, codes: IntArray) -> FloatArray:
        return table.decoded(codes)

    def statistics(
        self, table: Rows, codes: IntArray, states: IntArray, n_states: int
    ) -> FloatArray:
        """Return how many counts there are in each column, and their sums, ``(n_states, 2 d)``."""
        return entry_sums(table.take(codes), states, n_states)

    def log_likelihood(self, table: Rows, statistics: FloatArray, codes: IntArray) -> FloatArray:
        counts, sums = np.split(statistics, 2, axis=1)
        rates = shrunk(counts, sums, self.prior)
        logs = _log_poisson(table.take(codes.ravel()), rates)
        return logs.reshape(*codes.shape, len(statistics))


@kernel
def _log_poisson(values: FloatArray, rates: FloatArray) -> FloatArray:
    """Log-probability of rows of counts, ``(R, d)``, at rates ``(n, d)``: ``(R, n)``.

    NaN is left out, and so is a column whose rate is zero in every state.
    """
    logs = np.zeros((len(values), len(rates)))
    for k in range(values.shape[1]):
        log_rates = np.log(rates[:, k])
        if log_rates.max() == -np.inf:
            continue
        for r in range(len(values)):
            count = values[r, k]
            if np.isnan(count):
                continue
            constant = lgamma(count + 1.0)
            for i in range(len(rates)):
                logs[r, i] -= rates[i, k] + constant
                if count > 0.0:
                    logs[r, i] += count * log_rates[i]
    return logs
