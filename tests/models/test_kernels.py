"""Every function against sums over all paths in exact arithmetic."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.chains import filtering, joint, log_posterior, pairwise, smoothing

INF = math.inf


def posterior(transition, log_likelihood, start):
    """The exact probability of every possible path of one window given its observations."""
    rows = [[Fraction(p) for p in row] for row in transition.tolist()]
    paths = {(start,): Fraction(1)}
    for step in log_likelihood.tolist():
        likelihood = [exact_exp(x) for x in step]
        longer = {
            (*path, j): p * q
            for path, p in paths.items()
            for j, q in enumerate(rows[path[-1]])
            if q > 0
        }
        explained = {path: p * likelihood[path[-1]] for path, p in longer.items()}
        # An observation that no path explains carries no information.
        paths = {path: p for path, p in explained.items() if p > 0} or longer
    total = sum(paths.values())
    return {path[1:]: p / total for path, p in paths.items()}


def exact_exp(x):
    with localcontext() as context:
        context.prec = 40
        return Fraction(Decimal(x).exp())


def exact_log(p):
    if p > 1e-300:
        return math.log(p)
    return math.log(p.numerator) - math.log(p.denominator) if p else -INF


def total(paths, *fixed):
    """Probability that a path has each of the fixed pairs of step and state."""
    return float(sum(p for path, p in paths.items() if all(path[k] == i for k, i in fixed)))


PROBABILITIES = st.sampled_from([0.0, 1e-300, 1e-160, 1e-12, 1.0]) | st.floats(0.05, 1.0)
LOGS = st.sampled_from([-INF, -5000.0, -690.0, -30.0, 0.0, 700.0]) | st.floats(-5.0, 5.0)


@st.composite
def models(draw):
    """Transition matrix, log-likelihood and start of two windows, as often nasty as not."""
    n, h = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    probability, log = draw(
        st.sampled_from([(PROBABILITIES, LOGS), (st.floats(0.05, 1.0), st.floats(-5.0, 5.0))])
    )
    weights = np.array(draw(st.lists(probability, min_size=n * n, max_size=n * n))).reshape(n, n)
    weights[weights.sum(axis=1) == 0.0, draw(st.integers(0, n - 1))] = 1.0
    logs = draw(st.lists(log, min_size=2 * h * n, max_size=2 * h * n))
    start = np.array([draw(st.integers(0, n - 1)) for _ in range(2)])
    transition = weights / weights.sum(axis=1, keepdims=True)
    return transition, np.array(logs).reshape(2, h, n), start


def windows(model):
    transition, log_likelihood, start = model
    return [
        posterior(transition, *window)
        for window in zip(log_likelihood, start.tolist(), strict=True)
    ]


def agree(got, expected):
    # Below 1e-290 a sum over states has lost digits or is zero.
    np.testing.assert_allclose(got, expected, rtol=2e-12, atol=1e-290)


def agree_in_logs(got, expected):
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=2e-12)


exactly = settings(max_examples=60, deadline=None, derandomize=True, database=None)


@exactly
@given(models())
def test_filtering(model):
    transition, log_likelihood, start = model
    _, h, n = log_likelihood.shape
    expected = np.empty_like(log_likelihood)
    for k in range(h):
        for b, paths in enumerate(windows((transition, log_likelihood[:, : k + 1], start))):
            expected[b, k] = [total(paths, (k, i)) for i in range(n)]
    agree(filtering(*model), expected)


@exactly
@given(models())
def test_smoothing(model):
    _, h, n = model[1].shape
    expected = [
        [[total(paths, (k, i)) for i in range(n)] for k in range(h)] for paths in windows(model)
    ]
    agree(smoothing(*model), expected)


@exactly
@given(models())
def test_pairwise(model):
    _, h, n = model[1].shape
    expected = np.zeros((2, h - 1, n, n))
    for b, paths in enumerate(windows(model)):
        for j in range(n):
            for k in range(1, h):
                expected[b, k - 1, :, j] = [total(paths, (k - 1, i), (k, j)) for i in range(n)]
    agree(pairwise(*model), expected)


@exactly
@given(models(), st.data())
def test_joint(model, data):
    _, h, n = model[1].shape
    states = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=2 * h, max_size=2 * h)))
    states = states.reshape(2, h)
    for order in range(h):
        expected = [
            [
                total(paths, *((k, path[k]) for k in range(first, first + order + 1)))
                for first in range(h - order)
            ]
            for paths, path in zip(windows(model), states.tolist(), strict=True)
        ]
        agree(joint(*model, states, order), expected)


@exactly
@given(models())
def test_log_posterior(model):
    _, h, n = model[1].shape
    expected = windows(model)
    for path in np.ndindex(*(n,) * h):
        states = np.array([path, path])
        exact = [exact_log(paths.get(path, Fraction(0))) for paths in expected]
        agree_in_logs(log_posterior(*model, states), exact)
