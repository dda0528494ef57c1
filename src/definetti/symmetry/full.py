"""All sequences with the same counts: enumerated, counted or drawn as Euler trails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import perm, prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import IntArray
from definetti._system.checks import RESAMPLES, checked_limit, checked_resamples
from definetti._system.compiled import cut_pieces, kernel
from definetti._system.random import FEW, draw_below
from definetti.data.history import Completion, History, Windows, stacked
from definetti.symmetry.base import Generator, Reference, Symmetry


class Exits(NamedTuple):
    """Edges of the reversed sequence, grouped by state."""

    begins: IntArray  # (n,) where the edges of a state begin
    ends: IntArray  # (n,)
    ways: IntArray  # (E,) where each leads, in rising order within a state
    counts: IntArray  # (E,) how often it occurs


def exits_of(completion: Completion) -> Exits:
    """Return the edges of a completed sequence; those of its history are listed once."""
    history, n = completion.history, completion.n_states

    def listed() -> tuple[IntArray, IntArray, IntArray]:
        later, earlier = np.nonzero(history.transitions.T)
        return later, earlier, history.transitions[earlier, later]

    later, earlier, counts = history.present.recall("exits", "listed", listed)
    new_earlier, new_later = completion.moves
    moves = np.concatenate([later * n + earlier, new_later * n + new_earlier])
    edges, which = np.unique(moves, return_inverse=True)
    number = np.zeros(len(edges), dtype=np.int64)
    np.add.at(number, which, np.concatenate([counts, np.ones_like(new_later)]))
    later, ways = np.divmod(edges, n)
    begins, ends = (np.searchsorted(later, np.arange(n), side) for side in ("left", "right"))
    return Exits(begins, ends, ways, number)


@kernel
def draw_unused(
    rng: np.random.Generator, first: int, number: int, taken: IntArray, mark: IntArray, draw: int
) -> int:
    """Draw a place that the same draw has not taken; `mark`, if any, has each one's last draw."""
    while True:
        place = first + draw_below(rng, number)
        if len(mark):
            fresh = mark[place] < draw
        else:
            fresh = True
            for other in taken:
                fresh = fresh and other != place
        if fresh:
            if len(mark):
                mark[place] = draw
            return place


@kernel
def _pick(weights: IntArray, ticket: int) -> int:
    """Find the cell that a ticket, 0 ≤ ticket < sum(weights), falls into."""
    for cell in range(len(weights)):
        ticket -= weights[cell]
        if ticket < 0:
            return cell
    return -1


@kernel
def _cumulated(exits: Exits) -> tuple[IntArray, IntArray]:
    """Return the exits of each state, and for the walk their sums up to each edge.

    Self-loops never enter a tree: leaving them out keeps sticky chains from crawling.
    """
    total = np.zeros(len(exits.begins), dtype=np.int64)
    outward = np.empty(len(exits.ways), dtype=np.int64)
    for v in range(len(total)):
        so_far = 0
        for e in range(exits.begins[v], exits.ends[v]):
            total[v] += exits.counts[e]
            so_far += exits.counts[e] if exits.ways[e] != v else 0
            outward[e] = so_far
    return total, outward


@kernel
def _grow(
    rng: np.random.Generator,
    exits: Exits,
    outward: IntArray,
    root: int,
    v: int,
    tree: IntArray,
    grown: IntArray,
    n_grown: int,
) -> int:
    """Join `v` to the tree by a loop-erased walk; `grown` lists the states joined in this draw.

    A state of the tree has its edge to the next one there, others have −1.
    """
    u = v
    while u != root and tree[u] < 0:
        edge, high = exits.begins[u], exits.ends[u] - 1
        ticket = draw_below(rng, outward[high])
        while edge < high:  # the first edge whose sum is above the ticket
            middle = (edge + high) // 2
            if outward[middle] > ticket:
                high = middle
            else:
                edge = middle + 1
        # Provisional, and so below −1: the walk's latest exit from u.
        tree[u] = -2 - edge
        u = exits.ways[edge]
    u = v
    while u != root and tree[u] < 0:
        tree[u] = -2 - tree[u]
        grown[n_grown] = u
        n_grown += 1
        u = exits.ways[tree[u]]
    return n_grown


@kernel
def draw_windows(
    rng: np.random.Generator,
    exits: Exits,
    root: int,
    last: int,
    horizon: int,
    times: IntArray,
    begins: IntArray,
    sizes: IntArray,
    observations: IntArray,
    new_states: IntArray,
    new_observations: IntArray,
    size: int,
) -> tuple[IntArray, IntArray, IntArray]:
    """Draw windows of uniform members of the class."""
    n = len(exits.begins)
    total, outward = _cumulated(exits)
    left = exits.counts.copy()
    # Observations of one state have neighbouring places: those of the history, then the new ones.
    old = np.zeros(n, dtype=np.int64)
    old[: len(sizes)] = sizes
    own = old.copy()
    for v in new_states:
        own[v] += 1
    place = own.cumsum() - own
    new_place = (own - old).cumsum() - (own - old)
    new_codes = new_observations[np.argsort(new_states, kind="mergesort")]
    mark = np.zeros(own.sum() if horizon > FEW else 0, dtype=np.int64)
    tree = np.full(n, -1, dtype=np.int64)
    grown = np.empty(n, dtype=np.int64)
    taken = np.empty(horizon, dtype=np.int64)
    used = np.empty(horizon, dtype=np.int64)
    start = np.empty(size, dtype=np.int64)
    states = np.empty((size, horizon), dtype=np.int64)
    codes = np.empty((size, horizon), dtype=np.int64)
    for b in range(size):
        n_grown = 0
        v = last
        for k in range(horizon - 1, -1, -1):
            states[b, k] = v
            mine = left[exits.begins[v] : exits.ends[v]]
            if v == root:
                edge = exits.begins[v] + _pick(mine, draw_below(rng, total[v]))
            else:
                if tree[v] < 0:
                    n_grown = _grow(rng, exits, outward, root, v, tree, grown, n_grown)
                edge = tree[v]
                if total[v] > 1:  # the tree edge is the last exit, and waits until none is left
                    left[tree[v]] -= 1
                    edge = exits.begins[v] + _pick(mine, draw_below(rng, total[v] - 1))
                    left[tree[v]] += 1
            used[k] = edge
            left[edge] -= 1
            total[v] -= 1
            # An observation of v's own that the window has not used yet.
            taken[k] = draw_unused(rng, place[v], own[v], taken[k + 1 :], mark, b + 1)
            ticket = taken[k] - place[v]
            if ticket < old[v]:
                codes[b, k] = observations[times[begins[v] + ticket]]
            else:
                codes[b, k] = new_codes[new_place[v] + ticket - old[v]]
            v = exits.ways[edge]
        start[b] = v
        for k in range(horizon):  # put everything back for the next draw
            left[used[k]] += 1
            total[states[b, k]] += 1
        for k in range(n_grown):
            tree[grown[k]] = -1
    return start, states, codes


Matrix = list[list[int]]


def trees(exits: Matrix, root: int) -> int:
    """Count the trees directed to the root on the states that still have exits.

    It is the determinant of the Laplacian, by Bareiss' elimination without fractions. The leading
    minors are above zero, or the whole is zero: no rows change places.
    """
    inner = [v for v, row in enumerate(exits) if v != root and any(row)]
    a = [[-exits[v][u] for u in inner] for v in inner]
    for k, v in enumerate(inner):
        a[k][k] = sum(exits[v]) - exits[v][v]
    previous = 1
    for k in range(len(a) - 1):
        if not a[k][k]:
            return 0
        for i in range(k + 1, len(a)):
            for j in range(k + 1, len(a)):
                a[i][j] = (a[i][j] * a[k][k] - a[i][k] * a[k][j]) // previous
        previous = a[k][k]
    return a[-1][-1] if a else 1


class Trail(NamedTuple):
    """The states of a window, backwards from the last, and its number of members."""

    states: tuple[int, ...]
    weight: int


def trails(exits: Matrix, root: int, last: int, horizon: int) -> Iterator[Trail]:
    """Walk over all windows of states ``(x_N, …, x_{N−h})`` of the class, with their weights."""
    left = [row[:] for row in exits]
    # Exits of v beyond its last `horizon` cannot be used up: what they contribute is common.
    common = [max(sum(row) - horizon - (v != root), 0) for v, row in enumerate(exits)]

    def walk(path: tuple[int, ...], weight: int) -> Iterator[Trail]:
        if len(path) == horizon + 1:
            free = [max(sum(row) - (v != root), 0) for v, row in enumerate(left)]
            orders = prod(perm(f, f - c) for f, c in zip(free, common, strict=True))
            weight *= orders * trees(left, root)
            if weight:
                yield Trail(path, weight)
            return
        v = path[-1]
        for u, edges in enumerate(left[v]):
            if edges:
                left[v][u] -= 1
                yield from walk((*path, u), weight * edges)
                left[v][u] += 1

    return walk((last,), 1)


def count_windows(
    exits: IntArray, root: int, last: int, horizon: int, emissions: IntArray
) -> tuple[Windows, npt.NDArray[Any]]:
    """List the distinct windows of the class with the number of members that have each."""
    size = emissions.sum(axis=1).tolist()
    starts, paths, weights = [], [], []
    for trail in trails(exits.tolist(), root, last, horizon):
        window = trail.states[-2::-1]
        # Observations are drawn without replacement from each state's own. The factor makes
        # all trails count the same number of draws from every state.
        factor = prod(
            perm(size[v] - window.count(v), min(size[v], horizon) - window.count(v))
            for v in range(len(size))
        )
        starts.append(trail.states[-1])
        paths.append(window)
        weights.append(trail.weight * factor)
    states = np.array(paths, dtype=np.int64)
    path, codes, ways = with_symbols(states, emissions)
    total = np.array(weights, dtype=object)[path]
    for k in range(horizon):
        total *= ways[:, k]
    return Windows(np.array(starts, dtype=np.int64)[path], states[path], codes), total


@kernel
def with_symbols(states: IntArray, emissions: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """List the sequences of symbols possible on each path, and the ways to draw each symbol."""
    paths, horizon = states.shape
    width = emissions.shape[1]
    room = 0
    for r in range(paths):
        here = 1
        for k in range(horizon):
            here *= int(np.count_nonzero(emissions[states[r, k]]))
        room += here
    path = np.empty(room, dtype=np.int64)
    codes = np.empty((room, horizon), dtype=np.int64)
    ways = np.empty((room, horizon), dtype=np.int64)
    left = emissions.copy()
    symbols = np.empty(horizon, dtype=np.int64)
    listed = 0
    for r in range(paths):
        k = 0
        symbols[0] = -1
        while k >= 0:
            if k == horizon:
                path[listed] = r
                for j in range(horizon):
                    codes[listed, j] = symbols[j] - 1
                    ways[listed, j] = left[states[r, j], symbols[j]] + 1
                    for i in range(j + 1, horizon):
                        same = states[r, i] == states[r, j] and symbols[i] == symbols[j]
                        ways[listed, j] += same
                listed += 1
                k -= 1
                continue
            v = states[r, k]
            if symbols[k] >= 0:
                left[v, symbols[k]] += 1
            symbols[k] += 1
            while symbols[k] < width and left[v, symbols[k]] == 0:
                symbols[k] += 1
            if symbols[k] == width:
                k -= 1
                continue
            left[v, symbols[k]] -= 1
            k += 1
            if k < horizon:
                symbols[k] = -1
    return path[:listed], codes[:listed], ways[:listed]


DEEP = 100  # largest number of steps for counting, which recurses once per step


@dataclass(frozen=True)
class Full(Symmetry, name="full"):
    """All sequences of the same likelihood; exactly valid, and the smallest sets.

    A sequence's likelihood depends on its first state, its transition counts and, state by state,
    its observations, in whatever order they come. All sequences that agree in these are equally
    probable, whatever the model (de Finetti's theorem for Markov chains, in its finite form). A
    last state that occurs nowhere else has the p-value one: there is no evidence against it.

    Parameters
    ----------
    max_windows : int, default 2000
        Windows are counted exactly, by Whittle's formula, where there are at most so many, and
        drawn at random where there are more. Both are exactly valid.
    n_resamples : int, default 999
        How many are drawn; at most a million.
    """

    max_windows: int = 2000
    n_resamples: int = RESAMPLES

    exact = True
    reads_observations = False

    def __post_init__(self) -> None:
        checked_limit(self.max_windows, "max_windows")
        checked_resamples(self.n_resamples)

    def orbit(self, completion: Completion) -> tuple[int, ...]:
        return super().orbit(completion) if _once(completion) else completion.counts_key

    def within(self, history: History) -> str:
        pooled = history.pool is not history and history.segments > 1
        return super().within(history) + ", observations from all" * pooled

    def reference(self, completion: Completion, generator: Generator) -> Reference:
        history, horizon, last = completion.history, completion.horizon, completion.last
        if _once(completion):
            # All members end in a state seen nowhere else: there is nothing to compare with.
            return Reference.alone(completion)
        most = 10 * self.max_windows
        visited = int(np.count_nonzero(history.pool.shelves.sizes))
        if history.symbols and (visited ** min(horizon + 3, DEEP) <= most or horizon > DEEP):
            emissions, transitions = completion.emissions, completion.transitions
            first = history.first
            # The number of states, and the largest number of symbols of a state.
            n = int(np.count_nonzero(emissions.any(axis=1)))
            m = int(np.count_nonzero(emissions, axis=1).max())
            if horizon > DEEP and n == m == 1:  # all members have the same window
                return Reference.alone(completion)
            # The bound is for the determinants, one of n³ operations for each state path.
            if (n * m) ** horizon <= self.max_windows and n ** (horizon + 3) <= most:
                windows, weights = count_windows(transitions.T, first, last, horizon, emissions)
                return Reference(windows, weights, joins=False)
        exits = exits_of(completion)
        # A state's observations may be dealt to it in any segment.
        times, begins, sizes = history.pool.dealt
        # An order that all candidates of the class share, so that they share the draws.
        order = np.lexsort((completion.observations, completion.states))
        rng = generator()
        drawn = (
            draw_windows(
                rng,
                exits,
                history.first,
                last,
                horizon,
                times,
                begins,
                sizes,
                history.pool.observations,
                completion.states[order],
                completion.observations[order],
                part.stop - part.start,
            )
            for part in cut_pieces(int(self.n_resamples), horizon * (horizon + len(exits)))
        )
        return Reference.drawn(stacked(Windows(*windows) for windows in drawn))


def _once(completion: Completion) -> bool:
    """Return whether the last state occurs nowhere else: the same for all members of the class."""
    last, earlier = completion.last, completion.states[:-1]
    return not ((earlier == last).any() or len(completion.history.visits(last)))
