"""Counts and flags: Poisson and Bernoulli entries that are independent given the state.

A state's own data are joined by a few pseudo-observations from the law of all states together.
Sums over all states are the same for all rearrangements of a sequence, so this costs no validity.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import lgamma

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.checks import checked_prior
from definetti._system.compiled import call_by_rows, kernel
from definetti.emissions.base import ByState
from definetti.emissions.tables import CodedRows, Rows, Vectors, entry_sums, ratio, shrunk


@dataclass(frozen=True)
class Entrywise(CodedRows, ByState):
    """A law determined by the number and the sum of the entries in each column."""

    prior: float = 0.5

    def __post_init__(self) -> None:
        checked_prior(self.prior)

    @abstractmethod
    def logs(
        self, values: FloatArray, counts: FloatArray, sums: FloatArray, total: FloatArray
    ) -> FloatArray:
        """Return log-likelihoods, (R, n), of rows, (R, d), given statistics and their sum."""

    def statistics(
        self, table: Rows, codes: IntArray, states: IntArray, n_states: int
    ) -> FloatArray:
        """Return the number of entries in each column, and their sums, ``(n_states, 2 d)``."""
        return entry_sums(table.take(codes), states, n_states)

    def judge_rows(
        self, table: Rows, rows: FloatArray, total: FloatArray, codes: IntArray
    ) -> FloatArray:
        counts, sums = np.split(rows, 2, axis=1)
        logs = self.logs(table.take(codes.ravel()), counts, sums, total)
        return logs.reshape(*codes.shape, len(rows))


@dataclass(frozen=True)
class Bernoulli(Entrywise, name="bernoulli"):
    """On or off, 1 or 0, in one or more columns, independent given the state.

    A column is on in a state with probability ``(S + 2p m) / (N + 2p)``, where ``S`` of its ``N``
    observations are on, and ``m`` is the fraction of all observations that are. A column that is
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
        self, values: FloatArray, counts: FloatArray, sums: FloatArray, total: FloatArray
    ) -> FloatArray:
        weight, (number, on) = 2 * self.prior, np.split(total, 2)
        log_on = _logs(counts, sums, weight, ratio(on, number))
        log_off = _logs(counts, counts - sums, weight, ratio(number - on, number))
        return np.asarray(call_by_rows(_picked, values, log_on, log_off, row_work=log_on.size))


def _logs(counts: FloatArray, sums: FloatArray, prior: float, pooled: FloatArray) -> FloatArray:
    """Return logarithms of shrunk means; 0 where a value is never seen in any state."""
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
        self, values: FloatArray, counts: FloatArray, sums: FloatArray, total: FloatArray
    ) -> FloatArray:
        number, entries = np.split(total, 2)
        pooled = ratio(entries, number)
        rates = shrunk(counts, sums, self.prior, pooled)
        return np.asarray(call_by_rows(_log_poisson, values, rates, pooled, row_work=rates.size))


@kernel
def _log_poisson(values: FloatArray, rates: FloatArray, pooled: FloatArray) -> FloatArray:
    """Return log-likelihoods of counts, (R, d), at rates (n, d), without NaN and zero columns."""
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
