"""A part of a completed sequence, for a model to learn from."""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import IntArray
from definetti.data.history import Completion, History, padded


def part_of(completion: Completion, times: IntArray) -> History:
    """Return a candidate and some steps of its history, earlier stretches included, as a history.

    Parameters
    ----------
    times : (K,) the steps, each with the transition that led to it
    """
    past, n = completion.history, completion.n_states
    before = len(past.pool) - len(past)  # where earlier stretches end
    states = [past.pool.states[:before], past.states[times], completion.states]
    seen = [past.pool.observations[:before], past.observations[times], completion.observations]
    led = times[times > 0]
    origins, moves = completion.moves
    left = np.concatenate([past.states[led - 1], origins])
    entered = np.concatenate([past.states[led], moves])
    counts = np.bincount(left * n + entered, minlength=n * n).reshape(n, n)
    earlier = padded(past.pool.transitions - past.transitions, n, n)
    return History.of(np.concatenate(states), np.concatenate(seen), counts + earlier)
