"""Windows of a backtest: spread over the rows, told nothing of what comes later, across no gap."""

import copy

import numpy as np
import pytest

from definetti import ConformalHMM
from definetti.evaluation import run_backtest
from definetti.evaluation.advice import CLASSICAL, OURS
from definetti.evaluation.backtest import spread_windows
from definetti.simulate import weather

Y, X = (list(part) for part in weather(160, random_state=3))
WAYS = {
    "in one pass": ConformalHMM(random_state=0),
    "one by one": ConformalHMM(symmetry="pairs", random_state=0),
    "fixed": ConformalHMM(train_size=0.5, symmetry="spaced", random_state=0),
}


def test_all_where_they_are_cheap_and_a_spread_of_them_where_not(monkeypatch):
    monkeypatch.setattr("definetti.evaluation.backtest.WINDOWS", 9)
    for name, cp in WAYS.items():
        found = run_backtest(cp, Y, X)
        number = 9 if name == "one by one" else 80
        assert found.windows == number
        assert len(found.methods[CLASSICAL].covers) == number
        begins = found.methods[OURS].begins
        assert (begins[0], begins[-1]) == (80, 159)
        assert np.diff(begins).max() - np.diff(begins).min() <= 1


@pytest.mark.parametrize("horizon", [1, 3])
@pytest.mark.parametrize("way", WAYS)
def test_some_windows_are_those_of_all(way, horizon):
    every = run_backtest(WAYS[way], Y, X, horizon, windows=1_000)
    some = run_backtest(WAYS[way], Y, X, horizon, windows=7)
    assert some.windows == 7
    places = spread_windows(every.windows, 7)
    for name in every.methods:
        expected, found = every.methods[name].take(places), some.methods[name]
        assert expected.begins.tolist() == found.begins.tolist()
        assert np.array_equal(expected.p_values, found.p_values, equal_nan=True)
        assert expected.evaluation(0) == found.evaluation(0)


@pytest.mark.slow_cases("one by one")
@pytest.mark.parametrize("way", WAYS)
def test_no_window_knows_a_state_that_comes_later(way):
    late = [*X[:140], "snow", *X[141:]]
    found = run_backtest(WAYS[way], Y, late, windows=1_000)
    ours, before = found.methods[OURS], run_backtest(WAYS[way], Y, X, windows=1_000).methods[OURS]
    assert np.array_equal(ours.p_values[:60], before.p_values[:60])
    one = found.evaluations()[OURS]
    assert np.flatnonzero(one.unseen).tolist() == [60]
    assert one.verdict.unseen == 1
    declared = copy.deepcopy(WAYS[way]).set_params(states=["sun", "rain", "snow"])
    assert not run_backtest(declared, Y, late, windows=1_000).evaluations()[OURS].unseen.any()


@pytest.mark.parametrize("horizon", [1, 2])
@pytest.mark.parametrize("way", WAYS)
def test_no_window_crosses_a_gap(way, horizon):
    """Against single predictions, each by an estimator that was told of all gaps before it."""
    lengths = [90, 30, 1, 39]
    found = run_backtest(WAYS[way], Y, X, horizon, lengths=lengths, windows=1_000).methods[OURS]
    edges = np.cumsum(lengths)
    begins, p_values = [], []
    cp = copy.deepcopy(WAYS[way]).fit(Y[:80], X[:80])
    known = 80
    for first, end in zip([80, 91, 121, 122], edges, strict=True):
        if first > known:
            cp.new_segment().partial_fit(Y[known:first], X[known:first])
            known = first
        for begin in range(first, end - horizon + 1, horizon):
            cp.partial_fit(Y[known:begin], X[known:begin]) if begin > known else None
            known = begin
            begins.append(begin)
            p_values.append(cp.p_value(Y[begin : begin + horizon], X[begin : begin + horizon]))
        cp.partial_fit(Y[known:end], X[known:end]) if end > known else None
        known = end
    assert found.begins.tolist() == begins
    assert np.allclose(found.p_values, p_values, rtol=0, atol=1e-12)


def test_rows_that_end_with_a_segment():
    found = run_backtest(ConformalHMM(random_state=0), Y, X, lengths=[80, 80])
    assert found.methods[OURS].begins.tolist() == list(range(81, 160))
    with pytest.raises(ValueError, match="too few for a window of 3"):
        run_backtest(ConformalHMM(), Y[:8], X[:8], 3, lengths=[4, 2, 2])
