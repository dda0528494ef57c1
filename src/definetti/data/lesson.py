"""A part of a completed sequence, for a model to learn from."""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import IntArray
from definetti._system.compiled import kernel
from definetti.data.history import Completion, History, padded
from definetti.data.sound import check_indices


def part_of(completion: Completion, times: IntArray) -> History:
    """Return a candidate and some steps of its history, earlier stretches included, as a history.

    Parameters
    ----------
    times : (K,) the steps, each with the transition that led to it
    """
    past, n = completion.history, completion.n_states
    check_indices(times, 0, len(past), "steps to learn from")
    check_indices(completion.states, 0, n, "states")
    before = len(past.pool) - len(past)  # where earlier stretches end
    begin = int(past.pool.omits_first)
    if begin and not before:
        times = times[times > 0]
    earlier = padded(past.pool.transitions - past.transitions, n, n)
    found = History.of(
        *_gather(
            past.states,
            past.observations,
            times,
            completion.states,
            completion.observations,
            past.pool.states[begin:before],
            past.pool.observations[begin:before],
            earlier,
        )
    )
    found.known, found.first = past.known, past.pool.first
    return found


@kernel
def _gather(
    states: IntArray,
    observations: IntArray,
    times: IntArray,
    new_states: IntArray,
    new_observations: IntArray,
    old_states: IntArray,
    old_observations: IntArray,
    counts: IntArray,
) -> tuple[IntArray, IntArray, IntArray]:
    """Put old steps, some steps and new ones one after the other; count what led to each."""
    old, some, new = len(old_states), len(times), len(new_states)
    found = np.empty(old + some + new, dtype=np.int64)
    seen = np.empty(old + some + new, dtype=np.int64)
    counts = counts.copy()
    for k in range(old):
        found[k], seen[k] = old_states[k], old_observations[k]
    for k in range(some):
        time = times[k]
        found[old + k], seen[old + k] = states[time], observations[time]
        if time > 0:
            counts[states[time - 1], states[time]] += 1
    last = states[-1]
    for k in range(new):
        found[old + some + k], seen[old + some + k] = new_states[k], new_observations[k]
        counts[last, new_states[k]] += 1
        last = new_states[k]
    return found, seen, counts
