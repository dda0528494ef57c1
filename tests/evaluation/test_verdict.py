"""Whether a promise was kept: the error rate by enumeration, and the words."""

from itertools import product

import numpy as np
import pytest

from definetti import ConformalHMM, ConformalSequences
from definetti.evaluation.results import Evaluation
from definetti.simulate import weather


def evaluated(covered, level=0.9, *, widths=1, states=3, truth=None, begins=True, **more):
    """Windows of one step of which it is known whether they were covered."""
    covered = np.asarray(covered, dtype=bool)
    nodes = np.zeros((len(covered), states), dtype=bool)
    nodes[:, :widths] = True
    truth = np.zeros(len(covered), dtype=np.int64) if truth is None else np.asarray(truth)
    truth[~covered & (truth >= 0)] = states - 1
    return Evaluation.of_steps(
        np.ones(len(covered), dtype=np.int64), tuple("abcdefghijklmno"[:states]), truth, nodes,
        covered=covered, sizes=nodes.sum(axis=1), scaled_sizes=nodes.mean(axis=1),
        confidence_level=level, begins=np.arange(len(covered)) + 100 if begins else None, **more,
    )  # fmt: skip


@pytest.mark.parametrize("level", [0.5, 0.7, 0.9])
@pytest.mark.parametrize("number", [1, 4, 9])
def test_a_promise_that_is_kept_is_called_short_at_the_stated_rate_at_most(level, number):
    """All outcomes of independent windows, with their probability: no sampling."""
    wrong = right = 0.0
    for covered in product([True, False], repeat=number):
        held = sum(covered)
        chance = level**held * (1 - level) ** (number - held)
        found = evaluated(covered, level).verdict
        wrong += chance * (found.kept is False)
        right += chance
        assert (found.kept is False) == (found.p_value <= 0.05)
        assert (found.kept is False) == found.words.startswith("short")
    assert right == pytest.approx(1)
    assert wrong <= 0.05


def test_what_never_holds_is_found_out_as_soon_as_it_can_be():
    kept = [evaluated([False] * number, 0.9).verdict.kept for number in range(1, 5)]
    assert kept == [None, False, False, False]  # 0.1 is no small probability, 0.01 is


def test_where_it_is_short():
    late = [True] * 400 + [True, True, False] * 40
    found = evaluated(late).verdict
    assert found.words == (
        "short by 0.24 in rows after about 516: 0.663 of 104 windows, promised 0.9; elsewhere "
        "0.988 of 416"
    )
    first, last = found.rows
    assert last == 100 + len(late)
    assert abs(first - 501) <= len(late) / 20  # a description, to a twentieth of the windows
    early = evaluated(late[::-1]).verdict
    assert "in rows up to about" in early.words
    everywhere = evaluated([True, True, False] * 200).verdict
    assert (everywhere.kept, everywhere.rows) == (False, None)
    assert everywhere.words == "short by 0.23: 0.667 of 600 windows, promised 0.9"
    assert "in windows after about" in evaluated(late, begins=False).verdict.words


def test_the_words():
    every = [True] * 91 + [False] * 9
    mixed = np.random.default_rng(0).permutation(every).tolist()
    assert str(evaluated(mixed).verdict) == "kept: 0.910 of 100 windows, promised 0.9"
    fewer = [one and k % 25 != 3 for k, one in enumerate(mixed)]
    assert str(evaluated(fewer).verdict) == (
        "kept within chance: 0.870 of 100 windows, promised 0.9"
    )
    assert str(evaluated([True] * 100, widths=11, states=11).verdict) == (
        "kept, but the sets say nothing: 11 of 11 states a step; 1.000 of 100 windows, promised 0.9"
    )
    assert str(evaluated([True]).verdict) == (
        "cannot tell, so few windows: 1.000 of 1 window, promised 0.9; more rows would tell"
    )


def test_states_that_had_not_come_up_are_counted_apart():
    covered, truth = [True] * 60, [0] * 60
    for k in (10, 20, 30):
        covered[k], truth[k] = False, -1
    found = evaluated(covered, truth=truth)
    assert found.coverage == 0.95  # where they are misses
    assert found.verdict.words == (
        "kept: 1.000 of 57 windows, promised 0.9; 3 more windows have a state that had not come up "
        "before, which no set can hold, and are counted apart"
    )
    assert "3 with a state that had not come up before" in repr(found)
    nothing = evaluated([False] * 5, truth=[-1] * 5).verdict
    assert (nothing.kept, nothing.windows, nothing.unseen) == (None, 0, 5)


def test_a_share_of_steps_is_judged_by_steps():
    y, x = weather(500, random_state=0)
    how = {"guarantee": "steps", "train_size": 0.5, "random_state": 0}
    cp = ConformalHMM(confidence_level=0.8, **how).fit(y[:300], x[:300])
    found = cp.evaluate(y[300:], x[300:], horizon=10)
    assert found.guarantee == "steps"
    assert found.verdict.coverage == pytest.approx(1 - found.wrong_share)
    assert "windows, by steps, promised 0.8" in found.verdict.words
    none = found._replace(wrong=np.full(20, 0.9)).verdict
    assert (none.kept, none.words[:8]) == (False, "short by")


def test_levels_of_their_own_are_judged_by_their_states():
    rng = np.random.default_rng(0)
    given = rng.integers(2, size=400)
    covered = rng.random(400) < np.where(given == 0, 0.99, 0.7)
    levels = {"a": 0.5, "b": 0.9, "c": 0.5}
    found = evaluated(covered, levels, given=given).verdict
    assert (found.kept, found.state, found.promised) == (False, "b", 0.9)
    assert " for the state b: " in found.words
    found = evaluated(covered, {**levels, "b": 0.6}, given=given).verdict
    assert found.kept


def test_without_a_level_there_is_no_verdict():
    assert evaluated([True], None).verdict is None


def test_sequences_with_a_state_that_had_not_come_up_are_counted_apart():
    weeks = [weather(7, random_state=seed) for seed in range(30)]
    observations = [list(week.observations) for week in weeks]
    states = [list(week.states) for week in weeks]
    cp = ConformalSequences(confidence_level=0.8).fit(observations[:20], states[:20])
    states[24][3] = "snow"
    found = cp.evaluate(observations[20:], states[20:]).verdict
    assert (found.windows, found.unseen) == (9, 1)
    assert found.words.endswith("no set can hold, and is counted apart")
