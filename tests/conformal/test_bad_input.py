"""Whatever is passed in: a defined result, or an error that names the argument and the remedy.

And nothing already fitted is lost.
"""

import copy
import re
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from tests.making import drawing

from definetti import HMM, ConformalHMM
from definetti.data.labels import plain_label
from definetti.emissions import Categorical
from definetti.scores import Path
from definetti.simulate import weather
from definetti.symmetry import Full, Pairs, Published, Returns

OBSERVATIONS, STATES = weather(60, random_state=0)
NEW = ["hat", "umbrella"]
FITTED = ConformalHMM(HMM(), random_state=0).fit(OBSERVATIONS, STATES)
CHAIN = ConformalHMM(random_state=0).fit(None, STATES)

pytestmark = pytest.mark.filterwarnings("ignore::definetti.exceptions.GapWarning")


def fitted(**params):
    return ConformalHMM(**{"model": HMM(), "random_state": 0, **params}).fit(OBSERVATIONS, STATES)


def refuses(call, *parts, kind=(ValueError, TypeError)):
    """Expect an error whose message has all the parts."""
    with pytest.raises(kind) as error:
        call()
    message = str(error.value)
    for part in parts:
        assert part in message, message
    assert message[0] not in "'\"", message  # a KeyError quotes its message
    return message


def state_of(cp):
    return cp.predict_p(NEW), cp.n_steps_, cp.states_, cp.symbols_


@pytest.fixture
def old():
    """A fit that must be as it was when the test is over."""
    cp = copy.deepcopy(FITTED)
    before = state_of(cp)
    yield cp
    assert state_of(cp) == before


# Nothing, or not enough.


@pytest.mark.parametrize("states", [[], (), np.array([]), pd.Series([], dtype=str), pl.Series([])])
def test_fit_of_nothing(old, states):
    refuses(lambda: old.fit([], states), "states is empty", "at least one step")
    refuses(lambda: old.fit(None, states), "states is empty")


@pytest.mark.parametrize("symmetry", ["full", "returns", "pairs", "spaced", Full(0), Returns(0)])
def test_one_element_is_a_history(symmetry):
    cp = ConformalHMM(symmetry=symmetry, random_state=0).fit(["u"], ["s"])
    assert cp.predict_set(["v"]).sequences == [("s",)]
    assert cp.predict_p(["u", "v"]).p_values.tolist() == [1.0]
    assert cp.p_value(["u"], ["t"]) == 1.0
    assert cp.partial_fit(["u", "w"], ["t", "s"]).n_steps_ == 3
    assert len(cp.predict_p(["u", "v"])) == 4


@pytest.mark.parametrize("symmetry", ["full", "returns", "pairs", "spaced", Full(0), Returns(0)])
def test_a_single_state(symmetry):
    cp = ConformalHMM(symmetry=symmetry, random_state=0).fit(["u", "v", "v"] * 5, ["s"] * 15)
    for horizon in (1, 3, 30):
        s = cp.predict_set(["v"] * horizon, 0.99)
        assert s.sequences == [("s",) * horizon]
        assert s.scaled_size == 1.0


@pytest.mark.parametrize("symmetry", ["full", "returns", "pairs", "spaced", Full(0), Returns(0)])
def test_a_state_seen_once(symmetry):
    states = ["s", "s", "once", *["s", "t"] * 6]
    cp = ConformalHMM(symmetry=symmetry, random_state=0).fit(["u"] * 15, states)
    everything = cp.predict_p(["u", "v"])
    assert len(everything) == 9
    assert ((everything.p_values > 0) & (everything.p_values <= 1)).all()
    assert ("once",) in cp.predict_set(["u"], 0.99)


def test_two_hundred_states():
    rng = np.random.default_rng(0)
    states = [*range(200), *rng.integers(0, 200, 100).tolist()]
    cp = ConformalHMM(HMM(), random_state=0).fit(rng.integers(0, 3, 300), states)
    s = cp.predict_set([1])
    assert 0 < len(s) <= 200
    assert 0 < cp.p_value([1, 1, 1], [5, 6, 7]) <= 1
    refuses(
        lambda: cp.predict_set([1, 1, 1]),
        "200 states",
        "3 steps",
        "8,000,000",
        "max_candidates=100,000",
        "p_value",
        kind=ValueError,
    )


def test_two_hundred_declared_states_of_which_one_was_seen():
    cp = ConformalHMM(HMM(), states=range(200), random_state=0).fit([0, 1], [7, 7])
    assert len(cp.predict_set([1], 0.01)) == 200


@pytest.mark.parametrize("method", ["predict_set", "predict_p", "predict_ranks"])
@pytest.mark.parametrize("empty", [[], (), np.array([]), pd.Series([], dtype=str), pl.Series([])])
def test_prediction_from_nothing(old, method, empty):
    refuses(
        lambda: getattr(old, method)(empty),
        "new_observations is empty",
        "horizon",
        kind=ValueError,
    )


def test_p_value_and_evaluation_of_nothing(old):
    refuses(lambda: old.p_value([], []), "states is empty", "one label per", kind=ValueError)
    refuses(lambda: old.p_value(NEW, []), "states is empty", kind=ValueError)
    refuses(lambda: old.evaluate([], []), "states", "0 labels", kind=ValueError)


def test_partial_fit_of_nothing_is_nothing(old):
    assert old.partial_fit([], []).n_steps_ == 60


# Lengths that do not agree.


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize(("seen", "labels"), [(2, 3), (3, 2), (0, 1), (61, 60)])
def test_unequal_lengths(old, method, seen, labels):
    refuses(
        lambda: getattr(old, method)(["hat"] * seen, ["sun"] * labels),
        "observations",
        str(seen),
        "states",
        str(labels),
        "equal length",
        kind=ValueError,
    )


def test_as_many_labels_as_new_observations(old):
    refuses(
        lambda: old.p_value(["hat"] * 3, ["sun"] * 2),
        "states has 2 labels",
        "3 new_observations",
        "one label per observation",
    )
    refuses(
        lambda: old.evaluate(["hat"] * 3, ["sun"] * 2),
        "states has 2 labels",
        "3 new_observations",
        "one label per observation",
    )


# Missing labels.

MISSING = [None, float("nan"), np.nan, np.float32("nan"), pd.NA, pd.NaT, Decimal("nan")]


@pytest.mark.parametrize("missing", [*MISSING, np.datetime64("NaT")], ids=repr)
def test_missing_among_labels(old, missing):
    states = ["sun", "rain", missing]
    for call in (
        lambda: old.fit(["hat"] * 3, states),
        lambda: old.partial_fit(["hat"] * 3, states),
        lambda: old.p_value(["hat"] * 3, states),
        lambda: old.evaluate(["hat"] * 3, states, horizon=1),
        lambda: ConformalHMM(states=states).fit(["hat"], ["sun"]),
    ):
        refuses(call, "states[2]", "missing", repr(plain_label(missing)), kind=ValueError)


@pytest.mark.parametrize(
    "states",
    [
        pd.Series(["sun", None, "rain"]),
        pd.Series(["sun", None, "rain"], dtype="string"),
        pd.Series(["sun", None, "rain"], dtype="category"),
        pd.Series([1, None, 2], dtype="Int64"),
        pd.Series([1.0, None, 2.0]),
        pd.Series(pd.to_datetime(["2020-01-01", None, "2020-01-02"])),
        pl.Series(["sun", None, "rain"]),
        pl.Series([1.0, float("nan"), 2.0]),
        np.array([1.0, np.nan, 2.0]),
        np.array(["2020-01-01", "NaT", "2020-01-02"], dtype="M8[D]"),
        np.array(["2020-01-01", "NaT", "2020-01-02"], dtype="M8[ns]"),
        np.ma.array([1, 2, 3], mask=[False, True, False]),
    ],
)
def test_missing_among_labels_in_every_container(old, states):
    refuses(lambda: old.fit(["hat"] * 3, states), "states[1]", "missing", kind=ValueError)


@pytest.mark.parametrize("missing", MISSING, ids=repr)
def test_missing_among_observations_is_a_gap(missing):
    seen = [missing if k % 10 == 3 else o for k, o in enumerate(OBSERVATIONS)]
    cp = ConformalHMM(HMM(), random_state=0).fit(seen, STATES)
    assert set(cp.symbols_) == {"hat", "umbrella", "nothing"}
    none = ConformalHMM(HMM(), random_state=0).fit(
        [None if k % 10 == 3 else o for k, o in enumerate(OBSERVATIONS)], STATES
    )
    assert cp.predict_p(["hat", missing]) == none.predict_p(["hat", None])


# What is not known.


def test_an_unknown_symbol_is_a_symbol_never_seen(old):
    assert len(old.predict_p(["spoon"])) == 2
    assert 0 < old.p_value(["spoon"], ["sun"]) <= 1


def test_an_unknown_state_where_the_states_are_declared():
    cp = fitted(states=["sun", "rain"])
    before = cp.predict_p(NEW)
    parts = ("states[1]", "'snow'", "'sun', 'rain'", "states=[…]")
    refuses(lambda: cp.fit(["hat"] * 2, ["sun", "snow"]), *parts, kind=ValueError)
    refuses(lambda: cp.partial_fit(["hat"] * 2, ["sun", "snow"]), *parts, kind=ValueError)
    assert cp.predict_p(NEW) == before
    assert cp.p_value(["hat"], ["snow"]) == 1.0


def test_an_unknown_state_is_found_before_the_work_and_at_its_place():
    cp = fitted(states=["sun", "rain"])
    truth = ["sun", "sun", "rain", "snow"]
    refuses(lambda: cp.evaluate(["hat"] * 4, truth, horizon=1), "states[3]", "'snow'")


@pytest.mark.parametrize("new", [[3], [2.5], [True], [("hat",)], [b"hat"]])
def test_observations_of_another_type_than_at_fit(old, new):
    parts = ("observations[0]", repr(new[0]), "text", "convert")
    refuses(lambda: old.predict_set(new), "new_", *parts)
    refuses(lambda: old.p_value(new, ["sun"]), "new_", *parts)
    refuses(lambda: old.evaluate(new, ["sun"]), "new_", *parts)
    refuses(lambda: old.partial_fit(new, ["sun"]), *parts)


def test_states_of_another_type_than_at_fit(old):
    refuses(lambda: old.partial_fit(["hat"], [3]), "states[0]", "3", "text", "convert")


@pytest.mark.parametrize(
    "new",
    [
        np.array([["hat", "hat"]]),
        np.array([[1.0, 2.0]]),
        np.array("hat"),
        np.zeros((0, 3)),
        pd.DataFrame({"a": ["hat"], "b": ["hat"]}),
        pd.DataFrame({"a": ["hat"]}),
        pl.DataFrame({"a": ["hat"]}),
        pl.LazyFrame({"a": ["hat"]}),
        [["hat"]],
        [np.array(["hat"])],
        [{"hat"}],
        [(["hat"],)],
    ],
    ids=lambda new: f"{type(new).__name__}",
)
def test_observations_of_another_width_than_at_fit(old, new):
    refuses(lambda: old.predict_set(new), "new_observations")
    refuses(lambda: old.p_value(new, ["sun"]), "new_observations")
    refuses(lambda: old.evaluate(new, ["sun"]), "new_observations")
    refuses(lambda: old.partial_fit(new, ["sun"]), "observations")


@pytest.mark.parametrize(
    "new",
    [np.array("hat"), np.zeros((0, 3)), [{"hat"}], [(["hat"],)]],
    ids=["no axis", "no rows", "a set", "a list in a tuple"],
)
def test_observations_that_are_neither_symbols_nor_rows(old, new):
    refuses(lambda: old.fit(new, ["sun"]), "observations")


@pytest.mark.parametrize(
    "bad",
    [
        "sun",
        b"sun",
        5,
        2.5,
        True,
        {"sun": 1},
        {"sun"},
        frozenset(["sun"]),
        object(),
        len,
        ConformalHMM,
    ],
    ids=lambda bad: type(bad).__name__,
)
def test_what_is_no_sequence(old, bad):
    kind = type(bad).__name__
    refuses(lambda: old.fit(bad, ["sun"]), "observations", kind, "list", kind=TypeError)
    refuses(lambda: old.fit(["hat"], bad), "states", kind, "list", kind=TypeError)
    refuses(lambda: old.partial_fit(bad, ["sun"]), "observations", kind, kind=TypeError)
    refuses(lambda: old.partial_fit(["hat"], bad), "states", kind, kind=TypeError)
    refuses(lambda: old.predict_set(bad), "new_observations", kind, kind=TypeError)
    refuses(lambda: old.p_value(bad, ["sun"]), "new_observations", kind, kind=TypeError)
    refuses(lambda: old.p_value(["hat"], bad), "states", kind, kind=TypeError)
    refuses(lambda: old.evaluate(bad, ["sun"]), "new_observations", kind, kind=TypeError)
    refuses(lambda: old.evaluate(["hat"], bad), "states", kind, kind=TypeError)


@pytest.mark.parametrize("method", ["fit", "partial_fit", "p_value", "evaluate"])
def test_states_left_out(old, method):
    refuses(lambda: getattr(old, method)(["hat"], None), "states", "NoneType", "list")


@pytest.mark.parametrize(
    "states", [[["sun"]], [np.array(["sun"])], [{"sun"}], [(["sun"],)], [{}], [("a", {"b": []})]]
)
def test_labels_that_are_not_hashable(old, states):
    for call in (
        lambda: old.fit(["hat"], states),
        lambda: old.partial_fit(["hat"], states),
        lambda: old.p_value(["hat"], states),
        lambda: old.evaluate(["hat"], states),
        lambda: ConformalHMM(states=states).fit(["hat"], ["sun"]),
    ):
        refuses(call, "states[0]", type(states[0]).__name__, "use text", kind=TypeError)


# Horizons.


@pytest.mark.parametrize("horizon", [0, -1, 1.5, 2.0, "2", True, [2], np.array([1, 2]), np.nan])
def test_horizons_that_are_none(old, horizon):
    parts = ("horizon", "whole number ≥ 1", repr(horizon))
    for call in (
        lambda: old.predict_set(horizon=horizon),
        lambda: old.predict_p(horizon=horizon),
        lambda: old.predict_ranks(horizon=horizon),
        lambda: CHAIN.predict_set(horizon=horizon),
        lambda: old.predict_set(NEW, horizon=horizon),
        lambda: old.evaluate(NEW, ["sun", "sun"], horizon=horizon),
    ):
        refuses(call, *parts, kind=ValueError)


def test_a_horizon_that_the_observations_do_not_have(old):
    refuses(
        lambda: old.predict_set(NEW, horizon=1),
        "horizon=1",
        "new_observations has 2",
        "leave horizon out",
    )
    refuses(
        lambda: old.evaluate(NEW, ["sun", "sun"], horizon=3),
        "states has 2",
        "window of 3",
        "horizon",
    )


@pytest.mark.parametrize("method", ["predict_set", "predict_p", "predict_ranks"])
def test_neither_observations_nor_horizon(old, method):
    parts = ("new_observations", "horizon=3")
    refuses(getattr(old, method), *parts, kind=ValueError)
    refuses(getattr(CHAIN, method), *parts, kind=ValueError)


def test_a_plain_chain_has_no_observations():
    before = CHAIN.predict_p(horizon=2)
    parts = ("observations", "observations=None", "fit again")
    refuses(lambda: CHAIN.predict_set(["hat"]), "new_", *parts, kind=ValueError)
    refuses(lambda: CHAIN.p_value(["hat"], ["sun"]), "new_", *parts, kind=ValueError)
    refuses(lambda: CHAIN.evaluate(["hat"], ["sun"]), "new_", *parts, kind=ValueError)
    refuses(lambda: CHAIN.partial_fit(["hat"], ["sun"]), *parts, kind=ValueError)
    assert CHAIN.predict_p(horizon=2) == before


def test_a_hidden_chain_has_observations(old):
    refuses(lambda: old.partial_fit(None, ["sun"]), "observations is None", "one per step")


# Levels and other parameters.

LEVELS = [
    0,
    1,
    0.0,
    1.0,
    -0.1,
    1.1,
    90,
    np.nan,
    np.inf,
    -np.inf,
    "0.9",
    b"0.9",
    True,
    np.True_,
]
LEVELS += [{}, 0.9j, pd.Series([0.9]), object, pd.NA]
SEVERAL = [[0.9], (0.9,), np.array([0.9]), np.array([0.8, 0.9])]
LEVELS += [Decimal("nan"), Decimal("inf"), Decimal("-inf"), Decimal(1), 10**400]


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: repr(level)[:20])
def test_levels_that_are_none(old, level):
    parts = ("confidence_level", "between 0 and 1", repr(level)[:40], "0.9")
    refuses(lambda: old.predict_set(NEW, level), *parts, kind=ValueError)
    refuses(lambda: old.evaluate(NEW, ["sun", "sun"], level), *parts, kind=ValueError)
    refuses(lambda: fitted(confidence_level=level), *parts, kind=ValueError)


@pytest.mark.parametrize("levels", SEVERAL, ids=repr)
def test_several_levels_are_for_a_call_alone(old, levels):
    assert len(old.predict_set(NEW, levels)) == len(levels)
    parts = ("confidence_level", "between 0 and 1", repr(levels)[:40], "0.9")
    refuses(lambda: fitted(confidence_level=levels), *parts, kind=ValueError)


def test_no_level_is_none():
    refuses(lambda: fitted(confidence_level=None), "confidence_level", "None", "0.9")


PARAMETERS = [
    *(("max_candidates", value, "whole number") for value in (0, -1, 1.5, "9", None, True)),
    *(("smoothing", value, "True or False") for value in ("yes", 1, 0, None)),
    *(("random_state", value, "Generator") for value in (-1, 1.5, "0", [0], True, np.random)),
    *(("conformity_score", value, "'path'") for value in ("likelihood", None, 3, Path, [])),
    *(("symmetry", value, "'full'") for value in ("all", None, 3, object(), Returns, Full, Pairs)),
    *(("model", value, "HMM") for value in ("hmm", 3, HMM, object())),
    *(("states", value, "list") for value in ("ab", 5, {"sun"}, {"sun": 1})),
    ("states", [], "states"),
    ("states", ["sun"], "declare it"),
]


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    PARAMETERS,
    ids=[f"{n}-{type(v).__name__}" for n, v, _ in PARAMETERS],
)
def test_parameters_are_checked_at_fit(name, value, remedy):
    cp = fitted()
    before = cp.predict_p(NEW)
    cp.set_params(**{name: value})
    refuses(lambda: cp.fit(OBSERVATIONS[:9], STATES[:9]), name, remedy)
    cp.set_params(**{name: ConformalHMM().get_params()[name]})
    assert cp.predict_p(NEW) == before
    assert cp.n_steps_ == 60


@pytest.mark.parametrize("prior", [-1, -0.5, np.nan, np.inf, "1", None, [0.5], 1j])
def test_priors_that_are_none(prior):
    refuses(lambda: fitted(model=HMM(prior=prior)), "prior", "≥ 0", "0.5")


def test_a_prior_beyond_all_numbers():
    refuses(lambda: fitted(model=HMM(prior=10**400)), "prior", "0.5")


@pytest.mark.parametrize(
    "prior", [np.float32(0.5), np.int64(1), np.float64(0.5), Fraction(1, 2), 0, 1, 3.5], ids=repr
)
def test_priors_are_numbers_of_any_kind(prior):
    plain = fitted(model=HMM(prior=float(prior))).predict_p(NEW)
    assert fitted(model=HMM(prior=prior)).predict_p(NEW) == plain


@pytest.mark.parametrize("emission", ["gauss", 3, object()])
def test_emissions_that_are_none(emission):
    refuses(lambda: fitted(model=HMM(emission=emission)), "emission")


@pytest.mark.parametrize("kind", [Full, Returns, Pairs, Published])
@pytest.mark.parametrize("number", [-1, 1.5, "many", None])
def test_limits_of_symmetries_that_are_none(kind, number):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refuses(
            lambda: fitted(symmetry=kind(max_windows=number)).predict_set(NEW),
            "max_windows",
            repr(number),
        )


@pytest.mark.parametrize("kind", [Full, Returns, Pairs, Published])
@pytest.mark.parametrize("number", [0, -1, 1.5, "9", None, True, np.nan, 10**7])
def test_numbers_of_draws_that_are_none(kind, number):
    refuses(lambda: kind(n_resamples=number), "n_resamples", repr(number))


@pytest.mark.parametrize(
    ("score", "parts"),
    [
        (lambda windows: 1.0, ("score", "shape", "one number per window")),
        (lambda windows: np.zeros((len(windows.start), 2)), ("score", "shape")),
        (lambda windows: [], ("score", "shape")),
        (lambda windows: None, ("score",)),
        (lambda windows: np.full(len(windows.start), np.nan), ("score", "NaN", "infinity")),
        (lambda windows: ["a"] * len(windows.start), ("score", "number")),
    ],
)
def test_scores_that_cannot_be_ranked(score, parts):
    cp = fitted(conformity_score=score)
    refuses(lambda: cp.predict_set(NEW), *parts)


def test_an_error_inside_a_score_is_the_user_s_own():
    def broken(windows):
        raise ZeroDivisionError("mine")

    cp = fitted(conformity_score=broken)
    with pytest.raises(ZeroDivisionError, match="mine"):
        cp.predict_set(NEW)
    assert cp.n_steps_ == 60


@pytest.mark.parametrize(
    ("params", "part"),
    [({"smoothing": "9"}, "smoothing"), ({"max_candidates": "9"}, "max_cand")],
)
def test_parameters_spoilt_after_fit_do_not_reach_the_kernels(params, part):
    """Either the fitted ones are used, or the error names the parameter."""
    cp = fitted(symmetry=Full(0))
    before = cp.predict_p(NEW)
    cp.set_params(**params)
    try:
        assert cp.predict_p(NEW) == before
    except (ValueError, TypeError) as error:
        check_message(error, part)


# Before fit.


@pytest.mark.parametrize(
    "call",
    [
        lambda cp: cp.predict_set(NEW),
        lambda cp: cp.predict_set(horizon=2),
        lambda cp: cp.predict_p(NEW),
        lambda cp: cp.predict_ranks(NEW),
        lambda cp: cp.p_value(NEW, ["sun", "sun"]),
        lambda cp: cp.evaluate(NEW, ["sun", "sun"]),
        lambda cp: cp.states_,
        lambda cp: cp.symbols_,
        lambda cp: cp.n_steps_,
    ],
)
def test_calling_before_fit(call):
    refuses(lambda: call(ConformalHMM()), "ConformalHMM", "fit", kind=NotFittedError)


def test_a_failed_first_fit_leaves_nothing_behind():
    cp = ConformalHMM()
    refuses(lambda: cp.fit(["hat"], ["sun", "sun"]), "states")
    refuses(lambda: cp.predict_set(NEW), "fit", kind=NotFittedError)
    refuses(lambda: cp.partial_fit(["hat"], ["sun", "sun"]), "states")
    refuses(lambda: cp.predict_set(NEW), "fit", kind=NotFittedError)


def test_a_failed_fit_draws_nothing_from_the_generator():
    """Else a mistake, put right, would give other sets than no mistake."""
    one, other = np.random.default_rng(0), np.random.default_rng(0)
    refuses(lambda: ConformalHMM(random_state=one).fit(["hat"], []), "states")
    assert one.integers(100) == other.integers(100)


class Moody(Categorical):
    """An emission that fails when it is told to."""

    angry = False

    def statistics(self, *arguments):
        if Moody.angry:
            raise RuntimeError("moody")
        return super().statistics(*arguments)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_an_emission_that_fails_half_way_leaves_the_old_fit(method, monkeypatch):
    cp = fitted(model=HMM(emission=Moody()))
    before = state_of(cp)
    monkeypatch.setattr(Moody, "angry", True)
    with pytest.raises(RuntimeError, match="moody"):
        getattr(cp, method)(["spoon", "hat"], ["snow", "sun"])
    monkeypatch.setattr(Moody, "angry", False)
    assert state_of(cp) == before
    assert cp.partial_fit(["hat"], ["sun"]).n_steps_ == 61


# Anything at all.

junk_label = st.one_of(
    st.sampled_from(["sun", "rain", "snow", "hat", "umbrella", ""]),
    st.sampled_from([None, float("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), Decimal("nan")]),
    st.integers(-2, 3),
    st.booleans(),
    st.floats(width=16),
    st.binary(max_size=2),
    st.sampled_from([1j, complex("nan")]),
    st.dates(),
    st.tuples(st.integers(0, 1)),
    st.sampled_from([[1], {}, {1}, object(), len, int, ([],), frozenset("a"), np.zeros(2)]),
)
plain_list = st.lists(st.sampled_from(["sun", "rain", "hat", "umbrella"]), max_size=3)
junk_list = st.one_of(plain_list, st.lists(junk_label, max_size=3))


def framed(values):
    """A list in some container that takes it."""
    return st.sampled_from([list, tuple, iter, boxed, pd.Series, pd.Index, frame]).map(
        lambda kind: kind(values)
    )


def boxed(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def frame(values):
    return pd.DataFrame({"a": pd.Series(values, dtype=object)})


junk = st.one_of(
    junk_list,
    plain_list.flatmap(framed),
    junk_label,
    st.lists(junk_list, max_size=2),
    st.sampled_from(
        [
            np.zeros((2, 2)),
            np.array(1.0),
            np.zeros(2),
            np.zeros((1, 0)),
            pl.Series([1, None]),
            pl.DataFrame({"a": [1]}),
            pd.Series(["sun", None]),
            pd.Series(["hat", None], dtype="category"),
            np.array(["NaT", "2020-01-01"], dtype="M8[ns]"),
            np.ma.array([1, 2], mask=[True, False]),
            "sun",
        ]
    ),
)
junk_horizon = st.one_of(st.none(), st.integers(-1, 3), junk_label)
junk_level = st.one_of(st.none(), st.floats(0, 1), junk_label)

CALLS = {
    "fit": (junk, junk),
    "partial_fit": (junk, junk),
    "p_value": (junk, junk),
    "predict_set": (junk, junk_level),
    "predict_p": (junk,),
    "evaluate": (junk, junk, junk_level),
}
KEYWORDS = {"predict_set", "predict_p", "evaluate"}
ARGUMENTS = "observations|states|confidence_level|horizon"


def check_message(error, pattern):
    assert re.search(pattern, str(error)), f"{type(error).__name__}: {error}"


@pytest.mark.slow_cases("evaluate", "fit", "p_value", "predict_p", "predict_set")
@pytest.mark.parametrize("method", CALLS)
@settings(
    max_examples=80,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(data=st.data())
def test_junk_gives_a_defined_result_or_an_error_that_names_the_argument(method, data):
    cp = copy.deepcopy(FITTED)
    before = state_of(cp)
    arguments = [data.draw(strategy) for strategy in CALLS[method]]
    keywords = {"horizon": data.draw(junk_horizon)} if method in KEYWORDS else {}
    try:
        result = getattr(cp, method)(*arguments, **keywords)
    except (ValueError, TypeError) as error:
        check_message(error, ARGUMENTS)
        assert state_of(cp) == before
        return
    if method in ("fit", "partial_fit"):
        assert result is cp
        assert len(cp.predict_p(horizon=1)) == len(cp.states_)
        return
    assert state_of(cp) == before
    if method == "p_value":
        assert 0 < result <= 1
    elif method == "evaluate":
        assert 0 <= result.coverage <= 1
        assert ((result.p_values > 0) & (result.p_values <= 1)).all()
    else:
        assert ((result.p_values > 0) & (result.p_values <= 1)).all()
        assert repr(result).startswith("PredictionSet: ")


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(
    st.lists(st.tuples(junk_label, junk_label), min_size=1, max_size=6),
    st.sampled_from(["full", "returns", "pairs", "spaced", Full(0), Returns(0), Pairs(0)]),
    st.lists(junk_label, min_size=1, max_size=2),
)
def test_a_history_of_junk_either_fits_and_predicts_or_says_why_not(pairs, symmetry, new):
    seen, states = map(list, zip(*pairs, strict=True))
    cp = ConformalHMM(HMM(), symmetry=drawing(symmetry, 9), random_state=0)
    try:
        cp.fit(seen, states)
        everything = cp.predict_p(new)
    except (ValueError, TypeError) as error:
        check_message(error, ARGUMENTS)
        return
    assert len(everything) == len(cp.states_) ** len(new)
    assert all(cp.p_value(new, c) == everything.p_value(c) for c in everything)
