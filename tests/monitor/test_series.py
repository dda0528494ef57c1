"""Monitors of one series of many: false alarms are as rare as promised, or refused."""

from __future__ import annotations

from copy import deepcopy
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from tests.making import grouped
from tests.martingales.test_independence import off_by

from definetti import HMM, ConformalHMM, GroupedConformalHMM, Monitor
from definetti.martingales import SimpleJumper, Ville
from definetti.symmetry import TogetherDepartures

MOVES = np.array([[0.8, 0.2], [0.3, 0.7]])
EMITS = np.array([[0.75, 0.25], [0.3, 0.7]])
ALPHA = 0.2
RARE = 1e-6  # the probability with which a test of a monitor that keeps its promise fails


def draw(rng: np.random.Generator, steps: int) -> tuple[list[int], list[int]]:
    states = [int(rng.integers(2))]
    for _ in range(steps - 1):
        states.append(int(rng.random() < MOVES[states[-1], 1]))
    return [int(rng.random() < EMITS[state, 1]) for state in states], states


def fit_series(
    mode: str, rng: np.random.Generator, rows: int = 25, **more: Any
) -> GroupedConformalHMM:
    """Fit four series of one law; the last is called "own"."""
    names = ["a", "b", "c", "own"]
    drawn = [draw(rng, rows) for _ in names]
    seen, states = ([one for part in kind for one in part] for kind in zip(*drawn, strict=True))
    cp = grouped(series=mode, random_state=0, **more)
    return cp.fit(seen, states, groups=np.repeat(names, rows))


def count_alarms(mode: str, streams: int, steps: int, **more: Any) -> int:
    """Return in how many streams without any change there is an alarm."""
    found = 0
    for seed in range(streams):
        rng = np.random.default_rng([seed, 7])
        cp = fit_series(mode, rng, **more).estimators_["own"]
        # Bold bets come closer to what is promised.
        monitor = Monitor(
            cp, martingale=SimpleJumper(), alarm=Ville(ALPHA), on_alarm="adapt", random_state=seed
        )
        present = cp.present_
        while True:
            seen, states = draw(rng, steps + 1)
            if states[0] == present:
                break
        for step in monitor.run(seen[1:], states[1:]):
            if step.alerts:
                found += 1
                break
    return found


@pytest.mark.parametrize(
    ("mode", "streams", "steps"),
    [
        ("own", 60, 60),
        ("others", 20, 30),
        pytest.param("own", 300, 100, marks=pytest.mark.slow),
        pytest.param("others", 60, 60, marks=pytest.mark.slow),
    ],
)
def test_false_alarms_of_a_series_are_as_rare_as_ville_says(
    mode: str, streams: int, steps: int
) -> None:
    """Alarms in more streams than this have a probability of at most 1e-6."""
    assert count_alarms(mode, streams, steps) <= binom.isf(RARE, streams, ALPHA)


@pytest.mark.parametrize("mode", ["all", "first"])
@pytest.mark.parametrize("how", ["warn", "restart", "adapt"])
def test_a_series_that_others_calibrate_has_no_monitor(mode: str, how: str) -> None:
    cp = fit_series(mode, np.random.default_rng(0), train_size=1).estimators_["own"]
    with pytest.raises(ValueError, match=r"series='own' or 'others', and monitor one of its"):
        Monitor(cp, on_alarm=how)


def test_a_symmetry_of_several_series_has_no_monitor() -> None:
    seen, states = draw(np.random.default_rng(0), 40)
    symmetry = TogetherDepartures((0, 20), (0, 1))
    cp = ConformalHMM(HMM(), symmetry=symmetry, random_state=0).fit(seen, states)
    with pytest.raises(ValueError, match="several series"):
        Monitor(cp)


@pytest.mark.parametrize("mode", ["own", "others"])
def test_p_values_of_a_series_are_independent_and_uniform(mode: str) -> None:
    """All joint probabilities, enumerated: a plain chain of six steps, two of them labelled."""
    others = [0, 0, 0, 1, 1, 1, 1, 0]
    every = list(product((0, 1), repeat=6))
    ends = np.empty((len(every), 4, 2))
    for k, states in enumerate(every):
        cp = grouped(symmetry="full", series=mode, random_state=0)
        cp.fit(None, [*others, *states[:2]], groups=["a"] * 5 + ["b"] * 3 + ["own"] * 2)
        begun = Monitor(cp.estimators_["own"], random_state=0)
        values = []
        for uniform in (0.25, 0.75):
            monitor = deepcopy(begun)
            for step in range(4):
                monitor.observe()
                monitor._queue.steps[0].uniforms = (uniform,)
                values.append(monitor.label(states[2 + step])[0].p_values["transitions"])
        low, high = np.array(values).reshape(2, 4)
        ends[k] = np.stack([low - (high - low) / 2, high + (high - low) / 2], axis=1)
    for moves in (MOVES, np.array([[0.1, 0.9], [0.5, 0.5]])):
        law = [np.prod([moves[a, b] for a, b in pairwise(x)]) / 2 for x in every]
        off, boxes = off_by(np.array(law), [ends[:, step] for step in range(4)])
        assert boxes > 4
        assert off <= 1e-9
