"""Other people's libraries as witnesses: the same scores give the same p-values and sets."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from definetti import given_hmm
from definetti.experiments import ClassConditional, Classical

crepes = pytest.importorskip("crepes")


class Table(ClassifierMixin, BaseEstimator):
    """A classifier that looks probabilities up by the state before and the symbol."""

    def __init__(self, probabilities=None):
        self.probabilities = probabilities

    def fit(self, X, y):
        self.classes_ = np.arange(self.probabilities.shape[2])
        self.n_features_in_ = 2
        return self

    def predict_proba(self, X):
        X = np.asarray(X, dtype=int)
        return self.probabilities[X[:, 0], X[:, 1]]

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)


def case(seed):
    """A model with a history, the filter's table, and the rows that a classifier would see."""
    rng = np.random.default_rng(seed)
    n, m, length = 3, 4, int(rng.integers(30, 80))
    transition, emission = rng.dirichlet(np.ones(n), size=n), rng.dirichlet(np.ones(m), size=n)
    joint = transition[:, None, :] * emission.T[None]
    table = joint / joint.sum(axis=2, keepdims=True)  # (start, symbol, state)
    x, y = rng.integers(n, size=length), rng.integers(m, size=length)
    rows = np.column_stack([x[:-1], y[1:]])
    new = int(rng.integers(m))
    return given_hmm(transition, emission), table, x, y, rows, new


@pytest.mark.parametrize("seed", range(40))
def test_classical_is_what_crepes_computes(seed):
    model, table, x, y, rows, new = case(seed)
    past = 1 - table[rows[:, 0], rows[:, 1], x[1:]]
    asked = 1 - table[[x[-1]], [new]]
    other = crepes.ConformalClassifier()
    other.fit(past)
    cp = Classical(model, conformity_score="filter").fit(y, x)
    theirs = other.predict_p(asked, smoothing=False)[0]
    ours = [cp.p_value([new], [state]) for state in range(3)]
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
    for level in (0.6, 0.85, 0.95):
        theirs = other.predict_set(asked, confidence=level, smoothing=False)[0]
        # Theirs has what is on the boundary, too.
        s = cp.predict_set([new], level)
        on_boundary = np.isclose(ours, 1 - level)
        assert [(state,) in s or bool(on_boundary[state]) for state in range(3)] == [
            bool(there) or bool(on_boundary[state]) for state, there in enumerate(theirs)
        ]


@pytest.mark.parametrize("seed", range(40))
def test_class_conditional_is_what_crepes_computes(seed):
    model, table, x, y, rows, new = case(seed)
    past = 1 - table[rows[:, 0], rows[:, 1], x[1:]]
    asked = 1 - table[[x[-1]], [new]]
    other = crepes.ConformalClassifier()
    other.fit(past, bins=x[1:])
    cp = ClassConditional(model, conformity_score="filter").fit(y, x)
    for state in range(3):
        theirs = other.predict_p(asked, bins=np.array([state]), smoothing=False)[0, state]
        assert cp.p_value([new], [state]) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("level", [0.6, 0.8, 0.93])
def test_classical_sets_are_those_of_mapie(level):
    classification = pytest.importorskip("mapie.classification")
    for seed in range(10):
        model, table, x, y, rows, _ = case(seed)
        classifier = Table(table).fit(rows, x[1:])
        other = classification.SplitConformalClassifier(
            classifier, confidence_level=level, conformity_score="lac", prefit=True
        ).conformalize(rows, x[1:])
        cp = Classical(model, conformity_score="filter").fit(y, x)
        asked = np.array([[x[-1], symbol] for symbol in range(4)])
        theirs = other.predict_set(asked)[1][:, :, 0]
        for symbol, state in product(range(4), range(3)):
            assert ((state,) in cp.predict_set([symbol], level)) == theirs[symbol, state]
