"""All state sequences of a horizon, or a refusal to list them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from definetti.arrays import IntArray
from definetti.checks import checked_number
from definetti.sets.prediction import powered


def check_budget(n_states: int, horizon: Any, max_candidates: Any) -> None:
    """Refuse to list more candidates than were allowed, before any memory is taken."""
    most = checked_number(max_candidates, "max_candidates")
    steps = checked_number(horizon, "horizon")
    if n_states > 1 and (steps > most or n_states**steps > most):
        raise ValueError(
            f"{n_states} states over a horizon of {steps} steps make {powered(n_states, steps)} "
            f"candidate sequences, more than max_candidates={most:,}; shorten the horizon, ask "
            "p_value for single sequences, or raise max_candidates"
        )
    if steps > most:
        raise ValueError(
            f"horizon is {steps:,}, more steps than max_candidates={most:,}; shorten it"
        )


def all_candidates(n_states: int, horizon: int) -> IntArray:
    """List all state sequences, ``(n_states ** horizon, horizon)``.

    >>> all_candidates(2, 2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    return np.array(list(product(range(n_states), repeat=horizon)), dtype=np.int64)
