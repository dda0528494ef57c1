"""Probabilities that vanish, sequences that are long, batches of every kind."""

import numpy as np
import pytest
from tests.models.chains import (
    GivenChain,
    filtering,
    joint,
    log_posterior,
    pairwise,
    smoothing,
)

from definetti.models.forward_backward import forward

INF = np.inf
FORK = np.array([[0.0, 0.5, 0.5], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
AT_ZERO = np.array([0])


def random_model(n, h, windows=1, seed=0):
    rng = np.random.default_rng(seed)
    transition = rng.dirichlet(np.ones(n), n)
    return transition, rng.normal(0.0, 3.0, (windows, h, n)), rng.integers(n, size=windows)


@pytest.mark.parametrize("gap", [1.0, 20.0, 800.0])
def test_evidence_that_vanished_counts_when_it_is_overturned(gap):
    # No single step is improbable for a gap of 20, yet the odds go through e^-1000 and return.
    first = np.tile([0.0, 0.0, -gap], (50, 1))
    log_likelihood = np.concatenate([first, first[:, [0, 2, 1]]])[None]
    np.testing.assert_allclose(
        smoothing(FORK, log_likelihood, AT_ZERO), np.tile([0.0, 0.5, 0.5], (1, 100, 1)), rtol=1e-11
    )
    path = np.full((1, 100), 2)
    np.testing.assert_allclose(
        log_posterior(FORK, log_likelihood, AT_ZERO, path), np.log(0.5), rtol=1e-11
    )


def test_rare_transitions_in_a_row():
    # The chain can only go 0, 1, 2, 3 by steps of 1e-300, and the last observation says it did.
    rare = 1e-300
    transition = np.eye(4) * (1.0 - rare) + np.eye(4, k=1) * rare
    transition[3, 3] = 1.0
    log_likelihood = np.zeros((1, 4, 4))
    log_likelihood[0, 3, :3] = -INF
    # Three of four steps move, and one of the four stays.
    expected = [[1, 3, 0, 0], [0, 2, 2, 0], [0, 0, 3, 1], [0, 0, 0, 4]]
    smoothed = smoothing(transition, log_likelihood, AT_ZERO)
    np.testing.assert_allclose(smoothed[0], np.array(expected) / 4, rtol=1e-12)
    path = np.array([[1, 2, 2, 3]])
    np.testing.assert_allclose(
        joint(transition, log_likelihood, AT_ZERO, path, 3), [[0.25]], rtol=1e-12
    )
    path = np.array([[0, 0, 0, 3]])
    assert log_posterior(transition, log_likelihood, AT_ZERO, path) == -INF


def test_likelihoods_of_any_size():
    # Only ratios of likelihoods matter, and those of the states within reach.
    transition, log_likelihood, start = random_model(3, 50)
    expected = smoothing(transition, log_likelihood, start)
    for shift in (-5000.0, 700.0, 1e6):
        np.testing.assert_allclose(
            smoothing(transition, log_likelihood + shift, start), expected, rtol=1e-8
        )
    log_likelihood = np.array([[[0.0, -5000.0, -5000.0 - np.log(3.0)]]])
    np.testing.assert_allclose(
        filtering(FORK, log_likelihood, AT_ZERO), [[[0.0, 0.75, 0.25]]], rtol=1e-12
    )


@pytest.mark.parametrize("impossible", [[-INF, -INF, -INF], [3.0, -INF, -INF]])
def test_an_impossible_observation_is_a_missing_one(impossible):
    log_likelihood = np.array([[[0.0, -1.0, 0.0], impossible, [0.0, 0.0, -2.0]]])
    missing = log_likelihood.copy()
    missing[0, 1] = 0.0
    path = np.array([[2, 2, 2]])
    for function, *more in [
        (filtering,),
        (smoothing,),
        (pairwise,),
        (joint, path, 1),
        (log_posterior, path),
    ]:
        got, expected = (function(FORK, x, AT_ZERO, *more) for x in (log_likelihood, missing))
        np.testing.assert_allclose(got, expected, rtol=1e-14)


@pytest.mark.parametrize("n", [1, 3, 9])  # of which the last is not unrolled
@pytest.mark.parametrize("lowest", [-INF, -900.0, 0.0])
def test_functions_agree_with_each_other(n, lowest):
    _, log_likelihood, _ = model = random_model(n, 40, windows=6, seed=n)
    log_likelihood[np.random.default_rng(1).random(log_likelihood.shape) < 0.2] = lowest
    filtered, smoothed, pairs = filtering(*model), smoothing(*model), pairwise(*model)
    path = smoothed.argmax(axis=2)
    probability = np.exp(log_posterior(*model, path))

    def at(probabilities):
        return np.take_along_axis(probabilities, path[:, :, None], axis=2)[:, :, 0]

    for array, expected in [
        (filtered.sum(axis=2), 1.0),
        (smoothed.sum(axis=2), 1.0),
        (smoothed[:, -1], filtered[:, -1]),
        (pairs.sum(axis=2), smoothed[:, 1:]),
        (pairs.sum(axis=3), smoothed[:, :-1]),
        (joint(*model, path, 0), at(smoothed)),
        (joint(*model, path, 39)[:, 0], probability),
    ]:
        np.testing.assert_allclose(array, expected, rtol=1e-11, atol=1e-290)


def test_a_window_is_the_same_in_every_batch():
    transition, log_likelihood, start = random_model(3, 7, windows=40)
    log_likelihood[::3] *= 500.0
    log_likelihood[::5, 2] = -INF
    states = np.random.default_rng(2).integers(3, size=(40, 7))
    marks = forward(GivenChain(transition, log_likelihood, start).given).logarithmic
    assert 0 < marks.sum() < 40
    for function, more in [
        (filtering, ()),
        (smoothing, ()),
        (pairwise, ()),
        (log_posterior, (states,)),
        (lambda *window: joint(*window, 2), (states,)),
    ]:
        batch = function(transition, log_likelihood, start, *more)
        for part in [slice(0, 1), slice(3, 4), slice(5, 18), slice(39, 40)]:
            arrays = (array[part] for array in (log_likelihood, start, *more))
            np.testing.assert_array_equal(function(transition, *arrays), batch[part])


def test_rare_transitions_after_rare_states():
    # At step 2 state 3 has a probability of 1e-430; what follows makes it all but certain.
    transition = np.eye(4)
    transition[0] = [0.0, 0.5, 0.5, 0.0]
    transition[2] = [0.0, 0.0, 1.0, 1e-300]
    log_likelihood = np.tile([-20.0, -20.0, -20.0, 0.0], (1, 102, 1))
    log_likelihood[0, 0] = [0.0, 0.0, -300.0, 0.0]
    log_likelihood[0, 1] = 0.0
    smoothed = smoothing(transition, log_likelihood, AT_ZERO)
    np.testing.assert_allclose(smoothed[0, [0, 101]], np.eye(4)[[2, 3]], atol=1e-8)


def test_logarithms_are_left_to_the_windows_that_need_them():
    transition, log_likelihood, start = random_model(4, 10_000, windows=3)
    transition[:, 0] = [0.0, 0.0, 0.0, 1.0]
    transition /= transition.sum(axis=1, keepdims=True)
    log_likelihood[:, ::7, 1] = -INF
    log_likelihood[1, 5000] = -INF
    marks = forward(GivenChain(transition, log_likelihood, start).given).logarithmic
    np.testing.assert_array_equal(marks, [False, True, False])


@pytest.mark.parametrize(("rare", "steps"), [(0.1, 100_000), (1e-120, 20_000)])
def test_long_sequences_do_not_drift(rare, steps):
    transition, log_likelihood, start = random_model(5, steps)
    transition[0, 1] = rare
    transition /= transition.sum(axis=1, keepdims=True)
    for function in (filtering, smoothing):
        probabilities = function(transition, log_likelihood, start)
        np.testing.assert_allclose(probabilities.sum(axis=2), 1.0, rtol=2e-15)


def test_a_state_left_behind():
    # Its probability of 2^-k falls below every float; its logarithm does not.
    transition, missing = np.array([[0.5, 0.5], [0.0, 1.0]]), np.zeros((1, 2000, 2))
    filtered = filtering(transition, missing, AT_ZERO)
    np.testing.assert_allclose(filtered[0, :1000, 0], 0.5 ** np.arange(1, 1001), rtol=1e-10)
    path = np.zeros((1, 2000), dtype=np.int64)
    np.testing.assert_allclose(
        log_posterior(transition, missing, AT_ZERO, path), 2000 * np.log(0.5), rtol=1e-12
    )


def test_nothing_is_raised_however_strict_numpy_is():
    log_likelihood = np.array([[[-INF] * 3, [0.0, -5000.0, 0.0], [0.0, -900.0, 700.0]]])
    with np.errstate(all="raise"):
        for function in (filtering, smoothing, pairwise):
            assert not np.isnan(function(FORK, log_likelihood, AT_ZERO)).any()


@pytest.mark.parametrize("order", [-1, 3])
def test_an_order_beyond_the_window_is_refused(order):
    states = np.zeros((1, 3), dtype=np.int64)
    with pytest.raises(ValueError, match=f"from 0 to 2, got {order}"):
        joint(np.eye(1), np.zeros((1, 3, 1)), AT_ZERO, states, order)
