"""Rows of numbers, ranked by sums that go on: as the estimator does, and exactly."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from definetti import HMM, ConformalHMM, Monitor, load
from definetti.emissions import Gaussian
from definetti.engine.step_counts import PARTS
from definetti.monitor.numbers import NumbersSource
from definetti.monitor.sources import GeneralSource
from definetti.symmetry import Spaced

RNG = np.random.default_rng(0)
X = [int(one) for one in np.cumsum(RNG.random(260) < 0.2) % 2]
Y = RNG.normal(size=(260, 3)) + 1.5 * np.array(X)[:, None]


def fitted(size: int = 80, **settings: Any) -> ConformalHMM:
    how = {"confidence_level": 0.8, "random_state": 0, **settings}
    return ConformalHMM(**how).fit(Y[:size], X[:size])


def source_of(monitor: Monitor) -> Any:
    return monitor._past.source


@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal"])
@pytest.mark.parametrize(
    "settings", [{}, {"symmetry": Spaced(recent=7)}, {"conformity_score": "filter"}], ids=str
)
def test_sets_are_those_of_a_prediction(covariance: str, settings: dict[str, Any]) -> None:
    cp = fitted(model=HMM(emission=Gaussian(covariance)), **settings)
    monitor = Monitor(cp, random_state=0)
    assert isinstance(source_of(monitor), NumbersSource)
    for t in range(80, 110):
        mine, theirs = monitor.observe(Y[t]), cp.predict_set(Y[t : t + 1])
        assert mine == theirs
        assert np.array_equal(mine.all_p_values, theirs.all_p_values)
        monitor.label(X[t])
        cp.partial_fit(Y[t : t + 1], X[t : t + 1])


@pytest.mark.parametrize("settings", [{"symmetry": "full"}, {"symmetry": "departures"}], ids=str)
def test_other_sets_are_the_estimator_s_own(settings: dict[str, Any]) -> None:
    cp = fitted(**settings)
    monitor = Monitor(cp, random_state=0)
    assert isinstance(source_of(monitor), NumbersSource)
    for t in range(80, 86):
        assert monitor.observe(Y[t]) == cp.predict_set(Y[t : t + 1])
        monitor.label(X[t])
        cp.partial_fit(Y[t : t + 1], X[t : t + 1])


@pytest.mark.parametrize("score", ["path", "filter"])
def test_ranks_are_those_of_all_rearrangements(score: str) -> None:
    """A few rows: every rearrangement is listed, refitted and scored by the estimator."""
    cp = ConformalHMM(
        HMM(emission=Gaussian("diagonal")), symmetry="full", conformity_score=score, random_state=0
    ).fit(Y[:7], [0, 0, 1, 0, 1, 1, 0])
    monitor = Monitor(cp, parts=[*PARTS, "visits"], random_state=0)
    mine = source_of(monitor)
    code = mine.code(Y[7])
    draws = 4_000
    for state in (0, 1):
        found = [one.p_value(0.5) for one in mine.ranks(Y[7], code, state)]
        general = GeneralSource(monitor._past, np.random.default_rng(0), monitor._parts)
        values = [[one.p_value(0.5) for one in general.ranks(Y[7], 0, state)] for _ in range(8)]
        assert found == pytest.approx(np.mean(values, axis=0), abs=4 * 0.5 / np.sqrt(draws))


def test_smoothed_p_values_are_uniform_given_the_class() -> None:
    """All orders of four rows of a state: each p-value's interval is as likely as it is long."""
    rows = [[0.3], [1.7], [-0.4], [2.2], [0.9]]
    states = [0, 0, 0, 0, 0]
    intervals: list[tuple[float, float]] = []
    for order in product(range(5), repeat=5):
        if len(set(order)) < 5:
            continue
        own = [rows[k] for k in order]
        cp = ConformalHMM(HMM(emission=Gaussian()), states=[0, 1], random_state=0)
        monitor = Monitor(cp.fit(own[:4], states[:4]), random_state=0)
        mine = source_of(monitor)
        _, seen, _ = mine.ranks(own[4], mine.code(own[4]), 0)
        intervals.append((seen.greater / seen.total, (seen.greater + seen.equal) / seen.total))
    assert sorted(intervals) == sorted([(k / 5, (k + 1) / 5) for k in range(5)] * 24)


def test_drawn_rows_give_uniform_p_values() -> None:
    """With few draws among many rows: shares of p-values, a chi-square bound of error 1e-6."""
    states = [int(one) for one in np.cumsum(np.random.default_rng(1).random(1500) < 0.3) % 2]
    seen = np.random.default_rng(2).normal(size=(1500, 2)) + np.array(states)[:, None]
    cp = ConformalHMM(symmetry="full", random_state=0).fit(seen[:100], states[:100])
    monitor = Monitor(cp, random_state=3)
    source_of(monitor)._draws = 9
    for t in range(100, 1500):
        monitor.observe(seen[t], predict=False)
        monitor.label(states[t])
    for values in monitor.p_values.values():
        counts = np.bincount((values * 10).astype(int), minlength=10)
        assert ((counts - 140) ** 2 / 140).sum() < 45  # the quantile of chi-square with nine


def test_rows_are_read_in_many_forms() -> None:
    monitor = Monitor(fitted(), random_state=0)
    mine = source_of(monitor)
    codes = [mine.code(one) for one in (Y[100], Y[100].tolist(), tuple(Y[100]), Y[100].tolist())]
    assert len({mine._rows[code].tobytes() for code in codes}) == 1
    with pytest.raises(ValueError, match="observation"):
        monitor.observe([1.0, 2.0])
    with pytest.raises(ValueError, match="beyond what a machine number holds"):
        monitor.observe([1e200, 2.0, 1.0])


def test_frames_are_read_row_by_row() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(Y, schema=["a", "b", "c"])
    cp = ConformalHMM(random_state=0).fit(frame[:80], X[:80])
    named, plain = (
        Monitor(cp, random_state=0),
        Monitor(fitted(confidence_level=0.9), random_state=0),
    )
    steps = [list(named.run(frame[80:100], X[80:100])), list(plain.run(Y[80:100], X[80:100]))]
    assert isinstance(source_of(named), NumbersSource)
    assert [one.p_values for one in steps[0]] == [one.p_values for one in steps[1]]


@pytest.mark.filterwarnings("ignore::definetti.exceptions.GapWarning")
@pytest.mark.parametrize("missing", [None, [0.5, None, 1.0]], ids=str)
def test_a_missing_entry_is_left_to_the_estimator(missing: Any) -> None:
    monitor = Monitor(fitted(), random_state=0)
    monitor.observe(Y[80])
    monitor.observe(missing)
    assert isinstance(source_of(monitor), GeneralSource)
    assert len(monitor.label([X[80], X[81]])) == 2


def test_a_new_state_comes_up() -> None:
    cp = fitted()
    monitor = Monitor(cp, random_state=0)
    for t, state in [(80, 0), (81, 2), (82, 2), (83, 0), (84, 2)]:
        assert monitor.observe(Y[t]) == cp.predict_set(Y[t : t + 1])
        [step] = monitor.label(state)
        cp.partial_fit(Y[t : t + 1], [state])
    assert monitor.states == (0, 1, 2)
    assert isinstance(source_of(monitor), NumbersSource)
    assert 0 < step.p_values["whole window"] < 1


@pytest.mark.parametrize("how", ["gap", "skip", "late", "restart"])
def test_saved_and_loaded_it_goes_on_to_the_last_bit(how: str, tmp_path: Path) -> None:
    def begun() -> Monitor:
        reaction = {"listen_to": "law", "on_alarm": "restart", "alarm": "cusum"}
        return Monitor(fitted(), random_state=0, **(reaction if how == "restart" else {}))

    shift = 5.0 * (how == "restart")
    one, other = begun(), begun()
    for t in range(80, 160):
        for monitor in (one, other):
            monitor.observe(Y[t] + shift)
            if how == "late" and t < 82:
                continue
            if t == 100 and how == "gap":
                monitor.gap()
            elif t == 100 and how == "skip":
                monitor.skip()
            else:
                monitor.label(X[t - 2 if how == "late" else t])
        if t % 11 == 5:
            other.save(tmp_path / "stream.definetti")
            other = load(tmp_path / "stream.definetti")
            assert isinstance(source_of(other), NumbersSource)
    assert bool(one.alarms) == (how == "restart")
    assert one.alarms == other.alarms
    for name, values in one.p_values.items():
        assert np.array_equal(values, other.p_values[name], equal_nan=True)
    assert np.array_equal(one.history, other.history, equal_nan=True)
