"""A stream whose rows have times: a hole is a gap."""

import warnings

import numpy as np
import pandas as pd
import pytest

from definetti import ConformalHMM, Monitor
from definetti.exceptions import HoleWarning
from definetti.saving import load
from definetti.simulate import weather

THINGS, SKIES = weather(100, random_state=0)
HOURS = pd.date_range("2024-01-01", periods=100, freq="h")
LATE = HOURS[:80].append(HOURS[80:] + pd.Timedelta("10h"))
FRAME = pd.DataFrame({"thing": THINGS, "sky": SKIES}, index=LATE)


def make(**how):
    cp = ConformalHMM(random_state=0, **how).fit(FRAME["thing"][:60], FRAME["sky"][:60])
    return Monitor(cp, random_state=1)


def by_hand(**how):
    """Return a monitor that was told of the gap."""
    cp = ConformalHMM(random_state=0, **how).fit(THINGS[:60], SKIES[:60])
    monitor = Monitor(cp, random_state=1)
    list(monitor.run(THINGS[60:80], SKIES[60:80]))
    monitor.gap()
    list(monitor.run(THINGS[80:], SKIES[80:]))
    return monitor


def same(one, other):
    for part in one.parts:
        np.testing.assert_array_equal(one.p_values[part], other.p_values[part])
    np.testing.assert_array_equal(one.history, other.history)
    return True


@pytest.mark.parametrize("how", [{}, {"train_size": 0.5}])
@pytest.mark.parametrize("way", ["run", "frame", "states", "row by row"])
def test_a_hole_in_time_is_a_gap(way, how):
    monitor = make(**how)
    y, x = FRAME["thing"][60:], FRAME["sky"][60:]
    given = {"run": [(y, x)], "frame": [(y, x.tolist())], "states": [(y.tolist(), x)]}
    given["row by row"] = [(y[k : k + 1], x[k : k + 1]) for k in range(40)]
    with pytest.warns(HoleWarning, match="11 h after the last label") as heard:
        [list(monitor.run(*rows)) for rows in given[way]]
    assert len([one for one in heard if one.category is HoleWarning]) == 1
    assert same(monitor, by_hand(**how))


def test_frames_of_one_row_have_times():
    numbers = pd.DataFrame({"one": np.arange(100) % 7, "two": np.arange(100) % 3}, index=LATE)
    cp = ConformalHMM(random_state=0).fit(numbers[:60] + 0.5, SKIES[:60])
    monitor = Monitor(cp, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", HoleWarning)
        for k in range(60, 80):
            monitor.observe(numbers[k : k + 1] + 0.5)
            monitor.label(SKIES[k])
    with pytest.warns(HoleWarning):
        found = monitor.observe(numbers[80:81] + 0.5)
    assert len(found.sequences) == 2  # nothing is known
    with pytest.raises(ValueError, match="give rows that follow it"):
        monitor.observe(numbers[50:51] + 0.5)


def test_the_time_is_saved(tmp_path):
    monitor = make()
    list(monitor.run(FRAME["thing"][60:80], FRAME["sky"][60:80]))
    monitor.save(tmp_path / "monitor.definetti")
    again = load(tmp_path / "monitor.definetti")
    with pytest.warns(HoleWarning):
        list(again.run(FRAME["thing"][80:], FRAME["sky"][80:]))
    assert same(again, by_hand())


def test_labels_with_another_index_are_refused():
    monitor = make()
    with pytest.raises(ValueError, match="different indices"):
        next(monitor.run(FRAME["thing"][60:70], FRAME["sky"][61:71]))


def test_rows_without_times_are_taken_to_follow():
    monitor = make()
    with warnings.catch_warnings():
        warnings.simplefilter("error", HoleWarning)
        list(monitor.run(THINGS[60:], SKIES[60:]))


def test_observation_whose_set_cannot_be_listed_may_come_again() -> None:
    frame = pd.DataFrame({"y": [k % 3 / 2 for k in range(100)]}, index=HOURS)
    states = [("a", "b", "b")[(k * k) % 3] for k in range(100)]
    cp = ConformalHMM(max_candidates=3, random_state=0).fit(frame[:60], states[:60])
    monitor = Monitor(cp, random_state=0)
    monitor.observe(frame[60:61])
    with pytest.raises(ValueError, match="max_candidates"):
        monitor.observe(frame[61:62])
    assert monitor.observe(frame[61:62], predict=False) is None
    assert monitor.n_observed == 2
