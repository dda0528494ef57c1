"""A part of a completed sequence, for a model to learn from."""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import IntArray
from definetti.data.history import Completion, History


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
    part = History(n, past.symbols)
    part.append(np.concatenate(states), np.concatenate(seen), n, gap=True)
    counts = np.zeros((n, n), dtype=np.int64)
    known = past.transitions.shape
    counts[: known[0], : known[1]] = past.pool.transitions - past.transitions
    led = times[times > 0]
    np.add.at(counts, (past.states[led - 1], past.states[led]), 1)
    np.add.at(counts, completion.moves, 1)
    part.transitions = counts
    return part
