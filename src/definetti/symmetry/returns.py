"""Blocks between visits to the last state."""

from __future__ import annotations

from dataclasses import dataclass

from definetti.checks import checked_limit
from definetti.history import Completion
from definetti.symmetry.arrangements import MAX_WINDOWS, all_orders
from definetti.symmetry.blocks import cut_at_state
from definetti.symmetry.contract import Generator, Reference, candidate_key


@dataclass(frozen=True)
class Returns:
    """Cut after every visit to the last state and rearrange the blocks; exactly valid.

    Observations travel with their states, so they may be anything.

    Parameters
    ----------
    max_windows : int, default 20000
        Orders are counted exactly where their distinct windows are at most so many, and drawn at
        random where they are more. Both are exactly valid.
    """

    max_windows: int = MAX_WINDOWS

    exact = True

    def __post_init__(self) -> None:
        checked_limit(self.max_windows, "max_windows")

    def orbit(self, completion: Completion) -> tuple[int, ...]:
        return candidate_key(completion)

    def reference(
        self, completion: Completion, n_resamples: int, generator: Generator
    ) -> Reference:
        return all_orders(cut_at_state(completion), self.max_windows, n_resamples, generator)
