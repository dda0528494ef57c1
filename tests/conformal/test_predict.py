"""A guess for who asks for one: the most plausible sequence, as labels."""

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
