"""Switches."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from definetti.emissions import Bernoulli, Categorical


def test_formula():
    rng = np.random.default_rng(0)
    states = rng.integers(0, 2, 30)
    y = (rng.random((30, 3)) < 0.2 + 0.5 * states[:, None]).astype(float)
    y[4, 0] = y[7, 1] = np.nan
    emission = Bernoulli(prior=0.7)
    table, codes = emission.encode(y, None, "observations")
    statistics = emission.statistics(table, codes, states, 3)
    found = emission.log_likelihood(table, statistics, codes.reshape(6, 5))
    expected = np.zeros((30, 3))
    for i in range(3):
        for k in range(3):
            known = ~np.isnan(y[:, k])
            own = y[known & (states == i), k]
            on = (own.sum() + 1.4 * y[known, k].mean()) / (len(own) + 1.4)
            expected[known, i] += stats.bernoulli(on).logpmf(y[known, k])
    np.testing.assert_allclose(found, expected.reshape(6, 5, 3), rtol=1e-12)


def test_it_is_two_symbols_where_half_are_on():
    y, states = [True, False, True, False], np.array([0, 0, 0, 1])
    found = []
    for emission in (Bernoulli(0.5), Categorical(0.5)):
        table, codes = emission.encode(y, None, "observations")
        statistics = emission.statistics(table, codes, states, 2)
        found.append(emission.log_likelihood(table, statistics, codes))
    np.testing.assert_allclose(*found)


@pytest.mark.parametrize("prior", [0, 0.5])
def test_a_column_that_is_always_on_or_off_has_no_influence(prior):
    emission = Bernoulli(prior)
    table, codes = emission.encode([[1, 0], [1, 0], [1, 0]], None, "observations")
    statistics = emission.statistics(table, codes, np.array([0, 0, 1]), 3)
    table, new = emission.encode([[1, 0], [0, 1], [None, 1]], table, "new_observations")
    assert emission.log_likelihood(table, statistics, new).tolist() == [[0.0] * 3] * 3


def test_without_a_prior_what_was_never_seen_is_impossible():
    emission = Bernoulli(prior=0)
    table, codes = emission.encode([0, 0, 1], None, "observations")
    statistics = emission.statistics(table, codes, np.array([0, 0, 1]), 2)
    found = np.exp(emission.log_likelihood(table, statistics, codes))
    assert found.tolist() == [[1, 0], [1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("observations", "message"),
    [
        ([[True, False], [True, 2]], "observations: row 2, column 1 is 2; give True or False"),
        ([0, 0.5], "observations: row 2 is 0.5"),
        (pl.DataFrame({"door": [1, -1]}), "row 2, column 'door' is -1"),
    ],
)
def test_what_is_no_switch_is_named(observations, message):
    with pytest.raises(ValueError, match=message):
        Bernoulli().encode(observations, None, "observations")
