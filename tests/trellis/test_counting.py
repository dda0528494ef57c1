"""Numbers of paths against the list of them, and against numbers known otherwise."""

import math
from itertools import product

import numpy as np
import pytest

from definetti.trellis import Trellis, arrivals, count, count_bounds, grid, size_bounds

INF = np.inf


def random_case(seed):
    rng = np.random.default_rng(seed)
    n, h = int(rng.integers(1, 5)), int(rng.integers(1, 7))
    worst, wide, whole = rng.random(3) < 0.5
    shape = (h - 1, n if wide else 1, n)
    if whole:
        first, moves = rng.integers(0, 4, n) * 1.0, rng.integers(0, 4, shape) * 1.0
        limits = rng.integers(-1, 3 * (1 if worst else h) + 2, n) * 1.0
    else:
        first, moves = rng.exponential(size=n), rng.exponential(size=shape)
        limits = rng.uniform(-0.2, 1.5 * (1.5 if worst else h), n)
    impossible = rng.choice([0.0, 0.1, 0.5])
    first[rng.random(n) < impossible] = INF
    moves[rng.random(shape) < impossible] = INF
    limits[rng.random(n) < 0.15] = INF
    limits[rng.random(n) < 0.15] = -INF
    paths = np.array(list(product(range(n), repeat=h)))
    trellis = Trellis(first, moves, bool(worst))
    return trellis, limits, int((trellis.cost(paths) <= limits[paths[:, -1]]).sum())


def dirichlet(h, n, seed):
    rng = np.random.default_rng(seed)
    moves = -np.log(rng.dirichlet(np.ones(n), size=(h - 1, n)))
    return Trellis(-np.log(rng.dirichlet(np.ones(n))), moves)


@pytest.mark.parametrize("block", range(4))
def test_agrees_with_the_list_of_all_paths(block):
    close = several = 0
    for seed in range(100 * block, 100 * block + 100):
        trellis, limits, truth = random_case(seed)
        assert count(trellis, limits, 10**6) == truth
        assert count(trellis, limits, 10**400) == truth
        assert count(trellis, limits, truth) == truth
        for bound in {0, truth // 2, truth - 1} - {truth}:
            assert count(trellis, limits, bound) is None
        for bins in (1, 7, 100, 1000):
            low, high = count_bounds(trellis, limits, bins)
            assert low <= truth <= high
            if trellis.worst:
                assert low == high
        if truth > 1 and not trellis.worst:
            several += 1
            close += 0.8 * high <= truth <= 1.25 * low + 2
    assert close > 0.8 * several  # bounds of zero and infinity would not do


def test_limits_beyond_all_paths_are_counted_at_once():
    """There are far too many to walk along."""
    trellis = dirichlet(1000, 20, 0)
    limits = np.full(20, 1e7)
    assert count(trellis, limits, 20**1000) == 20**1000
    assert count(trellis, limits, 20**1000 - 1) is None
    assert count(trellis, np.full(20, INF), 20**1000) == 20**1000
    low, high = count_bounds(trellis, limits, 2000)
    assert high == 20**1000
    assert (10**8 + 1) * low >= 10**8 * high


def test_many_paths_within_a_factor_of_two():
    for factor in (1.1, 1.4, 2.0):
        trellis = dirichlet(50, 5, 3)
        limits = arrivals(trellis)[-1] * factor
        low, high = size_bounds(trellis, limits)
        assert 10**6 < low <= high <= 2 * low
        # As close as asked for, and the closer ones lie within the others.
        closer_low, closer_high = size_bounds(trellis, limits, ratio=1.1)
        assert closer_high <= 1.1 * closer_low
        assert low <= closer_high
        assert closer_low <= high


def test_multiples_of_one_number_are_counted_exactly():
    """Paths with at most so many steps up, though very many have just as many."""
    h, ups = 400, 3
    trellis = Trellis(np.array([0.0, math.pi]), np.tile([[[0.0, math.pi]]], (h - 1, 1, 1)))
    truth = sum(math.comb(h, u) for u in range(ups + 1))
    limits = np.full(2, math.pi * ups * (1 + 1e-9))
    assert count_bounds(trellis, limits, 256) == (truth, truth)
    # With ends of their own, for which budgets differ.
    uneven = limits * np.array([0.4, 1.0])  # one step up, or three
    truth = 1 + (h - 1) + sum(math.comb(h - 1, u) for u in range(3))
    assert count_bounds(trellis, uneven, 256) == (truth, truth)
    assert count(trellis, uneven, truth) == truth


@pytest.mark.parametrize("limit", [20.0, 150.0, 300.0])
def test_numbers_known_otherwise(limit):
    """Steps of three costs without a common measure, counted by how often each was taken."""
    h, root = 300, math.sqrt(2)
    truth = sum(
        math.comb(h, u) * math.comb(h - u, v)
        for u in range(h + 1)
        for v in range(h + 1 - u)
        if u + root * v <= limit
    )
    trellis = Trellis(np.array([0.0, 1.0, root]), np.tile([[[0.0, 1.0, root]]], (h - 1, 1, 1)))
    limits = np.full(3, limit * (1 + 1e-9))
    low, high = size_bounds(trellis, limits, 1.5)
    assert low <= truth <= high <= 1.5 * low
    for bins in (10, 300, 1000):
        low, high = count_bounds(trellis, limits, bins)
        assert 1 <= low <= truth <= high


@pytest.mark.parametrize("rate", [0.0, 0.01, 5.0])
def test_bounds_hold_whatever_the_weights(rate, monkeypatch):
    """Paths whose chance is too small to be kept are bounded by what was dropped."""
    monkeypatch.setattr(grid, "_find_best_rate", lambda grid: rate)
    h, ups = 400, 30
    moves = np.tile([[[0.0, 1.0]]], (h - 1, 1, 1))
    truth = sum(math.comb(h, u) for u in range(ups + 1))
    low, high = count_bounds(Trellis(np.array([0.0, 1.0]), moves), np.full(2, ups + 0.5), 40)
    assert low <= truth <= high


def test_a_few_paths_among_very_many_are_counted():
    """One class of paths branches early, the other late: floats cannot hold both at mid-way."""
    h = 2000
    moves = np.full((h - 1, 4, 4), INF)
    moves[: h // 2, :2, :2] = 1.0  # the first class branches in the first half
    moves[h // 2 :, 0, 0] = moves[h // 2 :, 1, 0] = 1.0
    moves[: h // 2, 2, 2] = 1.0  # the second in the second half
    moves[h // 2 :, 2:, 2:] = 1.0
    trellis = Trellis(np.array([0.0, 0.0, 0.0, INF]), moves)
    truth = 2 ** (h // 2 + 1) + 2 ** (h - 1 - h // 2)
    low, high = count_bounds(trellis, np.full(4, h - 0.5), 64)
    assert low <= truth <= high
    assert high - low <= truth // 10**8
    low, high = count_bounds(trellis, np.array([-INF, -INF, h - 0.5, -INF]), 64)
    assert low <= 2 ** (h - 2 - h // 2) <= high <= low * (1 + 1e-8)


def test_worst_terms_are_counted_exactly():
    rng = np.random.default_rng(0)
    terms = rng.integers(0, 3, (300, 1, 5)) * 1.0
    terms[:, :, 0] = 0.0
    narrow = Trellis(rng.integers(0, 3, 5) * 1.0, terms, worst=True)
    wide = Trellis(narrow.first, np.repeat(terms, 5, axis=1), worst=True)
    limits = np.array([0.0, 1.0, 2.0, -INF, INF])
    low, high = count_bounds(narrow, limits, 1)
    assert low == high == count_bounds(wide, limits, 1)[0]
    assert low > 2 * 5**300
    assert count(wide, limits, low) == low
    assert count(wide, limits, low - 1) is None


def test_a_thousand_steps():
    trellis = dirichlet(1000, 20, 1)
    limits = arrivals(trellis)[-1] * 1.1
    low, high = count_bounds(trellis, limits, 256)
    closer_low, closer_high = count_bounds(trellis, limits, 1024)
    assert 1 < low <= closer_low <= closer_high <= high < 20**1000
    assert count(trellis, limits, 1000) is None


def test_the_best_path_alone():
    trellis = dirichlet(60, 4, 0)
    least = arrivals(trellis)[-1]
    limits = np.where(least == least.min(), least.min() * (1 + 1e-9), -INF)
    assert count(trellis, limits, 5) == 1
    assert count_bounds(trellis, limits, 256) == (1, 1)
    assert count_bounds(trellis, limits - 1e-3, 256) == (0, 0)
    assert count(trellis, limits - 1e-3, 0) == 0
