"""Counts."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from definetti.emissions import Poisson


def test_formula():
    rng = np.random.default_rng(0)
    states = rng.integers(0, 2, 30)
    y = rng.poisson(3.0 + 5.0 * states[:, None], size=(30, 2)).astype(float)
    y[4, 0] = y[7, 1] = np.nan
    emission = Poisson(prior=0.7)
    table, codes = emission.encode(y, None, "observations")
    statistics = emission.statistics(table, codes, states, 3)
    found = emission.log_likelihood(table, statistics, codes.reshape(6, 5))
    expected = np.zeros((30, 3))
    for i in range(3):
        for k in range(2):
            known = ~np.isnan(y[:, k])
            own = y[known & (states == i), k]
            rate = (own.sum() + 0.7 * y[known, k].mean()) / (len(own) + 0.7)
            expected[known, i] += stats.poisson(rate).logpmf(y[known, k])
    np.testing.assert_allclose(found, expected.reshape(6, 5, 3), rtol=1e-12)


def test_a_state_without_data_has_the_pooled_rate():
    emission = Poisson(prior=0)
    table, codes = emission.encode([1, 2, 6], None, "observations")
    statistics = emission.statistics(table, codes, np.array([0, 0, 1]), 3)
    found = emission.log_likelihood(table, statistics, codes)[:, 2]
    np.testing.assert_allclose(found, stats.poisson(3.0).logpmf([1, 2, 6]))


def test_a_column_of_zeros_has_no_influence():
    emission = Poisson()
    states = np.array([0, 0, 1])
    table, codes = emission.encode([[0], [0], [0]], None, "observations")
    statistics = emission.statistics(table, codes, states, 2)
    table, new = emission.encode([[4], [0], [None]], table, "new_observations")
    assert emission.log_likelihood(table, statistics, new).tolist() == [[0.0, 0.0]] * 3


def test_without_a_prior_what_was_never_seen_is_impossible():
    emission = Poisson(prior=0)
    table, codes = emission.encode([0, 0, 3], None, "observations")
    statistics = emission.statistics(table, codes, np.array([0, 0, 1]), 2)
    found = emission.log_likelihood(table, statistics, codes)
    assert found[2, 0] == -np.inf
    assert np.isfinite(found[:2]).all()


@pytest.mark.parametrize(
    ("observations", "message"),
    [
        ([[0, 1], [2, -3]], "observations: row 2, column 1 is -3; counts are 0, 1, 2"),
        ([0, 1.5], "observations: row 2 is 1.5; counts are whole numbers"),
        (pd.DataFrame({"calls": [1, 0.5]}), "row 2, column 'calls' is 0.5"),
        ([0, np.inf], "row 2 is inf"),
    ],
)
def test_what_is_no_count_is_named(observations, message):
    with pytest.raises(ValueError, match=message):
        Poisson().encode(observations, None, "observations")


def test_bad_prior():
    with pytest.raises(ValueError, match="prior must be a finite number ≥ 0, got inf"):
        Poisson(prior=float("inf"))
