"""The check as a person meets it: planted failures found and named, bad input refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from definetti import HMM, ConformalHMM
from definetti.check import check, check_quickly, engine
from definetti.simulate import weather
from definetti.symmetry import Full


def walk(length, move, seed=0):
    """A path of two states, each step drawn given all before it."""
    rng = np.random.default_rng(seed)
    path = [0]
    while len(path) < length:
        path.append(int(rng.random() < move(path)))
    return np.array(path)


def sticky(path, stays=0.9):
    return stays if path[-1] else 1 - stays


def regular(path):
    """A state lasts for five steps, give or take one."""
    run = next((k for k in range(1, len(path)) if path[-1 - k] != path[-1]), len(path))
    ends = (0.0, 0.0, 0.0, 0.0, 0.3, 0.7, 1.0)[min(run, 6)]
    return 1 - ends if path[-1] else ends


def planted(name, length=600):
    """Return observations and states in which one thing is wrong."""
    rng = np.random.default_rng(1)
    states = walk(length, sticky)
    noise = rng.normal(size=length)
    if name == "order":
        states = walk(length, lambda x: (0.9 if x[-1] else 0.5) if x[-2:-1] == [1] else 0.3)
    elif name == "durations":
        states = walk(length, regular)
    elif name == "transitions":
        states = walk(length, lambda x: sticky(x, 0.95 if len(x) < length / 2 else 0.6))
    elif name == "drift":
        noise[length // 2 :] += 1
    elif name == "autocorrelation":
        for t in range(1, length):
            noise[t] += 0.4 * noise[t - 1]
    return noise + states, states


@pytest.mark.parametrize("name", ["order", "durations", "transitions", "drift", "autocorrelation"])
def test_what_is_planted_is_found_and_named(name):
    found = check(*planted(name), random_state=0)
    assert found.rejected
    assert found.tests[name].adjusted_p_value <= 0.01
    assert found.tests[name].verdict in found.verdict
    if name in ("transitions", "drift"):
        row = found.tests[name].row
        assert abs(row - 300) < 60
        assert f"use the rows after {row}" in found.verdict
    assert found.failures[0] == name
    assert ("may follow from it" in found.verdict) == (len(found.failures) > 1)


@pytest.mark.parametrize("correlation", [0.3, 0.6])
def test_what_lingers_is_named_before_the_drift_that_it_makes(correlation):
    rng, led = np.random.default_rng(0), []
    for seed in range(5):
        noise = rng.normal(size=600)
        for t in range(1, 600):
            noise[t] += correlation * noise[t - 1]
        found = check(noise, walk(600, sticky, seed), n_resamples=199, random_state=seed)
        led.append(found.failures)
        assert found.failures[0] == "autocorrelation"
        assert found.verdict.partition("). ")[2].startswith(found.tests["autocorrelation"].verdict)
    assert any("drift" in one for one in led)


def test_the_remedy_of_an_order_is_a_memory():
    observations, states = planted("order")
    assert "memory=2" in check(observations, states, random_state=0).tests["order"].verdict
    assert not check(observations, states, memory=2, random_state=0).rejected


def test_the_remedy_of_durations_is_age():
    observations, states = planted("durations")
    found = check(observations, states, random_state=0)
    assert "memory='age'" in found.tests["durations"].verdict
    assert "durations" not in check(observations, states, memory="age", random_state=0).failures


def test_nothing_is_found_where_nothing_is_wrong():
    found = check(*planted(""), random_state=0)
    assert not found.rejected
    assert not found.failures
    assert found.verdict.startswith("No evidence against the assumption that ")


@pytest.mark.slow
def test_sequences_of_other_laws_are_found():
    first, second = walk(300, sticky), walk(300, lambda x: sticky(x, 0.5), seed=1)
    states = np.concatenate([first, second])
    noise = np.random.default_rng(2).normal(size=600)
    found = check(noise, states, lengths=[300, 300], random_state=0)
    assert found.failures == ("one_chain",)
    noise[300:] += 1
    found = check(noise, states, lengths=[300, 300], tests=["one_emission"], random_state=0)
    assert found.failures == ("one_emission",)


def test_rows_of_series_are_named_as_they_are_in_the_table():
    rng = np.random.default_rng(0)
    states = rng.integers(0, 2, 200).tolist()
    levels = rng.normal(size=200)
    names = ["Ann", "Bob"] * 100
    levels[121::2] += 5  # from the 61st row of Bob on
    order = -np.arange(200)
    found = check(levels, states, groups=names, tests=["drift"], random_state=0).tests["drift"]
    assert found.row == 120
    assert found.effect.startswith("near row 120, of series 'Bob', the observation moves by +")
    turned = check(
        levels[::-1], states[::-1], groups=names[::-1], order=order, tests=["drift"], random_state=0
    ).tests["drift"]
    assert turned.row == 201 - 120
    gone = [None if 10 <= k < 20 else state for k, state in enumerate(states)]
    gaps = check(levels, gone, groups=names, tests=["drift"], random_state=0).tests["drift"]
    assert gaps.row == 120


def test_the_seed_decides_and_threads_do_not():
    data = planted("drift", 300)
    once = check(*data, n_resamples=120, random_state=5)
    assert check(*data, n_resamples=120, random_state=5, n_jobs=2) == once
    assert check(*data, n_resamples=120, random_state=6) != once


def test_kinds_of_observations_come_to_the_same():
    observations, states = planted("autocorrelation", 200)
    rows = [{"a": y, "b": "hot" if y > 0 else "cold"} for y in observations]
    asked = {"n_resamples": 99, "random_state": 0}
    found = check(rows, states, **asked)
    assert check(pd.DataFrame(rows), pd.Series(states), **asked) == found
    assert check(pl.DataFrame(rows), pl.Series(states), **asked) == found
    assert {one.part for one in found.tests.values()} & {"a", "b", "a level", "a spread"}
    numbers = check(observations[:, None], states, **asked)
    assert (
        numbers.tests["autocorrelation"].p_value
        == check(observations, states, **asked).tests["autocorrelation"].p_value
    )


def seconds(states):
    """How often a state is that of two steps before."""
    return sum(x == y for x, y in zip(states, states[2:], strict=False))


def test_a_function_of_ones_own():
    def late(states, observations):
        return sum(states[-20:])

    observations, states = planted("", 100)
    found = check(observations, states, tests=[late, "order"], random_state=0)
    assert list(found.tests) == ["late", "order"]
    frame = pd.DataFrame({"y": observations})
    assert check(
        frame, states, tests={"sum": lambda x, y: float(y["y"].iloc[:9].sum())}, n_resamples=19
    ).tests
    many = [
        check(None, planted("order")[1], tests=lambda x, y, one=unit: one * seconds(x), **how)
        for unit in (1.0, 1e-14, 1e-305, 1e305)
        for how in ({"random_state": 0}, {"random_state": 0, "stop_after": 5})
    ]
    assert [found.p_value for found in many] == [0.001] * 8
    with pytest.raises(ValueError, match="returned nan"):
        check(observations, states, tests=lambda x, y: float("nan"))
    with pytest.raises(ValueError, match=r"returned 'a'; return a number for every"):
        check(observations, states, tests=lambda x, y: "a")


def test_stopping_early_draws_less_and_finds_the_same():
    calls = []

    def counted(states, observations):
        calls.append(1)
        return states[1]

    states = planted("", 100)[1]
    found = check(None, states, tests=["order", counted], stop_after=5, random_state=0)
    assert len(calls) < 500
    assert not found.rejected
    broken = check(None, planted("order")[1], tests=["order"], stop_after=5, random_state=0)
    assert broken.tests["order"].p_value == 0.001


def test_smoothing_breaks_ties():
    states = list("abbb")
    found = [check(None, states, smoothing=True, random_state=k).p_value for k in range(5)]
    assert len(set(found)) == 5
    assert check(None, states, random_state=0).p_value == 1.0


@pytest.mark.slow
def test_rows_are_those_of_the_whole_where_a_part_is_tested(monkeypatch):
    """By whoever cuts: a caller, a quick check, a model that was fixed on the first rows."""
    observations, states = planted("drift")
    whole = check(observations, states, random_state=0).tests["drift"].row
    assert abs(whole - 300) < 20
    part = check(observations[200:], states[200:], rows_before=200, random_state=0)
    cp = ConformalHMM(train_size=200, random_state=0).fit(observations, states)
    monkeypatch.setattr(engine, "WORK", 199 * 2 * 400)
    for found in (part, cp.check(), check_quickly(observations, states, random_state=0)):
        assert abs(found.tests["drift"].row - whole) < 20
        assert f"use the rows after {found.tests['drift'].row}," in found.verdict
        assert f"near row {found.tests['drift'].row} " in found.tests["drift"].effect
    cp.new_segment().partial_fit(observations[:50], states[:50])
    assert abs(cp.check().tests["drift"].row - whole) < 20


def test_rows_that_were_left_out_are_counted(monkeypatch):
    observations, states = planted("drift")
    kept = np.flatnonzero(np.arange(600) % 100 < 90)
    changed = planted("")[0]
    changed[250:300] += 4
    found = check(
        changed[kept], states[kept], lengths=[90] * 6, rows_before=kept, tests=["drift"],
        random_state=0,
    )  # fmt: skip
    row = found.tests["drift"].row
    assert abs(row - 250) < 5
    assert f"near row {row} the observation" in found.tests["drift"].effect
    monkeypatch.setattr(engine, "WORK", 199 * 2 * 400)
    found = check_quickly(observations[kept], states[kept], rows_before=kept, random_state=0)
    assert abs(found.tests["drift"].row - 300) < 20


def test_too_few_draws_for_a_level_are_not_taken_for_a_verdict():
    twos, how = list("aabb" * 30), {"tests": ["order"], "random_state": 0}
    found = check(None, twos, n_resamples=9, **how)
    assert (found.p_value, found.least_p_value, found.rejected) == (0.1, 0.1, False)
    assert "No test can reject at 0.05 with 9 rearrangements" in found.verdict
    assert found.verdict.endswith("draw 19 or more.")
    assert check(None, twos, n_resamples=19, **how).rejected
    assert check(None, twos, n_resamples=9, stop_after=5, **how).least_p_value == 0.1
    assert check(None, twos, n_resamples=9, smoothing=True, **how).least_p_value == 0
    several = {"lengths": [60, 60], "tests": ["order", "one_chain"], "random_state": 0}
    found = check(None, twos, n_resamples=19, **several)
    assert found.verdict.endswith("draw 39 or more.")
    assert check(None, twos, n_resamples=39, **several).rejected


def test_an_estimator_checks_its_own_history():
    observations, states = planted("drift", 300)
    cp = ConformalHMM(random_state=0).fit(observations[:150], states[:150])
    before = cp.check(n_resamples=199)
    assert before.n_steps == 150
    after = cp.partial_fit(observations[150:], states[150:]).check(n_resamples=199)
    assert not before.rejected
    assert after.failures == ("drift",)
    assert ConformalHMM(train_size=0.5).fit(observations, states).check().n_steps == 150
    assert (
        ConformalHMM(memory=2)
        .fit(None, states)
        .check()
        .assumption.endswith("the last 2 states alone")
    )
    frame = pd.DataFrame({"level": observations, "word": np.where(states, "a", "b")})
    parts = ConformalHMM().fit(frame, states).check(n_resamples=99).tests["autocorrelation"].part
    assert parts in ("level", "word")
    numbers = pd.DataFrame({"level": observations, "other": observations[::-1]})
    for how in ({}, {"train_size": 0.5}):
        found = ConformalHMM(**how).fit(numbers, states).check(n_resamples=99)
        assert found.tests["autocorrelation"].part in ("level", "other")
    several = ConformalHMM(random_state=0).fit(observations, states, lengths=[150, 150])
    assert "one_emission" in several.check().failures
    with pytest.raises(ValueError, match="not fitted"):
        ConformalHMM(HMM()).check()


def test_what_cannot_be_tested_is_said_and_the_rest_tested():
    rng = np.random.default_rng(0)
    found = check(rng.normal(size=50), ["a"] * 50, n_resamples=99)
    assert set(found.tests) == {"autocorrelation", "drift"}
    assert found.untested["order"] == "all steps are in one state"
    assert "order: not tested, all steps are in one state" in repr(found)
    states = rng.choice(["a", "b"], 50)
    for empty in ([None] * 50, np.full(50, np.nan), None):
        found = check(empty, states, n_resamples=99)
        assert set(found.tests) == {"order", "transitions", "durations"}
        assert set(found.untested) == {"autocorrelation", "drift"}
    found = check(pd.DataFrame({"x": 1, "y": rng.normal(size=50)}), states)
    assert found.untested == {"column x": "it has one value only"}
    dates = pd.DataFrame({"when": pd.date_range("2020", periods=50), "y": rng.normal(size=50)})
    found = check(dates, states, n_resamples=9, horizon=None)
    assert found.untested == {"column when": "it holds dates"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"states": ["a"]}, "states has 1 step of which nothing can be tested"),
        ({"states": []}, "states is empty"),
        ({"states": ["a"] * 20}, "give a longer history, or observations"),
        ({"observations": [1, 2]}, "observations has 2 elements and states has 6"),
        ({"lengths": [2, 3]}, "lengths adds up to 5"),
        ({"tests": ["ordre"]}, "tests must be one of 'autocorrelation'"),
        ({"tests": []}, "tests is empty"),
        ({"tests": ["order", "order"]}, "tests has 'order' twice"),
        ({"n_resamples": 0}, "n_resamples must be a whole number"),
        ({"stop_after": 0}, "stop_after must be"),
        ({"stop_after": 3, "smoothing": True}, "smoothing=True needs all draws"),
        ({"alpha": 1}, "alpha must be a number between 0 and 1"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"rows_before": -1}, "rows_before must be a whole number ≥ 0"),
        ({"rows_before": [0, 1]}, "rows_before must be a whole number ≥ 0, or one for each of the"),
        ({"rows_before": range(6), "groups": ["one"] * 6}, "groups names them already"),
        ({"order": range(6)}, "order sorts the rows of series, and groups is None"),
        ({"memory": 0}, "memory must be"),
        ({"memory": "observation"}, "needs observations that are symbols"),
        ({"random_state": -1}, "random_state must be"),
    ],
)
def test_bad_input_is_refused_by_name(given, message):
    asked = {"observations": None, "states": list("aababb"), **given}
    with pytest.raises(ValueError, match=message):
        check(asked.pop("observations"), asked.pop("states"), **asked)


@pytest.mark.parametrize("memory", [1, "age"])
@pytest.mark.parametrize("observations", [None, [1.5], [None], pd.DataFrame({"x": [1.0]})], ids=str)
def test_one_row_is_refused(observations, memory):
    with pytest.raises(ValueError, match=r"one state|1 step of which nothing can be tested"):
        check(observations, ["a"], memory=memory)


def test_one_state_and_nothing_or_one_value_observed_is_refused():
    for observations in (None, [None] * 30, [np.nan] * 30, ["x"] * 30, [2.5] * 30):
        with pytest.raises(ValueError, match="all steps are in one state"):
            check(observations, ["a"] * 30)
    states = ["a", "b"] * 15
    for constant in (["x"] * 30, [2.5] * 30):
        found = check(constant, states, n_resamples=19)
        assert found.untested["drift"] == "observations: it has one value only"
        assert set(found.tests) <= {"order", "transitions", "durations"}


@pytest.mark.parametrize("smoothing", [False, True])
@pytest.mark.parametrize("states", ["ab", "aaab", "abababab", "aaabbb"])
def test_one_rearrangement_is_no_test_and_called_none(states, smoothing):
    for seed in range(20):  # smoothed, one of them is below any level now and then
        found = check(None, list(states), smoothing=smoothing, alpha=0.2, random_state=seed)
        assert not found.testable
        assert not found.rejected
        assert not found.failures
        assert found.verdict.startswith("Nothing could be tested: all rearrangements of these")
        assert "row 0" not in repr(found)
    assert smoothing or found.p_value == 1
    mixed = check([1.5, 2.5, 0.5, 4.5], list("aaab"), random_state=0)
    assert mixed.testable
    assert not mixed.tests["order"].testable
    assert mixed.tests["drift"].testable


def test_sequences_of_one_step_each():
    states, numbers = list("abab" * 25), np.random.default_rng(0).normal(size=100)
    with pytest.raises(ValueError, match="order: it takes three steps in a row"):
        check(None, states, lengths=[1] * 100)
    found = check(numbers, states, lengths=[1] * 100, random_state=0)
    assert list(found.tests) == ["one_emission"]
    assert not found.testable
    assert found.untested["transitions"] == "it takes two steps in a row"
    assert found.untested["drift"] == "it takes two steps in a row"
    assert check(numbers, states, lengths=[1] * 50 + [50], random_state=0).testable


def test_observations_that_cannot_be_told_apart():
    with pytest.raises(TypeError, match="observations holds values"):
        check([{1}, {2}, {1}], list("aba"))


def test_a_diagnosis_shows_itself():
    found = check(*weather(200, random_state=0), n_resamples=99, random_state=0)
    assert found.verdict in repr(found)
    assert found._repr_html_().count("<tr>") == 1 + len(found.tests)
    for backend in ("pandas", "polars"):
        frame = found.to_frame(backend)
        assert list(frame["test"]) == [*found.tests, "coverage"]
        assert list(frame["p_value"])[:-1] == [one.p_value for one in found.tests.values()]


@pytest.mark.parametrize("number", [10**6 + 1, 10**20, 10**400])
def test_more_resamples_than_tell_anything_are_refused(number):
    """They were drawn for ever."""
    states = list("aabbab" * 5)
    with pytest.raises(ValueError, match=r"n_resamples must be at most 1,000,000, got .*9,999"):
        check(None, states, n_resamples=number)
    with pytest.raises(ValueError, match="n_resamples must be at most 1,000,000"):
        ConformalHMM(symmetry=Full(n_resamples=number)).fit(None, states)
