"""Estimates made together give the ranks and scores of estimates made one after the other."""

import numpy as np
import pytest
from tests.making import drawing

from definetti import HMM, ConformalHMM
from definetti.emissions import Categorical, Emission, Gaussian, Mixed, Poisson
from definetti.engine import task as questions
from definetti.engine.algorithm import rank
from definetti.engine.task import all_candidates
from definetti.scores import Path, Score
from definetti.symmetry import Symmetry

EMISSIONS = {
    name: (one(), list(one.example)) for name, one in Emission.named.items() if one.example
}
EMISSIONS["plain"] = (Categorical(), None)
EMISSIONS["no prior"] = (Categorical(0), ["a", "b", "c", "d", None])
EMISSIONS["counts"] = (Poisson(0), [(0, 3), (4, 0), (None, 2), (9, 9), None])
EMISSIONS["columns"] = (
    Mixed({0: Categorical(), 1: Poisson()}),
    [("a", 0), ("b", 3), (None, 7), ("a", None), None],
)
EMISSIONS["half apart"] = (
    Mixed({0: Categorical(), 1: Gaussian()}),
    [("a", 0.5), ("b", 1.0), (None, 0.2), ("a", None), None],
)


def drawn(values, length, n_states, seed):
    rng = np.random.default_rng(seed)
    states = np.zeros(length, dtype=int)
    for t in range(1, length):
        states[t] = rng.integers(n_states) if rng.random() < 0.4 else states[t - 1]
    if values is None:
        return None, states.tolist()
    which = (states + (rng.random(length) < 0.4)) % len(values)
    return [values[k] for k in which], states.tolist()


def asked(emission, values, *, length=60, horizon=3, n_states=3, seed=0, prior=0.5, **how):
    """Fit all but the last steps; return a task about these, and all candidates."""
    how = {"states": range(n_states), "random_state": 0} | how
    how["symmetry"] = drawing(how.get("symmetry", "auto"), 19)
    unseen, lengths = how.pop("unseen", False), how.pop("lengths", None)
    y, x = drawn(values, length + horizon, n_states - 1, seed)  # the last state never occurs
    past, new = (None, None) if y is None else (y[:length], y[length:])
    new = None if unseen else new
    cp = ConformalHMM(HMM(prior, emission), **how).fit(past, x[:length], lengths)
    task = cp._task(new, horizon if new is None else None)
    return task, all_candidates(n_states, horizon)


def assert_same(monkeypatch, task, candidates):
    together = rank(task, candidates)
    with monkeypatch.context() as patched:
        patched.setattr(questions, "estimate_candidates", lambda *_: None)
        apart = rank(task, candidates)
    assert together.ranks() == apart.ranks()
    np.testing.assert_array_equal(together.scores, apart.scores)


@pytest.mark.parametrize("symmetry", ["spaced", "departures"])
@pytest.mark.parametrize("name", EMISSIONS)
@pytest.mark.filterwarnings("ignore:new_observations has gaps")
def test_every_emission(monkeypatch, name, symmetry):
    prior = 0 if name == "no prior" else 0.5
    if EMISSIONS[name][0].ordered:
        task, _ = asked(*EMISSIONS[name], symmetry=symmetry, n_states=3, states=[0, 1], seed=1)
        assert_same(monkeypatch, task, all_candidates(2, 3))
        return
    for seed in range(2):
        task = asked(*EMISSIONS[name], symmetry=symmetry, seed=seed, prior=prior)
        assert_same(monkeypatch, *task)


@pytest.mark.parametrize("symmetry", [name for name in Symmetry.named if name != "published"])
@pytest.mark.parametrize("score", Score.named)
@pytest.mark.filterwarnings("ignore:symmetry=.*does not guarantee")
def test_every_score_and_symmetry(monkeypatch, score, symmetry):
    emission, values = EMISSIONS["categorical"]
    how = {"conformity_score": score, "symmetry": symmetry, "length": 30, "horizon": 2}
    assert_same(monkeypatch, *asked(emission, values[:2], **how))


@pytest.mark.parametrize(
    "how",
    [
        {"memory": 2},
        {"memory": "age", "symmetry": "departures"},
        {"lengths": [20, 15, 25]},
        {"unseen": True},
        {"length": 4},
        {"conformity_score": lambda windows: (windows.states == 1).sum(axis=1)},
    ],
    ids=["memory", "age", "segments", "unseen", "short", "function"],
)
@pytest.mark.parametrize("name", ["bernoulli", "plain"])
@pytest.mark.filterwarnings("ignore:new_observations has gaps")
def test_all_else_that_there_is(monkeypatch, name, how):
    emission, values = EMISSIONS[name]
    assert_same(monkeypatch, *asked(emission, values and values[:2], **how))


def test_what_a_score_derived_from_another_says_is_its_own(monkeypatch):
    class Shifted(Path):
        def __call__(self, estimate, windows):
            return -super().__call__(estimate, windows)

    task, candidates = asked(Categorical(), ["a", "b"], conformity_score=Shifted())
    assert_same(monkeypatch, task, candidates)


def test_what_an_emission_derived_from_another_says_is_its_own(monkeypatch):
    class Flat(Categorical):
        def log_likelihood(self, table, statistics, codes):
            return super().log_likelihood(table, statistics.sum(axis=0, keepdims=True), codes) + (
                np.zeros(len(statistics))
            )

    task, candidates = asked(Flat(), ["a", "b"])
    assert_same(monkeypatch, task, candidates)


def test_a_model_derived_from_another_makes_its_own_estimates(monkeypatch):
    class Uniform(HMM):
        def estimate(self, completion, table, statistics, labels):
            found = super().estimate(completion, table, statistics, labels)
            found.transition[:] = 1 / completion.n_states
            return found

    y, x = drawn(["a", "b"], 60, 2, 0)
    cp = ConformalHMM(Uniform(), states=[0, 1, 2], random_state=0).fit(y[:57], x[:57])
    task, candidates = cp._task(y[57:], None), all_candidates(3, 3)
    assert_same(monkeypatch, task, candidates)
    plain = ConformalHMM(HMM(), states=[0, 1, 2], random_state=0).fit(y[:57], x[:57])
    scores = rank(plain._task(y[57:], None), candidates).scores
    assert (scores != rank(task, candidates).scores).any()


def broken(value):
    class Broken(Categorical):
        def log_likelihood(self, table, statistics, codes):
            logs = super().log_likelihood(table, statistics, codes)
            logs[..., 0] = np.where(codes == 0, value, logs[..., 0])
            return logs

    return asked(Broken(), ["a", "b"])


def test_what_is_impossible(monkeypatch):
    assert_same(monkeypatch, *broken(-np.inf))


@pytest.mark.parametrize("together", [True, False])
def test_what_is_no_number_is_refused(monkeypatch, together):
    if not together:
        monkeypatch.setattr(questions, "estimate_candidates", lambda *_: None)
    with pytest.raises(ValueError, match="NaN"):
        rank(*broken(np.nan))
