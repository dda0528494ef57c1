"""Step 3: a sequence cut into exchangeable blocks.

Blocks end with the element at which the sequence is cut, and the prefix up to the first cut stays
in place. Where all cuts are at equal elements, the pairs of Algorithm 1, this rearranges the
sequence just as blocks that begin with the pair do, the last pair staying in place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from definetti._system.arrays import IntArray
from definetti._system.compiled import cut_pieces, kernel
from definetti._system.drawing import FEW, draw_below
from definetti.data.history import Completion
from definetti.data.windows import Windows, stacked


class Blocks(NamedTuple):
    """The completed sequence, and where it is cut.

    Attributes
    ----------
    completion : the sequence
    key : what the cuts in the history depend on
    past : the cuts in the history, in order
    new : the cuts in the candidate, the last of them at the end of the sequence
    """

    completion: Completion
    key: tuple[int, ...]
    past: IntArray
    new: IntArray

    @property
    def number(self) -> int:
        """How many blocks there are; the first cut only ends the prefix."""
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
    found = past.present.recall(
        "pairs", (state, symbol), lambda: visits[past.observations[visits] == symbol]
    )
    here = (new.states == state) & (new.observations == symbol)
    return Blocks(completion, (state, symbol), found, len(past) + np.flatnonzero(here))


@kernel
def _random_orders(rng: np.random.Generator, number: int, blocks: int, size: int) -> IntArray:
    """Draw the last few of `number` blocks in random order, without replacement."""
    orders = np.empty((size, blocks), dtype=np.int64)
    # Which order has drawn a block last; a short one looks through what it drew instead.
    mark = np.zeros(number if blocks > FEW else 0, dtype=np.int64)
    for b in range(size):
        for k in range(blocks):
            fresh = False
            while not fresh:
                block = draw_below(rng, number)
                if blocks > FEW:
                    fresh = mark[block] <= b
                else:
                    fresh = True
                    for j in range(k):
                        fresh = fresh and orders[b, j] != block
            if blocks > FEW:
                mark[block] = b + 1
            orders[b, k] = block
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
