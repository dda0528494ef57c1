"""A long sequence against another implementation."""

import numpy as np
import pytest
from tests.models.chains import filtering, log_posterior, smoothing

hmm = pytest.importorskip("hmmlearn.hmm")


@pytest.fixture(params=[(2, "scaling"), (3, "log"), (5, "scaling"), (9, "log")])
def witness(request):
    n, implementation = request.param
    rng = np.random.default_rng(n)
    start, symbols = n - 1, rng.integers(7, size=(5000, 1))
    model = hmm.CategoricalHMM(n, implementation=implementation)
    model.n_features = 7
    model.transmat_ = rng.dirichlet(np.ones(n), n)
    model.emissionprob_ = rng.dirichlet(np.ones(7), n)
    model.startprob_ = model.transmat_[start]
    log_likelihood = np.ascontiguousarray(np.log(model.emissionprob_).T[symbols.T])
    return model, symbols, (model.transmat_, log_likelihood, np.array([start]))


def test_smoothing(witness):
    model, symbols, window = witness
    np.testing.assert_allclose(smoothing(*window)[0], model.predict_proba(symbols), rtol=1e-9)


def test_filtering(witness):
    model, symbols, window = witness
    filtered = filtering(*window)[0]
    for steps in (1, 2, 17, 5000):
        expected = model.predict_proba(symbols[:steps])[-1]
        np.testing.assert_allclose(filtered[steps - 1], expected, rtol=1e-9)


def test_best_path(witness):
    model, symbols, window = witness
    log_joint, path = model.decode(symbols)
    expected = log_joint - model.score(symbols)
    np.testing.assert_allclose(log_posterior(*window, path[None]), expected, rtol=1e-9)
