"""Paths from the best to the worst against the sorted list of them."""

from itertools import islice, pairwise, product

import numpy as np
import pytest

from definetti.trellis import Trellis, arrivals, members

INF = np.inf


def random_trellis(seed):
    rng = np.random.default_rng(seed)
    n, h = int(rng.integers(1, 5)), int(rng.integers(1, 6))
    worst, wide, whole = rng.random(3) < 0.5
    shape = (h - 1, n if wide else 1, n)
    if whole:
        first, moves = rng.integers(0, 3, n) * 1.0, rng.integers(0, 3, shape) * 1.0
    else:
        first, moves = rng.exponential(size=n), rng.exponential(size=shape)
    impossible = rng.choice([0.0, 0.1, 0.5, 1.0])
    first[rng.random(n) < impossible] = INF
    moves[rng.random(shape) < impossible] = INF
    return Trellis(first, moves, bool(worst))


@pytest.mark.parametrize("block", range(3))
def test_gives_each_path_once_from_the_best(block):
    for seed in range(100 * block, 100 * block + 100):
        trellis = random_trellis(seed)
        h, n = trellis.horizon, trellis.n_states
        last = seed % n
        given = list(members(trellis, last))
        paths = [tuple(path.tolist()) for _, path in given]
        costs = np.array([cost for cost, _ in given])
        assert len(paths) == n ** (h - 1)
        assert set(paths) == {(*path, last) for path in product(range(n), repeat=h - 1)}
        np.testing.assert_allclose(costs, trellis.cost(np.array(paths)), rtol=1e-12)
        assert all(a <= b * (1 + 1e-12) for a, b in pairwise(costs))


def test_huge_terms_come_before_impossible_ones():
    trellis = Trellis(np.array([3e20, INF]), np.array([[[1e20, 5.0], [INF, 1.0]]]))
    assert [cost for cost, _ in members(trellis, 0)] == [4e20, INF]


def test_a_path_given_may_be_changed():
    """What a caller does to a path has no effect on those that follow."""
    trellis = random_trellis(3)._replace(worst=False)
    expected = [path.copy() for _, path in members(trellis, 0)]
    for (_, path), right in zip(members(trellis, 0), expected, strict=True):
        np.testing.assert_array_equal(path, right)
        path[:] = -1


@pytest.mark.parametrize("worst", [False, True])
def test_a_thousand_steps(worst):
    rng = np.random.default_rng(2)
    h, n = 1000, 20
    moves = -np.log(rng.dirichlet(np.ones(n), size=(h - 1, n)))
    trellis = Trellis(-np.log(rng.dirichlet(np.ones(n))), moves, worst)
    found = list(islice(members(trellis, 7), 5))
    assert found[0][0] == pytest.approx(arrivals(trellis)[-1, 7], rel=1e-12)
    assert len({path.tobytes() for _, path in found}) == 5
    for cost, path in found:
        assert path[-1] == 7
        assert cost == trellis.cost(path[None])[0]
    assert all(a[0] <= b[0] * (1 + 1e-12) for a, b in pairwise(found))


def test_second_best_of_a_long_trellis():
    """All others differ from the best in at least one step, and the second in one only."""
    h, n = 300, 3
    rng = np.random.default_rng(5)
    terms = rng.exponential(size=(h, n))
    trellis = Trellis(terms[0], terms[1:, None, :])
    (best, _), (second, path) = islice(members(trellis, 0), 2)
    ordered = np.sort(terms[:-1], axis=1)
    gaps = ordered[:, 1] - ordered[:, 0]
    assert second - best == pytest.approx(gaps.min(), rel=1e-9)
    assert (path[:-1] != terms[:-1].argmin(axis=1)).sum() == 1
