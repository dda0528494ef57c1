"""The end of a sequence: all that a score looks at."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from definetti._system.arrays import IntArray
from definetti.data.labels import MISSING


class Windows(NamedTuple):
    """A batch of ``B`` windows of ``h`` steps, as codes.

    Attributes
    ----------
    start : (B,) the state just before the window
    states : (B, h) the states in the window
    observations : (B, h) the codes of the observations in the window
    """

    start: IntArray
    states: IntArray
    observations: IntArray

    def __add__(self, other: "Windows") -> "Windows":  # type: ignore[override]
        """Stack two batches of the same horizon."""
        return stacked([self, other])


def stacked(batches: Iterable[Windows]) -> Windows:
    """Stack batches of the same horizon, of which there is at least one."""
    first, *others = batches
    if not others:
        return first
    return Windows(*(np.concatenate(parts) for parts in zip(first, *others, strict=True)))


def unseen(windows: Windows) -> Windows:
    """Return windows as if nothing had been observed in them."""
    return windows._replace(observations=np.full_like(windows.observations, MISSING))
