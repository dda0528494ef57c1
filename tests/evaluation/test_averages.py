"""Tests and intervals for means of shares: error rates by enumeration and simulation, power."""

from itertools import product

import numpy as np
import pytest
from tests.making import grouped

from definetti import HMM, ConformalHMM, ConformalSequences
from definetti.evaluation import SeriesEvaluation, SeriesRecord, backtest_series, summary
from definetti.evaluation.intervals import mean_interval, p_value_of_mean
from definetti.evaluation.results import Evaluation
from definetti.simulate import weather


def sentences(number, mean, seed):
    """Shares of right steps in sequences of 5 to 39 steps; most have none wrong."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(5, 40, number)
    wrong = 1 - mean
    chances = rng.beta(0.8, 0.8 * (1 - wrong) / wrong, number)
    return 1 - rng.binomial(lengths, chances) / lengths


def judged_by_steps(shares, level):
    """An evaluation of windows of two steps that promises shares of steps, given these shares."""
    number = len(shares)
    nodes = np.zeros((2 * number, 3), dtype=bool)
    nodes[:, 0] = True
    found = Evaluation.of_steps(
        np.full(number, 2), ("a", "b", "c"), np.zeros(2 * number, dtype=np.int64), nodes,
        covered=np.ones(number, dtype=bool), sizes=np.ones(number), scaled_sizes=np.ones(number),
        confidence_level=level, guarantee="steps",
    )  # fmt: skip
    return found._replace(wrong=1 - np.asarray(shares))


@pytest.mark.parametrize("level", [0.5, 0.9])
@pytest.mark.parametrize("number", [1, 3, 7])
def test_p_values_are_valid_by_enumeration(level, number):
    """All outcomes of variables in {0, 1/2, 1} with the level as their mean: no sampling."""
    values, chances = np.array([0.0, 0.5, 1.0]), np.array([(1 - level) / 2, 1 - level, 0.0])
    chances[2] = 1 - chances.sum()
    assert values @ chances == pytest.approx(level)
    outcomes = list(product(range(3), repeat=number))
    weights = np.array([chances[list(one)].prod() for one in outcomes])
    found = np.array([p_value_of_mean(values[list(one)], level) for one in outcomes])
    assert weights.sum() == pytest.approx(1)
    for tail in (0.01, 0.025, 0.05, 0.2):
        assert weights[found <= tail].sum() <= tail + 1e-12


@pytest.mark.parametrize(("number", "mean"), [(10, 0.9), (60, 0.9), (300, 0.95)])
def test_intervals_contain_the_mean(number, mean):
    """Each bound misses with a probability of at most 0.025: in 400 samples more than 22 times
    (the limit below) with a probability of less than 0.0005."""
    found = np.array([mean_interval(sentences(number, mean, seed)) for seed in range(400)])
    assert (found[:, 0] > mean).sum() <= 22
    assert (found[:, 1] < mean).sum() <= 22


def test_intervals_are_about_as_narrow_as_normal_ones():
    """Less than 1.6 times as wide as 1.96 standard errors at 1,200 sentences."""
    shares = sentences(1200, 0.9354, 0)
    low, high = mean_interval(shares)
    assert low < shares.mean() < high
    assert (high - low) / 2 < 1.6 * 1.96 * shares.std() / 1200**0.5


def test_an_interval_and_a_p_value_agree():
    shares = sentences(200, 0.9, 1)
    low, high = mean_interval(shares)
    assert p_value_of_mean(shares, high + 1e-6) <= 0.025 < p_value_of_mean(shares, high - 1e-6)
    assert p_value_of_mean(1 - shares, 1 - low + 1e-6) <= 0.025


def short_sentences():
    """1,200 shares with a mean of 0.9354, some seven standard errors below 0.95."""
    shares = sentences(1200, 0.9354, 3)
    shares = (shares - 1) * (1 - 0.9354) / (1 - shares.mean()) + 1
    assert shares.mean() == pytest.approx(0.9354)
    assert -8 < (0.9354 - 0.95) / (shares.std() / 1200**0.5) < -5
    return shares


def test_a_clear_shortfall_of_steps_is_called_short():
    found = judged_by_steps(short_sentences(), 0.95)
    assert found.verdict.kept is False
    assert found.verdict.words.startswith("short by 0.015: 0.935 of 1,200 windows, by steps")
    numbers = summary(found, 2)
    assert 0.925 < numbers["low"] < 0.9354 < numbers["high"] < 0.95
    kept = judged_by_steps(short_sentences(), 0.93).verdict
    assert kept.words.startswith("kept: 0.935 of 1,200")


def test_a_shortfall_of_a_few_standard_errors_is_mostly_found():
    """Five standard errors below the promise: at least 95 of 100 samples are called short."""
    found = [judged_by_steps(sentences(600, 0.932, seed), 0.95).verdict.kept for seed in range(100)]
    assert found.count(False) >= 95


def test_a_promise_of_steps_that_is_kept_is_seldom_called_short():
    """At most 0.05 of 200 samples; more than 20 with a probability of less than 0.002."""
    found = [judged_by_steps(sentences(300, 0.9, seed), 0.9).verdict.kept for seed in range(200)]
    assert found.count(False) <= 20


def test_series_are_judged_by_their_shares():
    shares = short_sentences()
    parts = np.split(shares, 12)
    records = [
        SeriesRecord(k, 200, 100, float(part.sum()), 0.95, 1.0, 1.0, 3, shares=tuple(part.tolist()))
        for k, part in enumerate(parts)
    ]
    found = SeriesEvaluation(records)
    assert found.verdict().startswith("short: 0.935 of 1,200 windows in 12 series, promised 0.95")
    low, high = found.interval
    assert low < 0.9354 < high < 0.95
    for record, part in zip(records, parts, strict=True):
        assert record.interval == mean_interval(part)
        assert record.p_value == p_value_of_mean(part, 0.95)
    assert found.spread_by_chance == pytest.approx(shares.std() / 10)


def test_records_of_series_have_the_shares_of_their_windows():
    y, x = weather(400, random_state=0)
    cp = grouped(guarantee="steps", train_size=0.5, random_state=0)
    found = backtest_series(cp, y, x, ["Rome"] * 200 + ["Oslo"] * 200, horizon=5)
    for record in found:
        judged = found.evaluations[record.series]
        assert np.array_equal(record.shares, 1 - judged.wrong)
        low, high = record.interval
        assert low <= record.coverage <= high


def test_shares_of_single_steps_are_counted():
    """A share of one step is 0 or 1, and has the exact test and interval of windows."""
    y, x = weather(300, random_state=0)
    cp = ConformalHMM(guarantee="steps", train_size=0.5, random_state=0).fit(y[:200], x[:200])
    found = cp.evaluate(y[200:], x[200:], horizon=1)
    assert found.kept_shares.dtype == np.bool_
    assert found.kept_shares.tolist() == (found.wrong == 0).tolist()


def test_sequences_are_judged_by_their_shares():
    rng = np.random.default_rng(0)
    y, x = weather(1200, random_state=1)
    cp = ConformalSequences(HMM(), guarantee="steps", confidence_level=0.9, train_size=20)
    cp.fit(y[:800], x[:800], lengths=[10] * 80)
    scrambled = rng.permutation(x[800:]).tolist()
    found = cp.evaluate(y[800:], scrambled, lengths=[10] * 40)
    assert found.verdict.kept is False
    assert found.verdict.words.startswith("short by 0.38: 0.525 of 40 windows, by steps")


@pytest.mark.parametrize("guarantee", ["steps", "errors"])
def test_verdicts_on_sequences_allow_for_the_calibration_that_they_share(guarantee):
    """Of pure noise, 20 calibration sequences and 500 others, a third was called short."""
    short = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        cp = ConformalSequences(confidence_level=0.8, guarantee=guarantee, random_state=seed)
        cp.fit(rng.normal(size=160), rng.integers(0, 2, 160).tolist(), [4] * 40)
        found = cp.evaluate(rng.normal(size=2000), rng.integers(0, 2, 2000).tolist(), [4] * 500)
        assert found.calibration_noise > 0
        short += found.verdict.kept is False
    assert short <= 4  # at most 0.05 each: more than 4 of 20 has a probability of 0.003
