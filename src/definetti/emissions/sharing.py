"""Likelihoods under the laws of many candidates, made of what the candidates share.

A candidate changes the statistics of the states that it comes to. What follows for the law of each
state depends on the emission, which is recognised here by its type; one of another type, derived
from a built-in one or not, is judged by its `log_likelihood` for each candidate.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.data.labels import check_shape
from definetti.emissions.base import Emission
from definetti.emissions.categorical import Categorical, FixedCategorical
from definetti.emissions.classifier import LogLikelihood
from definetti.emissions.gaussian import Gaussian
from definetti.emissions.mixed import FixedMixed, Mixed
from definetti.emissions.rates import Bernoulli, Poisson
from definetti.emissions.words import FixedLabels, Text, Words

# The law of a state depends on its own statistics, and on their sum over all states.
BY_STATE = (Categorical, FixedCategorical, FixedLabels, Words, Text, Bernoulli, Poisson)
# Statistics are all there is to the law once it is fixed, whatever else the table holds.
BY_SUMS = (Gaussian, Bernoulli, Poisson, LogLikelihood)


def adds_up(emission: Emission) -> bool:
    """Tell whether the law of some data follows from the statistics of all less the others'."""
    return type(emission) in BY_SUMS


def shares_laws(emission: Emission, table: Any) -> bool:
    """Tell whether candidates that leave a state alone share its law."""
    if type(emission) in (Mixed, FixedMixed):
        laws: tuple[Emission, ...] = emission.laws(table)  # type: ignore[attr-defined]
        return all(type(law) in BY_STATE for law in laws)
    return type(emission) in BY_STATE


def judge_rows(
    emission: Any, table: Any, rows: FloatArray, total: FloatArray, codes: IntArray
) -> FloatArray:
    """Judge observations, ``(m,)``, by statistics of ``P`` single states: ``(P, m)``."""
    if type(emission) not in (Mixed, FixedMixed):
        return np.ascontiguousarray(emission.judge_rows(table, rows, total, codes).T)
    logs = np.zeros((len(rows), len(codes)))
    for part, law, own, k, width in emission.parts(table, codes):
        logs += judge_rows(law, own, rows[:, k, :width], total[k, :width], part)
    return logs


def judge_each(
    emission: Any, table: Any, statistics: FloatArray, codes: IntArray, sets: IntArray
) -> FloatArray:
    """Judge sets of observations, ``(K, m)``, under estimates with equal sums: ``(G · n, m)``."""
    number, n = statistics.shape[:2]
    if type(emission) is Gaussian:
        return emission.log_likelihoods(table, statistics, codes, sets)
    logs = np.zeros((number, n, codes.shape[1]))
    if type(emission) in (Mixed, FixedMixed):
        for part, law, own, k, width in emission.parts(table, codes):
            rows = np.ascontiguousarray(statistics[:, :, k, :width])
            logs += judge_each(law, own, rows, part, sets).reshape(logs.shape)
    elif type(emission) in BY_STATE:
        total = statistics[0].sum(axis=0)
        for k in range(len(codes)):
            rows = statistics[sets == k]
            found = judge_rows(emission, table, rows.reshape(-1, *total.shape), total, codes[k])
            logs[sets == k] = found.reshape(len(rows), n, -1)
    else:
        for g in range(number):
            found = emission.log_likelihood(table, statistics[g], codes[sets[g]])
            check_shape(found, (codes.shape[1], n), "log_likelihood")
            logs[g] = found.T
    return logs.reshape(number * n, -1)
