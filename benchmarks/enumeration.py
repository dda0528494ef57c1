"""Algorithm 1 by enumeration: every arrangement of the last ``h + 1`` blocks, one by one.

Written as the paper describes it, and compiled. Blocks begin with the last pair ``(i, j)``, the
trailing pair stays in place, and each of the ``d!/(d − h − 1)!`` arrangements is read and scored.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from benchmarks.models import Floats, Ints
from definetti._system.compiled import kernel, unroll_size

TIED = 1e-9


def rank_candidates(
    x: Ints, y: Ints, new: Ints, n_states: int, n_symbols: int
) -> tuple[dict[tuple[int, ...], float], int]:
    """Return the p-value of each candidate, and how many arrangements were scored in all."""
    found, arrangements = {}, 0
    observations = np.concatenate([y, new])
    for candidate in product(range(n_states), repeat=len(new)):
        states = np.concatenate([x, candidate])  # Step 1
        transition, emission = _estimate(states, observations, n_states, n_symbols)  # Step 2
        last = (states == states[-1]) & (observations == observations[-1])
        cuts = np.flatnonzero(last)  # Step 3
        model = (transition, emission, len(new), unroll_size(n_states))
        stranger, total = count_arrangements(cuts, states, observations, *model)
        found[candidate] = stranger / total  # Step 5
        arrangements += total
    return found, arrangements


def _estimate(x: Ints, y: Ints, n_states: int, n_symbols: int) -> tuple[Floats, Floats]:
    """Relative frequencies; both benchmarked histories show every state, so that no row is 0."""
    transition, emission = np.zeros((n_states, n_states)), np.zeros((n_states, n_symbols))
    np.add.at(transition, (x[:-1], x[1:]), 1)
    np.add.at(emission, (x, y), 1)
    return (
        transition / transition.sum(axis=1, keepdims=True),
        emission / emission.sum(axis=1, keepdims=True),
    )


@kernel
def count_arrangements(
    cuts: Ints,
    x: Ints,
    y: Ints,
    transition: Floats,
    emission: Floats,
    horizon: int,
    each: tuple[bool, ...],
) -> tuple[int, int]:
    """Step 4: count the arrangements at least as strange as the sequence itself, and all."""
    blocks = len(cuts) - 1
    depth = min(horizon + 1, blocks)
    window = np.empty(horizon + 1, dtype=np.int64)
    filtered = np.empty((2, len(transition)))
    for k in range(horizon + 1):
        window[k] = len(x) - 1 - horizon + k
    observed = _score_window(window, x, y, transition, emission, filtered, each)
    chosen = np.full(depth, -1, dtype=np.int64)  # blocks, from the end of the sequence
    used = np.zeros(blocks, dtype=np.bool_)
    stranger, total, place = 0, 0, 0
    while place >= 0:
        if place == depth:
            _read_window(chosen, cuts, len(x) - 1, window)
            score = _score_window(window, x, y, transition, emission, filtered, each)
            stranger += score >= observed - TIED
            total += 1
            place -= 1
            continue
        if chosen[place] >= 0:
            used[chosen[place]] = False
        chosen[place] += 1
        while chosen[place] < blocks and used[chosen[place]]:
            chosen[place] += 1
        if chosen[place] == blocks:
            chosen[place] = -1
            place -= 1
        else:
            used[chosen[place]] = True
            place += 1
    return stranger, total


@kernel
def _read_window(chosen: Ints, cuts: Ints, end: int, window: Ints) -> None:
    """Read the times that an arrangement puts last, before the trailing pair."""
    window[-1] = end
    block, time, begin = 0, -1, 0
    for k in range(len(window) - 2, -1, -1):
        if time < begin:
            if block < len(chosen):
                time, begin = cuts[chosen[block] + 1] - 1, cuts[chosen[block]]
            else:  # few blocks: the prefix, which stays in place, is next
                time, begin = cuts[0] - 1, 0
            block += 1
        window[k] = time
        time -= 1


@kernel
def _score_window(
    window: Ints,
    x: Ints,
    y: Ints,
    transition: Floats,
    emission: Floats,
    filtered: Floats,
    each: tuple[bool, ...],
) -> float:
    """One minus the mean filter probability of the window's states."""
    n, horizon = len(each), len(window) - 1
    for i in range(n):
        filtered[0, i] = i == x[window[0]]
    mean = 0.0
    for k in range(1, horizon + 1):
        old, new = 1 - (k & 1), k & 1
        state, symbol = x[window[k]], y[window[k]]
        total = 0.0
        for j in range(n):
            weight = 0.0
            for i in range(n):
                weight += filtered[old, i] * transition[i, j]
            filtered[new, j] = weight * emission[j, symbol]
            total += filtered[new, j]
        scale = 1.0 / total
        for j in range(n):
            filtered[new, j] *= scale
        mean += filtered[new, state]
    return 1.0 - mean / horizon
