"""The sequences that are asked about: one chain, observed in many ways.

Nothing but uniform numbers is drawn, and numbers are rounded, so that every machine and every
version of NumPy makes the same data.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl

from definetti.simulate import weather

PAST, NEW = 120, 12
LONG_PAST, LONG_NEW = 600, 200


class Data(NamedTuple):
    """A sequence of which the first steps are labelled history, and the others new."""

    observations: Any
    states: list[Any]
    past: int = PAST

    def part(self, begin: int, end: int) -> tuple[Any, list[Any]]:
        """Return observations and states of some steps."""
        seen = None if self.observations is None else self.observations[begin:end]
        return seen, self.states[begin:end]

    def history(self) -> tuple[Any, list[Any]]:
        return self.part(0, self.past)

    def window(self, steps: int, k: int = 0) -> tuple[Any, list[Any]]:
        """Return the k-th window of so many steps after the history."""
        return self.part(self.past + k * steps, self.past + (k + 1) * steps)


@cache
def data(kind: str) -> Data:
    """Return the sequence with observations of a kind."""
    if kind == "long":
        return Data(*weather(LONG_PAST + LONG_NEW, random_state=5), LONG_PAST)
    things, skies = weather(PAST + NEW, random_state=5)
    if kind == "novel":
        for k, thing, sky in [(1, "kite", "sun"), (4, "hat", "hail"), (8, "boots", "hail")]:
            things[PAST + k], skies[PAST + k] = thing, sky
        return Data(things, skies)
    return Data(_observed(kind, things, [int(sky == "rain") for sky in skies]), skies)


def _observed(kind: str, things: list[str], rain: list[int]) -> Any:
    u, wet = np.random.default_rng(7).random((len(things), 4)), np.array(rain)
    numbers = np.round(1.5 * wet + 2 * u[:, 0] + u[:, 1], 3)
    counts = (u[:, :2] * (3 + 4 * wet[:, None])).astype(int)
    if kind == "words":  # most of them met once
        stems = (u[:, 0] ** -2).astype(int).tolist()
        return [f"w{k}{('ing', 'ed')[w]}" for k, w in zip(stems, rain, strict=True)]
    columns = {"heat": numbers, "thing": things, "alarms": counts[:, 0], "on": u[:, 2] < 0.5}
    kinds = {
        "symbols": things,
        "codes": [("umbrella", "hat", "nothing").index(thing) for thing in things],
        "gaps": [None if k % 7 == 3 else thing for k, thing in enumerate(things)],
        "numbers": numbers,
        "vectors": np.column_stack([numbers, np.round(u[:, 3] - 0.5 * wet, 3)]),
        "counts": counts,
        "switches": u[:, :3] < 0.3 + 0.4 * wet[:, None],
        "pandas": pd.DataFrame(columns),
        "polars": pl.DataFrame(columns),
        "judged": np.round(np.column_stack([-wet - u[:, 0], wet - 1 - u[:, 1]]), 3),
        "plain": None,
    }
    return kinds[kind]


KINDS = [
    "symbols", "codes", "gaps", "numbers", "vectors", "counts", "switches", "words", "pandas",
    "polars", "plain", "novel",
]  # fmt: skip
