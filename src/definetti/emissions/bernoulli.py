"""Observations that are switches, on or off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.compiled import call_by_rows, kernel
from definetti.emissions._entrywise import Entrywise, Total
from definetti.emissions._pooled import ratio, shrunk
from definetti.emissions._reading import Vectors


@dataclass(frozen=True)
class Bernoulli(Entrywise, name="bernoulli"):
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

    law = "switches"
    example = ((True, False), (False, None), None)

    def check(self, vectors: Vectors) -> None:
        neither = ~(np.isnan(vectors.values) | (vectors.values == 0) | (vectors.values == 1))
        vectors.refuse(neither, "give True or False, 1 or 0; use Poisson() for counts")

    def logs(
        self, values: FloatArray, counts: FloatArray, sums: FloatArray, total: Total
    ) -> FloatArray:
        weight, (number, on) = 2 * self.prior, total
        log_on = _logs(counts, sums, weight, ratio(on, number))
        log_off = _logs(counts, counts - sums, weight, ratio(number - on, number))
        return np.asarray(call_by_rows(_picked, values, log_on, log_off, each=log_on.size))


def _logs(counts: FloatArray, sums: FloatArray, prior: float, pooled: FloatArray) -> FloatArray:
    """Take logarithms, but let what is never seen in any state speak for none of them."""
    with np.errstate(divide="ignore"):
        return np.where(pooled > 0, np.log(shrunk(counts, sums, prior, pooled)), 0.0)


@kernel
def _picked(values: FloatArray, log_on: FloatArray, log_off: FloatArray) -> FloatArray:
    """Sum the logarithms that rows of 0, 1 and NaN, ``(R, d)``, pick: ``(R, n)``."""
    logs = np.zeros((len(values), len(log_on)))
    for r in range(len(values)):
        for k in range(values.shape[1]):
            if not np.isnan(values[r, k]):
                log = log_on if values[r, k] else log_off
                for i in range(len(log)):
                    logs[r, i] += log[i, k]
    return logs
