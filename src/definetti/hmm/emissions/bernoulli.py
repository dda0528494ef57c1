"""Observations that are switches, on or off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from definetti.arrays import FloatArray, IntArray
from definetti.compiled import kernel
from definetti.hmm.emissions.pooled import checked_prior, entry_sums, shrunk
from definetti.hmm.emissions.rows import Rows


@dataclass(frozen=True)
class Bernoulli:
    """On or off, 1 or 0, in one or more columns, independent given the state.

    A column is on in a state with probability ``(S + 2p m) / (N + 2p)``, where ``S`` of its ``N``
    observations are on, and ``m`` is the part of all observations that are. Were that a half, it
    would be ``p`` added to the count of on and of off, as `Categorical` does. A column that is
    always on, or always off, has no influence.

    Parameters
    ----------
    prior : float, default 1/2
        ``p``, half the weight of the pooled frequency, in observations.

    Examples
    --------
    >>> emission = Bernoulli()
    >>> observations = [[True, True], [True, False], [False, True], None]
    >>> table, codes = emission.encode(observations, None, "observations")
    >>> states = np.array([0, 0, 1, 1])
    >>> statistics = emission.statistics(table, codes, states, n_states=2)
    >>> np.exp(emission.log_likelihood(table, statistics, codes)).round(3)
    array([[0.494, 0.278],
           [0.395, 0.056],
           [0.062, 0.556],
           [1.   , 1.   ]])
    """

    prior: float = 0.5

    symbols = False

    def __post_init__(self) -> None:
        checked_prior(self.prior)

    def encode(self, observations: Any, table: Rows | None, name: str) -> tuple[Rows, IntArray]:
        table = Rows() if table is None else table
        vectors = table.read(observations, name)
        neither = ~(np.isnan(vectors.values) | (vectors.values == 0) | (vectors.values == 1))
        vectors.refuse(neither, "give True or False, 1 or 0; use Poisson() for counts")
        return table.added(vectors)

    def decode(self, table: Rows, codes: IntArray) -> FloatArray:
        return table.decoded(codes)

    def statistics(
        self, table: Rows, codes: IntArray, states: IntArray, n_states: int
    ) -> FloatArray:
        """Return how many entries there are in each column, and are on, ``(n_states, 2 d)``."""
        return entry_sums(table.take(codes), states, n_states)

    def log_likelihood(self, table: Rows, statistics: FloatArray, codes: IntArray) -> FloatArray:
        counts, sums = np.split(statistics, 2, axis=1)
        log_on = _logs(shrunk(counts, sums, 2 * self.prior))
        log_off = _logs(shrunk(counts, counts - sums, 2 * self.prior))
        logs = _picked(table.take(codes.ravel()), log_on, log_off)
        return logs.reshape(*codes.shape, len(statistics))


def _logs(frequencies: FloatArray) -> FloatArray:
    """Take logarithms, but let what is never seen in any state speak for none of them."""
    with np.errstate(divide="ignore"):
        return np.where(frequencies.any(axis=0), np.log(frequencies), 0.0)


@kernel
def _picked(values: FloatArray, log_on: FloatArray, log_off: FloatArray) -> FloatArray:
    """Sum the logarithms that rows of 0, 1 and NaN, ``(R, d)``, pick: ``(R, n)``."""
    logs = np.zeros((len(values), len(log_on)))
    for r in range(len(values)):
        for k in range(values.shape[1]):
            if not np.isnan(values[r, k]):
                logs[r] += log_on[:, k] if values[r, k] else log_off[:, k]
    return logs
