"""Draws without replacement: those of looking through all, at a cost that is linear."""

import sys

import numpy as np
import pytest

from definetti import ConformalHMM
from definetti._system.random import draw_below
from definetti.data.history import Completion, History
from definetti.symmetry.block_windows import _random_orders
from definetti.symmetry.full import draw_windows, exits_of

SHORT, LONG = 5, 60  # one on either side of what a window looks through


def completed(n, length, horizon, seed):
    """A history of `n` states, completed by a walk along what it has, and now and then by a new."""
    rng = np.random.default_rng(seed)
    history = History(n)
    history.append(rng.integers(0, n, length), rng.integers(-1, 4, length))
    states = rng.integers(0, n + 1, horizon)
    states[-1] = history.first
    return Completion(history, states, rng.integers(-1, 4, horizon), n + 1)


def drawn(completion, size, seed, draw=draw_windows):
    history, shelves = completion.history, completion.history.shelves
    order = np.lexsort((completion.observations, completion.states))
    return draw(
        np.random.default_rng(seed),
        exits_of(completion),
        history.first,
        completion.last,
        completion.horizon,
        shelves.times,
        shelves.begins,
        shelves.sizes,
        history.observations,
        completion.states[order],
        completion.observations[order],
        size,
    )


def naive_windows(completion, size, seed):
    """The same draws from a square of counts, looking through all that the window took before."""
    rng = np.random.default_rng(seed)
    root, horizon = completion.history.first, completion.horizon
    order = np.lexsort((completion.observations, completion.states))
    exits = completion.transitions.T.copy()

    def pick(weights, ticket):
        return int(np.searchsorted(np.cumsum(weights), ticket, side="right"))

    def without_loops(v):
        return np.where(np.arange(len(exits)) == v, 0, exits[v])

    starts, paths, codes = [], [], []
    for _ in range(size):
        left, tree, v, path, observed, taken = exits.copy(), {}, completion.last, [], [], []
        for _ in range(horizon):
            path.append(v)
            walk, u = {}, v
            while u != root and u not in tree:
                walk[u] = pick(without_loops(u), draw_below(rng, without_loops(u).sum()))
                u = walk[u]
            u = v
            while u != root and u not in tree:
                tree[u] = walk[u]
                u = tree[u]
            if v == root:
                u = pick(left[v], draw_below(rng, left[v].sum()))
            elif left[v].sum() == 1:
                u = tree[v]
            else:
                left[v, tree[v]] -= 1
                u = pick(left[v], draw_below(rng, left[v].sum()))
                left[v, tree[v]] += 1
            left[v, u] -= 1
            own = [
                *completion.history.observations[completion.history.visits(v)],
                *completion.observations[order][completion.states[order] == v],
            ]
            ticket = draw_below(rng, len(own))
            while (v, ticket) in taken:
                ticket = draw_below(rng, len(own))
            taken.append((v, ticket))
            observed.append(own[ticket])
            v = u
        starts.append(v)
        paths.append(path[::-1])
        codes.append(observed[::-1])
    return np.array(starts), np.array(paths), np.array(codes)


@pytest.mark.parametrize("n", [1, 2, 3, 12])
@pytest.mark.parametrize("horizon", [1, SHORT, LONG])
def test_windows_are_those_of_the_naive_draw(n, horizon):
    for seed in range(2):
        completion = completed(n, 80, horizon, seed)
        for one, other in zip(
            drawn(completion, 12, seed), naive_windows(completion, 12, seed), strict=True
        ):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("blocks", [1, SHORT, LONG])
def test_orders_are_those_of_the_naive_draw(blocks):
    for seed, number in enumerate((blocks, blocks + 1, 3 * blocks)):
        rng, naive = np.random.default_rng(seed), []
        for _ in range(12):
            naive.append([])
            while len(naive[-1]) < blocks:
                block = draw_below(rng, number)
                naive[-1] += [] if block in naive[-1] else [block]
        found = _random_orders(np.random.default_rng(seed), number, blocks, 12)
        assert found.tolist() == naive


def test_edges_are_the_counts_read_backwards():
    for seed in range(20):
        completion = completed(1 + seed % 7, 40, 1 + seed % 9, seed)
        exits = exits_of(completion)
        square = np.zeros((completion.n_states, completion.n_states), dtype=int)
        for v, (begin, end) in enumerate(zip(exits.begins, exits.ends, strict=True)):
            assert (np.diff(exits.ways[begin:end]) > 0).all()
            square[v, exits.ways[begin:end]] = exits.counts[begin:end]
        np.testing.assert_array_equal(square, completion.transitions.T)


def lines(function, *arguments):
    """How many lines a function executes, those of what it calls not counted."""
    number = 0

    def line(frame, event, _):
        nonlocal number
        number += event == "line"
        return line

    sys.settrace(lambda frame, event, _: line if frame.f_code is function.__code__ else None)
    try:
        function(*arguments)
    finally:
        sys.settrace(None)
    return number


def test_twice_the_steps_are_twice_the_work():
    def windows(horizon):
        number = 0

        def draw(*arguments):
            nonlocal number
            number = lines(draw_windows.py_func, *arguments)

        drawn(completed(1, 2000, horizon, 0), 2, 0, draw)
        return number

    def orders(horizon):
        rng = np.random.default_rng(0)
        return lines(_random_orders.py_func, rng, 2000 + horizon, horizon, 2)

    for work in (windows, orders):
        assert work(800) < 2.5 * work(400)


def test_one_state_and_one_symbol_for_as_long_as_you_like():
    for observations in (None, ["wet"] * 30):
        cp = ConformalHMM(random_state=0).fit(observations, ["sun"] * 30)
        new = None if observations is None else ["wet"] * 3000
        s = cp.predict_set(new, horizon=3000)
        assert len(s) == 1
        assert s.p_values.tolist() == [1.0]
        assert cp.p_value(new, ["sun"] * 3000) == 1.0
    cp = ConformalHMM(symmetry="returns", random_state=0).fit(["wet", "dry"] * 15, ["sun"] * 30)
    assert cp.p_value(["wet"] * 3000, ["sun"] * 3000) == 1.0
