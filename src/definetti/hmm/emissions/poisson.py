"""Observations that are counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln, xlogy

from definetti.arrays import FloatArray, IntArray
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
        known = rates.any(axis=0)
        values = table.take(codes.ravel())[:, None, known]
        logs: FloatArray = xlogy(values, rates[:, known]) - rates[:, known] - gammaln(values + 1.0)
        return np.asarray(np.nansum(logs, axis=2)).reshape(*codes.shape, len(statistics))
