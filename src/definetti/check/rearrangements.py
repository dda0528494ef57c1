"""Uniform draws from all rearrangements of a labelled history, and statistics of the draws.

All sequences with the same first state and the same transition counts are the Euler trails, from
the first state to the last, of the graph of its transitions. By the BEST theorem a uniform trail is
a uniform tree of last exits towards the last state, here drawn by Wilson's loop-erased walk, and a
uniform order of every state's other exits. Observations are dealt anew within each state, as
times: a draw is a path and a permutation of times, and takes one pass over the sequence. Segments
with gaps between them are rearranged separately. A *node* is a state of a segment, so that one pass
over the nodes rearranges all segments.

Where several sequences have one law, steps may also move from one sequence to another. Two
sequences in the same state at the same distance from their ends may exchange the steps that follow:
first states, lengths and the likelihood stay. All such exchanges, at every distance from the end
and among any number of sequences, are independent shuffles, one for each distance and state, so
that one pass over the sequences is a uniform draw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs  # type: ignore[import-untyped,unused-ignore]

from definetti._system.arrays import (
    CodeArray,
    FloatArray,
    IntArray,
    as_codes,
    as_short_codes,
    distinct_numbers,
)
from definetti._system.checks import checked_jobs
from definetti._system.compiled import kernel
from definetti._system.random import draw_below
from definetti.check.sample import Draws, Sample

LONG = 2**12  # cards from which on it pays to seed a generator for one shuffle
HALF, LOW = np.uint64(2**32), np.uint64(2**32 - 1)  # halves of the bits of a word
STEPS, MOST = 2**19, 50  # the most steps, and draws, of a piece
AT_ONCE = 2**16  # steps held in memory at once, unless a single draw has more

Drawer = Callable[[np.random.Generator, int], tuple[CodeArray, CodeArray, CodeArray]]


class Graph(NamedTuple):
    """Transition graph of a sequence in segments.

    Times (`shelf`), exits (`deck`) and places in the deck of exits to another node (`outward`) are
    sorted by node; `shelves`, `decks` and `outwards` are where those of each node begin. An exit is
    a card: the number of an arc, and in its last `bits` bits the node that the arc leads to.
    `token` and `edge` are the codes of nodes and arcs in draws.
    """

    node: CodeArray
    token: CodeArray
    begins: IntArray
    shelf: CodeArray
    shelves: IntArray
    deck: CodeArray
    decks: IntArray
    outward: CodeArray
    outwards: IntArray
    edge: CodeArray
    bits: int


def graph_of(tokens: CodeArray, edges: CodeArray, begins: IntArray) -> Graph:
    """Return the graph of a sequence, by its tokens and the transitions out of each time."""
    length = len(tokens)
    names = np.repeat(np.arange(len(begins) - 1) * (int(tokens.max()) + 1), np.diff(begins))
    names += tokens
    first, names, _ = distinct_numbers(names)
    node, size = as_codes(names, length), len(first)
    del names  # frees memory, as sequences may be long
    shelf = as_codes(np.argsort(node, kind="stable"), length)
    goes_on = np.ones(length, dtype=bool)
    goes_on[begins[1:] - 1] = False
    leaves = shelf[goes_on[shelf]]
    before, after = node[leaves], node[leaves + 1]
    arcs = before.astype(np.int64) * size
    arcs += after
    first_arc, arcs, _ = distinct_numbers(arcs)
    bits = (size - 1).bit_length()
    deck = as_short_codes(arcs << bits | after, len(first_arc) << bits)
    del arcs
    outward = as_codes(np.flatnonzero(before != after), length)
    return Graph(
        node, tokens[first], begins, shelf, _bounds(node, size), deck, _bounds(before, size),
        outward, _bounds(before[outward], size), edges[leaves[first_arc]], bits,
    )  # fmt: skip


def _bounds(nodes: CodeArray, size: int) -> IntArray:
    """Return where the entries of each node begin in a list that is sorted by node."""
    counts = np.bincount(nodes, minlength=size)
    return np.concatenate([[0], counts.cumsum()]).astype(np.int64)


@kernel
def shuffle(rng: np.random.Generator, cards: CodeArray, begin: int, end: int) -> None:
    """Put a part of a list into random order."""
    if LONG <= end - begin < HALF:
        _shuffle_long(rng, cards[begin:end])
        return
    for k in range(end - 1, begin, -1):
        j = begin + draw_below(rng, k - begin + 1)
        cards[k], cards[j] = cards[j], cards[k]


@kernel
def _shuffle_long(rng: np.random.Generator, cards: CodeArray) -> None:
    """Put a long list into random order, by xoshiro256++ with a seed of 256 random bits.

    Half a word picks a card, without a division (Lemire 2019): all cards are equally probable, as
    the few words that would favour some are replaced by `draw_below`.
    """
    a, b, c, d = _draw_word(rng), _draw_word(rng), _draw_word(rng), _draw_word(rng)
    a |= np.uint64(1)  # an all-zero state would never change
    one, k = np.uint64(1), np.uint64(len(cards) - 1)
    while k > 0:
        word = a + d
        word = ((word << np.uint64(23)) | (word >> np.uint64(41))) + a
        moved = b << np.uint64(17)
        c ^= a
        d ^= b
        b ^= c
        a ^= d
        c ^= moved
        d = (d << np.uint64(45)) | (d >> np.uint64(19))
        for half in (word >> np.uint64(32), word & LOW):
            bound = k + one
            product = half * bound
            j = product >> np.uint64(32)
            if product & LOW < bound and product & LOW < (HALF - bound) % bound:
                j = np.uint64(draw_below(rng, int(bound)))
            cards[k], cards[j] = cards[j], cards[k]
            k -= one
            if k == 0:
                break


@kernel
def _draw_word(rng: np.random.Generator) -> Any:
    """Draw 64 random bits."""
    high, low = np.uint64(rng.random() * HALF), np.uint64(rng.random() * HALF)
    return (high << np.uint64(32)) | low


@kernel
def _grow_tree(rng: np.random.Generator, graph: Graph) -> IntArray:
    """Draw each node's last exit, a place in the deck: a uniform tree towards the last nodes."""
    size = len(graph.token)
    tree = np.full(size, -1, dtype=np.int64)
    last_bits = (1 << graph.bits) - 1
    joined = np.zeros(size, dtype=np.bool_)
    for end in graph.begins[1:]:
        joined[graph.node[end - 1]] = True
    for v in range(size):
        u = v
        while not joined[u]:  # only the latest exit of each node is kept, which erases loops
            begin, end = graph.outwards[u], graph.outwards[u + 1]
            tree[u] = graph.outward[begin + draw_below(rng, end - begin)]
            u = graph.deck[tree[u]] & last_bits
        u = v
        while not joined[u]:
            joined[u] = True
            u = graph.deck[tree[u]] & last_bits
    return tree


@kernel
def draw_members(
    rng: np.random.Generator, graph: Graph, size: int
) -> tuple[CodeArray, CodeArray, CodeArray]:
    """Draw members of the class: tokens, edges and times, each ``(size, T)``.

    An edge is the code of the transition out of a time, −1 where a segment ends. `times` are the
    times in the history from which the observations come.
    """
    length = len(graph.node)
    tokens = np.empty((size, length), dtype=graph.token.dtype)
    edges = np.empty((size, length), dtype=graph.edge.dtype)
    times = np.empty((size, length), dtype=graph.shelf.dtype)
    for b in range(size):
        tree = _grow_tree(rng, graph)
        deck, shelf = graph.deck.copy(), graph.shelf.copy()
        for v in range(len(tree)):
            begin, end = graph.decks[v], graph.decks[v + 1]
            if tree[v] >= 0:
                end -= 1
                deck[tree[v]], deck[end] = deck[end], deck[tree[v]]
            shuffle(rng, deck, begin, end)
            shuffle(rng, shelf, graph.shelves[v], graph.shelves[v + 1])
        _walk(graph, deck, shelf, tokens[b], edges[b], times[b])
    return tokens, edges, times


@kernel
def _walk(
    graph: Graph,
    deck: CodeArray,
    shelf: CodeArray,
    tokens: CodeArray,
    edges: CodeArray,
    times: CodeArray,
) -> None:
    """Follow shuffled exits from the first node of each segment to the last."""
    # Unsigned, so that indices need no check for negative values.
    to_shelf = (graph.shelves - graph.decks).astype(np.uint64)
    bits, last_bits = np.uint64(graph.bits), np.uint64((1 << graph.bits) - 1)
    tops = graph.decks[:-1].astype(np.uint64)  # the next card of each node
    # Where few steps leave a node, the processor predicts the branch, and waits for no card.
    moves = 4 * len(graph.outward) > len(tokens)
    for s in range(len(graph.begins) - 1):
        begin, last = graph.begins[s], graph.begins[s + 1] - 1
        u = np.uint64(graph.node[begin])
        top = tops[u]
        for t in range(begin, last):
            card = np.uint64(deck[top])
            tokens[t] = graph.token[u]
            times[t] = shelf[top + to_shelf[u]]
            edges[t] = graph.edge[card >> bits]
            after = card & last_bits
            top += np.uint64(1)
            if moves or after != u:
                tops[u], u = top, after
                top = tops[u]
        tokens[last], edges[last] = graph.token[u], -1
        times[last] = shelf[top + to_shelf[u]]


class Tails(NamedTuple):
    """Several sequences, laid out from their ends.

    `row` is the sequence of each time, `order` times sorted by distance from the end, the largest
    first, then by state; `groups` are where those of one distance and state begin; `shelf` and
    `shelves` as of `Graph`, by state.
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
    """Lay sequences out from their ends; parameters as of `graph_of`."""
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
    return Tails(tokens, edges, row, ends, order, as_codes(groups, length), shelf, shelves)


@kernel
def draw_tails(
    rng: np.random.Generator, tails: Tails, size: int
) -> tuple[CodeArray, CodeArray, CodeArray]:
    """Draw rearrangements of all sequences together, in the form of `draw_members`."""
    length = len(tails.tokens)
    tokens = np.empty((size, length), dtype=tails.tokens.dtype)
    edges = np.empty((size, length), dtype=tails.edges.dtype)
    times = np.empty((size, length), dtype=tails.shelf.dtype)
    here = np.empty(len(tails.ends), dtype=np.int64)
    for b in range(size):
        slot = np.arange(len(tails.ends))  # the drawn sequence that takes each one's steps
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


def drawer_of(sample: Sample, across: bool, values: CodeArray | None = None) -> Drawer:
    """Return a function that draws rearrangements, within each sequence or across all.

    If `values` ``(T,)`` are given, these are dealt within each sequence in place of times.
    """
    if across:
        tails = tails_of(sample.tokens, sample.edges, sample.begins)
        return lambda rng, size: draw_tails(rng, tails, size)
    graph = graph_of(sample.tokens, sample.edges, sample.begins)
    if values is not None:
        graph = graph._replace(shelf=values[graph.shelf])
    return lambda rng, size: draw_members(rng, graph, size)


def draws_per_piece(sample: Sample) -> int:
    """Return how many draws share a stream of random numbers."""
    return min(MOST, max(1, STEPS // len(sample)))


def measure_draws(
    sample: Sample,
    statistics: Sequence[Any],
    across: bool,
    n_resamples: int,
    entropy: int,
    n_jobs: int | None,
) -> Iterator[list[FloatArray]]:
    """Yield the values of each statistic, one piece of the draws at a time.

    A statistic has a method `measure`, which returns a row of numbers for each draw.
    Every piece has its own random stream, so that values do not depend on the number of threads.
    """
    values = None
    if len(sample.columns) == 1 and not (
        across or any(statistic.reads_times for statistic in statistics)
    ):
        column = sample.columns[0]  # dealt directly: a byte per step, for locality
        values = None if column.symbols is None else column.cells
    draw = drawer_of(sample, across, values)
    piece_size = draws_per_piece(sample)

    def measure(begin: int) -> list[FloatArray]:
        rng = np.random.default_rng([entropy, int(across), begin])
        size, few = min(piece_size, n_resamples - begin), max(1, AT_ONCE // len(sample))
        measured = []
        for k in range(0, size, few):
            draws = Draws(*draw(rng, min(few, size - k)))
            if values is not None:
                taken = [(values, draws.times)]
                draws = Draws(draws.tokens, draws.edges, np.zeros(0, dtype=np.int8), taken)
            measured.append([statistic.measure(sample, draws) for statistic in statistics])
            del draws  # frees memory for the next ones
        return [np.concatenate(values) for values in zip(*measured, strict=True)]

    begins = range(0, n_resamples, piece_size)
    jobs = int(effective_n_jobs(checked_jobs(n_jobs, n_resamples)))
    if jobs == 1:
        yield from map(measure, begins)
        return
    with ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(measure, begin) for begin in begins]
        try:
            for future in waiting:
                yield future.result()
        finally:
            for future in waiting:
                future.cancel()
