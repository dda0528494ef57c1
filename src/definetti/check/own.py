"""A function of one's own, as a statistic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.check.base import Effect, Statistic
from definetti.check.sample import Draws, Sample


@dataclass(frozen=True)
class Own(Statistic):
    """A function of states and observations, large where something is wrong.

    Parameters
    ----------
    function : callable
        ``function(states, observations)`` with a list of labels and the observations in the form in
        which they were given, both rearranged; it returns a number, and keeps nothing between
        calls. Observations are None for a plain chain.
    """

    function: Callable[[list[Any], Any], float]

    asks = "a function of one's own"

    def parts(self, sample: Sample) -> tuple[str, ...]:
        return ("",)

    def measure(self, sample: Sample, draws: Draws) -> FloatArray:
        found = []
        for tokens, times in zip(draws.tokens, draws.times, strict=True):
            states = [sample.labels[code] for code in sample.heads[tokens].tolist()]
            found.append(self._number(self.function(states, _take(sample.raw, times))))
        return np.array(found)[:, None]

    def _number(self, value: Any) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = np.nan
        if np.isnan(number):
            raise ValueError(
                f"tests: {self.function!r} returned {value!r}; return a number for every "
                "rearrangement, 0 where there is nothing to tell"
            )
        return number

    def effect(self, sample: Sample, values: FloatArray, part: int) -> Effect:
        own, drawn = float(values[0, 0]), float((values[1:, 0] / (len(values) - 1)).sum())
        return Effect(f"it is {own:.4g}, where rearrangements have {drawn:.4g}", own - drawn)

    def remedy(self, sample: Sample, effect: Effect) -> str:
        return "take symmetry='spaced', or a memory that holds what it measures"


def _take(values: Any, times: IntArray) -> Any:
    """Return values in another order, in the form that they have."""
    if values is None:
        return None
    native = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, (nw.DataFrame, nw.Series)):
        return native[times.tolist()].to_native()
    if isinstance(values, np.ndarray):
        return values[times]
    entries = list(values)
    return [entries[t] for t in times.tolist()]
