"""Blocks between visits to the last state, merged until each is as long as the horizon."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from definetti._system.arrays import IntArray
from definetti._system.compiled import kernel
from definetti.data.history import Completion
from definetti.symmetry.base import Chains, Generator, Reference, Symmetry, check_tokens


@dataclass(frozen=True)
class Spaced(Symmetry, name="spaced"):
    """Rearrange blocks of at least ``h`` steps that end with the last state; exactly valid.

    Backwards from the end, the next cut is the latest visit to the last state at least ``h``
    steps before. Each block carries one window, and all blocks but the last depend on the
    candidate through its last state alone.
    """

    exact = True
    by_last_state = True
    reads_observations = False

    def orbit(self, completion: Completion) -> tuple[int, ...]:
        return (completion.last,)

    def reference(
        self, completion: Completion, n_resamples: int, generator: Generator
    ) -> Reference:
        visits = completion.history.visits(completion.last)
        return Reference.past(spaced_ends(visits, len(completion.history), completion.horizon))

    def chains(self, tokens: IntArray, horizon: int) -> Chains:
        check_tokens(tokens, horizon)
        parents = _spaced_parents(tokens, horizon)
        # The earliest cut only ends the prefix.
        return Chains(tokens, parents, parents >= 0)

    def one_step(self, n_states: int, n_symbols: int) -> str:
        return "past"


@kernel
def spaced_ends(visits: IntArray, length: int, horizon: int) -> IntArray:
    """Return the ends of all spaced blocks but the last, latest first.

    Parameters
    ----------
    visits : times of the visits to the last state in the history, in order
    length : T, the length of the history
    """
    ends = np.empty(len(visits), dtype=np.int64)
    found, k = 0, len(visits) - 1
    bound = length - 1
    while True:
        while k >= 0 and visits[k] > bound:
            k -= 1
        if k < 0:
            break
        ends[found] = visits[k]
        found += 1
        bound = visits[k] - horizon
    # The earliest cut only ends the prefix: no block ends there.
    return ends[: max(found - 1, 0)]


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
