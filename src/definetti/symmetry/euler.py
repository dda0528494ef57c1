"""A uniform member of the whole class, read backwards as an Euler trail.

Read from its end, a sequence with transition counts ``F`` is a trail, from its last state to its
first, that uses each of the edges ``R[v, u] = F[u, v]`` once. By the BEST theorem a uniform trail
is a uniform tree of last exits towards the first state, here drawn by Wilson's loop-erased walk,
and a uniform order of all other exits. Only the window is drawn, and of the tree only the branches
that the window meets, so a draw costs the walk and the window, whatever the length of the past.
"""

import numpy as np

from definetti.arrays import IntArray
from definetti.compiled import kernel
from definetti.drawing import below


@kernel
def _pick(weights: IntArray, ticket: int) -> int:
    """Find the cell that a ticket, 0 ≤ ticket < sum(weights), falls into."""
    for u in range(len(weights)):
        ticket -= weights[u]
        if ticket < 0:
            return u
    return -1


@kernel
def _grow(
    rng: np.random.Generator,
    outward: IntArray,
    root: int,
    v: int,
    tree: IntArray,
    grown: IntArray,
    n_grown: int,
) -> int:
    """Join `v` to the tree by a loop-erased walk; `grown` lists the states joined in this draw."""
    u = v
    while u != root and tree[u] < 0:
        ticket = below(rng, outward[u, -1])
        # Provisional, and so below −1: the walk's latest exit from u.
        tree[u] = -2 - np.searchsorted(outward[u], ticket, side="right")
        u = -2 - tree[u]
    u = v
    while u != root and tree[u] < 0:
        tree[u] = -2 - tree[u]
        grown[n_grown] = u
        n_grown += 1
        u = tree[u]
    return n_grown


@kernel
def draw_windows(
    rng: np.random.Generator,
    exits: IntArray,
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
    exits : (n, n) edge counts of the reversed sequence, ``R[v, u]``
    root, last : the first and the last state of the sequence
    times, begins, sizes : the times of the history on each state's shelf
    observations : (T,) the codes of the history's observations
    new_states, new_observations : (h,) the candidate's
    size : how many windows to draw

    Returns
    -------
    start (size,), states (size, horizon), observations (size, horizon)
    """
    n = len(exits)
    left = exits.copy()
    total = left.sum(axis=1)
    # Cumulated exits for the walk. Self-loops never enter a tree: leaving them out keeps sticky
    # chains from crawling.
    outward = np.empty((n, n), dtype=np.int64)
    for v in range(n):
        so_far = 0
        for u in range(n):
            so_far += exits[v, u] if u != v else 0
            outward[v, u] = so_far
    own = np.zeros(n, dtype=np.int64)
    own[: len(sizes)] = sizes
    for v in new_states:
        own[v] += 1
    tree = np.full(n, -1, dtype=np.int64)
    grown = np.empty(n, dtype=np.int64)
    taken = np.empty(horizon, dtype=np.int64)
    start = np.empty(size, dtype=np.int64)
    states = np.empty((size, horizon), dtype=np.int64)
    codes = np.empty((size, horizon), dtype=np.int64)
    for b in range(size):
        n_grown = 0
        v = last
        for k in range(horizon - 1, -1, -1):
            states[b, k] = v
            if v == root:
                u = _pick(left[v], below(rng, total[v]))
            else:
                if tree[v] < 0:
                    n_grown = _grow(rng, outward, root, v, tree, grown, n_grown)
                if total[v] == 1:
                    u = tree[v]
                else:  # the tree edge is the last exit: it waits until nothing else is left
                    left[v, tree[v]] -= 1
                    u = _pick(left[v], below(rng, total[v] - 1))
                    left[v, tree[v]] += 1
            left[v, u] -= 1
            total[v] -= 1
            # An observation of v's own that the window has not used yet.
            fresh = False
            while not fresh:
                ticket = below(rng, own[v])
                fresh = True
                for later in range(k + 1, horizon):
                    if states[b, later] == v and taken[later] == ticket:
                        fresh = False
            taken[k] = ticket
            if v < len(sizes) and ticket < sizes[v]:
                codes[b, k] = observations[times[begins[v] + ticket]]
            else:
                ticket -= sizes[v] if v < len(sizes) else 0
                for j in range(len(new_states)):
                    if new_states[j] == v:
                        if ticket == 0:
                            codes[b, k] = new_observations[j]
                        ticket -= 1
            v = u
        start[b] = v
        for k in range(horizon):  # put everything back for the next draw
            u = states[b, k - 1] if k else v
            left[states[b, k], u] += 1
            total[states[b, k]] += 1
        for k in range(n_grown):
            tree[grown[k]] = -1
    return start, states, codes
