"""Algorithm 1 as its theorem states it."""

from __future__ import annotations

from dataclasses import dataclass

from definetti.data.history import Completion
from definetti.symmetry._arrangements import Arrangements, all_orders
from definetti.symmetry._blocks import cut_at_pair
from definetti.symmetry.base import Generator, Reference


@dataclass(frozen=True)
class Pairs(Arrangements, name="pairs"):
    """Cut at every occurrence of the last pair of state and observation; exactly valid.

    This is the method of Nettasinghe et al. (2023), with all ``d!`` permutations of the blocks. At
    horizon 1 every rearrangement ends in the same pair, so the observation that is being judged
    never varies and the sets are nearly full: `Returns` and `Full` are as valid and far smaller.

    Parameters
    ----------
    max_windows : int, default 20000
        As for `Returns`.
    """

    exact = True

    def reference(
        self, completion: Completion, n_resamples: int, generator: Generator
    ) -> Reference:
        return all_orders(cut_at_pair(completion), self.max_windows, n_resamples, generator)
