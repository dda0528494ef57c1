"""Blocks between visits to the last state, merged until each is as long as the horizon."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from definetti._system.arrays import IntArray
from definetti._system.compiled import kernel
from definetti.data.history import Completion
from definetti.symmetry.base import (
    MOST_WINDOWS,
    Chains,
    Generator,
    Reference,
    Symmetry,
    check_tokens,
    checked_recent,
)


@dataclass(frozen=True)
class Spaced(Symmetry, name="spaced"):
    """Rearrange blocks of at least ``h`` steps that end with the last state; exactly valid.

    Backwards from the end, the next cut is the latest visit to the last state at least ``h``
    steps before. Each block carries one window, and all blocks but the last depend on the
    candidate through its last state alone.

    Permuting the latest `recent` blocks, while everything before them stays in place, is a
    subgroup of all permutations of blocks: the rank among their windows is exactly valid for every
    `recent` that is fixed in advance, whether the model is fixed or refitted on all counts.

    Parameters
    ----------
    recent : int or None, default 200
        Compare with at most so many windows, the latest that end in the candidate's last state;
        None for all of them.
    """

    recent: int | None = field(default=200, kw_only=True)

    exact = True
    by_last_state = True
    reads_observations = False
    examples = ({"recent": 1}, {"recent": 2})

    def __post_init__(self) -> None:
        checked_recent(self.recent)

    def orbit(self, completion: Completion) -> tuple[int, ...]:
        return (completion.last,)

    def reference(
        self, completion: Completion, n_resamples: int, generator: Generator
    ) -> Reference:
        history, most = completion.history, checked_recent(self.recent)
        visits = history.visits(completion.last)
        return Reference.past(spaced_ends(visits, len(history), completion.horizon, most))

    def chains(self, tokens: IntArray, horizon: int) -> Chains:
        check_tokens(tokens, horizon)
        parents = _spaced_parents(tokens, horizon)
        # The earliest cut only ends the prefix.
        return Chains(tokens, parents, parents >= 0, recent=self.recent)


@kernel
def spaced_ends(visits: IntArray, length: int, horizon: int, most: int = MOST_WINDOWS) -> IntArray:
    """Return the ends of the latest spaced blocks but the last, latest first.

    Parameters
    ----------
    visits : times of the visits to the last state in the history, in order
    length : T, the length of the history
    most : how many blocks, at most
    """
    ends = np.empty(min(len(visits), most), dtype=np.int64)
    found, k = 0, len(visits) - 1
    bound = length - 1
    while True:
        while k >= 0 and visits[k] > bound:
            k -= 1
        if k < 0:
            # The earliest cut only ends the prefix: no block ends there.
            return ends[: max(found - 1, 0)]
        if found == most:
            return ends
        ends[found] = visits[k]
        found += 1
        bound = visits[k] - horizon


@kernel
def _spaced_parents(tokens: IntArray, horizon: int) -> IntArray:
    """Return for each time the latest visit to the same token at least a horizon before."""
    number = tokens.max() + 1 if len(tokens) else 0
    latest = np.full(number, -1, dtype=np.int64)  # up to a horizon before the present
    parents = np.empty(len(tokens), dtype=np.int64)
    for t in range(len(tokens)):
        if t >= horizon:
            latest[tokens[t - horizon]] = t - horizon
        parents[t] = latest[tokens[t]]
    return parents
