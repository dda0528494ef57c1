"""Levels that keep an average: by the training segment alone, with smaller sets."""

from itertools import product

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from definetti import ConformalHMM
from definetti.levels import budget
from definetti.levels.budgeting import _sizes, _spend
from definetti.simulate import sample

# A state that is rare and looks like something between the two others.
TRANSITION = np.array([[0.9, 0.06, 0.04], [0.06, 0.9, 0.04], [0.4, 0.4, 0.2]])


def drawn(seed, length=1_600):
    rng = np.random.default_rng(seed)
    codes = sample(np.array([0.5, 0.5, 0.0]), TRANSITION, np.eye(3), length, rng).states
    return rng.normal(np.array([0.0, 3.0, 1.5])[codes]), np.array(["a", "b", "rare"])[codes]


def fitted(y, x, **settings):
    return ConformalHMM(train_size=800, random_state=0, **settings).fit(y, x.tolist())


def mean_level(cp, levels, x, horizon):
    """What the levels come to over the windows of the training segment."""
    by_present = cp.symmetry_.given == "present state"
    own = x[:800][: 800 - horizon] if by_present else x[:800][horizon:]
    return np.mean([levels[state] for state in own])


@pytest.mark.parametrize(("symmetry", "horizon"), [("spaced", 1), ("spaced", 2), ("departures", 1)])
@pytest.mark.parametrize("average", [0.8, 0.9, 0.95])
def test_the_average_is_kept(symmetry, horizon, average):
    y, x = drawn(0)
    cp = fitted(y, x, symmetry=symmetry)
    levels = budget(cp, average, horizon=horizon)
    assert set(levels) == {"a", "b", "rare", None}
    assert levels[None] == average
    assert mean_level(cp, levels, x, horizon) >= average - 1e-12
    assert min(levels.values()) >= 0.5
    assert budget(cp, average, least=average, horizon=horizon)["rare"] >= average


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_rare_state_is_not_paid_for_dearly_and_sets_are_smaller(seed):
    """About a quarter of the size is saved."""
    y, x = drawn(seed, 1_900)
    cp = fitted(y[:1_600], x[:1_600])
    levels = budget(cp)
    assert levels["rare"] < 0.6 < 0.85 < min(levels["a"], levels["b"])
    rest = y[1_600:], x[1_600:].tolist()
    flat, chosen = (cp.evaluate(*rest, level, horizon=1) for level in (0.9, levels))
    assert chosen.size < 0.85 * flat.size
    # Each state is held to its level: no less than that by more than chance would have it.
    for state, one in chosen.by_state().items():
        off = 4 * np.sqrt(one.level * (1 - one.level) / one.windows)
        assert one.coverage > one.level - off, state


@pytest.mark.parametrize("symmetry", ["spaced", "departures"])
def test_only_the_training_segment_is_read(symmetry):
    y, x = drawn(1)
    levels = budget(fitted(y, x, symmetry=symmetry))
    rng = np.random.default_rng(0)
    shuffled = np.concatenate([x[:800], rng.permutation(x[800:])])
    noise = np.concatenate([y[:800], rng.normal(size=800)])
    assert budget(fitted(noise, shuffled, symmetry=symmetry)) == levels
    late = np.concatenate([x[:800], ["new"] * 800])
    assert budget(fitted(y, late, symmetry=symmetry)) == levels
    # And the check can fail.
    other = np.concatenate([rng.permutation(x[:800]), x[800:]])
    assert budget(fitted(y, other, symmetry=symmetry)) != levels


def test_windows_do_not_reach_over_gaps():
    y, x = drawn(2)
    cp = ConformalHMM(train_size=800, random_state=0).fit(y, x.tolist(), lengths=[300, 1, 1_299])
    windows = cp._data.training.windows(2)
    assert len(windows.start) == (300 - 2) + 0 + (499 - 2)
    codes = np.array([cp.states_.index(state) for state in x])
    assert windows.states[298 - 1].tolist() == codes[298:300].tolist()
    assert windows.start[298] == codes[301]
    assert budget(cp, horizon=2)


def naive_spend(sizes, shares, grid, average):
    """The smallest sum of sizes over all choices whose levels keep the average."""
    states = range(len(shares))
    return min(
        sum(sizes[s, k] for s, k in zip(states, places, strict=True))
        for places in product(range(len(grid)), repeat=len(shares))
        if sum(shares[s] * grid[k] for s, k in zip(states, places, strict=True)) >= average - 1e-12
    )


def test_what_is_spent_is_nearly_the_least_and_never_more_than_the_flat_level():
    rng = np.random.default_rng(0)
    worst = []
    for _ in range(200):
        grid = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99])
        sizes = np.sort(rng.exponential(size=(3, 7)), axis=1)
        shares = rng.dirichlet(np.ones(3))
        picked = _spend(sizes, shares, grid, 0.8)
        assert shares @ grid[picked] >= 0.8 - 1e-12
        found = sizes[range(3), picked].sum()
        assert found <= sizes[:, 3].sum() + 1e-12
        worst.append(found / naive_spend(sizes, shares, grid, 0.8))
    assert min(worst) >= 1 - 1e-12
    assert np.mean(worst) < 1.05


def test_too_few_windows_to_leave_anything_out_are_reckoned_with():
    scores, grid = np.arange(4) / 10, np.array([0.5, 0.8, 0.9])
    assert _sizes(scores, scores, grid, 1.0, None).tolist() == [3, 4, 4]
    many = np.arange(40) / 10
    assert _sizes(many, many, grid, 1.0, None).tolist() == [21, 33, 37]
    assert _sizes(many, many, grid, 0.1, None).tolist() == [
        21,
        33,
        40,
    ]  # four are expected, of nine
    assert _sizes(many, many, grid, 1.0, 4).tolist() == [21, 33, 40]  # the latest four alone


def test_what_cannot_be_chosen_is_refused():
    y, x = drawn(3)
    with pytest.raises(ValueError, match=r"train_size is None.*train_size=0\.5"):
        budget(ConformalHMM().fit(y, x.tolist()))
    with pytest.raises(NotFittedError):
        budget(ConformalHMM(train_size=0.5))
    cp = fitted(y, x)
    with pytest.raises(ValueError, match=r"least=0\.9 is above average=0\.8"):
        budget(cp, 0.8, least=0.9)
    with pytest.raises(ValueError, match="between 0 and 1"):
        budget(cp, 1.5)
    with pytest.raises(ValueError, match="horizon=40 has too many sequences"):
        budget(cp, horizon=40)
    with pytest.raises(ValueError, match="train_size leaves no window of 5 steps"):
        budget(ConformalHMM(train_size=4).fit(y, x.tolist()), horizon=5)
