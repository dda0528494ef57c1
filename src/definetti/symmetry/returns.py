"""Blocks between visits to the last state."""

from __future__ import annotations

from dataclasses import dataclass

from definetti.data.history import Completion
from definetti.symmetry._arrangements import Arrangements, all_orders
from definetti.symmetry._blocks import cut_at_state
from definetti.symmetry.base import Generator, Reference


@dataclass(frozen=True)
class Returns(Arrangements, name="returns"):
    """Cut after every visit to the last state and rearrange the blocks; exactly valid.

    Observations travel with their states, so they may be anything.

    Parameters
    ----------
    max_windows : int, default 20000
        Orders are counted exactly where their distinct windows are at most so many, and drawn at
        random where they are more. Both are exactly valid.
    """

    exact = True
    reads_observations = False

    def reference(
        self, completion: Completion, n_resamples: int, generator: Generator
    ) -> Reference:
        return all_orders(cut_at_state(completion), self.max_windows, n_resamples, generator)
