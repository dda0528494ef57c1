"""A guess for who asks for one: the most plausible sequence, as labels."""

import copy

import numpy as np
import pytest

from definetti import ConformalHMM, ConformalSequences
from definetti.simulate import weather

Y, X = (list(part) for part in weather(300, random_state=0))


@pytest.mark.parametrize(
    "settings", [{}, {"allow_empty": True, "confidence_level": 0.01}, {"symmetry": "departures"}]
)
def test_it_is_the_best_of_all_candidates(settings):
    cp = ConformalHMM(random_state=0, **settings).fit(Y[:297], X[:297])
    found = cp.predict(Y[297:])
    every = cp.predict_ranks(Y[297:])
    best = max(one.p_value() for one in every.values())
    assert every[tuple(found.tolist())].p_value() == best
    assert tuple(found.tolist()) == cp.predict_p(Y[297:]).best


def test_long_windows_and_steps():
    cp = ConformalHMM(train_size=0.5, random_state=0).fit(Y[:250], X[:250])
    found = cp.predict(Y[250:])
    assert tuple(found.tolist()) == cp.predict_set(Y[250:]).best
    assert (found == X[250:]).mean() > 0.7
    assert cp.predict(Y[250:253], lag=2).tolist() in (["sun"], ["rain"])
    cp.set_params(guarantee="steps")
    sets = cp.predict_set(Y[250:])
    assert cp.predict(Y[250:]).tolist() == [sets.states[k] for k in sets.marginals.argmax(axis=1)]


def test_labels_of_any_kind():
    codes = [("low", 1) if state == "sun" else 7 for state in X]
    cp = ConformalHMM(random_state=0).fit(Y[:297], codes[:297])
    found = cp.predict(Y[297:])
    assert tuple(found) == cp.predict_p(Y[297:]).best
    assert {type(one) for one in found} <= {int, np.int64, tuple}


def test_sequences_too():
    lengths = [15] * 20
    cp = ConformalSequences(random_state=0).fit(Y, X, lengths)
    found = cp.predict(Y[:40], [15, 25])
    sets = cp.predict_set(Y[:40], [15, 25])
    assert found.tolist() == np.concatenate([s.best for s in sets]).tolist()


@pytest.mark.parametrize("params", [{}, {"train_size": 0.5}, {"symmetry": "full"}])
def test_score_is_the_share_of_most_plausible_states_that_are_right(params):
    y, x = weather(90, random_state=3)
    cp = ConformalHMM(random_state=0, **params).fit(y[:60], x[:60])
    right = 0
    for k in range(60, 90):
        learner = copy.deepcopy(cp)
        if k > 60:
            learner.partial_fit(y[60:k], x[60:k])
        right += learner.predict_p(y[k : k + 1]).best == (x[k],)
    assert cp.score(y[60:], x[60:]) == right / 30
    assert cp.n_steps_ in (30, 60)  # it learned nothing


def test_score_serves_cross_validation():
    from sklearn.model_selection import TimeSeriesSplit, cross_val_score

    rng = np.random.default_rng(0)
    x = np.repeat(rng.integers(2, size=30), 5)
    y = rng.normal(size=(150, 2)) + 3 * x[:, None]
    found = cross_val_score(ConformalHMM(random_state=0), y, x, cv=TimeSeriesSplit(3))
    assert np.isfinite(found).all()
    assert found.min() > 0.8


def test_score_refuses_no_rows():
    cp = ConformalHMM(random_state=0).fit(*weather(60, random_state=3))
    with pytest.raises(ValueError, match="states is empty"):
        cp.score([], [])
