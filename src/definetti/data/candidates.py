"""All state sequences of a horizon, or a refusal to list them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from definetti._system.arrays import IntArray
from definetti._system.checks import checked_number

PER_WINDOW = 20_000  # candidates that may be listed for each of many windows
SECOND = 10**9  # operations
# Cells of a trellis, a square of states for each step: 4 GB at eight bytes each. A sequence asked
# about by itself has a row of them.
MOST_CELLS = 2**29


def is_long(n_states: int, horizon: int, max_candidates: Any) -> bool:
    """Tell whether there are more candidates than may be listed, without writing their number."""
    most = int(max_candidates)
    if horizon > most or n_states == 1:
        return horizon > most
    return horizon >= most.bit_length() or n_states**horizon > most


def is_slow(n_states: int, horizon: int, length: int, shared: bool, recent: int | None) -> bool:
    """Tell whether to rank all candidates, refitted, takes more than about a second.

    By the number of operations, a nanosecond each on the machine that they were measured on
    (`python -m benchmarks refitted`): what is decided is the same on every machine. One step ahead
    never is.
    """
    if horizon == 1 or is_long(n_states, horizon, SECOND):
        return horizon > 1  # their number need not be written
    windows = length // n_states
    steps = horizon * (windows if recent is None else min(windows, recent))
    each = 15_000 + steps * n_states**2
    if not shared:  # a law for each state of each candidate
        each += 100_000 + 60 * steps * n_states
    return bool(n_states**horizon * each > SECOND)


def check_listing(n_states: int, horizon: Any, max_candidates: Any, way: Callable[[], str]) -> None:
    """Refuse to list more candidates than were allowed, before any memory is taken."""
    if not is_long(n_states, horizon, max_candidates):
        return
    steps = checked_number(horizon, "horizon")
    if n_states == 1:
        raise ValueError(
            f"horizon is {steps:,}, more steps than max_candidates={max_candidates:,}; shorten it"
        )
    left = way()
    remedy = "ask predict_set with a score that goes step by step, such as 'path'"
    remedy = f"{left}, which needs no list" if left else remedy
    raise ValueError(
        f"{n_states} states over a horizon of {steps} steps make {powered(n_states, steps)} "
        f"candidate sequences, more than max_candidates={max_candidates:,}; {remedy}, or shorten "
        "the horizon, ask p_value for single sequences, or raise max_candidates"
    )


def powered(base: int, exponent: int) -> str:
    """Write a power in full where a person could read it."""
    readable = base < 2 or (exponent < 50 and exponent * np.log10(base) < 15)
    return f"{base**exponent:,}" if readable else f"{base}^{exponent}"


def all_candidates(n_states: int, horizon: int) -> IntArray:
    """List all state sequences, ``(n_states ** horizon, horizon)``."""
    return np.array(list(product(range(n_states), repeat=horizon)), dtype=np.int64)


def check_size(
    n_states: int,
    horizon: Any,
    fixed: bool,
    max_candidates: Any,
    listing: bool,
    way: Callable[[], str],
) -> None:
    """Refuse steps that there is no room for, before any memory is taken."""
    if horizon is None:
        return
    checked_number(horizon, "horizon")
    if not fixed and listing:
        check_listing(n_states, horizon, max_candidates, way)
    cells = n_states ** (2 if listing else 1)
    if fixed and horizon * cells > MOST_CELLS:
        raise ValueError(
            f"horizon={horizon:,} with {n_states} states takes more memory than there is; ask for "
            f"at most {MOST_CELLS // cells:,} steps at once"
        )
