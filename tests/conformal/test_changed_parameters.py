"""Parameters changed after `fit`: checked when they are used, or left for the next one."""

import re

import numpy as np
import pytest

from definetti import ConformalHMM, ConformalSequences, Errors, experiments
from definetti.experiments import Classical
from definetti.sets import StepSets
from definetti.simulate import weather

Y, X = weather(120, random_state=0)
NEW, TRUTH = Y[100:102], X[100:102]

WRONG = [
    {"guarantee": "Steps"},
    {"guarantee": None},
    {"guarantee": np.array(["all"])},
    {"guarantee": 1},
    {"guarantee": Errors},
    {"confidence_level": 1.5},
    {"smoothing": "no"},
    {"max_candidates": 0},
]

QUESTIONS = {
    "predict_set": lambda cp: cp.predict_set(NEW),
    "predict_p": lambda cp: cp.predict_p(NEW),
    "predict_ranks": lambda cp: cp.predict_ranks(NEW),
    "p_value": lambda cp: cp.p_value(NEW, TRUTH),
    "evaluate": lambda cp: cp.evaluate(NEW, TRUTH),
}


@pytest.mark.parametrize("params", WRONG, ids=repr)
@pytest.mark.parametrize("task", QUESTIONS)
@pytest.mark.parametrize("train_size", [None, 0.5])
def test_what_fit_refuses_is_refused_later_too(params, task, train_size):
    cp = ConformalHMM(train_size=train_size).fit(Y[:100], X[:100]).set_params(**params)
    with pytest.raises(ValueError, match=f"{list(params)[-1]}|guarantee") as later:
        QUESTIONS[task](cp)
    with pytest.raises(ValueError, match=f"^{re.escape(str(later.value))}$"):
        cp.fit(Y[:100], X[:100])


@pytest.mark.parametrize("params", WRONG[:6], ids=repr)
def test_whole_sequences_too(params):
    cp = ConformalSequences().fit(Y[:100], X[:100], lengths=[5] * 20).set_params(**params)
    for ask in (
        lambda: cp.predict_set(NEW),
        lambda: cp.evaluate(NEW, TRUTH),
        lambda: cp.predict_set(NEW, confidence_level=0.8),
    ):
        with pytest.raises(ValueError, match=f"{list(params)[-1]}|guarantee"):
            ask()


def test_a_promise_that_there_is_none_of_is_not_put_into_words():
    marginals = np.array([[0.7, 0.3]])
    for guarantee, max_errors in (("Steps", 0), ("errors", -1), ("steps", 2)):
        with pytest.raises(ValueError, match=r"guarantee|max_errors"):
            StepSets(("a", "b"), 0.9, guarantee, max_errors, 0.5, "by hand", True, marginals)


def shown(cp):
    """All that is said of a prediction."""
    s = cp.predict_set(NEW)
    ranks = cp.predict_ranks(NEW)
    return repr(s), s.method, s.exact, ranks, cp.p_value(NEW, TRUTH), cp.states_, cp.symmetry_


def test_what_did_its_work_at_fit_waits_for_the_next():
    for before, after in (
        (
            {},
            {
                "symmetry": "shifts",
                "conformity_score": "filter",
                "train_size": 0.5,
                "random_state": 5,
            },
        ),
        ({"train_size": 0.5}, {"symmetry": "full", "conformity_score": "band", "train_size": None}),
        (
            {"symmetry": "returns"},
            {"symmetry": "nonsense", "conformity_score": 3, "states": [], "model": 7},
        ),
    ):
        cp = ConformalHMM(random_state=0, **before).fit(Y[:100], X[:100])
        found = shown(cp)
        assert shown(cp.set_params(**after)) == found


def test_states_that_were_declared_at_fit_are_the_states():
    cp = ConformalHMM(states=["sun", "rain"]).fit(Y[:100], X[:100]).set_params(states=None)
    with pytest.raises(ValueError, match="'snow'"):
        cp.evaluate(NEW, ["snow", "snow"])
    cp = ConformalHMM().fit(Y[:100], X[:100]).set_params(states=["sun", "rain"])
    assert not cp.evaluate(NEW, ["snow", "snow"]).covered.any()
    weeks = ConformalSequences(states=["sun", "rain"]).fit(Y[:100], X[:100], lengths=[5] * 20)
    with pytest.raises(ValueError, match="'snow'"):
        weeks.set_params(states=None).evaluate(NEW, ["snow", "snow"])


OWN = {
    "Classical": {"stride": 0},
    "ClassConditional": {"classes": "Last"},
    "LikelihoodRatio": {"weight": "Recent"},
    "NonExchangeable": {"decay": 2.0},
    "Robust": {"radius": -1},
    "ShiftPermutations": {"block": 0},
    "Thinned": {"thinning": "Auto"},
    "AdaptiveInference": {"gamma": 2},
    "UnionOverSequences": {"conditional": "yes"},
}


@pytest.mark.parametrize("name", OWN)
def test_baselines_too(name):
    baseline = Classical if name == "Classical" else getattr(experiments, name)
    for params in (OWN[name], {"max_candidates": -5}, {"confidence_level": 2}):
        cp = baseline().fit(Y[:100], X[:100]).set_params(**params)
        for ask in (
            lambda cp=cp: cp.predict_set(NEW),
            lambda cp=cp: cp.predict_p(NEW),
            lambda cp=cp: cp.p_value(NEW, TRUTH),
        ):
            with pytest.raises(ValueError, match=next(iter(params))):
                ask()


def test_a_baseline_goes_by_the_score_that_it_names():
    cp = experiments.UnionMultiStep(conformity_score="smoother").fit(Y[:100], X[:100])
    found = cp.predict_p(NEW)
    assert cp.set_params(conformity_score="filter").predict_p(NEW) == found
    adaptive = (
        experiments.AdaptiveInference().fit(Y[:100], X[:100]).set_params(confidence_level=0.5)
    )
    with pytest.raises(ValueError, match=r"own, 0\.9; set it there, and fit again"):
        adaptive.predict_set(NEW)
