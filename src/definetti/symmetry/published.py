"""What the authors' program computes, kept to reproduce the published numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from definetti.data.history import Completion
from definetti.data.windows import Windows
from definetti.symmetry._arrangements import Arrangements
from definetti.symmetry._blocks import cut_at_pair
from definetti.symmetry._tails import count_windows
from definetti.symmetry.base import Generator, Reference


@dataclass(frozen=True)
class Published(Arrangements, name="published"):
    """The published program of Nettasinghe et al. (2023); **not valid**: it under-covers.

    It departs from the paper's theorem. The permuted windows are the end of ``h + 1`` concatenated
    blocks *without* the last pair, while the window that is judged includes it, and that window is
    not among those it is ranked with. With fewer than ``h + 1`` blocks the program tries the pair
    one step earlier, and so on, and at last tosses a coin that falls on "in" with probability
    ``1 − alpha``. Exact coverage by enumeration falls below the level (see ``definetti verify``).

    Parameters
    ----------
    max_windows : int, default 20000
        As for `Returns`.
    """

    exact = False

    def reference(
        self, completion: Completion, n_resamples: int, generator: Generator
    ) -> Reference:
        horizon = completion.horizon
        for step in range(-1, -horizon - 1, -1):
            blocks = cut_at_pair(completion, step)
            if blocks.number > horizon:
                break
        else:
            return Reference.alone(completion)._replace(randomised=True)  # the coin
        # One step longer, then without its last element: the blocks without the last pair.
        counted = count_windows(blocks, horizon + 1, self.max_windows)
        if counted is None:
            longer = blocks.drawn(generator(), n_resamples, horizon + 1)
            weights = np.ones(n_resamples, dtype=np.int64)
        else:
            longer, weights = counted
        windows = Windows(longer.start, longer.states[:, :-1], longer.observations[:, :-1])
        return Reference(windows, weights, joins=False)
