"""Bets by the density that p-values have had so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.checks import check_scalar, checked_number
from definetti._system.compiled import kernel
from definetti.martingales.base import Martingale


@dataclass(eq=False)
class PlugIn(Martingale, name="plug_in"):
    """A histogram of the p-values so far is the density that the next one is bet on.

    Every departure from uniformity is found in time, not just small p-values; it takes more of
    them to see it (Fedorova, Gammerman, Nouretdinov & Vovk 2012, there with a kernel density, which
    costs more with every step).

    Parameters
    ----------
    bins : int, default 10
        How many bins of equal width the histogram has.
    prior : float, default 5
        What each bin counts for before the first p-value: the more, the more careful the bets.
    forgetting : float, default 0
        The share of the counts that is forgotten at every step; 0.01 is a memory of about 100
        p-values, which finds late changes sooner and small ones not at all.

    Examples
    --------
    >>> bet = PlugIn()
    >>> bet.update(0.42)
    0.0
    >>> float(bet.factors([0.45])[0]) > 1 > float(bet.factors([0.55])[0])
    True
    """

    bins: int = 10
    prior: float = 5.0
    forgetting: float = 0.0

    def check(self) -> None:
        checked_number(self.bins, "bins")
        check_scalar(self.prior, "prior", "try 5")
        check_scalar(self.forgetting, "forgetting", "0 forgets nothing")
        if not 0 < self.prior < np.inf:
            raise ValueError(f"prior must be a number above 0, got {self.prior!r}; try 5")
        if not 0 <= self.forgetting < 1:
            raise ValueError(
                f"forgetting must be at least 0 and below 1, got {self.forgetting!r}; 0 forgets "
                "nothing"
            )

    @property
    def breaks(self) -> tuple[float, ...]:
        return tuple(k / self.bins for k in range(1, self.bins))

    @classmethod
    def _memory(cls, kept: dict[str, Any]) -> int:
        return 16 * checked_number(kept["settings"]["bins"], "bins")

    def begin(self) -> FloatArray:
        return np.zeros(1 + self.bins)

    def bet(self, state: FloatArray, p_values: FloatArray, logs: FloatArray) -> None:
        self.check_room(state, p_values, logs)
        _bet(state, p_values, logs, float(self.prior), float(self.forgetting))


@kernel
def _bet(
    state: FloatArray, p_values: FloatArray, logs: FloatArray, prior: float, forgetting: float
) -> None:
    bins = len(state) - 1
    counts = state[1:]
    for k in range(len(p_values)):
        whole = 0.0
        for b in range(bins):
            whole += counts[b] + prior
        here = min(max(int(p_values[k] * bins), 0), bins - 1)
        state[0] += np.log((counts[here] + prior) * bins / whole)
        logs[k] = state[0]
        for b in range(bins):
            counts[b] *= 1.0 - forgetting
        counts[here] += 1.0
