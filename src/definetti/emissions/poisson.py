"""Observations that are counts."""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.compiled import call_by_rows, kernel
from definetti.emissions._entrywise import Entrywise, Total
from definetti.emissions._pooled import ratio, shrunk
from definetti.emissions._reading import Vectors


@dataclass(frozen=True)
class Poisson(Entrywise, name="poisson"):
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

    law = "Poisson"
    example = ((0, 3), (4, None), None)

    def check(self, vectors: Vectors) -> None:
        vectors.refuse(vectors.values < 0, "counts are 0, 1, 2, …; use Gaussian() for such numbers")
        fraction = np.nan_to_num(vectors.values) % 1 != 0
        vectors.refuse(fraction, "counts are whole numbers; use Gaussian() for such numbers")

    def logs(
        self, values: FloatArray, counts: FloatArray, sums: FloatArray, total: Total
    ) -> FloatArray:
        pooled = ratio(total.sums, total.counts)
        rates = shrunk(counts, sums, self.prior, pooled)
        return np.asarray(call_by_rows(_log_poisson, values, rates, pooled, each=rates.size))


@kernel
def _log_poisson(values: FloatArray, rates: FloatArray, pooled: FloatArray) -> FloatArray:
    """Log-probability of rows of counts, ``(R, d)``, at rates ``(n, d)``: ``(R, n)``.

    NaN is left out, and so is a column whose rate is zero in every state: `pooled`, ``(d,)``.
    """
    logs = np.zeros((len(values), len(rates)))
    for k in range(values.shape[1]):
        if pooled[k] == 0.0:
            continue
        log_rates = np.log(rates[:, k])
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
