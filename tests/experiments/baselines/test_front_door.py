"""What all baselines share with `ConformalHMM`: how they are fitted, asked and refused."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.products import some_slow

from definetti import ConformalHMM, experiments, given_hmm
from definetti.evaluation.results import Evaluation
from definetti.experiments import (
    AdaptiveInference,
    Baseline,
    ClassConditional,
    Classical,
    EnsembleSliding,
    LikelihoodRatio,
    NonExchangeable,
    Robust,
    ShiftPermutations,
    Thinned,
    UnionMultiStep,
    UnionOverSequences,
)
from definetti.sets import PredictionSet
from definetti.simulate import weather

Y, X = weather(240, random_state=3)
NAMED = Baseline.named


def every_baseline(slow=()):
    """Run a test for every baseline, for some of them in the slow tests."""
    return pytest.mark.parametrize("baseline", some_slow(NAMED.values(), slow), ids=list(NAMED))


every = every_baseline()
MODEL = given_hmm(
    [[0.9, 0.1], [0.2, 0.8]],
    [[0.1, 0.7, 0.2], [0.8, 0.05, 0.15]],
    states=["sun", "rain"],
    symbols=["umbrella", "hat", "nothing"],
)


# Late labels, refused arguments of many series, and progress bars.
ALONE = ("lag", "groups", "order", "verbose")


def test_every_baseline_has_a_name():
    classes = {
        one
        for one in vars(experiments).values()
        if isinstance(one, type) and issubclass(one, Baseline)
    }
    assert set(NAMED.values()) == classes - {Baseline}


@every
def test_the_front_door_is_that_of_the_estimator(baseline):
    for name in ("fit", "partial_fit", "predict_set", "predict_p", "p_value", "evaluate"):
        ours = inspect.signature(getattr(baseline, name)).parameters
        theirs = inspect.signature(getattr(ConformalHMM, name)).parameters
        assert [key for key in ours if key not in ALONE] == [
            key for key in theirs if key not in ALONE
        ]
    theirs = inspect.signature(ConformalHMM.__init__).parameters
    ours = inspect.signature(baseline.__init__).parameters
    for key in ("model", "confidence_level", "states", "max_candidates", "random_state"):
        assert ours[key].default == theirs[key].default
    assert ours["train_size"].default == (None if baseline is EnsembleSliding else 0.5)
    assert "Guaranteed" in baseline.__doc__


@every
@pytest.mark.parametrize("horizon", [1, 2, 3])
def test_sets_are_made_of_p_values(baseline, horizon):
    cp = clone(baseline(random_state=0)).fit(Y[:200], X[:200])
    new = Y[200 : 200 + horizon]
    every_one = cp.predict_p(new)
    assert isinstance(every_one, PredictionSet)
    assert len(every_one) == 2**horizon
    assert every_one.confidence_level is None
    level = 0.7 if not baseline.learns_from_misses else None
    s = cp.predict_set(new, level)
    alpha = 1 - (level or 0.9)
    assert set(s) == {c for c in every_one if every_one.p_value(c) > alpha + 1e-12}
    assert all(0 < p <= 1 for p in every_one.p_values)
    assert s.exact is cp.exact
    assert s.method.startswith(baseline.title)
    assert s.horizon == horizon
    assert s.confidence_level == pytest.approx(1 - alpha)
    for sequence in every_one:
        assert cp.p_value(new, sequence) == every_one.p_value(sequence)


@every
def test_labels_that_come_later_are_learned(baseline):
    whole = baseline(train_size=100, random_state=0).fit(Y[:200], X[:200])
    parts = baseline(train_size=100, random_state=0).fit(Y[:150], X[:150])
    before = parts.predict_p(Y[200:202])
    for begin in range(150, 200, 10):  # asked in between, so that nothing kept goes stale
        parts.predict_p(Y[200:202])
        parts.partial_fit(Y[begin : begin + 10], X[begin : begin + 10])
    after = parts.predict_p(Y[200:202])
    if baseline is EnsembleSliding:  # it remembers no more than it was fitted with
        assert before != after
    else:
        assert after == whole.predict_p(Y[200:202])
    assert baseline(random_state=0).partial_fit(Y, X).states_ == ("sun", "rain")


@every
def test_the_truth_judges_sets_window_by_window(baseline):
    cp = baseline(confidence_level=0.8, random_state=0).fit(Y[:200], X[:200])
    found = cp.evaluate(Y[200:], X[200:], horizon=2)
    assert isinstance(found, Evaluation)
    assert len(found.covered) == 20
    assert found.coverage >= 0.5
    if not baseline.learns_from_misses:
        assert ((found.p_values > 0.2 + 1e-12) == found.covered).all()
    assert len(cp._data.history) == len(
        baseline(random_state=0).fit(Y[:200], X[:200])._data.history
    )


@every
def test_fits_are_the_same_for_the_same_seed(baseline):
    first, second = (baseline(random_state=5).fit(Y[:200], X[:200]) for _ in range(2))
    assert first.predict_p(Y[200:202]) == second.predict_p(Y[200:202])


@every
def test_a_model_that_is_fixed_needs_no_training(baseline):
    cp = baseline(MODEL).fit(Y[:200], X[:200])
    assert len(cp._data.history) == 200
    assert len(cp.predict_p(Y[200:202])) == 4


@every
def test_a_function_is_a_model_too(baseline):
    def fair(start, windows):
        return np.full((*windows.shape, 2), 0.5)

    cp = baseline(fair, states=["sun", "rain"]).fit(Y[:200], X[:200])
    if baseline is UnionOverSequences:
        with pytest.raises(TypeError, match="gives no likelihood of an observation by itself"):
            cp.predict_p(Y[200:201])
        return
    if baseline is Thinned:
        with pytest.raises(ValueError, match=r"thinning='auto'.*give a number"):
            cp.predict_p(Y[200:201])
        cp = cp.set_params(thinning=3)
    assert set(cp.predict_p(Y[200:201]).p_values) == {1.0}  # all is tied


@every_baseline(slow=[AdaptiveInference, NonExchangeable])
def test_steps_without_observations(baseline):
    plain = baseline(random_state=0).fit(None, X[:200])
    assert len(plain.predict_p(horizon=2)) == 4
    assert 0 < plain.p_value(None, ["sun", "rain"]) <= 1
    cp = baseline(random_state=0).fit(Y[:200], X[:200])
    assert len(cp.predict_p(horizon=3)) == 8
    if baseline is ShiftPermutations:
        with pytest.raises(ValueError, match=r"horizon=2 reaches beyond the 1 new_observations"):
            cp.predict_p(Y[200:201], horizon=2)
    else:
        assert len(cp.predict_p(Y[200:201], horizon=2)) == 4


@every_baseline(slow=[AdaptiveInference])
def test_states_that_were_declared_or_never_seen(baseline):
    cp = baseline(states=["sun", "rain", "snow"], random_state=0).fit(Y[:200], X[:200])
    assert cp.states_ == ("sun", "rain", "snow")
    assert len(cp.predict_p(Y[200:201])) == 3
    cp = baseline(random_state=0).fit(Y[:200], X[:200])
    assert 0 < cp.p_value(Y[200:201], ["hail"]) <= 1
    cp.partial_fit(["umbrella"], ["hail"])
    assert len(cp.predict_p(["umbrella"])) == 3


@every
def test_numbers_for_observations(baseline):
    rng = np.random.default_rng(0)
    states = np.array([sky == "rain" for sky in X], dtype=int)
    values = rng.normal(size=len(X)) + 2 * states
    cp = baseline(random_state=0).fit(values[:200], states[:200])
    if baseline is LikelihoodRatio:
        with pytest.raises(ValueError, match=r"weight='recent' counts symbols.*give a function"):
            cp.predict_p(values[200:202])
        cp.set_params(weight=lambda start, seen: np.exp(seen.astype(float).sum(axis=1)))
    assert len(cp.predict_p(values[200:202])) == 4


@every
def test_bad_input_is_refused(baseline):
    with pytest.raises(NotFittedError, match=f"This {baseline.__name__} is not fitted yet; call"):
        baseline().predict_set(["hat"])
    with pytest.raises(NotFittedError):
        baseline().p_value(["hat"], ["sun"])
    with pytest.raises(ValueError, match="confidence_level must be a number between 0 and 1"):
        baseline(confidence_level=1.0).fit(Y, X)
    with pytest.raises(ValueError, match="max_candidates must be a whole number"):
        baseline(max_candidates=0).fit(Y, X)
    with pytest.raises(ValueError, match="random_state must be"):
        baseline(random_state="x").fit(Y, X)
    with pytest.raises(ValueError, match="must be of equal length"):
        baseline().fit(Y[:100], X)
    with pytest.raises(ValueError, match="train_size must be a share"):
        baseline(train_size=1.5).fit(Y, X)
    cp = baseline().fit(Y[:200], X[:200])
    with pytest.raises(ValueError, match=r"make 1,048,576 candidate sequences.*ask p_value for"):
        cp.predict_p(horizon=20)
    with pytest.raises(ValueError, match="new_observations is None and horizon is None"):
        cp.predict_set()
    with pytest.raises(ValueError, match="states has 1 labels for 2 new_observations"):
        cp.p_value(Y[200:202], ["sun"])
    with pytest.raises(ValueError, match="states is empty"):
        cp.p_value(Y[200:202], [])
    with pytest.raises(ValueError, match="fewer than one window"):
        cp.evaluate(Y[200:202], X[200:202], horizon=3)
    with pytest.raises(ValueError, match="confidence_level"):
        cp.predict_set(Y[200:202], 0)


@every
def test_a_fit_that_fails_changes_nothing(baseline):
    cp = baseline(random_state=0).fit(Y[:200], X[:200])
    before = cp.predict_p(Y[200:202])
    with pytest.raises(ValueError, match="equal length"):
        cp.fit(Y[:10], X[:9])
    with pytest.raises(ValueError, match=r"equal length|one label per observation"):
        cp.partial_fit(Y[:10], X[:9])
    assert cp.predict_p(Y[200:202]) == before


def test_only_an_ensemble_trains_without_a_split():
    assert EnsembleSliding(train_size=None).fit(Y, X)
    for baseline in NAMED.values():
        if baseline is not EnsembleSliding:
            with pytest.raises(ValueError, match="train_size is None, but the model is not"):
                baseline(train_size=None).fit(Y, X)


@pytest.mark.parametrize(
    ("cp", "message"),
    [
        (Classical(stride=0), "stride must be a whole number ≥ 1, got 0"),
        (ClassConditional(classes="first"), "classes must be 'sequence' or 'last', got 'first'"),
        (ShiftPermutations(block=1.5), "block must be a whole number ≥ 1, got 1.5"),
        (EnsembleSliding(n_models=0), "n_models must be a whole number ≥ 1, got 0"),
        (EnsembleSliding(piece=-1), "piece must be a whole number ≥ 1, got -1"),
        (
            UnionMultiStep(conformity_score="path"),
            "score must be 'smoother' or 'filter', got 'path'",
        ),
        (UnionOverSequences(conditional=1), "conditional must be True or False, got 1"),
        (LikelihoodRatio(weight="old"), "weight must be 'recent' or a function .* got 'old'"),
        (Robust(radius=-1), "radius must be a finite number ≥ 0, got -1"),
        (Robust(divergence="l2"), "divergence must be one of 'kl', 'chi2', 'tv', got 'l2'"),
        (AdaptiveInference(gamma=0), "gamma must be a number between 0 and 1, got 0"),
        (NonExchangeable(decay=1.1), "decay must be a number above 0 and at most 1, got 1.1"),
        (Thinned(thinning=0), "thinning must be a whole number ≥ 1, got 0"),
        (Thinned(thinning="some"), "thinning must be 'auto' or a whole number ≥ 1, got 'some'"),
        (Classical(conformity_score="best"), "score must be one of"),
    ],
)
def test_parameters_of_their_own_are_checked_at_the_fit(cp, message):
    with pytest.raises(ValueError, match=message):
        cp.fit(Y, X)


@pytest.mark.parametrize(
    ("weight", "error", "message"),
    [
        (lambda start, seen: 1.0, ValueError, r"weight returned shape \(\) for 101 windows"),
        (lambda start, seen: -np.ones(len(start)), ValueError, r"returned -1.0 for window 0"),
        (lambda start, seen: ["x"] * len(start), TypeError, "weight must return one number"),
    ],
)
def test_weights_that_are_none(weight, error, message):
    cp = LikelihoodRatio(MODEL, weight=weight).fit(Y[:101], X[:101])
    with pytest.raises(error, match=message):
        cp.predict_set(["hat"])


def test_the_adaptive_level_adapts_to_one_level_only():
    cp = AdaptiveInference(confidence_level=0.8).fit(Y, X)
    assert cp.predict_set(["hat"], 0.8) == cp.predict_set(["hat"])
    with pytest.raises(ValueError, match=r"confidence_level=0.9, but the level adapts to .* 0.8"):
        cp.predict_set(["hat"], 0.9)


def test_a_round_that_fails_leaves_the_adaptive_level_as_it_was():
    cp = AdaptiveInference(states=["sun", "rain"]).fit(Y, X)
    with pytest.raises(ValueError, match="not among the known labels"):
        cp.partial_fit(["hat"], ["snow"])
    assert (cp.rounds_, float(cp.alpha_)) == (0, 0.1)


@pytest.mark.parametrize("baseline", [UnionMultiStep, UnionOverSequences])
def test_lengths_of_sequences_are_checked(baseline):
    with pytest.raises(ValueError, match="lengths names one sequence"):
        baseline().fit(Y, X, lengths=[240])
    with pytest.raises(ValueError, match="lengths adds up to 200 steps and states has 240"):
        baseline().fit(Y, X, lengths=[100, 100])
    with pytest.raises(ValueError, match="leaves 0 of 1 sequences before the last to train on"):
        baseline().fit(Y, X, lengths=[120, 120])
    with pytest.raises(ValueError, match=r"takes one sequence; leave it out"):
        EnsembleSliding().fit(Y, X, lengths=[120, 120])


def test_a_product_is_listed_where_all_candidates_could_not_be():
    sure = given_hmm([[0.99, 0.01], [0.01, 0.99]], [[0.99, 0.01], [0.01, 0.99]])
    rng = np.random.default_rng(0)
    x = (rng.random(4000) < 0.01).cumsum() % 2
    cp = UnionMultiStep(sure, max_candidates=100).fit(x, x)
    s = cp.predict_set([0] * 10, 0.5)  # of 1,024
    assert 1 <= len(s) <= 100
    with pytest.raises(ValueError, match="more than max_candidates=100"):
        cp.predict_p([0] * 10)
