"""Passes over a trellis against the list of all its paths."""

from itertools import product

import numpy as np
import pytest

from definetti.trellis import Trellis, arrivals, completions, edges, headroom, nodes

INF = np.inf


def random_case(seed):
    """A small trellis, limits for it, and all its paths with their costs, term by term."""
    rng = np.random.default_rng(seed)
    n, h = int(rng.integers(1, 5)), int(rng.integers(1, 7))
    worst, wide, whole = rng.random(3) < 0.5
    shape = (h - 1, n if wide else 1, n)
    if whole:  # exact ties, and limits that costs meet exactly
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
    trellis = Trellis(first, moves, bool(worst))
    paths = np.array(list(product(range(n), repeat=h)))
    costs = []
    for path in paths:
        terms = [first[path[0]]]
        terms += [moves[k, path[k] if wide else 0, path[k + 1]] for k in range(h - 1)]
        costs.append(max(terms) if worst else sum(terms))
    return trellis, limits, paths, np.array(costs)


@pytest.mark.parametrize("block", range(4))
def test_agrees_with_the_list_of_all_paths(block):
    inside = 0
    for seed in range(100 * block, 100 * block + 100):
        trellis, limits, paths, costs = random_case(seed)
        h, n = trellis.horizon, trellis.n_states
        np.testing.assert_allclose(trellis.cost(paths), costs, rtol=1e-12)
        members = paths[costs <= limits[paths[:, -1]]]
        inside += 0 < len(members) < len(paths)

        on_node, on_edge = np.zeros((h, n), bool), np.zeros((h - 1, n, n), bool)
        for path in members:
            on_node[range(h), path] = True
            on_edge[range(h - 1), path[:-1], path[1:]] = True
        np.testing.assert_array_equal(nodes(trellis, limits), on_node)
        np.testing.assert_array_equal(edges(trellis, limits), on_edge)
    assert inside > 40  # else hardly anything has been tested


def test_least_costs_to_and_from_nodes():
    for seed in range(200):
        trellis, _, paths, costs = random_case(seed)
        h, n = trellis.horizon, trellis.n_states
        terminal = np.random.default_rng(seed).exponential(size=n)
        to, on = arrivals(trellis), completions(trellis, terminal)
        join = np.maximum if trellis.worst else np.add
        # Through a node runs a path of the least cost to it and from it.
        through = np.full((h, n), INF)
        for path, cost in zip(paths, costs, strict=True):
            total = join(cost, terminal[path[-1]])
            through[range(h), path] = np.minimum(through[range(h), path], total)
        np.testing.assert_allclose(join(to, on), through, rtol=1e-12)
        np.testing.assert_allclose(on[-1], terminal)
        np.testing.assert_allclose(to[0], trellis.first)


@pytest.mark.slow
def test_headroom_of_every_completion():
    """A path that arrives within it, and only such a path, is in the set however it goes on."""
    for seed in range(200):
        trellis, limits, paths, costs = random_case(seed)
        within = costs <= limits[paths[:, -1]]
        room = headroom(trellis, limits, every=True)
        for k in range(trellis.horizon):
            short = Trellis(trellis.first, trellis.moves[:k], trellis.worst)
            prefixes, which = np.unique(paths[:, : k + 1], axis=0, return_inverse=True)
            good = np.ones(len(prefixes), bool)
            np.logical_and.at(good, which.ravel(), within)
            expected = short.cost(prefixes) <= room[k, prefixes[:, -1]]
            np.testing.assert_array_equal(good, expected)


def test_no_limit_lets_everything_in():
    """One last state without a limit holds impossible paths too."""
    trellis = Trellis(np.array([INF, 0.0]), np.full((3, 2, 2), INF))
    for worst in (False, True):
        case = trellis._replace(worst=worst)
        np.testing.assert_array_equal(
            nodes(case, np.array([INF, 5.0])), [[True, True]] * 3 + [[True, False]]
        )
        used = edges(case, np.array([INF, 5.0]))
        assert used[:2].all()
        np.testing.assert_array_equal(used[2], [[True, False], [True, False]])
        assert not nodes(case, np.array([-INF, 5.0])).any()


def test_a_thousand_steps():
    """The best path alone is left where the limit is its cost and the slack of rounding."""
    rng = np.random.default_rng(1)
    h, n = 1000, 20
    moves = -np.log(rng.dirichlet(np.ones(n), size=(h - 1, n)))
    trellis = Trellis(-np.log(rng.dirichlet(np.ones(n))), moves)
    least = arrivals(trellis)[-1]
    limits = np.full(n, least.min() * (1 + 1e-9))
    assert (nodes(trellis, limits).sum(axis=1) == 1).all()
    assert edges(trellis, limits).sum() == h - 1
    assert nodes(trellis, limits * 1.05).all()
