"""The row of a method in a world: how often it covers, how small its sets are, and how fast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from definetti.contest.contestants import Contestant
from definetti.contest.worlds import Drawn, Recorded
from definetti.evaluation.summarize import exact_interval, find_worst_state, split_by_last_state
from definetti.paper.methods import PROMISED
from definetti.paper.shortfalls import mark_short

Rows = list[dict[str, Any]]
ENOUGH = 10  # windows that end in a state, for its own coverage to be told
GUARANTEED = {True: "yes", None: "if Markov", False: "lost"}  # by what is known of a world


def row(world: Drawn | Recorded, contestant: Contestant, records: Sequence[Any]) -> dict[str, Any]:
    """Sum up the windows of a method in a world.

    Parameters
    ----------
    records : for each window whether the truth was in the set, the size of the set, the true last
        state, and the seconds that it took; none if the method cannot be run there
    """
    n, horizon, oracle = len(world.labels), world.horizon, world.oracle
    found: dict[str, Any] = {
        "world": world.name,
        "horizon": horizon,
        "method": contestant.name,
        "by": contestant.by,
        "guaranteed": GUARANTEED[world.markov] if contestant.exact else "no",
        "states": n,
        "repetitions": len(records),
    }
    if not records:
        return {**found, "note": contestant.cannot(world.kind, n**horizon)}
    covered, sizes, lasts, seconds = (np.array(column) for column in zip(*records, strict=True))
    own = split_by_last_state(covered, lasts, ENOUGH)
    worst, state = find_worst_state(own)
    # One interval a state: the chance that any of them misleads is shared out among them.
    sure = 1 - 0.05 / max(len(own), 1)
    reached = [_interval(part, sure)[1] >= PROMISED for part in own.values()]
    low, high = _interval(covered)
    size = float(sizes.mean()) / n**horizon
    return {
        **found,
        "covered": int(covered.sum()),
        "coverage": float(covered.mean()),
        "low": low,
        "high": high,
        "worst": worst,
        "worst_state": None if state is None else world.labels[state],
        "worst_windows": int((lasts == state).sum()),
        "by_state": all(reached) if reached else None,
        "scaled_size": size,
        "oracle_size": oracle,
        "size_over_oracle": None if oracle is None else size / oracle,
        "seconds": float(np.median(seconds)),  # the first prediction of all compiles
    }


def _interval(covered: Any, confidence: float = 0.95) -> tuple[float, float]:
    return exact_interval(int(covered.sum()), len(covered), confidence)


def marked(rows: Rows) -> Rows:
    """Add to rows that have windows whether they are short of the promise beyond chance."""
    mark_short([row for row in rows if row["repetitions"]])
    return rows
