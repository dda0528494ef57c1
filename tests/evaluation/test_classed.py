"""A fixed model and the whole class, one step ahead: all windows in one pass as each by itself."""

import numpy as np
import pytest

from definetti import HMM, ConformalHMM
from definetti.evaluation import window_loop
from definetti.evaluation.window_loop import roll_levels

KEPT = ("p_values", "sizes", "covers", "scaled_sizes", "first")


def drawn(n, m, length, seed):
    rng = np.random.default_rng(seed)
    x = np.zeros(length, dtype=int)
    for t in range(1, length):
        x[t] = rng.integers(n) if rng.random() < 0.5 else x[t - 1]
    y = (x + (rng.random(length) < 0.4) * rng.integers(m, size=length)) % m
    return [f"y{k}" for k in y], [f"x{k}" for k in x]


@pytest.mark.filterwarnings("ignore:new_observations has gaps")
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"smoothing": True, "conformity_score": "filter"},
        {"plain": True},
        {"gaps": True, "smoothing": True},
        {"symmetry": "auto", "known": 60},
        {"states": ["x2", "x1", "x0", "x3", "never"]},
        {"model": HMM(0)},
    ],
    ids=str,
)
def test_all_windows_are_ranked_as_each(monkeypatch, how):
    how = {"symmetry": "full", "train_size": 0.5, "random_state": 0} | how
    known, plain, gaps = how.pop("known", 30), how.pop("plain", False), how.pop("gaps", False)
    y, x = drawn(4, 3, known + 30, seed=1)
    if gaps:
        y[5::7] = [None] * len(y[5::7])
    past, new = (None, None) if plain else (y[:known], y[known:])
    cp = ConformalHMM(**how).fit(past, x[:known])
    taken, ranked = [], window_loop.rank_counted_windows
    monkeypatch.setattr(
        window_loop, "rank_counted_windows", lambda *one: taken.append(1) or ranked(*one)
    )
    once, apart = (
        roll_levels(cp, new, x[known:], [0.6, 0.9], 1, at_once=one) for one in (True, False)
    )
    for name in KEPT:
        np.testing.assert_array_equal(getattr(once, name), getattr(apart, name), name)
    assert taken or how["symmetry"] == "auto"
