"""After a restart at the alarm: exact again, given all that was known at the alarm.

The observation at the alarm has a part in raising it. Every sequence that may follow is listed,
given the state and the symbol at the alarm, and the p-values and sets of a monitor that restarts
there must have the law that is promised whichever they are.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from tests.martingales.test_independence import off_by

from definetti import HMM, ConformalHMM, Monitor, load
from definetti.emissions import Gaussian
from definetti.martingales import CUSUM, Martingale
from definetti.symmetry import Full

MOVES = np.array([[0.7, 0.3], [0.45, 0.55]])
EMITS = np.array([[0.8, 0.2], [0.35, 0.65]])
PAST = [0, 1, 1, 0], [0, 0, 1, 1]  # symbols and states before
SEEDS = (1, 2)
STARTS = list(product((0, 1), repeat=2))  # symbol and state at the alarm


@dataclass(eq=False)
class Once(Martingale):
    """Raises an alarm at the first p-value of a stream, whatever that is, and never again."""

    armed = True

    def begin(self) -> np.ndarray:
        return np.zeros(1)

    def bet(self, state: np.ndarray, p_values: np.ndarray, logs: np.ndarray) -> None:
        logs[:] = 100.0 * type(self).armed
        type(self).armed = False


def restarted(cp: ConformalHMM, symbol: Any, state: Any, **settings: Any) -> Monitor:
    """Return a monitor that has restarted at a step with some symbol and state."""
    Once.armed = True
    monitor = Monitor(cp, martingale=Once(), listen_to="law", on_alarm="restart", **settings)
    monitor.observe(symbol)
    [step] = monitor.label(state)
    assert step.alerts
    return monitor


def uniforms(seed: int, steps: int, monitor: Monitor) -> np.ndarray:
    """Return the numbers that break the ties of a monitor's steps, the one at the alarm first."""
    rng, parts = np.random.default_rng(seed), len(monitor.parts)
    found = []
    for _ in range(steps):
        found.append(rng.random(parts))
        if type(monitor._past.source).__name__ == "GeneralSource":
            rng.integers(2**63)
    return np.array(found)


def intervals(values: list[np.ndarray], numbers: list[np.ndarray]) -> tuple[Any, Any]:
    """Return where smoothed p-values begin and end, given two of each and what broke their ties."""
    width = (values[0] - values[1]) / (numbers[0] - numbers[1])
    low = values[0] - numbers[0] * width
    return low, low + width


def follow(begun: list[Monitor], later: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the p-values of the steps after a restart: (steps, parts) each."""
    values, numbers = [], []
    for seed, one in zip(SEEDS, begun, strict=True):
        monitor = deepcopy(one)
        steps = list(monitor.run(*zip(*later, strict=True)))
        values.append(np.array([list(step.p_values.values()) for step in steps]))
        numbers.append(uniforms(seed, 1 + len(steps), monitor)[1:])
        assert len(monitor.alarms) == 1
    return intervals(values, numbers)


def chance(start: tuple[int, int], later: Any) -> float:
    states = [start[1], *(x for _, x in later)]
    moved = np.prod([MOVES[a, b] for a, b in pairwise(states)])
    return float(moved * np.prod([EMITS[x, y] for y, x in later]))


def futures(steps: int) -> list[tuple[tuple[int, int], ...]]:
    return list(product(product((0, 1), repeat=2), repeat=steps))


def fitted(**settings: Any) -> ConformalHMM:
    settings = {"model": HMM(), "symmetry": "full", "random_state": 0, **settings}
    return ConformalHMM(**settings).fit(*PAST)


@pytest.mark.parametrize(
    ("settings", "steps", "starts"),
    [
        ({}, 3, STARTS),
        ({"conformity_score": "joint"}, 3, STARTS[1:2]),
        pytest.param({}, 4, STARTS, marks=pytest.mark.slow),
        pytest.param({"conformity_score": "joint"}, 3, STARTS, marks=pytest.mark.slow),
        pytest.param({"memory": 2}, 5, STARTS[1:2], marks=pytest.mark.slow),
    ],
    ids=["counts", "estimator", "four steps", "any start", "memory"],
)
def test_p_values_after_a_restart_are_independent_and_uniform(
    settings: dict[str, Any], steps: int, starts: list[tuple[int, int]]
) -> None:
    """All joint probabilities, part by part, whatever the state and the symbol at the alarm."""
    cp, compared = fitted(**settings), 0
    for start in starts:
        every = futures(steps)
        law = np.array([chance(start, later) for later in every])
        assert law.sum() == pytest.approx(1.0, abs=1e-12)
        begun = [restarted(cp, *start, random_state=seed) for seed in SEEDS]
        ends = np.array([follow(begun, later) for later in every])  # (S, 2, steps, parts)
        assert (ends[:, 1] - ends[:, 0]).min() > 1e-9
        for part in range(ends.shape[3]):
            off, boxes = off_by(law, [ends[:, :, k, part] for k in range(steps)])
            assert off <= 1e-9, (start, part)
            compared += boxes - 1
    assert compared > 3


@pytest.mark.parametrize(
    ("symmetry", "steps"),
    [
        ("full", 3),
        ("spaced", 3),
        pytest.param("full", 4, marks=pytest.mark.slow),
        pytest.param("spaced", 4, marks=pytest.mark.slow),
        pytest.param("returns", 4, marks=pytest.mark.slow),
    ],
)
def test_smoothed_sets_after_a_restart_have_their_level(symmetry: str, steps: int) -> None:
    """Coverage of the last set, given the state and symbol at the alarm, and the last state."""
    level, settings = 0.8, {"symmetry": symmetry, "confidence_level": 0.8, "allow_empty": True}
    both = [fitted(smoothing=smoothing, **settings) for smoothing in (False, True)]
    for start in STARTS:
        held, total = np.zeros(2), np.zeros(2)
        begun = [restarted(cp, *start, random_state=1) for cp in both]
        for later in futures(steps):
            *known, (y, x) = later
            p_values = []
            for one in begun:
                monitor = deepcopy(one)
                list(monitor.run(*zip(*known, strict=True)))
                found: Any = monitor.observe(y)
                p_values.append(found.all_p_values[x])
                assert found.exact
            width = (p_values[0] - p_values[1]) / (1 - uniforms(1, steps + 1, monitor)[-1, -1])
            inside = np.clip((p_values[0] - (1 - level)) / width, 0.0, 1.0)
            held[x] += chance(start, later) * inside
            total[x] += chance(start, later)
        np.testing.assert_allclose(held / total, level, atol=1e-9)


@pytest.mark.parametrize("max_windows", [2000, 0], ids=["counted", "drawn"])
@pytest.mark.parametrize("memory", [1, 2])
def test_windows_after_a_restart_never_hold_the_observation_at_the_alarm(
    max_windows: int, memory: int
) -> None:
    cp = fitted(symmetry=Full(max_windows), memory=memory)
    monitor = restarted(cp, 7, 0, random_state=0)
    list(monitor.run([0, 1, 1, 0, 0, 1, 0, 1], [0, 0, 1, 0, 0, 0, 1, 1]))
    cp = monitor._past.cp
    task, compared = cp._task([0, 1], None), 0
    for candidate in product((0, 1), repeat=2):
        completion = task.complete(np.array(candidate))
        windows, _ = task.windows_to_rank_among(task.rearrange(completion))
        compared += len(windows.start) - 1
        assert not (windows.observations == cp.symbols_.index(7)).any()
    assert compared > 10


def test_two_steps_after_a_restart_are_exact() -> None:
    """Where labels are late the whole class of two steps is counted: its ranks are uniform."""
    cp = fitted()

    @cache
    def ranks(start: tuple[int, int], known: Any, seen: Any) -> Any:
        monitor = restarted(cp, *start, random_state=0)
        list(monitor.run(*zip(*known, strict=True)))
        return monitor._past.cp.predict_ranks(list(seen))

    for start in STARTS:
        held = total = 0.0
        for later in futures(4):
            (y, x), (z, w) = later[2:]
            rank = ranks(start, later[:2], (y, z))[x, w]
            inside = np.clip(((rank.greater + rank.equal) - 0.2 * rank.total) / rank.equal, 0, 1)
            held += chance(start, later) * float(inside)
            total += chance(start, later)
        assert held / total == pytest.approx(0.8, abs=1e-9)


@pytest.mark.parametrize(
    "settings",
    [{"symmetry": "spaced"}, {"symmetry": "departures"}, {"symmetry": "spaced", "memory": "age"}],
    ids=str,
)
def test_a_number_at_the_alarm_changes_no_set_that_follows(settings: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    states = [0, 0, 1, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 0, 1]
    seen = (np.array(states) + rng.normal(size=20)).round(2).tolist()
    cp = ConformalHMM(HMM(emission=Gaussian()), random_state=0, **settings)
    cp.fit(seen[:6], states[:6])
    found = []
    for value in (seen[6], 40.0):
        monitor = restarted(cp, value, states[6], random_state=0)
        steps = list(monitor.run(seen[7:], states[7:]))
        found.append([step.set.all_p_values for step in steps])
    assert np.unique(found[0]).size > 2
    np.testing.assert_allclose(*found, atol=1e-9)


def after_alarm(cp: ConformalHMM) -> Monitor:
    """Return a monitor that has just restarted, of parts that a file can hold."""
    alarm = CUSUM(run_length=1)
    monitor = Monitor(cp, alarm=alarm, listen_to="law", on_alarm="restart", random_state=0)
    states = np.random.default_rng(0).integers(2, size=200).tolist()
    for k, state in enumerate(states):
        monitor.observe(state if k < 40 else 1 - state)
        if monitor.label(state)[0].alerts:
            return monitor
    raise AssertionError("there was no alarm")


@pytest.mark.parametrize("settings", [{}, {"memory": 2}, {"conformity_score": "joint"}], ids=str)
def test_a_restarted_monitor_is_saved_with_what_it_leaves_out(
    settings: dict[str, Any], tmp_path: Any
) -> None:
    monitor = after_alarm(fitted(**settings))
    monitor.save(tmp_path / "m.definetti")
    again = load(tmp_path / "m.definetti")
    later = [0, 1, 1, 1, 0, 1, 0, 0], [0, 0, 1, 0, 0, 1, 0, 0]
    assert [step.p_values for step in monitor.run(*later)] == [
        step.p_values for step in again.run(*later)
    ]
    assert len(monitor._past.cp._data.history) == 9
    emissions = monitor._past.cp._data.history.emissions
    assert np.array_equal(again._past.cp._data.history.emissions, emissions)
    assert emissions.sum() == 8


@pytest.mark.parametrize(
    "settings", [{}, {"conformity_score": "joint"}, {"train_size": 2}], ids=str
)
def test_a_restarted_monitor_accepts_new_states(settings: dict[str, Any], tmp_path: Any) -> None:
    monitor = after_alarm(fitted(**settings))
    for state in (0, 2, 1, 2, 0):
        monitor.observe(1)
        [step] = monitor.label(state)
        assert step.state == state
    assert monitor.states == (0, 1, 2)
    found: Any = monitor.observe(1)
    assert set(found.states) == {0, 1, 2}
    monitor.save(tmp_path / "m.definetti")
    again = load(tmp_path / "m.definetti")
    again.label(3)
    assert again.states == (0, 1, 2, 3)


def test_a_restarted_monitor_keeps_to_declared_states() -> None:
    monitor = after_alarm(fitted(states=[0, 1]))
    monitor.observe(1)
    with pytest.raises(ValueError, match="known labels"):
        monitor.label(2)
