"""Refitted laws of numbers, one step ahead: blocks of windows as each by itself, bit for bit."""

import numpy as np
import pytest

from definetti import HMM, ConformalHMM
from definetti.emissions import Gaussian
from definetti.judging import summed
from definetti.judging.rolling import roll_levels
from definetti.symmetry import Spaced

KEPT = ("p_values", "sizes", "covers", "scaled_sizes", "first")


def drawn(n, d, length, gap, seed):
    rng = np.random.default_rng(seed)
    moves = 0.6 * np.eye(n) + 0.4 * rng.dirichlet(np.full(n, 0.5), n)
    x = np.arange(length) % n
    for t in range(n, length):
        x[t] = rng.choice(n, p=moves[x[t - 1]])
    y = 1.5 * rng.normal(size=(n, d))[x] + rng.normal(size=(length, d))
    y[rng.random(y.shape) < gap] = np.nan
    return y, x.tolist()


@pytest.mark.filterwarnings("ignore:new_observations has gaps")
@pytest.mark.parametrize(
    ("n", "d", "known", "law", "gap", "how"),
    [
        (3, 1, 40, {}, 0, {}),
        (3, 2, 40, {}, 0.1, {"smoothing": True}),
        (9, 1, 60, {"covariance": "tied"}, 0, {"smoothing": True}),  # sums of nine in a row
        (9, 1, 60, {"covariance": "diagonal"}, 0.1, {}),
        (4, 3, 60, {"covariance": "tied", "prior": 0, "shrinkage": 0.3}, 0.05, {}),
        (8, 9, 80, {}, 0, {"allow_empty": True}),
        (2, 1, 3, {}, 0, {}),
        (2, 2, 30, {"covariance": "diagonal"}, 0, {"states": [1, 0, 2], "score": "filter"}),
        (3, 1, 40, {}, 0, {"symmetry": Spaced(recent=1)}),
        (3, 2, 40, {}, 0.1, {"symmetry": Spaced(recent=7)}),
    ],
)
def test_blocks_of_windows_are_windows(monkeypatch, n, d, known, law, gap, how):
    y, x = drawn(n, d, known + 20, gap, seed=n + d)
    model = HMM(0.3, Gaussian(**law))
    cp = ConformalHMM(model, random_state=0, **how).fit(y[:known], x[:known])
    once, apart = (
        roll_levels(cp, y[known:], x[known:], [0.6, 0.9], 1, at_once=one) for one in (True, False)
    )
    monkeypatch.setattr(summed, "MOST", 3)
    cut = roll_levels(cp, y[known:], x[known:], [0.6, 0.9], 1)
    for name in KEPT:
        np.testing.assert_array_equal(getattr(once, name), getattr(apart, name), name)
        np.testing.assert_array_equal(getattr(cut, name), getattr(apart, name), name)


def test_after_gaps_and_where_a_column_begins_to_vary():
    y, x = drawn(3, 2, 60, 0, seed=1)
    y[:45, 1] = 2.0
    cp = ConformalHMM(HMM(emission=Gaussian()), random_state=0).fit(y[:40], x[:40], [25, 15])
    once = roll_levels(cp, y[40:], x[40:], [0.9], 1)
    apart = roll_levels(cp, y[40:], x[40:], [0.9], 1, at_once=False)
    for name in KEPT:
        np.testing.assert_array_equal(getattr(once, name), getattr(apart, name), name)


def test_it_is_the_way_that_is_taken(monkeypatch):
    """Of "auto", too, and not where a state comes up or what is compared with is another."""
    y, x = drawn(3, 2, 60, 0, seed=2)
    taken = []
    ranked = summed.rank_summed_windows

    def noted(stretch):
        taken.append(len(stretch.begins))
        return ranked(stretch)

    monkeypatch.setattr("definetti.judging.batched.rank_summed_windows", noted)
    ConformalHMM(random_state=0).fit(y[:50], x[:50]).evaluate(y[50:], x[50:], horizon=1)
    assert taken == [10]
    for how in ({"symmetry": "full", "n_resamples": 9}, {"symmetry": "departures"}, {"memory": 2}):
        ConformalHMM(random_state=0, **how).fit(y[:50], x[:50]).evaluate(
            y[50:54], x[50:54], horizon=1
        )
    new = [*x[50:53], "new"]
    labels = ConformalHMM(random_state=0).fit(y[:50], [str(k) for k in x[:50]])
    labels.evaluate(y[50:54], [*map(str, new)], horizon=1)
    assert taken == [10]
