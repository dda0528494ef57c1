"""Count the last windows of all orders of a completed sequence's blocks.

Orders of blocks are too many to list, but their last windows are not: the blocks that cover a
window are chosen one after the other. Equal tails of blocks are counted once.
"""

from __future__ import annotations

from math import perm
from typing import NamedTuple

import numpy as np

from definetti._system.arrays import IntArray, distinct_rows
from definetti._system.compiled import cut_pieces, kernel
from definetti._system.random import FEW
from definetti.data.history import Completion, Windows, stacked
from definetti.symmetry.full import draw_unused


class Blocks(NamedTuple):
    """The completed sequence, and where it is cut."""

    completion: Completion
    key: tuple[int, ...]  # what the cuts in the history depend on
    past: IntArray  # the cuts in the history, in order
    new: IntArray  # the cuts in the candidate, the last at the end of the sequence

    @property
    def number(self) -> int:
        """Number of blocks; the first cut only ends the prefix."""
        return len(self.past) + len(self.new) - 1

    def arranged(self, orders: IntArray, horizon: int) -> Windows:
        """Return the windows of given arrangements: rows of block numbers, from the end."""
        past, new = self.completion.history, self.completion
        cuts = np.concatenate([self.past, self.new])
        sequence = (past.states, past.observations, new.states, new.observations)
        return Windows(*_arranged(orders, horizon, cuts, *sequence))

    def drawn(self, rng: np.random.Generator, size: int, horizon: int) -> Windows:
        """Return the windows of random arrangements."""
        blocks = min(horizon, self.number)
        return stacked(
            self.arranged(_random_orders(rng, self.number, blocks, part.stop - part.start), horizon)
            for part in cut_pieces(size, horizon * horizon)
        )


def cut_at_state(completion: Completion) -> Blocks:
    """Cut after every visit to the last state."""
    past, state = completion.history, completion.last
    new = len(past) + np.flatnonzero(completion.states == state)
    return Blocks(completion, (state,), past.visits(state), new)


def cut_at_pair(completion: Completion, step: int = -1) -> Blocks:
    """Cut after every occurrence of the pair of state and observation at a step of the window."""
    past, new = completion.history, completion
    if not past.symbols:
        raise ValueError(
            "symmetry cuts at pairs of state and observation, which occur again only where "
            "observations are symbols; use symmetry='returns' or 'full' for vectors"
        )
    state, symbol = int(new.states[step]), int(new.observations[step])
    visits = past.visits(state)
    cuts = past.present.recall(
        "pairs", (state, symbol), lambda: visits[past.observations[visits] == symbol]
    )
    here = (new.states == state) & (new.observations == symbol)
    return Blocks(completion, (state, symbol), cuts, len(past) + np.flatnonzero(here))


@kernel
def _random_orders(rng: np.random.Generator, number: int, blocks: int, size: int) -> IntArray:
    """Draw the last few of `number` blocks in random order, without replacement."""
    orders = np.empty((size, blocks), dtype=np.int64)
    mark = np.zeros(number if blocks > FEW else 0, dtype=np.int64)
    for b in range(size):
        for k in range(blocks):
            orders[b, k] = draw_unused(rng, 0, number, orders[b, :k], mark, b + 1)
    return orders


@kernel
def _arranged(
    orders: IntArray,
    horizon: int,
    cuts: IntArray,
    states: IntArray,
    observations: IntArray,
    new_states: IntArray,
    new_observations: IntArray,
) -> tuple[IntArray, IntArray, IntArray]:
    """Read windows backwards through the blocks, and on into the prefix if they run out."""
    size, length = len(orders), len(states)
    start = np.empty(size, dtype=np.int64)
    window = np.empty((size, horizon), dtype=np.int64)
    codes = np.empty((size, horizon), dtype=np.int64)
    for b in range(size):
        used = 0
        time, begin = -1, 0
        for k in range(horizon, -1, -1):
            if time < begin:  # on to the next block; the prefix begins the sequence
                if used < orders.shape[1]:
                    time, begin = cuts[orders[b, used] + 1], cuts[orders[b, used]] + 1
                else:  # the prefix; or, for `start`, any block: all end in the same state
                    time, begin = cuts[0], 0
                used += 1
            state = states[time] if time < length else new_states[time - length]
            code = observations[time] if time < length else new_observations[time - length]
            if k:
                window[b, k - 1] = state
                codes[b, k - 1] = code
            else:
                start[b] = state
            time -= 1
    return start, window, codes


PAD = -2  # before the beginning of a block


class Tails(NamedTuple):
    """Distinct block ends, for windows of ``h`` steps."""

    length: IntArray  # (D,) of the block, ``h + 1`` if longer
    states: IntArray  # (D, h + 1) right-aligned, padded at the left
    observations: IntArray


class Levels(NamedTuple):
    """Tails grouped by their content for the last ``r`` places, for each ``r = 1 … h``."""

    group: IntArray  # (h + 1, D) the group of each tail
    first: IntArray  # (h + 1, G) one tail of each group
    weight: IntArray  # (h + 1, G) how many blocks are in each group
    size: IntArray  # (h + 1,) how many groups there are


@kernel
def cut_tails(
    cuts: IntArray, states: IntArray, observations: IntArray, horizon: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return length, states and observations of the end of each block between cuts."""
    size, width = len(cuts) - 1, horizon + 1
    length = np.empty(size, dtype=np.int64)
    tail = np.full((size, width), PAD, dtype=np.int64)
    codes = np.full((size, width), PAD, dtype=np.int64)
    for b in range(size):
        length[b] = min(cuts[b + 1] - cuts[b], width)
        for k in range(length[b]):
            tail[b, horizon - k] = states[cuts[b + 1] - k]
            if k < horizon:  # the state before the window counts, its observation does not
                codes[b, horizon - k] = observations[cuts[b + 1] - k]
    return length, tail, codes


def levels(tails: Tails, count: IntArray) -> Levels:
    """Group tails, each of `count` blocks, by their content for the last places."""
    size, width = tails.states.shape
    group = np.zeros((width, size), dtype=np.int64)
    first = np.zeros((width, size), dtype=np.int64)
    weight = np.zeros((width, size), dtype=np.int64)
    number = np.zeros(width, dtype=np.int64)
    for r in range(1, width):
        rows = np.concatenate(
            [tails.states[:, width - 1 - r :], tails.observations[:, width - r :]], axis=1
        )
        index, inverse, _ = distinct_rows(rows)
        number[r] = len(index)
        group[r] = inverse
        first[r, : len(index)] = index
        np.add.at(weight[r], group[r], count)
    return Levels(group, first, weight, number)


@kernel
def walk(
    tails: Tails, groups: Levels, prefix: IntArray, cut_state: int, number: int, limit: int
) -> tuple[int, IntArray, IntArray, IntArray, IntArray]:
    """List every distinct window; the first number returned is −1 where there are too many."""
    length, states, observations = tails
    group, first, weight, size = groups
    horizon = states.shape[1] - 1
    drawn = min(horizon, number)
    start = np.empty(limit, dtype=np.int64)
    window = np.empty((limit, horizon), dtype=np.int64)
    codes = np.empty((limit, horizon), dtype=np.int64)
    ways = np.empty(limit, dtype=np.int64)
    now_states = np.empty(horizon, dtype=np.int64)
    now_codes = np.empty(horizon, dtype=np.int64)
    used = np.empty(horizon + 1, dtype=np.int64)
    left = np.empty(horizon + 1, dtype=np.int64)
    following = np.zeros(horizon + 1, dtype=np.int64)
    so_far = np.ones(horizon + 1, dtype=np.int64)
    left[0] = horizon
    listed, depth = 0, 0
    while depth >= 0:
        r = left[depth]
        if depth == number:  # all blocks are used: the prefix fills the rest
            tail_states, tail_codes, reach, available = prefix[0], prefix[1], r + 1, 1
        else:
            k = following[depth]
            if k == size[r]:
                depth -= 1
                continue
            following[depth] += 1
            block = first[r, k]
            available = weight[r, k]
            for e in range(depth):
                available -= group[r, used[e]] == k
            if available <= 0:
                continue
            tail_states, tail_codes = states[block], observations[block]
            reach = length[block]
        for j in range(min(reach, r)):
            now_states[r - 1 - j] = tail_states[horizon - j]
            now_codes[r - 1 - j] = tail_codes[horizon - j]
        if reach < r:
            used[depth] = block
            so_far[depth + 1] = so_far[depth] * available
            left[depth + 1] = r - reach
            following[depth + 1] = 0
            depth += 1
            continue
        if listed == limit:
            return -1, start, window, codes, ways
        # A block that just fills the window comes after the cut that ends another block.
        start[listed] = tail_states[horizon - r] if reach > r else cut_state
        window[listed] = now_states
        codes[listed] = now_codes
        ways[listed] = so_far[depth] * available
        for e in range(depth + 1, drawn):  # orders of the blocks that the window does not reach
            ways[listed] *= number - e
        listed += 1
        if depth == number:
            depth -= 1
    return listed, start, window, codes, ways


def count_windows(blocks: Blocks, horizon: int, limit: int) -> tuple[Windows, IntArray] | None:
    """Return the distinct windows over all orders of the blocks, and their number of orders.

    None where there are more than `limit`, or more orders than a machine number holds.
    """
    drawn = min(horizon, blocks.number)
    if drawn > 20 or perm(blocks.number, drawn) >= 2**62:  # 21! is more
        return None
    history, past, new = blocks.completion.history, blocks.past, blocks.new
    # What stays in place: all up to the first cut.
    cut = int(past[0] if len(past) else new[0])
    prefix = np.full((2, horizon + 1), PAD)
    elements = [blocks.completion.element(t) for t in range(max(cut - horizon, 0), cut + 1)]
    prefix[:, -len(elements) :] = np.transpose(elements)
    # No tail of the candidate's blocks reaches further back.
    offset = max(len(history) - horizon, 0)
    near_states = np.concatenate([history.states[offset:], blocks.completion.states])
    near_codes = np.concatenate([history.observations[offset:], blocks.completion.observations])
    cuts = np.concatenate([past[-1:], new]) - offset
    added = Tails(*cut_tails(cuts, near_states, near_codes, horizon))
    listed, start, window, codes, ways = walk(
        *_joined(*_past(blocks, horizon), added), prefix, blocks.key[0], blocks.number, limit
    )
    if listed < 0:
        return None
    return Windows(start[:listed], window[:listed], codes[:listed]), ways[:listed]


def _past(blocks: Blocks, horizon: int) -> tuple[Tails, Levels]:
    """Return the tails of the blocks that end in the history, and their levels."""
    history = blocks.completion.history

    def make() -> tuple[Tails, Levels]:
        cuts = blocks.past if len(blocks.past) else np.zeros(1, dtype=np.int64)
        length, tail, codes = cut_tails(cuts, history.states, history.observations, horizon)
        first, _, count = distinct_rows(np.concatenate([tail, codes], axis=1))
        tails = Tails(length[first], tail[first], codes[first])
        return tails, levels(tails, count)

    return history.present.recall(("tails", horizon), blocks.key, make)


def _joined(tails: Tails, past: Levels, added: Tails) -> tuple[Tails, Levels]:
    """Add a candidate's blocks as groups of their own: merging equal ones gains nothing."""
    old, new = len(tails.length), np.arange(len(added.length))
    rows, places = np.arange(len(past.size))[:, None], past.size[:, None] + new
    group = np.concatenate([past.group, places], axis=1)
    # Places beyond the groups of a level are free.
    first, weight = (np.concatenate([part, places], axis=1) for part in past[1:3])
    first[rows, places], weight[rows, places] = old + new, 1
    every = Tails(*map(np.concatenate, zip(tails, added, strict=True)))
    return every, Levels(group, first, weight, past.size + len(new))
