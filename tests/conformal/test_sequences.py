"""Whole new sequences: every promise by adding up all that can happen, and every argument."""

import copy
import math
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from tests.making import promising
from tests.products import covering

from definetti import HMM, Errors, FromHmmlearn, given_hmm
from definetti.conformal.sequences import ConformalSequences
from definetti.emissions import Classifier, Gaussian
from definetti.engine.thresholds import after_errors, weighted_limit
from definetti.exceptions import FewBlocksWarning, GapWarning
from definetti.models.predictors import SequenceSmoother
from definetti.sets import read_guarantee
from definetti.simulate import weather

INITIAL = np.array([0.3, 0.7])
TRANSITION = np.array([[0.8, 0.2], [0.35, 0.65]])
EMISSION = np.array([[0.9, 0.1], [0.25, 0.75]])
RIGHT = given_hmm(TRANSITION, EMISSION)
WRONG = given_hmm([[0.4, 0.6], [0.9, 0.1]], [[0.3, 0.7], [0.6, 0.4]])
MODELS = {"right": RIGHT, "wrong": WRONG}
HALVES = [Fraction(1, 2), Fraction(2, 5), Fraction(1, 3), Fraction(1, 4), Fraction(1, 5)]


# What can happen, with its probability.


def sequences(law, longest=2, emission=EMISSION, initial=INITIAL):
    """All sequences of up to so many steps: probability, observations, states."""
    found = []
    for length, chance in zip(range(1, longest + 1), law, strict=True):
        for states in product(range(2), repeat=length):
            p = chance * initial[states[0]]
            for i, j in pairwise(states):
                p *= TRANSITION[i, j]
            for observations in product(range(2), repeat=length):
                q = p * math.prod(emission[i, y] for i, y in zip(states, observations, strict=True))
                found.append((q, observations, states))
    return found


def single(longest=2, law=(0.4, 0.6)):
    return [(p, [(y, x)]) for p, y, x in sequences(law, longest)]


def clustered(longest=1, law=(1.0,)):
    """Units of one sequence or two, which have more in common than the law of all."""
    noisy, first = np.array([[0.6, 0.4], [0.5, 0.5]]), np.array([0.9, 0.1])
    easy, hard = sequences(law, longest), sequences(law, longest, noisy, first)
    found = [(0.7 * p, [(y, x)]) for p, y, x in easy]
    for (p, y, x), (q, v, u) in product(hard, hard):
        found.append((0.3 * p * q, [(y, x), (v, u)]))
    return found


def strangeness(model, unit):
    smoother = SequenceSmoother.from_fixed(model)
    found = []
    for observations, states in unit:
        marginals = smoother.marginals(list(observations), "observations")
        found.append(1.0 - marginals[np.arange(len(states)), list(states)])
    return found


def points(steps, guarantee, max_errors=0):
    """What a unit adds to the calibration: how strange, and one over its weight."""
    if guarantee == "steps":
        return [(s, len(steps) * len(one)) for one in steps for s in one.tolist()]
    return [(after_errors(one, max_errors), len(steps)) for one in steps]


def expected_loss(units, number, alpha, limit_of):
    """Add up the loss of a new unit over all calibrations of so many units."""
    merged = defaultdict(float)
    for p, found in units:
        merged[tuple(sorted((round(s, 12), share) for s, share in found))] += p
    assert sum(merged.values()) == pytest.approx(1.0, abs=1e-14)
    values = np.array([s for key in merged for s, _ in key])
    weights = np.array([p / share for key, p in merged.items() for _, share in key])
    total = []
    for chosen in combinations_with_replacement(merged, number):
        ways = math.factorial(number)
        for n in Counter(chosen).values():
            ways //= math.factorial(n)
        strange, shares = map(np.array, zip(*(x for key in chosen for x in key), strict=True))
        limit = limit_of(strange, shares, number, alpha)
        p = ways * math.prod(merged[key] for key in chosen)
        total.append(p * weights[values > limit].sum())
    return math.fsum(total)


def naive(strange, shares, units, alpha, new=1):
    """The smallest limit among what was seen, by its definition; `new` is the new unit's loss."""
    for limit in sorted(strange.tolist()):
        loss = sum((Fraction(1, int(d)) for d in shares[strange > limit + 1e-9]), Fraction(0))
        if (loss + new) / (units + 1) <= alpha:
            return limit + 1e-9
    return np.inf


# The promises.


@pytest.mark.slow_cases("right-promise0-world0")
@pytest.mark.parametrize(
    ("name", "promise", "world"),
    covering(
        MODELS,
        [("steps", 0), ("all", 0), ("errors", 1), ("errors", 2)],
        [("single", (2, 3, 4)), ("long", (2,)), ("clustered", (2, 3))],
    ),
)
def test_no_promise_is_broken_in_any_world(name, promise, world):
    (guarantee, max_errors), (kind, numbers) = promise, world
    drawn = {"single": single(), "long": single(3, (0.2, 0.5, 0.3)), "clustered": clustered()}[kind]
    units = [
        (p, points(strangeness(MODELS[name], unit), guarantee, max_errors)) for p, unit in drawn
    ]
    for number in numbers:
        for alpha in HALVES[:: 1 if number < 4 else 2]:
            loss = expected_loss(units, number, alpha, weighted_limit)
            assert loss <= alpha + 1e-12, (number, alpha)


@pytest.mark.slow_cases("all", "steps")
@pytest.mark.parametrize("guarantee", ["steps", "all"])
def test_units_of_sequences_of_several_lengths(guarantee):
    drawn = clustered(2, (0.5, 0.5))
    units = [(p, points(strangeness(RIGHT, unit), guarantee)) for p, unit in drawn]
    assert expected_loss(units, 2, Fraction(2, 5), weighted_limit) <= 0.4 + 1e-12


@pytest.mark.parametrize("guarantee", ["steps", "all"])
def test_the_check_finds_a_limit_that_forgets_the_new_unit(guarantee):
    units = [(p, points(strangeness(RIGHT, unit), guarantee)) for p, unit in single()]

    def forgetful(strange, shares, number, alpha):
        return naive(strange, shares, number, alpha, new=0)

    assert expected_loss(units, 3, Fraction(1, 4), naive) <= 0.25 + 1e-12
    assert expected_loss(units, 3, Fraction(1, 4), forgetful) > 0.26


@pytest.mark.slow_cases("steps")
@pytest.mark.parametrize("guarantee", ["all", "steps"])
def test_the_check_finds_sequences_that_count_as_units(guarantee):
    """Nights of one subject are not so many subjects."""
    alike = [(p, unit * 2) for p, unit in single(3, (0.2, 0.5, 0.3))]
    units = [(p, points(strangeness(RIGHT, unit), guarantee)) for p, unit in alike]

    def by_sequence(strange, shares, number, alpha):
        return weighted_limit(strange, shares // 2, 2 * number, alpha)

    assert expected_loss(units, 2, Fraction(1, 3), weighted_limit) <= 1 / 3 + 1e-12
    assert expected_loss(units, 2, Fraction(1, 5), by_sequence) > 0.21


def lost(cp, news):
    """The expected loss of a fitted estimator over all that may come: ``[(p, y, x)]``."""
    distinct = list(dict.fromkeys(y for _, y, _ in news))
    found = cp.predict_set([k for y in distinct for k in y], [len(y) for y in distinct])
    steps = {y: s.steps for y, s in zip(distinct, found, strict=True)}
    total = 0.0
    for p, y, x in news:
        wrong = sum(label not in there for label, there in zip(x, steps[y], strict=True))
        promised, errors = read_guarantee(cp.guarantee)
        total += p * (wrong / len(x) if promised == "steps" else wrong > errors)
    return total


def fit_on(cp, units):
    every = [sequence for unit in units for sequence in unit]
    groups = [k for k, unit in enumerate(units) for _ in unit]
    y, x = [k for y, _ in every for k in y], [k for _, x in every for k in x]
    return cp.fit(y, x, [len(y) for y, _ in every], groups)


def losses_of_class(cp, drawn, number, promises, first=()):
    """The expected loss of one sequence of a new unit under each guarantee, by the estimator."""
    news = [(p / len(unit), y, x) for p, unit in drawn for y, x in unit]
    total = Counter()
    for chosen in combinations_with_replacement(range(len(drawn)), number):
        ways = math.factorial(number)
        for n in Counter(chosen).values():
            ways //= math.factorial(n)
        fit_on(cp, [*first, *(drawn[k][1] for k in chosen)])
        p = ways * math.prod(drawn[k][0] for k in chosen)
        for guarantee, max_errors in promises:
            cp.set_params(guarantee=promising(guarantee, max_errors))
            total[guarantee] += p * lost(cp, news)
    return total


@pytest.mark.slow_cases("single")
@pytest.mark.parametrize("kind", [single, clustered])
def test_the_estimator_keeps_its_promises(kind):
    merged = defaultdict(float)
    for p, unit in kind():
        merged[tuple(sorted(unit))] += p  # the order in a unit is of no account
    drawn = [(p, list(unit)) for unit, p in merged.items()]
    cp = ConformalSequences(WRONG, confidence_level=0.6, train_size=None)
    promises = [("steps", 0), ("all", 0), ("errors", 1)]
    assert max(losses_of_class(cp, drawn, 2, promises).values()) <= 0.4 + 1e-12


@pytest.mark.slow
def test_the_promises_hold_whatever_the_model_was_trained_on():
    drawn = single()
    cp = ConformalSequences(HMM(), confidence_level=0.6, train_size=1)
    for _, unit in (drawn[0], drawn[9]):  # in the first, one of the states is never met
        losses = losses_of_class(cp, drawn, 2, [("steps", 0), ("all", 0)], first=[unit])
        assert max(losses.values()) <= 0.4 + 1e-12


# The limits, by their definitions.


@pytest.mark.parametrize("seed", range(300))
def test_limits_are_what_they_are_defined_to_be(seed):
    rng = np.random.default_rng(seed)
    units = int(rng.integers(1, 12))
    alpha = Fraction(int(rng.integers(1, 20)), 20)
    shares = np.concatenate([[n] * n for n in rng.integers(1, 7, units).tolist()])
    strange = rng.integers(0, 8, len(shares)) / 8 + rng.uniform(0, 1e-12, len(shares))
    if seed % 3:
        strange = rng.random(len(shares))
    limit = weighted_limit(strange, shares, units, alpha)
    wanted = naive(strange, shares, units, alpha)
    assert limit == pytest.approx(wanted, abs=1e-9)
    # The same as a rank: a score is accepted if its p-value is above alpha.
    for score in [*(np.unique(strange.round(6)) + 1e-13).tolist(), 0.06, 0.44, 0.93, 1.5]:
        heavy = strange >= score - 1e-9
        weight = sum((Fraction(1, int(d)) for d in shares[heavy]), Fraction(1))
        assert (score <= limit) == (weight / (units + 1) > alpha), score


def test_sums_that_floating_point_gets_wrong():
    # Three steps of ten are wrong in one unit: 0.3 and 1 are exactly a tenth of 13.
    strange, shares = np.repeat([0.9, 0.1], [3, 117]), np.full(120, 10)
    assert not sum([0.1] * 3) + 1 <= (1 - 0.9) * 13
    assert weighted_limit(strange, shares, 12, Fraction(1, 10)) == pytest.approx(0.1)
    assert weighted_limit(strange, shares, 12, Fraction(999, 10000)) == pytest.approx(0.9)
    assert weighted_limit(np.full(9, 0.3), np.ones(9, int), 9, Fraction(1, 10)) < 0.31
    assert weighted_limit(np.full(8, 0.3), np.ones(8, int), 8, Fraction(1, 10)) == np.inf


def test_short_sequences_cannot_have_too_many_errors():
    assert after_errors(np.array([0.9, 0.2, 0.5]), 0) == 0.9
    assert after_errors(np.array([0.9, 0.2, 0.5]), 2) == 0.2
    assert after_errors(np.array([0.9, 0.2, 0.5]), 3) == 0.0


# The model.


def by_hand(initial, transition, likelihood):
    """Smoothed probabilities by adding up all paths."""
    steps, n = likelihood.shape
    found = np.zeros((steps, n))
    for path in product(range(n), repeat=steps):
        p = initial[path[0]] * math.prod(likelihood[k, i] for k, i in enumerate(path))
        for i, j in pairwise(path):
            p *= transition[i, j]
        found[np.arange(steps), path] += p
    return found / found[0].sum()


@pytest.mark.parametrize("seed", range(10))
def test_marginals_are_sums_over_paths(seed):
    rng = np.random.default_rng(seed)
    n, m, steps = rng.integers(1, 4), 3, rng.integers(1, 6)
    initial, transition = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(n), n)
    emission = rng.dirichlet(np.full(m, 0.3), n)
    codes = rng.integers(-1, m, steps)
    model = given_hmm(transition, emission)
    seen = np.where(codes[:, None] < 0, 1.0, emission[:, codes].T)
    observations = [None if code < 0 else int(code) for code in codes]
    found = SequenceSmoother(model, model.states, initial).marginals(observations, "observations")
    np.testing.assert_allclose(found, by_hand(initial, transition, seen), atol=1e-12)
    # A given model has no law of the first state but the one that it keeps.
    found = SequenceSmoother.from_fixed(model)
    np.testing.assert_allclose(found.initial @ transition, found.initial, atol=1e-9)


def test_training_counts_nothing_across_sequences():
    y = ["u", "v", "u", "u", "v", "v", "w"]
    x = ["a", "b", "b", "a", "a", "b", "b"]
    # The units are p: 1 and 4, q: 2, r: 3.
    cp = ConformalSequences(HMM(prior=0.5), confidence_level=0.5, train_size=2)
    cp.fit(y, x, lengths=[2, 1, 3, 1], groups=["p", "q", "r", "p"])
    assert cp.states_ == ("a", "b")
    assert cp.model_.transitions.tolist() == [[0, 1], [0, 0]]
    np.testing.assert_allclose(cp._data.smoother.initial, [1.5 / 4, 2.5 / 4])
    assert cp.n_units_ == 1
    # Symbols of the training and their numbers; "w" is one of them, and other units are not.
    assert cp.model_.table.labels == ("u", "v", "w")
    # And a cell for all others.
    assert cp.model_.statistics.tolist() == [[1, 0, 0, 0], [1, 1, 1, 0]]


def test_which_units_train_can_be_drawn():
    y, x = weather(60, random_state=0)
    tried = {
        tuple(ConformalSequences(random_state=seed, confidence_level=0.7)
              .fit(y, x, [10] * 6).model_.statistics.ravel())
        for seed in (None, 0, 1, 2, 2)
    }  # fmt: skip
    assert len(tried) >= 3
    first = ConformalSequences(confidence_level=0.7).fit(y, x, [10] * 6)
    again = ConformalSequences(confidence_level=0.7, train_size=3).fit(y, x, [10] * 6)
    assert first.model_.statistics.tolist() == again.model_.statistics.tolist()


def test_hmmlearn_brings_its_own_law_of_the_first_state():
    hmmlearn = pytest.importorskip("hmmlearn.hmm")
    foreign = hmmlearn.CategoricalHMM(2, n_features=2)
    foreign.startprob_, foreign.transmat_ = INITIAL[::-1], TRANSITION[::-1, ::-1]
    foreign.emissionprob_ = EMISSION[::-1]
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 200)
    y = np.where(rng.random(200) < 0.8, x, 1 - x)
    x = np.array(["low", "high"])[x]
    cp = ConformalSequences(foreign, confidence_level=0.8, train_size=0.2).fit(y, x, [10] * 20)
    law = dict(zip(cp.states_, cp._data.smoother.initial.tolist(), strict=True))
    assert law == {"low": 0.3, "high": 0.7}
    found = cp.predict_set([0, 1, 1]).marginals[:, [cp.states_.index(s) for s in ("low", "high")]]
    wanted = by_hand(INITIAL, TRANSITION, EMISSION[:, [0, 1, 1]].T)
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    named = ConformalSequences(FromHmmlearn(foreign, ("high", "low")), train_size=None)
    again = named.fit(y, x, [10] * 20).predict_set([0, 1, 1])
    np.testing.assert_allclose(again.marginals[:, ::-1], wanted, atol=1e-12)
    unnamed = ConformalSequences(foreign, train_size=None)
    refuses(lambda: unnamed.fit(y, x, [10] * 20), "train_size=0.2")


# Whatever comes in.

OBSERVATIONS, STATES = weather(120, random_state=3)
LENGTHS = [5] * 24


def made(**params):
    return ConformalSequences(**{"confidence_level": 0.8, **params})


def fitted(**params):
    return made(**params).fit(OBSERVATIONS, STATES, LENGTHS)


def refuses(call, *parts, kind=(ValueError, TypeError)):
    with pytest.raises(kind) as error:
        call()
    for part in parts:
        assert part in str(error.value), error.value


def test_bad_lengths_and_groups():
    cp = made()
    y, x = OBSERVATIONS, STATES
    refuses(lambda: cp.fit(y, x, [5] * 23), "lengths adds up to 115", "120", "every sequence")
    refuses(lambda: cp.fit(y, x, [5] * 24 + [0]), "lengths[24] is 0", "leave out")
    refuses(lambda: cp.fit(y, x, [5.5] * 24), "lengths[0] is 5.5")
    refuses(lambda: cp.fit(y, x, [True] * 120), "lengths[0] is True")
    refuses(lambda: cp.fit(y, x, 5), "lengths must be a list")
    refuses(lambda: cp.fit(y, x, LENGTHS, ["a"] * 120), "groups has 120 labels for 24 sequences")
    refuses(lambda: cp.fit(y, x, LENGTHS, [None] * 24), "groups[0] is None", "names no unit")
    refuses(lambda: cp.fit(y, x, LENGTHS, [[1]] * 24), "groups[0] is [1]")
    refuses(lambda: cp.fit(y, x, LENGTHS, ["a"] * 24), "one unit", "at least two", "groups")
    refuses(lambda: cp.fit(y, x), "one unit", "lengths=")
    refuses(lambda: cp.fit([], [], []), "states is empty")
    refuses(lambda: cp.fit(None, x, LENGTHS), "observations is None")
    refuses(lambda: cp.fit(y[:-1], x, LENGTHS), "observations has 119", "states has 120")
    assert not hasattr(cp, "states_")


def test_bad_parameters():
    fixed = given_hmm(TRANSITION, EMISSION)
    refuses(lambda: fitted(train_size=24), "train_size=24", "0 to calibrate on")
    refuses(lambda: fitted(train_size=0.01), "train_size=0.01", "0 of 24 units to train on")
    refuses(lambda: fitted(train_size=1.5), "train_size must be a share")
    refuses(lambda: fitted(train_size=None), "train_size is None", "set train_size=0.5")
    refuses(lambda: fitted(model=fixed), "trained already", "train_size=None")
    refuses(lambda: fitted(model=lambda y: y), "states is not declared", "order of the columns")
    refuses(lambda: fitted(model="markov"), "model must be")
    refuses(lambda: fitted(guarantee="most"), "guarantee must be")
    refuses(lambda: fitted(guarantee=Errors(-1)), "max_errors must be a whole number")
    refuses(lambda: fitted(confidence_level=1), "confidence_level must be")
    refuses(lambda: fitted(states=["sun"]), "'rain', which is not among the known")
    refuses(lambda: fitted(states=[]), "states is empty")
    refuses(lambda: fitted(states=iter("ab")), "iterator")
    refuses(lambda: fitted(random_state="now"), "random_state must be")
    symbols = made(model=fixed, train_size=None, states=[0])
    refuses(lambda: symbols.fit([0, 1], [0, 0], [1, 1]), "does not have 1", "model knows")


def test_bad_new_sequences():
    cp = fitted()
    refuses(lambda: made().predict_set(["hat"]), "not fitted yet", kind=NotFittedError)
    refuses(lambda: cp.predict_set([]), "new_observations is empty")
    refuses(lambda: cp.predict_set(None), "new_observations is None")
    refuses(lambda: cp.predict_set(["hat"] * 3, [1, 1]), "adds up to 2", "new_observations has 3")
    refuses(lambda: cp.predict_set(["hat", 3]), "new_observations[1] is 3")
    refuses(lambda: cp.evaluate(["hat"] * 2, ["sun"]), "observations has 2", "states has 1")
    with pytest.warns(GapWarning, match="gaps come at random"):
        cp.predict_set(["hat", None])
    rng = np.random.default_rng(0)
    vectors = made(model=HMM(emission=Gaussian())).fit(rng.normal(size=(120, 2)), STATES, LENGTHS)
    refuses(lambda: vectors.predict_set(rng.normal(size=(4, 3))), "has 3 columns", "have 2")


def test_unknown_labels():
    cp = fitted()
    assert cp.evaluate(["hat", "hat"], ["sun", "snow"]).wrong.tolist() == [0.5]
    declared = fitted(states=["rain", "snow", "sun"])
    assert declared.states_ == ("rain", "snow", "sun")
    refuses(lambda: declared.evaluate(["hat"], ["fog"]), "'fog', which is not among the known")
    # A state that came after the training has no probability, and counts in the calibration.
    late = made(confidence_level=0.5, guarantee="all", train_size=2)
    late.fit(list("uvuvuv"), list("ababcc"), [2, 2, 1, 1])
    assert late.states_ == ("a", "b", "c")
    s = late.predict_set(["u", "v"])
    assert s.marginals[:, 2].tolist() == [0, 0]
    assert s.steps == [("a", "b", "c")] * 2


def test_too_few_units_are_said_with_numbers():
    cp = made(confidence_level=0.95, train_size=12).fit(OBSERVATIONS, STATES, LENGTHS)
    with pytest.warns(FewBlocksWarning, match=r"level 0\.95: 12 calibrate of the 19 that it takes"):
        s = cp.predict_set(["hat", "umbrella"])
    assert s.limit == np.inf
    assert s.steps == [cp.states_] * 2
    with pytest.warns(FewBlocksWarning, match="12 calibrate"):
        assert cp.evaluate(OBSERVATIONS, STATES, LENGTHS).coverage == 1.0
    assert cp.predict_set(["hat"], confidence_level=0.9).limit < np.inf


def test_one_sequence_or_several():
    cp = fitted(guarantee=Errors(1))
    one = cp.predict_set(["hat", "umbrella"])
    first, second = cp.predict_set(["hat", "umbrella", "hat"], lengths=[2, 1])
    assert first.steps == one.steps
    assert first.limit == second.limit == one.limit
    assert (first.guarantee, first.max_errors, first.confidence_level) == ("errors", 1, 0.8)
    truth = ["rain", "snow", "sun"]
    e = cp.evaluate(["hat", "umbrella", "hat"], truth, lengths=[2, 1])
    wrong = [[label not in there for label, there in zip(x, found.steps, strict=True)]
             for x, found in ((truth[:2], first), (truth[2:], second))]  # fmt: skip
    assert e.wrong.tolist() == [np.mean(w) for w in wrong]
    assert e.covered.tolist() == [sum(w) <= 1 for w in wrong]
    assert e.sizes.tolist() == [math.prod(found.widths) for found in (first, second)]
    assert np.isnan(e.p_values).all()
    assert "12 units calibrate" in repr(one)
    assert first.exact
    assert cp.predict_set(iter(["hat", "umbrella"])).steps == one.steps
    # Neither the other new sequences nor the symbols they bring change a sequence's set.
    again, _ = cp.predict_set(["hat", "umbrella", "stick"], lengths=[2, 1])
    assert (again.marginals == one.marginals).all()


def test_sequences_of_one_step():
    limits = set()
    for guarantee in ("steps", "all"):
        cp = made(guarantee=guarantee).fit(OBSERVATIONS, STATES, [1] * 120)
        e = cp.evaluate(OBSERVATIONS[:50], STATES[:50], [1] * 50)
        assert len(e.covered) == 50
        assert (e.covered == (e.wrong == 0)).all()
        limits.add(cp.predict_set(["hat"]).limit)
    assert cp.n_units_ == 60
    assert len(limits) == 1  # for one step, the two promises are one and the same


@pytest.mark.slow_cases("steps")
@pytest.mark.parametrize("guarantee", ["steps", "all"])
def test_every_kind_of_observation(guarantee):
    rng = np.random.default_rng(5)
    x = rng.integers(0, 2, 120)
    y = rng.normal(size=(120, 2)) + 2 * x[:, None]
    frame = pd.DataFrame(y, columns=["one", "two"], index=np.arange(120)[::-1])
    cp = made(guarantee=guarantee, random_state=0)
    groups = list(range(12)) * 2
    wanted = copy.deepcopy(cp.fit(y, x, LENGTHS, groups).evaluate(y, x, LENGTHS))
    for same in (y.tolist(), frame, pl.from_pandas(frame)):
        found = cp.fit(same, x.tolist(), pd.Series(LENGTHS), np.array(groups))
        labels = pd.Series(x, index=frame.index)
        assert found.evaluate(same, labels, np.array(LENGTHS)) == wanted
    mixed = frame.assign(two=np.where(y[:, 1] > 1, "up", "down"))
    assert cp.fit(mixed, x, LENGTHS).evaluate(mixed, x, LENGTHS).wrong_share < 0.3
    hybrid = clone(cp).set_params(model=HMM(emission=Classifier(LogisticRegression())))
    assert hybrid.fit(y, x, LENGTHS).evaluate(y, x, LENGTHS).wrong_share < 0.3
    words = cp.fit(np.where(y[:, 1] > 1, "up", "down"), x, LENGTHS)
    assert set(words.predict_set(["up", "away"]).states) == {0, 1}


def test_a_long_sequence_is_not_too_long():
    y, x = weather(6000, random_state=1)
    cp = made(confidence_level=0.6).fit(y, x, [1500] * 4)
    e = cp.evaluate(y[:3000], x[:3000])
    assert np.isfinite(e.widths).all()
    assert 0.5 < 1 - e.wrong_share <= 1


def test_it_is_an_estimator():
    cp = fitted()
    assert clone(cp).get_params() == cp.get_params()
    before = cp.predict_set(["hat", "umbrella"]).steps
    refuses(lambda: cp.fit(OBSERVATIONS, STATES, [1]), "adds up")
    assert cp.predict_set(["hat", "umbrella"]).steps == before
    strict = cp.set_params(guarantee="all").predict_set(["hat", "umbrella"])
    assert strict.guarantee == "all"
