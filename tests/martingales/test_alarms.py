"""Alarms as they are defined, and what they promise added up over all that can be."""

from itertools import pairwise, product

import numpy as np
import pytest

from definetti.martingales import CUSUM, Alarm, ShiryaevRoberts, Ville

LOGS = np.random.default_rng(0).normal(size=(60, 2)).cumsum(axis=0)


def naive(name, logs):
    """Statistics of one part by their recursions, on the capital itself."""
    capital = np.exp(np.concatenate([[0.0], logs]))
    found, kept = [], 0.0
    for before, now in pairwise(capital):
        if name == "ville":
            kept = now
        elif name == "cusum":
            kept = max(kept, 1.0) * now / before
        elif name == "shiryaev_roberts":
            kept = (kept + 1.0) * now / before
        found.append(np.log(kept))
    return found


@pytest.mark.parametrize("name", Alarm.named)
def test_as_defined(name):
    alarm = Alarm.named[name](parts=2)
    found = alarm.update_many(LOGS)
    for part in range(2):
        np.testing.assert_allclose(found[:, part], naive(name, LOGS[:, part]), atol=1e-12)


@pytest.mark.parametrize("name", Alarm.named)
def test_step_by_step(name):
    """One by one is the same to the last bit, and so it is from a state that was saved."""
    whole, singly = Alarm.named[name](parts=2), Alarm.named[name](parts=2)
    found = whole.update_many(LOGS)
    for k, row in enumerate(LOGS):
        raised = singly.update(row)
        np.testing.assert_array_equal(singly.statistics, found[k])
        np.testing.assert_array_equal(raised, found[k] >= singly.log_threshold)
        again = Alarm.named[name](**singly.settings)
        again.restore(singly.state, singly.statistics)
        singly = again
    assert len(whole.update_many(np.zeros((0, 2)))) == 0
    whole.restart()
    assert not whole.raised.any()


def all_streams(steps, bets):
    """All streams of a martingale on coins, two for each part: ``(2^steps, steps)`` logs."""
    tosses = np.array(list(product([0, 1], repeat=steps)))
    return np.log(np.where(tosses == 1, bets, 2 - bets)).cumsum(axis=1)


@pytest.mark.parametrize("alpha", [0.2, 0.5])
def test_ville_over_all_streams(alpha):
    """Of all streams of ten fair coins, at most a share alpha ever raises an alarm."""
    for bets in (0.2, 0.5, 0.7):
        logs = all_streams(10, bets)
        ever = [Ville(alpha).update_many(one).max() >= np.log(1 / alpha) for one in logs]
        assert 0 < np.mean(ever) <= alpha


@pytest.mark.parametrize("kind", [CUSUM, ShiryaevRoberts])
@pytest.mark.parametrize("parts", [1, 2])
def test_run_length_over_all_streams(kind, parts):
    """The average time before an alarm, cut off at the end of the streams, is what is promised.

    Two parts that bet against each other are the worst that two can be.
    """
    steps, run_length = 10, 3.0 if parts == 1 else 2.0
    times = []
    for one in all_streams(steps, 0.3):
        other = np.log(2 - np.exp(np.diff(one, prepend=0.0))).cumsum()
        alarm = kind(run_length, parts=parts)
        found = alarm.update_many(np.column_stack([one, other][:parts]))
        reached = np.flatnonzero((found >= alarm.log_threshold).any(axis=1))
        times.append(reached[0] + 1 if len(reached) else steps)
    assert run_length <= np.mean(times) < steps


def test_thresholds_grow_with_the_parts():
    assert Ville(0.05, parts=3).log_threshold == pytest.approx(np.log(60))
    assert CUSUM(100).log_threshold == pytest.approx(np.log(100))
    assert ShiryaevRoberts(100, parts=2).log_threshold == pytest.approx(np.log(2 * 199))
    assert "ever" in Ville().promise
    assert "sooner or later" in CUSUM().promise


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: Ville(0), "alpha"),
        (lambda: Ville(parts=0), "parts"),
        (lambda: CUSUM(0.5), "run_length"),
        (lambda: Ville().update([0.0, 0.0]), "1 parts"),
        (lambda: Ville().update([np.nan]), "log_capitals"),
        (lambda: Ville().restore([0.0, 0.0], [0.0, 0.0]), "state"),
    ],
)
def test_bad_input(wrong, says):
    with pytest.raises(ValueError, match=says):
        wrong()
