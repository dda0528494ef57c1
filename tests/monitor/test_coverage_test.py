"""The test of coverage along a stream: what is a miss, what is bet on, and what an alarm does."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from definetti import HMM, ConformalHMM, Monitor, load
from definetti.exceptions import ChangeWarning
from definetti.martingales import Misses, Ville

OTHER = {"sun": "rain", "rain": "sun"}


def drawn(size: int, right: float = 0.95) -> tuple[list[str], list[str]]:
    """Return a chain that stays with probability 0.9, and what a sensor says of it."""
    rng, states = np.random.default_rng(2), ["sun"]
    while len(states) < size:
        states.append(states[-1] if rng.random() < 0.9 else OTHER[states[-1]])
    return [one if rng.random() < right else OTHER[one] for one in states], states


Y, X = drawn(400)


def fitted(size: int = 60, **settings: Any) -> ConformalHMM:
    how = {"symmetry": "full", "confidence_level": 0.8, "random_state": 0, **settings}
    return ConformalHMM(HMM(), **how).fit(Y[:size], X[:size])


def broken(size: int = 120) -> tuple[list[str], list[str]]:
    """Return rows whose state changes at every step, and a sensor that says the opposite."""
    states = ["sun", "rain"] * (size // 2)
    return [OTHER[state] for state in states], states


def quietly(monitor: Monitor, observations: Any, states: Any) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ChangeWarning)
        return list(monitor.run(observations, states))


@pytest.mark.parametrize("symmetry", ["full", "spaced", "departures"])
@pytest.mark.parametrize("smoothing", [True, False])
@pytest.mark.parametrize("level", [0.8, {"rain": 0.95, None: 0.6}])
def test_capital_is_that_of_the_misses(symmetry: str, smoothing: bool, level: Any) -> None:
    cp = fitted(symmetry=symmetry, smoothing=smoothing, confidence_level=level)
    monitor, bet = Monitor(cp, alarm=Ville(1e-9), random_state=0), Misses()
    before = X[59]
    for step in monitor.run(Y[60:160], X[60:160]):
        state = before if symmetry == "departures" else step.state
        alpha = 0.2 if level == 0.8 else {"rain": 1 - 0.95}.get(state, 1 - 0.6)
        bet.judge(not step.covered, alpha)
        assert monitor.martingales["coverage"].log_capital == pytest.approx(bet.log_capital)
        before = step.state
    assert 0 < sum(not one for one in monitor.history[:, 1]) < 60
    assert monitor.log_capitals["coverage"][-1] == monitor.martingales["coverage"].log_capital


def test_a_filled_set_that_was_empty_is_a_miss() -> None:
    monitor = Monitor(fitted(smoothing=True, confidence_level=0.1), random_state=0)
    steps = list(monitor.run(Y[60:120], X[60:120]))
    assert any(step.set.filled and step.state in step.set.sequences[0] for step in steps)
    assert monitor._coverage_test.missed == sum(not step.covered for step in steps) > 40


def test_a_state_that_was_unknown_is_no_miss() -> None:
    monitor = Monitor(fitted(), random_state=0)
    monitor.observe(Y[60])
    [step] = monitor.label("snow")
    assert step.covered is False
    assert (monitor._coverage_test.judged, monitor._coverage_test.missed) == (1, 0)


def test_adapted_sets_are_judged_at_the_level_of_the_estimator() -> None:
    plain = Monitor(fitted(smoothing=True), random_state=0)
    adapting = Monitor(fitted(smoothing=True), adapt_from="beginning", random_state=0)
    for monitor in (plain, adapting):
        list(monitor.run(Y[60:160], X[60:160]))
    assert adapting.history[:, 1].sum() != plain.history[:, 1].sum()
    mine, theirs = (one.log_capitals["coverage"] for one in (plain, adapting))
    assert np.array_equal(mine, theirs)


@pytest.mark.parametrize("lag", [1, 2])
@pytest.mark.parametrize("settings", [{}, {"symmetry": "spaced", "train_size": 30}], ids=str)
def test_late_labels_are_bet_on_by_sets_that_do_not_overlap(
    lag: int, settings: dict[str, Any]
) -> None:
    monitor, seen = Monitor(fitted(**settings), random_state=0), []
    for t in range(60, 120):
        monitor.observe(Y[t])
        if t >= 60 + lag:
            before = monitor._coverage_test.judged
            [step] = monitor.label(X[t - lag])
            if monitor._coverage_test.judged > before:
                seen.append(step.time)
    # The first sets had fewer labels to wait for; then every (lag + 1)-th is bet on.
    assert seen[0] == 0
    assert set(np.diff(seen).tolist()) == {lag + 1}


def test_sets_after_a_gap_and_skipped_steps_are_not_bet_on() -> None:
    monitor = Monitor(fitted(), random_state=0)
    list(monitor.run(Y[60:80], [*X[60:70], None, *X[71:80]]))
    assert monitor._coverage_test.judged == 18
    monitor.gap()
    list(monitor.run(Y[80:82], X[80:82]))
    assert monitor._coverage_test.judged == 19
    monitor.observe(Y[82], predict=False)
    monitor.label(X[82])
    assert monitor._coverage_test.judged == 19


def test_an_alarm_of_coverage_says_what_broke_and_the_test_begins_anew() -> None:
    monitor = Monitor(fitted(), random_state=0)
    with pytest.warns(ChangeWarning, match="sets miss too often"):
        list(monitor.run(*broken()))
    first, *later = monitor.alarms
    assert first.part == "coverage"
    assert first.log_statistic >= first.log_threshold == pytest.approx(math.log(20))
    assert later, "what follows is heard"
    assert "observations" in monitor.diagnosis
    assert later[-1].diagnosis
    assert later[-1].says.startswith("sets miss too often; the law of the ")
    again = monitor.log_capitals["coverage"][first.time + 1]
    assert abs(again) < 0.1
    assert f"{len(monitor.alarms)} alarms" in repr(monitor)
    assert repr(monitor).index("against coverage") < repr(monitor).index("against transitions")


def test_autocorrelated_observations_alone_raise_no_alarm_of_coverage() -> None:
    """The law is not that of a hidden Markov model; sets are large enough all the same."""
    rng = np.random.default_rng(0)
    seen = np.zeros(400)
    for t in range(1, 400):
        seen[t] = 0.98 * seen[t - 1] + 0.2 * rng.normal()
    cp = ConformalHMM(symmetry="spaced", random_state=0).fit(seen[:100, None], X[:100])
    monitor = Monitor(cp, random_state=0)
    quietly(monitor, seen[100:300, None], X[100:300])
    assert "observations" in monitor.diagnosis
    assert not monitor.alarms
    # From here on the state changes at every step: coverage collapses, and that is heard.
    quietly(monitor, seen[300:, None], ["sun", "rain"] * 50)
    assert monitor.alarms


def test_listening_to_the_law_keeps_coverage_in_the_diagnosis() -> None:
    monitor = Monitor(fitted(), listen_to="law", random_state=0)
    quietly(monitor, *broken())
    assert {alert.part for alert in monitor.alarms} <= set(monitor.parts)
    assert monitor.alarms
    assert "coverage" in monitor.diagnosis


@pytest.mark.parametrize("begin", ["alarm", "change"])
def test_a_restart_begins_all_tests_anew(begin: str) -> None:
    monitor = Monitor(fitted(), on_alarm="restart", restart_from=begin, random_state=0)
    observations, states = broken()
    for observation, state in zip(observations, states, strict=True):
        monitor.observe(observation)
        [step] = monitor.label(state)
        if step.alerts:
            break
    assert monitor.alarms[0].part == "coverage"
    assert "restarted" in monitor.alarms[0].done
    assert not monitor.diagnosis
    assert all(one.log_capital == 0 for one in monitor.martingales.values())
    assert monitor._coverage_test.judged == 0


def test_sets_made_before_a_restart_are_not_bet_on_after_it() -> None:
    monitor = Monitor(fitted(), alarm=Ville(0.5), on_alarm="restart", random_state=0)
    observations, states = broken()
    monitor.observe(observations[0])
    for t in range(1, len(states)):
        monitor.observe(observations[t])
        [step] = monitor.label(states[t - 1])
        if step.alerts:
            break
    monitor.label(states[t])
    assert monitor._coverage_test.judged == 0
    list(monitor.run(observations[t + 1 : t + 3], states[t + 1 : t + 3]))
    assert monitor._coverage_test.judged == 2


@pytest.mark.parametrize("how", ["warn", "restart", "adapt"])
def test_saved_and_loaded_it_goes_on_as_if_it_had_not_been(how: str, tmp_path: Path) -> None:
    observations, states = broken(80)
    one = Monitor(fitted(), on_alarm=how, random_state=0)
    other = Monitor(fitted(), on_alarm=how, random_state=0)
    for t, (observation, state) in enumerate(zip(observations, states, strict=True)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ChangeWarning)
            for monitor in (one, other):
                monitor.observe(observation)
                monitor.label(state)
        if t % 13 == 5:
            other.save(tmp_path / "stream.definetti")
            other = load(tmp_path / "stream.definetti")
    assert one.alarms == other.alarms != []
    assert one.diagnosis == other.diagnosis
    assert repr(one) == repr(other)
    for name, capitals in one.log_capitals.items():
        assert np.array_equal(capitals, other.log_capitals[name], equal_nan=True)


def test_a_guarantee_that_lets_steps_be_wrong_is_refused() -> None:
    cp = fitted(symmetry="spaced", train_size=30, guarantee="errors")
    with pytest.raises(ValueError, match="listen_to='law'"):
        Monitor(cp)
    assert Monitor(cp, listen_to="law").listen_to == "law"


def test_several_levels_are_refused() -> None:
    with pytest.raises(ValueError, match="confidence_level"):
        Monitor(fitted(confidence_level=[0.8, 0.9]))


def test_listen_to_is_checked() -> None:
    with pytest.raises(ValueError, match="'coverage', 'law'"):
        Monitor(fitted(), listen_to="anything")
