"""Normal laws against their formulas, and at their limits."""

import numpy as np
import pytest
from scipy import stats

from definetti.emissions import Gaussian

COVARIANCES = ("full", "diagonal", "tied")


def logs(emission, observations, states, n_states, judged=None):
    """Log-likelihood of observations, or of further ones, from labelled ones."""
    table, codes = emission.encode(observations, None, "observations")
    statistics = emission.statistics(table, codes, np.asarray(states), n_states)
    if judged is not None:
        table, codes = emission.encode(judged, table, "new_observations")
    return emission.log_likelihood(table, statistics, codes)


def naive_laws(y, states, n_states, covariance, prior, shrinkage):
    """Means and covariances as the class says, column by column and state by state."""
    y, d = np.asarray(y, dtype=float), np.shape(y)[1]
    if covariance != "diagonal":
        keep = ~np.isnan(y).any(axis=1)
        y, states = y[keep], np.asarray(states)[keep]
    means, covariances = np.zeros((n_states, d)), np.zeros((n_states, d, d))
    inside, total, pooled = np.zeros(d), np.zeros(d), np.zeros(d)
    for k in range(d):
        column = y[~np.isnan(y[:, k]), k]
        labels = np.asarray(states)[~np.isnan(y[:, k])]
        pooled[k], total[k] = column.mean(), column.var()
        parts = [column[labels == i] for i in range(n_states)]
        squares = sum(((part - part.mean()) ** 2).sum() for part in parts if len(part))
        freedom = sum(max(len(part) - 1, 0) for part in parts)
        inside[k] = squares / freedom if freedom else total[k]
        for i, part in enumerate(parts):
            share = prior / (len(part) + prior)
            means[i, k] = share * pooled[k] + (1 - share) * (part.mean() if len(part) else 0.0)
            target = (1 - share) * inside[k] + share * total[k]
            scatter = ((part - part.mean()) ** 2).sum() if len(part) else 0.0
            weight = (
                shrinkage if shrinkage is not None else 2 if covariance == "diagonal" else d + 1
            )
            covariances[i, k, k] = (scatter + weight * target) / (max(len(part) - 1, 0) + weight)
    if covariance == "diagonal":
        return means, covariances + 1e-8 * np.diag(total)
    scatters = np.zeros((n_states, d, d))
    numbers = np.zeros(n_states)
    for i in range(n_states):
        own = y[np.asarray(states) == i]
        numbers[i] = max(len(own) - 1, 0)
        if len(own):
            scatters[i] = (own - own.mean(axis=0)).T @ (own - own.mean(axis=0))
    for i in range(n_states):
        if covariance == "tied":
            covariances[i] = (scatters.sum(axis=0) + weight * np.diag(inside)) / (
                numbers.sum() + weight
            )
        else:
            off = scatters[i] / (numbers[i] + weight)
            covariances[i] += off - np.diag(np.diag(off))
    return means, covariances + 1e-8 * np.diag(total)


def naive_logs(y, means, covariances):
    out = np.zeros((len(y), len(means)))
    for r, row in enumerate(np.asarray(y, dtype=float)):
        seen = ~np.isnan(row)
        for i in range(len(means)):
            if seen.any():
                law = stats.multivariate_normal(means[i, seen], covariances[i][np.ix_(seen, seen)])
                out[r, i] = law.logpdf(row[seen])
    return out


def sample(seed, size=40, d=3, n_states=3, missing=0.0):
    rng = np.random.default_rng(seed)
    states = rng.integers(0, n_states, size)
    mix = rng.normal(size=(d, d))
    y = rng.normal(size=(size, d)) @ mix * [1.0, 10.0, 0.1][:d] + 2.0 * states[:, None]
    y[rng.random(y.shape) < missing] = np.nan
    return y, states


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize(("prior", "shrinkage"), [(0.1, None), (2.0, 0.5), (0.5, 7.0)])
def test_formula(covariance, missing, prior, shrinkage):
    y, states = sample(1, missing=missing)
    n_states = 4  # the last has no data
    laws = naive_laws(y, states, n_states, covariance, prior, shrinkage)
    found = logs(Gaussian(covariance, prior, shrinkage), y, states, n_states)
    np.testing.assert_allclose(found, naive_logs(y, *laws), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_shape_and_missing(covariance):
    emission = Gaussian(covariance)
    y, states = sample(2)
    table, codes = emission.encode([*y.tolist(), None], None, "observations")
    statistics = emission.statistics(table, codes, np.append(states, 0), 3)
    found = emission.log_likelihood(table, statistics, codes[:40].reshape(8, 5))
    assert found.shape == (8, 5, 3)
    assert found.flags.c_contiguous
    missing = emission.log_likelihood(table, statistics, codes[-1:])
    assert missing.tolist() == [[0.0] * 3]


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_a_state_without_data_has_the_law_of_all(covariance):
    y, states = sample(3, d=2)
    found = logs(Gaussian(covariance), y, states % 2, 3)[:, 2]
    assert np.isfinite(found).all()
    if covariance != "tied":
        variances = y.var(axis=0) * (1 + 1e-8)
        expected = stats.norm(y.mean(axis=0), np.sqrt(variances)).logpdf(y).sum(axis=1)
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("constant", [0.0, 0.1, 1e6 + 0.1])
def test_a_constant_column_has_no_influence(covariance, constant):
    y, states = sample(4)
    wider = np.insert(y, 1, constant, axis=1)
    emission = Gaussian(covariance)
    np.testing.assert_allclose(
        logs(emission, wider, states, 3), logs(emission, y, states, 3), rtol=1e-12
    )
    # Not even where it takes another value later, as it may with a model that is fixed.
    wider_new = np.insert(y, 1, constant + 5.0, axis=1)
    np.testing.assert_allclose(
        logs(emission, wider, states, 3, wider_new), logs(emission, y, states, 3, y), rtol=1e-12
    )


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_everything_constant(covariance):
    found = logs(Gaussian(covariance), np.full((5, 2), 3.3), [0, 0, 1, 1, 1], 2)
    assert found.tolist() == [[0.0, 0.0]] * 5


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("prior", [0.0, 0.1])
@pytest.mark.parametrize("shrinkage", [0.0, None])
def test_states_that_do_not_vary_and_few_points(covariance, prior, shrinkage):
    emission = Gaussian(covariance, prior, shrinkage)
    deterministic = logs(emission, [[0.0, 1.0]] * 4 + [[5.0, 1.0]] * 4, [0] * 4 + [1] * 4, 3)
    assert np.isfinite(deterministic).all()
    assert deterministic[:, :2].argmax(axis=1).tolist() == [0] * 4 + [1] * 4
    rng = np.random.default_rng(5)  # fewer points than columns, one point, none
    y = rng.normal(size=(6, 10))
    assert np.isfinite(logs(emission, y, [0, 0, 0, 1, 1, 2], 4)).all()
    assert np.isfinite(logs(emission, y[:1], [0], 2)).all()


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("offset", [1e6, -1e9])
def test_far_from_zero(covariance, offset):
    y, states = sample(6)
    y = np.round(y * 1024) / 1024  # so that the offset is added without rounding
    near, far = (logs(Gaussian(covariance), y + c, states, 3) for c in (0.0, offset))
    np.testing.assert_allclose(far, near, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_units_do_not_matter(covariance):
    """Up to the factor that turns one density into the other."""
    y, states = sample(7)
    scale = np.array([1e-60, 1.0, 1e60])
    one, other = (logs(Gaussian(covariance), y * c, states, 3) for c in (1.0, scale))
    np.testing.assert_allclose(other + np.log(scale).sum(), one, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_order_does_not_matter(covariance):
    y, states = sample(8, missing=0.2)
    order = np.random.default_rng(0).permutation(len(y))
    emission = Gaussian(covariance)
    here, there = logs(emission, y, states, 3), logs(emission, y[order], states[order], 3)
    np.testing.assert_allclose(there, here[order], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_columns_that_come_to_be_known_late(covariance):
    emission = Gaussian(covariance)
    y, states = sample(9, d=2)
    table, none = emission.encode([None] * 5, None, "observations")
    early = emission.statistics(table, none, np.zeros(5, dtype=int), 3)
    assert emission.log_likelihood(table, early, none).tolist() == [[0.0] * 3] * 5
    half = np.column_stack([y[:, 0], np.full(40, np.nan)])
    table, codes = emission.encode(half, table, "observations")
    sums = emission.statistics(table, codes, states, 3)
    table, more = emission.encode(y + 1e6, table, "observations")
    added = emission.statistics(table, more, states, 3)
    both = emission.log_likelihood(table, sums + added, more)
    joined = np.concatenate([half, y + 1e6])
    expected = logs(emission, joined, np.tile(states, 2), 3)[40:]
    np.testing.assert_allclose(both, expected, rtol=1e-6, atol=1e-6)


def test_full_and_tied_learn_from_complete_rows_only():
    y, states = sample(10, d=2)
    gaps = np.concatenate([y, np.column_stack([np.full(9, np.nan), np.full(9, 1e3)])])
    for covariance in ("full", "tied"):
        with_gaps = logs(Gaussian(covariance), gaps, [*states, *[0] * 9], 3)[:40]
        np.testing.assert_allclose(with_gaps, logs(Gaussian(covariance), y, states, 3), rtol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"covariance": "spherical"}, "covariance must be one of 'full', 'diagonal', 'tied'"),
        ({"prior": -1}, "prior must be a finite number ≥ 0, got -1"),
        ({"shrinkage": float("nan")}, "shrinkage must be a finite number"),
    ],
)
def test_bad_parameters(arguments, message):
    with pytest.raises(ValueError, match=message):
        Gaussian(**arguments)


def test_numbers_too_large_to_be_squared():
    with pytest.raises(ValueError, match=r"row 2, column 0 is 1e\+200; .*rescale the column"):
        Gaussian().encode([[1.0], [1e200]], None, "observations")
