"""Levels per state: read as written, and kept to the last digit given each state."""

import warnings
from fractions import Fraction
from itertools import islice, product

import numpy as np
import pytest
from tests.products import covering

from definetti import (
    HMM,
    ConformalHMM,
    ConformalSequences,
    LatticeSet,
    compare_predictors,
    given_hmm,
)
from definetti.cli.estimators import read_confidence
from definetti.cli.verify import MODELS as LAWS
from definetti.evaluation.backtest import run_backtest
from definetti.evaluation.results import summary
from definetti.exceptions import FewBlocksWarning
from definetti.experiments.contestants import Baseline
from definetti.levels import read_levels
from definetti.plots import plot_coverage, plot_set
from definetti.report import make_report
from definetti.report.page import promise
from definetti.simulate import weather
from definetti.symmetry import Symmetry
from definetti.verify import enumerate_departures, enumerate_ranks, exact_coverage

OWN = {1: 0.75, None: 0.4}  # low ones: short histories leave little out at others
LEVELS = np.array([0.4, 0.75])
EXACT = {name: one for name, one in Symmetry.named.items() if one().exact}
BY_LAST = [name for name, one in EXACT.items() if one.given == "last state"]
BY_PRESENT = [name for name in EXACT if name not in BY_LAST]
FIXED = given_hmm([[0.7, 0.3], [0.4, 0.6]], [[0.8, 0.2], [0.3, 0.7]])
MODELS = {
    "refitted": {"model": HMM()},
    "given": {"model": FIXED},
    "split": {"model": HMM(prior=0), "train_size": 2},
}
Y, X = weather(300, random_state=0)
SKY = {"rain": 0.95, None: 0.6}


# Exact given each state, by adding up all sequences.


@pytest.mark.parametrize(
    ("symmetry", "model", "score"), covering(BY_LAST, MODELS, ["path", "band"], fast=1)
)
def test_coverage_given_each_last_state_is_its_own_level(symmetry, model, score):
    predictor = ConformalHMM(
        **MODELS[model], symmetry=symmetry, conformity_score=score, allow_empty=True
    )
    for length, horizon in ((4, 1), (3, 2)):
        plain = enumerate_ranks(predictor, 2, 2, length, horizon)
        smoothed = plain._replace(smoothing=True)
        for law in LAWS.values():
            law = [np.array(part) for part in law]
            there = ~np.isnan(smoothed.coverage_given_last(*law, OWN))
            found = smoothed.coverage_given_last(*law, OWN)[there]
            assert found == pytest.approx(LEVELS[there], abs=1e-9)
            assert (plain.coverage_given_last(*law, OWN)[there] >= LEVELS[there] - 1e-12).all()


@pytest.mark.parametrize("symmetry", BY_PRESENT)
@pytest.mark.parametrize(("departures", "horizon"), [(4, 1), (2, 2)])
def test_coverage_by_visits_is_the_level_of_the_present_state(symmetry, departures, horizon):
    predictor = ConformalHMM(FIXED, symmetry=symmetry, allow_empty=True)
    plain = enumerate_departures(predictor, 2, 2, departures, horizon)
    smoothed = plain._replace(smoothing=True)
    for _, *law in LAWS.values():
        law = [np.array(part) for part in law]
        assert smoothed.coverage(*law, OWN) == pytest.approx(LEVELS, abs=1e-9)
        assert (plain.coverage(*law, OWN) >= LEVELS - 1e-12).all()
        assert (plain.missed(*law, OWN) <= 1 - LEVELS + 1e-12).all()


def test_the_check_can_fail_levels_are_not_kept_given_another_state():
    """Read by the last state they hold given that one, and not given the state before."""
    everything = enumerate_ranks(ConformalHMM(smoothing=True, allow_empty=True), 2, 2, 3, 2)
    law = [np.array(part) for part in LAWS["p=0.1 b=0.5"]]
    assert everything.given == -1
    off = everything.coverage_given_present(*law, OWN, 1) - LEVELS
    assert abs(off).min() > 0.1


@pytest.mark.slow
def test_exact_coverage_is_the_mean_of_the_levels():
    law = LAWS["iid b=0.9"]
    for symmetry, tolerance in (("full", 1e-9), ("departures", 0.1)):
        exactly = {"smoothing": True, "allow_empty": True}
        cp = ConformalHMM(FIXED, symmetry=symmetry, confidence_level=OWN, **exactly)
        found = exact_coverage(cp, *law, length=4, horizon=1)
        assert found == pytest.approx(LEVELS.mean(), abs=tolerance)
    assert enumerate_ranks(cp, 2, 2, 2, 2).given == -3


# Sets are made of the ranks that were added up.


@pytest.mark.parametrize(
    ("symmetry", "model", "smoothing"), covering(EXACT, MODELS, [False, True], fast=3)
)
def test_a_candidate_is_held_to_the_level_of_its_state(symmetry, model, smoothing):
    own = {"symmetry": symmetry, "smoothing": smoothing, "confidence_level": OWN}
    cp = ConformalHMM(**MODELS[model], **own, states=[0, 1], random_state=0, allow_empty=True)
    rng = np.random.default_rng(0)
    differs = 0
    for _ in range(12):
        past, seen = rng.integers(2, size=(2, 20)).tolist()
        new = rng.integers(2, size=2).tolist()
        every = cp.fit(seen, past).predict_p(new)
        s = cp.predict_set(new)
        counts = past[-1] if symmetry in BY_PRESENT else None  # else the candidate's own
        inside = {
            x
            for x in every
            if every.p_value(x) > 1 - LEVELS[x[-1] if counts is None else counts] + 1e-12
        }
        assert set(s) == inside
        differs += any(set(cp.predict_set(new, level)) != set(s) for level in (0.4, 0.75))
        if counts is not None:
            assert s.confidence_level == LEVELS[counts]
            assert s == cp.predict_set(new, float(LEVELS[counts]))
        else:
            assert s.confidence_level == OWN
    assert differs


@pytest.mark.parametrize("symmetry", ["spaced", "departures"])
@pytest.mark.parametrize("smoothing", [False, True])
@pytest.mark.parametrize("score", ["path", "band"])
def test_a_lattice_has_the_same_members(symmetry, smoothing, score):
    settings = {
        "symmetry": symmetry,
        "smoothing": smoothing,
        "conformity_score": score,
        "random_state": 0,
    }
    for begin in range(280, 296, 3):
        ways = [
            ConformalHMM(train_size=140, confidence_level=SKY, max_candidates=most, **settings)
            .fit(Y[:begin], X[:begin])
            .predict_set(Y[begin : begin + 4])
            for most in (16, 3)
        ]
        assert isinstance(ways[1], LatticeSet)
        assert set(ways[0]) == set(islice(ways[1], 100))
        assert ways[0].confidence_level == ways[1].confidence_level


# What is written.


def test_levels_are_the_decimals_that_were_written():
    levels = read_levels({"a": 0.9, "b": np.float32(0.7), None: 0.99})
    assert levels.alphas("abc") == [Fraction(1, 10), Fraction(3, 10), Fraction(1, 100)]
    assert levels.written == {"a": 0.9, "b": 0.7, None: 0.99}
    assert read_levels({None: 0.9}) == read_levels(0.9)


@pytest.mark.parametrize(
    ("level", "told"),
    [
        (
            {"fog": 0.9, None: 0.8},
            r"confidence_level has a level for 'fog'.*declare it with states",
        ),
        (
            {"sun": 0.9},
            r"confidence_level has no level for the state 'rain'; add 'rain': 0.9, or N",
        ),
        ({"sun": 1.5, None: 0.9}, r"confidence_level\['sun'\] must be a number between 0 and 1"),
        ({"sun": 0.9, None: "x"}, r"confidence_level\[None\] must be a number between 0 and 1"),
        ({}, r"confidence_level is \{\}, an empty mapping; give"),
    ],
)
def test_levels_that_are_none(level, told):
    with pytest.raises(ValueError, match=told):
        ConformalHMM(confidence_level=level).fit(Y, X)
    cp = ConformalHMM(train_size=0.5).fit(Y[:290], X[:290])
    for ask in (cp.predict_set, lambda new, one: cp.evaluate(new, X[290:292], one)):
        with pytest.raises(ValueError, match=told):
            ask(Y[290:292], level)


def test_a_declared_state_may_have_a_level_before_it_is_seen():
    cp = ConformalHMM(states=["sun", "rain", "fog"], confidence_level={"fog": 0.9, None: 0.8})
    assert ("fog",) in cp.fit(Y[:299], X[:299]).predict_set(Y[299:])


def test_a_state_that_comes_up_late_needs_a_level():
    cp = ConformalHMM(confidence_level={"sun": 0.9, "rain": 0.8}).fit(Y[:290], X[:290])
    cp.partial_fit(Y[290:291], ["fog"])
    with pytest.raises(ValueError, match="no level for the state 'fog'"):
        cp.predict_set(Y[291:292])


@pytest.mark.parametrize("name", Baseline.named)
def test_baselines_have_one_level(name):
    with pytest.raises(ValueError, match=r"confidence_level is a mapping.*give one number"):
        Baseline.named[name](confidence_level=SKY).fit(Y, X)


def test_what_else_has_one_level():
    with pytest.raises(ValueError, match="confidence_level is a mapping"):
        ConformalSequences(confidence_level=SKY).fit(Y, X, lengths=[10] * 30)
    with pytest.raises(ValueError, match="confidence_level is a mapping"):
        compare_predictors({"one": HMM()}, Y, X, confidence_level=SKY)


def test_sets_say_what_they_promise():
    cp = ConformalHMM(confidence_level=SKY, random_state=0).fit(Y[:298], X[:298])
    where = "≥ 0.95 where the last state is rain, ≥ 0.6 otherwise"
    assert f"holding the truth with probability {where}" in repr(cp.predict_set(Y[298:]))
    assert plot_set(cp.predict_set(Y[298:])).get_title() == f"set at {where.replace('≥ ', '')}"
    long = ConformalHMM(confidence_level=SKY, train_size=0.5, max_candidates=2)
    assert where in repr(long.fit(Y[:298], X[:298]).predict_set(Y[298:]))
    for guarantee, words in (("steps", "that are right is on average"), ("errors", "together")):
        long.set_params(guarantee=guarantee).fit(Y[:298], X[:298])
        told = repr(long.predict_set(Y[298:]))
        assert words in told
        assert where in told
    long.set_params(guarantee="all", symmetry="departures", train_size=149).fit(Y[:298], X[:298])
    assert X[297] == "rain"
    assert "≥ 0.95 given the present state, averaged over its visits" in repr(
        long.predict_set(Y[298:])
    )


# Judged by the truth.


@pytest.mark.parametrize("symmetry", ["full", "departures"])
def test_evaluations_have_each_state_beside_its_level(symmetry):
    cp = ConformalHMM(symmetry=symmetry, random_state=0).fit(Y[:200], X[:200])
    found = cp.evaluate(Y[200:], X[200:], SKY, horizon=2)
    back = 3 if symmetry == "departures" else 1
    lasts = [X[end - back] for end in range(202, 301, 2)]
    assert [found.states[code] for code in found.given] == lasts
    for state, level in (("rain", 0.95), ("sun", 0.6)):
        own = found.covered[[last == state for last in lasts]]
        assert found.by_state()[state] == (own.mean(), len(own), level)
        assert f"{state}: covered {own.mean():.3f} of {len(own)} (promised ≥ {level})" in repr(
            found
        )
    assert found.levels.tolist() == [0.95 if last == "rain" else 0.6 for last in lasts]
    assert found.confidence_level == SKY
    numbers = summary(found, 2)
    assert numbers["promised"] == pytest.approx(found.levels.mean())
    assert numbers["by_state"]["rain"]["promised"] == 0.95
    assert numbers["by_state"]["rain"]["coverage"] == found.by_state()["rain"].coverage
    line = plot_coverage(found).get_lines()[-1]
    assert line.get_ydata()[0] == pytest.approx(found.levels.mean())


def test_one_level_for_all_is_said_as_before():
    found = ConformalHMM(random_state=0).fit(Y[:200], X[:200]).evaluate(Y[200:], X[200:], horizon=2)
    assert {one.level for one in found.by_state().values()} == {0.9}
    assert "promised" not in repr(found)
    assert "by_state" not in summary(found, 2)


def test_a_backtest_leaves_the_classical_way_out():
    test = run_backtest(ConformalHMM(confidence_level=SKY, random_state=0), Y, X, windows=30)
    assert list(test.methods) == ["definetti", "without observations", "repeat last state"]
    assert "one level for all states" in test.notes[0]
    assert test.evaluations()["definetti"].confidence_level == SKY


@pytest.mark.parametrize(
    "settings",
    [{}, {"train_size": 0.5, "max_candidates": 3}, {"train_size": 0.5, "guarantee": "steps"},
     {"symmetry": "departures"}],
    ids=str,
)  # fmt: skip
def test_a_report_has_each_level(settings):
    cp = ConformalHMM(confidence_level=SKY, random_state=0, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewBlocksWarning)
        report = make_report(cp, Y[:298], X[:298], Y[298:], windows=20)
        s = cp.fit(Y[:298], X[:298]).predict_set(Y[298:])
    found = report.contents
    assert found["levels"] == [None]
    assert found["level_by_state"] == {"sun": 0.6, "rain": 0.95}
    assert found["percent"] == ["95 % for rain, 60 % for all others"]
    assert (np.array(found["new"]["first"]) <= 0).tolist() == s.nodes.tolist()
    assert "at least 95" in found["promise"][0]
    assert "at least 60" in found["promise"][0]
    ours = found["backtest"]["methods"]["definetti"][0]
    assert ours["by_state"]["rain"]["promised"] == 0.95
    members = [tuple(s.states[k] for k in one["codes"]) for one in found["new"]["sequences"]
               if one["first"] == 0]  # fmt: skip
    if found["new"]["sequences"]:
        assert set(members) == set(islice(s, 100))
    assert "95 % for rain" in report.html


def test_the_report_says_where_each_level_holds():
    said = promise({"N1": 0.99, None: 0.8}, 1, "all", 0, True)
    assert said.startswith("Where the last state is N1: on average, at least 99 of 100 such sets")
    assert "Where the last state is another: on average, at least 80 of 100 such sets" in said
    said = promise({"N1": 0.99, None: 0.8}, 1, "all", 0, True, "present state")
    assert said.startswith("Where the present state is N1: ")
    assert "while visits are few" in said


# The command line.


def test_the_command_line_reads_levels():
    assert read_confidence("2=0.99,0.8", [1, 2, 3]) == {2: 0.99, None: 0.8}
    assert read_confidence("a=b=0.9, c=0.5", ["a=b", "c"]) == {"a=b": 0.9, "c": 0.5}
    wrong = {
        "x": "'x' is no number",
        "": "'' is no number",
        "a=0.9,a=0.8,0.5": "'a' is given twice",
        "0.9,0.8": "all others' is given twice",
    }
    for text, told in wrong.items():
        with pytest.raises(ValueError, match=told):
            read_confidence(text, ["a"])


def test_products_of_states_have_levels_like_any_others():
    """Labels of any kind: a tuple is one state."""
    pairs = list(product("ab", repeat=2)) * 20
    cp = ConformalHMM(confidence_level={("a", "b"): 0.5, None: 0.9}, random_state=0)
    s = cp.fit(None, pairs).predict_set(horizon=1)
    assert s.confidence_level == {("a", "b"): 0.5, None: 0.9}
