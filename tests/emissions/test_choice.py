"""An emission by the kind of values."""

import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.products import covering

from definetti import HMM, ConformalHMM
from definetti.emissions import Bernoulli, Categorical, Gaussian, Mixed, Poisson, Text
from definetti.emissions.choice import choose, kinds_of
from definetti.emissions.mixed import kind
from definetti.exceptions import GapWarning
from definetti.verify import enumerate_ranks

RNG = np.random.default_rng(0)
REAL = RNG.normal(size=(6, 2))
TEXT = [f"word{k}" for k in np.minimum(RNG.zipf(1.3, size=400), 10**6)]

CHOICES = [
    (None, Categorical),
    ([], Categorical),
    ([None, None], Categorical),
    (["wet", "dry", "wet"], Text),
    (["wet", "dry"] * 50 + ["snow"], Text),
    ([f"label {k}" for k in range(40)], Text),
    ([f"label {k % 60}" for k in range(6000)], Text),
    (TEXT, Text),
    (np.array(TEXT), Text),
    (pd.Series(TEXT), Text),
    (pl.Series([*TEXT, None]), Text),
    ([1, 2, 3], Categorical),
    (np.array([1, -2, 3]), Categorical),
    (np.array([1.0, 2.0, np.nan]), Categorical),
    (np.array([1.0, 2.5, np.nan]), Gaussian),
    ([1, 2.5, None], Gaussian),
    (pd.Series([1.0, 2.5]), Gaussian),
    (pl.Series([True, False]), Categorical),
    ([("a", 1), ("b", 2)], Categorical),
    ([(0, 1), (1, 1)], Categorical),
    ([1, "a"], Categorical),
    (REAL, Gaussian),
    (REAL.tolist(), Gaussian),
    (list(REAL), Gaussian),
    (list(map(tuple, REAL)), Gaussian),
    ([(1.0, 2.0), (0.5, 2.0)], Gaussian),
    ([None, *REAL.tolist()], Gaussian),
    (pd.DataFrame(REAL), Gaussian),
    (pl.DataFrame(REAL), Gaussian),
    (np.array([[3.0, 2.0]]), Poisson),
    (np.array([[2, 2], [0, 3]]), Poisson),
    ([[2, 2], [0, 3]], Poisson),
    (np.array([[1, 2], [0, 3]]), Mixed),
    (np.array([[1, 0], [0, 0]]), Bernoulli),
    (np.array([[1.0, 0.0], [0.0, np.nan]]), Bernoulli),
    ([[1, 0], [0, None]], Bernoulli),
    (np.array([[1, 0.5], [0, 2.5]]), Gaussian),
    (pd.DataFrame({"on": [1, 0], "up": [0.0, None]}), Bernoulli),
    (pl.DataFrame({"on": [1, 0], "up": [True, None]}), Bernoulli),
    (pd.DataFrame({"on": [1, 0], "calls": [3, 0]}), Mixed),
    ([0, 1, 1], Categorical),
    ([(0, 1), (1, 0)], Categorical),
    (np.array([[1, -2], [0, -3]]), Gaussian),
    ([[1, 2.5], [0, 3.5]], Gaussian),
    (pd.DataFrame({"a": [1, 2], "b": [0, 5]}), Poisson),
    (np.array([[True, False]]), Bernoulli),
    ([[True, False], [True, None]], Bernoulli),
    (pl.DataFrame({"a": [True, None]}), Bernoulli),
    (pl.DataFrame({"a": [1.5, 2.5], "b": ["x", "y"]}), Mixed),
    (pd.DataFrame({"a": [1.5, 2.5], "b": [1, 2]}), Mixed),
    (pd.DataFrame({"b": ["x", "y"]}), Mixed),
    ([{"a": 1.5}, {"a": 2.5}], Mixed),
    ([["a", 1.5], ["b", 2.5]], Mixed),
    ([("a", 1.5), ("b", 2.5)], Mixed),
]


@pytest.mark.parametrize(("observations", "expected"), CHOICES)
def test_choices(observations, expected):
    chosen = choose(observations)
    assert type(chosen) is expected
    if observations is not None:  # and what is chosen can read it
        _, codes = chosen.encode(observations, None, "observations")
        assert len(codes) == len(observations)


@pytest.mark.parametrize(
    "observations", [5, "text", {"a": [1]}, np.zeros((2, 2, 2)), np.array(1.0), object()]
)
def test_what_cannot_be_read_is_refused_by_what_is_chosen(observations):
    with pytest.raises((TypeError, ValueError), match="observations must"):
        choose(observations).encode(observations, None, "observations")


def test_an_iterator_is_not_used_up():
    words = iter(["a", "b"])
    choose(words)
    assert list(words) == ["a", "b"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([None, float("nan")], "nothing"),
        (pd.Series(["a"], dtype="category"), "symbols"),
        (pl.Series(["a"], dtype=pl.Categorical), "symbols"),
        (pd.Series([1, None], dtype="Int64"), "flags"),
        (pd.Series([2, None], dtype="Int64"), "counts"),
        (pd.Series([True, None], dtype="boolean"), "switches"),
        (pd.Series([1.0, None]), "flags"),
        (pd.Series([1.0, None, 2.0]), "counts"),
        (pl.Series([0, 1], dtype=pl.UInt8), "flags"),
        ([0, -1, 1], "integers"),
        ([0, 1, 0.5], "numbers"),
        ([10**400, 0], "counts"),
        ([1.0, float("inf")], "numbers"),
        (np.array([2.0, -np.inf]), "numbers"),
        (pd.Series([1.5, None]), "numbers"),
        (np.array([np.nan, -2.0]), "integers"),
        (np.ma.array([1.5, 2.0], mask=[True, False]), "counts"),
        (np.array([3, 4], dtype=np.uint8), "counts"),
        ([np.float32(1.5), 2], "numbers"),
        (pd.to_datetime(pd.Series(["2020-01-01"])), "dates"),
        (pl.Series(["2020-01-01"]).str.to_date(), "dates"),
        (pl.Series([Decimal("1.5"), None, Decimal("2.0")]), "numbers"),
        (pl.Series([Decimal("3.0")]), "counts"),
        ([(1, 2)], "symbols"),
        ([True, 2], "symbols"),
    ],
)
def test_kinds(values, expected):
    assert kind(values) == expected


LAWS = [
    ([0.5, 0.5], [[0.1, 0.9], [0.9, 0.1]], [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]]),
    ([0.3, 0.7], [[0.6, 0.4], [0.3, 0.7]], [[0.9, 0.05, 0.05], [0.0, 0.2, 0.8]]),
]


class Named(ConformalHMM):
    """Observations 0, 1, 2 under other names."""

    names = ("wet", "dry", "snow")

    def fit(self, observations, states):
        return super().fit([self.names[y] for y in observations], states)

    def predict_ranks(self, new_observations=None, *, horizon=None):
        return super().predict_ranks([self.names[y] for y in new_observations], horizon=horizon)


class Numbers(Named):
    names = (1.0, 1.5, -2.0)


def check_exact(predictor, steps, horizon):
    everything = enumerate_ranks(predictor, 2, 3, steps, horizon)
    for model in LAWS:
        law = [np.array(part) for part in model]
        for level in (0.5, 0.8):
            assert everything.coverage(*law, level) >= level - 1e-12
            smoothed = everything._replace(smoothing=True)
            assert smoothed.coverage(*law, level) == pytest.approx(level, abs=1e-9)


@pytest.mark.parametrize(("names", "steps"), covering([Named, Numbers], [3, 4], fast=1))
def test_the_choice_costs_no_validity(names, steps):
    check_exact(
        names(symmetry="returns", allow_empty=True), steps, 1
    )  # which counts, whatever is observed


def test_whether_text_is_words_costs_no_validity():
    """The rule is tipped now and then by the new observations, and tipped for all alike."""
    rule = Text(few=1, rare=0.3)
    tipped = {rule.is_words(np.array([counts])) for counts in ([2.0, 1.0], [3.0, 1.0, 0.0])}
    assert tipped == {True, False}
    check_exact(Named(HMM(emission=rule), allow_empty=True), 3, 1)
    check_exact(Named(HMM(emission=rule), allow_empty=True), 2, 2)


def test_a_choice_takes_what_is_new_into_account():
    """Nothing that the choice hinges on may depend on whether it came early or late."""
    cp = ConformalHMM(random_state=0).fit([1, 2, 1, 2], ["a", "b", "a", "b"])
    assert isinstance(cp.model_.emission_, Categorical)
    named = ConformalHMM(HMM(emission=Gaussian()), random_state=0)
    named.fit([1, 2, 1, 2], ["a", "b", "a", "b"])
    assert cp.predict_p([1.5]) == named.predict_p([1.5])
    assert isinstance(cp.model_.emission_, Categorical)  # of the history, that is
    cp.partial_fit([1.5], ["a"])
    assert isinstance(cp.model_.emission_, Gaussian)
    assert cp.predict_p([1.5]) == named.partial_fit([1.5], ["a"]).predict_p([1.5])


@pytest.mark.parametrize(
    "values",
    [
        [1, 2, None, 2.0, 0.5],
        [1, -1, 2.5],
        [True, 0.5, 1],
        [(1, 2), (3, 1.5), None],
        [(1, 2), (1, 2, 3)],
        [None, "a", 3],
        ["a", None],
        [[1, 2], [0.5, -1], None],
        [{"a": 1}, {"a": 2.5, "b": "x"}],
        [[3.0, 2.0], 3.0],
        [[0, 1], [1, 1], [2, 0], [0.5, 1]],
        [{"a": 1, "b": True}, {"a": 0, "b": 1}, {"a": 2, "b": 0}],
    ],
)
def test_what_segments_hold_is_what_they_hold_together(values):
    whole = kinds_of(values)
    for cut in range(len(values) + 1):
        parts = kinds_of(values[:cut]).join(kinds_of(values[cut:]))
        assert parts.emission() == whole.emission()
        if whole.shape != "rows":
            assert (parts.shape, dict(parts.kinds)) == (whole.shape, dict(whole.kinds))


FRAMES = [
    lambda y: pd.Series([(0, 1, None)[k] for k in y]),  # a gap makes pandas write floats
    lambda y: [(0, 1, 2.0)[k] for k in y],
    lambda y: [((1, 2), (3, 1), (1, 2.5))[k] for k in y],
    lambda y: [(0.5, 2.0, True)[k] for k in y],
    lambda y: [(None, 1.5, 2.0)[k] for k in y],
    lambda y: pd.DataFrame(
        {"a": [(0, 1, None)[k] for k in y], "b": [("u", "v", "u")[k] for k in y]}
    ),
    lambda y: [[(0, 1, 2)[k]] for k in y],  # switches, until there is a two
    lambda y: pd.DataFrame({"a": [(0, 1, 3)[k] for k in y], "b": [(1, 0, 1)[k] for k in y]}),
    lambda y: [[(0, 1, 0.5)[k], k == 1] for k in y],
]


@pytest.mark.parametrize(
    "spelt",
    [pytest.param(one, marks=() if k == 1 else pytest.mark.slow) for k, one in enumerate(FRAMES)],
)
def test_values_that_tip_the_choice_cost_no_validity(spelt):
    class Spelt(ConformalHMM):
        def fit(self, observations, states):
            return super().fit(spelt(observations), states)

        def predict_ranks(self, new_observations=None, *, horizon=None):
            return super().predict_ranks(spelt(new_observations), horizon=horizon)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)
        check_exact(Spelt(symmetry="returns", allow_empty=True), 3, 1)


def test_zeros_and_ones_in_a_table_are_switches_until_there_is_another_number():
    states = ["a", "b"] * 4
    on, heat = [0, 1] * 4, [0.5, 2.5] * 4
    known = pd.DataFrame({"on": on, "heat": heat})
    cp = ConformalHMM(random_state=0).fit(known, states)
    assert cp.model_.emission_.columns == {"on": Bernoulli(), "heat": Gaussian()}
    switches = HMM(emission=Mixed({"on": Bernoulli(), "heat": Gaussian()}))
    counts = HMM(emission=Mixed({"on": Poisson(), "heat": Gaussian()}))
    reals = HMM(emission=Gaussian())
    for value, model in ((1, switches), (2, counts), (0.5, reals), (-1, reals)):
        new = pd.DataFrame({"on": [value], "heat": [1.5]})
        named = ConformalHMM(model, random_state=0).fit(known, states)
        assert cp.predict_p(new) == named.predict_p(new)
    assert cp.model_.emission_.columns["on"] == Bernoulli()  # of the history, that is
    cp.partial_fit(pd.DataFrame({"on": [2], "heat": [1.5]}), ["a"])
    assert cp.model_.emission_.columns["on"] == Poisson()


def test_a_model_that_is_fixed_refuses_what_its_switches_cannot_be():
    """As one of counts refuses fractions: what was chosen for the training stays."""
    y, x = [[0], [1]] * 10, ["a", "b"] * 10
    cp = ConformalHMM(train_size=0.5).fit(y, x)
    assert cp.predict_p([[1]]).horizon == 1
    with pytest.raises(ValueError, match=r"is 2.*use Poisson\(\) for counts"):
        cp.predict_p([[2]])


def test_a_masked_array_has_gaps():
    y = np.ma.array([[0.5], [1e6], [2.5], [0.25]], mask=[[0], [1], [0], [0]])
    x = ["a", "a", "b", "a"]
    masked = ConformalHMM(random_state=0).fit(y, x).predict_p([[0.5]])
    assert masked == ConformalHMM(random_state=0).fit([[0.5], None, [2.5], [0.25]], x).predict_p(
        [[0.5]]
    )


@pytest.mark.parametrize("rows", [REAL, REAL.tolist(), pd.DataFrame(REAL, columns=["a", "b"])])
def test_hmm_without_emission_takes_that_of_auto_for_rows(rows):
    x = ["a", "b", "a", "b", "b", "a"]
    given, auto = (
        ConformalHMM(model, symmetry="spaced", random_state=0).fit(rows, x)
        for model in (HMM(), "auto")
    )
    assert given.model_.emission_ == auto.model_.emission_
    assert given.predict_ranks(rows[:2]) == auto.predict_ranks(rows[:2])
    given.partial_fit([None], ["a"])
    assert given.model_.emission_ == auto.model_.emission_


@pytest.mark.parametrize("symbols", [["wet", "dry"] * 3, [0.5, 1.5] * 3, [(0.5, 1), (2, 3)] * 3])
def test_hmm_without_emission_counts_symbols(symbols):
    found = ConformalHMM(HMM(prior=2)).fit(symbols, ["a", "b", "a", "b", "b", "a"])
    assert found.model_.emission_ == Categorical(2.0)
