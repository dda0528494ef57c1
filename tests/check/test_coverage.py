"""What departures cost: the coverage of default sets on the tested history."""

import numpy as np
import pytest

from definetti import ConformalHMM
from definetti.check import MeasuredCoverage, check
from definetti.check import coverage_loss as module
from definetti.evaluation.intervals import exact_interval
from definetti.simulate import weather

HOW = {"n_resamples": 19, "random_state": 0, "pictures": False}


@pytest.mark.parametrize("horizon", [1, 2])
def test_coverage_is_that_of_an_evaluation_of_the_second_half(horizon):
    y, x = weather(400, random_state=1)
    found = check(y, x, horizon=horizon, **HOW).coverage
    judged = (
        ConformalHMM(random_state=0)
        .fit(y[:200], x[:200])
        .evaluate(y[200:], x[200:], horizon=horizon)
    )
    assert (found.windows, found.horizon, found.level) == (200 // horizon, horizon, 0.9)
    assert found.coverage == judged.coverage
    assert found.size == judged.size
    covered = round(found.coverage * found.windows)
    assert (found.low, found.high) == exact_interval(covered, found.windows)


def test_observations_that_change_their_meaning_cost_coverage():
    states = np.random.default_rng(0).integers(0, 2, 800)
    observations = np.where(np.arange(800) < 420, states, 1 - states)
    found = check(observations.tolist(), states.tolist(), **HOW)
    assert found.coverage.high < 0.9
    assert "of coverage is lost" in found.coverage.verdict
    assert found.coverage.verdict in repr(found)
    assert found.coverage.verdict in found._repr_html_()


def test_a_hidden_markov_model_loses_no_coverage():
    found = check(*weather(2_000, random_state=0), **HOW)
    assert "no loss of coverage is seen" in found.coverage.verdict
    assert found.to_dict()["coverage"]["windows"] == 1_000
    frame = found.to_frame("pandas")
    assert frame["test"].iloc[-1] == "coverage"
    assert frame["statistic"].iloc[-1] == found.coverage.coverage


def test_coverage_can_be_left_out():
    found = check(None, list("aabab" * 40), horizon=None, **HOW)
    assert found.coverage is None
    assert "coverage" not in found.untested
    assert "coverage" not in repr(found)


@pytest.mark.parametrize(
    ("states", "how", "words"),
    [
        (list("aabab" * 4), {}, "10 windows, and 20 are needed"),
        (list("aabab" * 40), {"groups": ["x", "y"] * 100}, "one history alone"),
        (["a"] * 101 + list("ab" * 49), {"memory": "age"}, "age"),
    ],
)
def test_where_coverage_cannot_be_measured_the_reason_is_given(states, how, words):
    found = check(None, states, **HOW, **how)
    assert found.coverage is None
    assert words in found.untested["coverage"]


def test_windows_do_not_cross_gaps():
    y, x = weather(300, random_state=0)
    found = check(y, x, lengths=[100, 120, 80], **HOW).coverage
    assert found.windows == 150 - 1  # the first row after a gap is learned


def test_long_histories_are_measured_on_their_latest_rows(monkeypatch):
    monkeypatch.setattr(module, "LATEST", 200)
    y, x = weather(500, random_state=0)
    assert check(y, x, **HOW).coverage == check(y[-200:], x[-200:], **HOW).coverage


def test_numbers_are_measured_on_windows_spread_over_the_second_half(monkeypatch):
    monkeypatch.setattr(module, "SLOW_WINDOWS", 25)
    rng = np.random.default_rng(0)
    states = rng.integers(0, 2, 200)
    found = check(rng.normal(size=200) + states, states.tolist(), **HOW).coverage
    assert isinstance(found, MeasuredCoverage)
    assert found.windows == 25


@pytest.mark.parametrize("horizon", [0, 1.5, True])
def test_horizons_that_are_no_positive_number_are_refused(horizon):
    with pytest.raises((TypeError, ValueError), match="horizon"):
        check(None, list("aabab" * 40), horizon=horizon, **HOW)
