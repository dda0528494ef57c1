"""Where "auto" takes a fixed model on its own account: as if it were told to, and it says so."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from definetti import HMM, ConformalHMM
from definetti.engine.algorithm import rank
from definetti.evaluation.window_loop import roll_levels
from definetti.verify import enumerate_ranks

SAYS = "the model fixed on the first half"
N, LENGTH, STEPS = 11, 300, 3


@pytest.fixture(autouse=True)
def slow_machine(monkeypatch):
    """Let a tenth of the operations be slow, so that small questions serve."""
    monkeypatch.setattr("definetti.engine.task.SECOND", 10**8)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    moves = 0.6 * np.eye(N) + 0.4 * rng.dirichlet(np.full(N, 0.5), N)
    x = np.r_[np.arange(N), np.zeros(LENGTH + 30, dtype=int)]
    for t in range(N, len(x)):
        x[t] = rng.choice(N, p=moves[x[t - 1]])
    return 2 * rng.normal(size=(N, 2))[x] + rng.normal(size=(len(x), 2)), x


def pair(data, **how):
    """Return an estimator that is left to itself, and one that is told to fix its model."""
    y, x = data
    free = ConformalHMM(random_state=0, **how).fit(y[:LENGTH], x[:LENGTH])
    how = {"symmetry": "spaced", **how}
    told = ConformalHMM(random_state=0, train_size=0.5, **how).fit(y[:LENGTH], x[:LENGTH])
    return free, told


@pytest.mark.parametrize("how", [{}, {"smoothing": True}])
def test_it_is_what_one_is_that_was_told_so(data, how):
    (y, x), (free, told) = data, pair(data, **how)
    window, later = slice(LENGTH, LENGTH + STEPS), slice(LENGTH + STEPS, LENGTH + 2 * STEPS)
    for now in (window, later):
        found, other = free.predict_set(y[now]), told.predict_set(y[now])
        assert dict(zip(found, found.p_values, strict=True)) == dict(
            zip(other, other.p_values, strict=True)
        )
        assert SAYS in str(found)
        assert SAYS not in str(other)
        assert free.p_value(y[now], x[now]) == told.p_value(y[now], x[now])
        free.partial_fit(y[now], x[now])
        told.partial_fit(y[now], x[now])
    several = [y[window], y[later]]
    np.testing.assert_array_equal(free.p_values(several), told.p_values(several))


def test_it_does_not_matter_when_it_is_first_asked(data):
    y, x = data
    early, late = pair(data)[0], pair(data)[0]
    early.predict_set(y[LENGTH : LENGTH + STEPS])
    for cp in (early, late):
        cp.partial_fit(y[LENGTH : LENGTH + 5], x[LENGTH : LENGTH + 5]).new_segment()
        cp.partial_fit(y[LENGTH + 5 : LENGTH + 20], x[LENGTH + 5 : LENGTH + 20])
    now = y[LENGTH + 20 : LENGTH + 20 + STEPS]
    assert early.predict_p(now) == late.predict_p(now)


def test_windows_are_rolled_at_once_as_one_by_one(data):
    y, x = data
    free, told = pair(data)
    part = slice(LENGTH, LENGTH + 4 * STEPS)
    once = roll_levels(free, y[part], x[part].tolist(), [0.9], STEPS)
    apart = roll_levels(free, y[part], x[part].tolist(), [0.9], STEPS, at_once=False)
    other = roll_levels(told, y[part], x[part].tolist(), [0.9], STEPS)
    for one in (apart, other):
        np.testing.assert_array_equal(once.p_values, one.p_values)
        np.testing.assert_array_equal(once.sizes, one.sizes)


def test_a_named_model_a_short_question_and_other_ways_are_refitted(data):
    y, x = data
    few = y[LENGTH : LENGTH + 1]
    assert SAYS not in str(pair(data)[0].predict_set(few))
    other_ways = (
        {"symmetry": "full"}, {"memory": 2}, {"model": HMM(emission="gaussian")},
        {"symmetry": "departures"},  # by visits, half of a length is no cut fixed in advance
    )  # fmt: skip
    free = pair(data)[0]
    assert free._plan(free._data, STEPS).model.fixed
    for how in other_ways:
        cp = ConformalHMM(random_state=0, **how).fit(y[:LENGTH], x[:LENGTH])
        assert cp._plan(cp._data, STEPS) is cp._data


def test_a_plain_chain_with_too_many_candidates_is_answered():
    x = np.random.default_rng(0).integers(60, size=800)
    cp = ConformalHMM(random_state=0).fit(None, x)
    assert SAYS in str(cp.predict_set(horizon=3))
    with pytest.raises(ValueError, match="horizon"):
        cp.predict_set(horizon=0)
    with pytest.raises(ValueError, match="more memory than there is"):  # and at once
        cp.predict_set(horizon=10**9)


def test_a_plain_chain_goes_on_before_it_is_first_asked():
    x = np.random.default_rng(0).integers(60, size=800).tolist()
    early, late = (ConformalHMM(random_state=0).fit(None, x[:700]) for _ in range(2))
    early.predict_set(horizon=3)
    for cp in (early, late):
        cp.partial_fit(None, x[700:750]).partial_fit(None, x[750:])
    truth = x[:3]
    assert early.p_value(None, truth) == late.p_value(None, truth)


def test_the_law_is_that_of_all_observations(data, monkeypatch):
    monkeypatch.setattr("definetti.conformal.tasks.is_slow", lambda n, steps, *_: steps > 1)
    y, x = data
    whole = np.abs(np.round(y[:, 0]))
    seen = [*whole[:150].tolist(), *y[150:LENGTH, 0].tolist()]  # counts, and then numbers
    cp = ConformalHMM(random_state=0).fit(seen, x[:LENGTH])
    assert not cp._data.emission.symbols
    assert not cp._data.half().emission.symbols
    # New observations may ask for another, one window at a time.
    cp = ConformalHMM(random_state=0).fit(whole[:LENGTH], x[:LENGTH])
    windows = [[1.0, 3.0], [0.25, 3.0]]
    alone = [[cp.p_value(one, [3, last]) for last in range(N)] for one in windows]
    together = cp.p_values(windows, [[3, last] for last in range(N)])
    np.testing.assert_array_equal(together, alone)
    cp.partial_fit([0.5], [2])
    other = ConformalHMM(random_state=0).fit(whole[:LENGTH], x[:LENGTH]).partial_fit([0.5], [2])
    assert cp.p_value(windows[0], [3, 1]) == other.p_value(windows[0], [3, 1])


def test_it_is_saved_and_asked_again(data, tmp_path):
    (y, _), (free, _) = data, pair(data)
    now = y[LENGTH : LENGTH + STEPS]
    expected = free.predict_p(now)
    free.save(tmp_path / "model.definetti")
    from definetti import load

    again = load(tmp_path / "model.definetti")
    assert again.predict_p(now) == expected


TWO = np.array([0.7, 0.3]), np.array([[0.8, 0.2], [0.4, 0.6]]), np.array([[0.9, 0.1], [0.2, 0.8]])


@pytest.mark.slow_cases("2-3-False")
@pytest.mark.parametrize("smoothing", [True, False])
@pytest.mark.parametrize(("symbols", "length"), [(1, 6), (2, 3)])
def test_it_is_exact(monkeypatch, symbols, length, smoothing):
    monkeypatch.setattr("definetti.engine.task.SECOND", 1)  # all is slow, but one step
    initial, transition, emission = TWO
    emission = emission if symbols == 2 else np.ones((2, 1))
    cp = ConformalHMM(symmetry="spaced", smoothing=smoothing, allow_empty=True, random_state=0)
    found = enumerate_ranks(cp, 2, symbols, length, 2)
    fitted = cp.set_params(states=[0, 1]).fit([0] * length, [0] * length)
    assert SAYS in str(fitted.predict_set([0, 0]))
    for level in (0.5, 0.8):
        covered = found.coverage_given_last(initial, transition, emission, level)
        if smoothing:
            np.testing.assert_allclose(covered, level, rtol=0, atol=1e-12)
        assert (covered >= level - 1e-12).all()


THREE = np.array([0.5, 0.3, 0.2]), np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.3, 0.1, 0.6]])


@pytest.mark.slow_cases("2")
@pytest.mark.parametrize("least", [2, 3])
def test_it_is_exact_where_it_goes_by_states_that_nobody_declared(monkeypatch, least):
    """Whether it settles must be the same for all rearrangements of what was completed."""
    monkeypatch.setattr("definetti.conformal.tasks.is_slow", lambda n, *_: n >= least)
    (initial, transition), length, level = THREE, 4, Fraction(4, 5)
    cp = ConformalHMM(symmetry="spaced", smoothing=True, random_state=0)
    covered, all_, settled = np.zeros(3), np.zeros(3), set()
    for past in product(range(3), repeat=length):
        cp.fit(None, past)
        for new in product(range(3), repeat=2):
            task, codes = cp._ask_about(None, new)
            settled.add(task.settled)
            chance = rank(task, codes[None]).ranks()[0].chance(1 - level)
            x = np.array(past + new)
            probability = initial[x[0]] * transition[x[:-1], x[1:]].prod()
            covered[x[-1]] += probability * float(chance)
            all_[x[-1]] += probability
    assert settled == {True, False}
    np.testing.assert_allclose(covered / all_, float(level), rtol=0, atol=1e-12)
