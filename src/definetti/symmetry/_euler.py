"""A uniform member of the whole class, read backwards as an Euler trail.

Read from its end, a sequence with transition counts ``F`` is a trail, from its last state to its
first, that uses each of the edges ``R[v, u] = F[u, v]`` once. By the BEST theorem a uniform trail
is a uniform tree of last exits towards the first state, here drawn by Wilson's loop-erased walk,
and a uniform order of all other exits. Only the window is drawn, and of the tree only the branches
that the window meets, so a draw costs the walk and the window, whatever the length of the past.
"""

import numpy as np

from definetti._system.arrays import IntArray
from definetti._system.compiled import kernel
from definetti._system.drawing import FEW, draw_below
from definetti.symmetry._exits import Exits


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
    """Draw windows of uniform members of the class.

    Parameters
    ----------
    exits : the edges of the reversed sequence
    root, last : the first and the last state of the sequence
    times, begins, sizes : the times of the history on each state's shelf
    observations : (T,) the codes of the history's observations
    new_states, new_observations : (h,) the candidate's
    size : how many windows to draw

    Returns
    -------
    start (size,), states (size, horizon), observations (size, horizon)
    """
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
    # Which draw has taken a place last; a short window looks through what it took instead.
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
            fresh = False
            while not fresh:
                ticket = draw_below(rng, own[v])
                if horizon > FEW:
                    fresh = mark[place[v] + ticket] <= b
                else:
                    fresh = True
                    for later in range(k + 1, horizon):
                        fresh = fresh and taken[later] != place[v] + ticket
            taken[k] = place[v] + ticket
            if horizon > FEW:
                mark[taken[k]] = b + 1
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
