"""Step 4: the windows of all orders of the blocks, counted where feasible, else drawn."""

from __future__ import annotations

from dataclasses import dataclass

from definetti._system.checks import checked_limit
from definetti.symmetry._blocks import Blocks
from definetti.symmetry._tails import count_windows
from definetti.symmetry.base import Generator, Reference, Symmetry

MAX_WINDOWS = 20_000


@dataclass(frozen=True)
class Arrangements(Symmetry):
    """What symmetries that count orders of blocks share."""

    max_windows: int = MAX_WINDOWS

    def __post_init__(self) -> None:
        checked_limit(self.max_windows, "max_windows")


def all_orders(
    blocks: Blocks, max_windows: int, n_resamples: int, generator: Generator
) -> Reference:
    """Compare with all orders of the blocks."""
    horizon = blocks.completion.horizon
    counted = count_windows(blocks, horizon, max_windows)
    if counted is not None:
        return Reference(*counted, joins=False)
    return Reference.drawn(blocks.drawn(generator(), n_resamples, horizon))
