"""Draws that move steps from one sequence to another, where several have one law.

Of two sequences that are in one state so many steps before their ends, what follows may be
exchanged: first states, lengths and the likelihood stay. All such exchanges, at every distance from
the end and among any number of sequences, are independent shuffles, one for each distance and
state, so that one pass over the sequences is a uniform draw. Observations are dealt anew within
each state, over all sequences.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from definetti._system.arrays import CodeArray, IntArray, as_codes
from definetti._system.compiled import kernel
from definetti.check._engine import shuffle


class Tails(NamedTuple):
    """Several sequences, laid out from their ends.

    Attributes
    ----------
    tokens, edges, row : (T,) of the sequences, and which of them a time is in
    ends : (S,) where each ends
    order : (T,) times sorted by distance from the end, the largest first, then by state
    groups : where those of one distance and state begin, and the last end
    shelf, shelves : (T,) times sorted by state, and where those of a state begin
    """

    tokens: CodeArray
    edges: CodeArray
    row: CodeArray
    ends: IntArray
    order: CodeArray
    groups: CodeArray
    shelf: CodeArray
    shelves: IntArray


def tails_of(tokens: CodeArray, edges: CodeArray, begins: IntArray) -> Tails:
    """Lay sequences out from their ends; parameters as of `definetti.check._engine.graph_of`.

    >>> tails_of(np.array([0, 1, 0]), np.array([0, -1, -1]), np.array([0, 2, 3])).order
    array([0, 2, 1], dtype=int32)
    """
    length = len(tokens)
    size = np.diff(begins)
    row = as_codes(np.repeat(np.arange(len(size)), size), length)
    ends = begins[1:].copy()
    left = ends[row] - 1 - np.arange(length)
    order = as_codes(np.lexsort((tokens, -left)), length)
    changed = (np.diff(left[order]) != 0) | (np.diff(tokens[order]) != 0)
    groups = np.concatenate([[0], np.flatnonzero(changed) + 1, [length]])
    shelves = np.concatenate([[0], np.bincount(tokens).cumsum()])
    shelf = as_codes(np.argsort(tokens, kind="stable"), length)
    return Tails(
        as_codes(tokens, length), as_codes(edges, length), row, ends, order,
        as_codes(groups, length), shelf, shelves,
    )  # fmt: skip


@kernel
def draw_tails(
    rng: np.random.Generator, tails: Tails, size: int
) -> tuple[CodeArray, CodeArray, CodeArray]:
    """Draw rearrangements of all sequences together, in the form of `draw_members`."""
    length = len(tails.tokens)
    tokens = np.empty((size, length), dtype=tails.tokens.dtype)
    edges = np.empty((size, length), dtype=tails.tokens.dtype)
    times = np.empty((size, length), dtype=tails.tokens.dtype)
    here = np.empty(len(tails.ends), dtype=np.int64)
    for b in range(size):
        slot = np.arange(len(tails.ends))  # which sequence has what each one was up to here
        for g in range(len(tails.groups) - 1):
            begin, end = tails.groups[g], tails.groups[g + 1]
            for k in range(begin, end):
                here[k - begin] = slot[tails.row[tails.order[k]]]
            shuffle(rng, here, 0, end - begin)
            for k in range(begin, end):
                time = tails.order[k]
                mine, new = tails.row[time], here[k - begin]
                slot[mine] = new
                at = tails.ends[new] - (tails.ends[mine] - time)
                tokens[b, at] = tails.tokens[time]
                edges[b, at] = tails.edges[time]
        shelf, visits = tails.shelf.copy(), tails.shelves[:-1].copy()
        for v in range(len(visits)):
            shuffle(rng, shelf, tails.shelves[v], tails.shelves[v + 1])
        for t in range(length):
            v = tokens[b, t]
            times[b, t] = shelf[visits[v]]
            visits[v] += 1
    return tokens, edges, times
