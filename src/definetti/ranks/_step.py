"""One step ahead under a model refitted on counts: how strange each is, and what is as strange."""

from __future__ import annotations

import math

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.ranks.pvalue import tied


@kernel
def shares(counts: IntArray, prior: float, shares: FloatArray) -> None:
    """Normalise rows of counts, with a prior on each cell; a row of nothing is uniform."""
    rows, columns = counts.shape
    for i in range(rows):
        total = 0.0
        for j in range(columns):
            total += counts[i, j] + prior
        for j in range(columns):
            shares[i, j] = (counts[i, j] + prior) / total if total > 0.0 else 1.0 / columns


@kernel
def judge(
    transitions: IntArray,
    emissions: IntArray,
    last: int,
    state: int,
    code: int,
    priors: tuple[float, float],
    surprise: bool,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Tell how strange steps to a state are, under counts that have the step to be judged.

    Parameters
    ----------
    transitions, emissions : (n, n) and (n, m + 1) counts so far, missing observations first
    last, state, code : the step to be judged
    priors : what is added to the counts of each
    surprise : whether the score of a whole step is minus a log-probability, else one minus it

    Returns
    -------
    scores of the move by the state before it, (n,), of the observation, (m + 1,), and of the
    whole step, (n, m + 1)
    """
    n, width = emissions.shape
    transitions[last, state] += 1
    emissions[state, code + 1] += 1
    moves, law = np.empty((n, n)), np.empty((n, width - 1))
    shares(transitions, priors[0], moves)
    shares(emissions[:, 1:], priors[1], law)
    transitions[last, state] -= 1
    emissions[state, code + 1] -= 1
    into, seen, whole = np.full(n, np.inf), np.full(width, np.inf), np.full((n, width), np.inf)
    seen[0] = 0.0
    for k in range(1, width):
        if law[state, k - 1] > 0.0:
            seen[k] = -math.log(law[state, k - 1])
    for u in range(n):
        if moves[u, state] <= 0.0:
            continue
        into[u] = -math.log(moves[u, state])
        whole[u, 0] = into[u] if surprise else 1.0 - moves[u, state]
        for k in range(1, width):
            own = moves[u, state] * law[state, k - 1]
            if own > 0.0:
                total = 0.0
                for j in range(n):
                    total += moves[u, j] * law[j, k - 1]
                whole[u, k] = -math.log(own / total) if surprise else 1.0 - own / total
    return into, seen, whole


@kernel
def tied_with(own: float, scores: FloatArray) -> tuple[float, float]:
    """Return the least and the largest score of the chain of ties that a score is in.

    >>> tied_with(0.5, np.array([0.7, 0.5, 0.5 - 1e-10, 0.2]))
    (0.4999999999, 0.5)
    """
    ordered = np.sort(scores)
    low = high = own
    place = np.searchsorted(ordered, own)
    k = place - 1
    while k >= 0 and tied(ordered[k], low):
        low = ordered[k]
        k -= 1
    k = place
    while k < len(ordered) and tied(high, ordered[k]):
        high = ordered[k]
        k += 1
    return low, high


@kernel
def place_in_class(
    transitions: IntArray,
    emissions: IntArray,
    sources: IntArray,
    last: int,
    state: int,
    code: int,
    priors: tuple[float, float],
    surprise: bool,
) -> tuple[IntArray, IntArray, IntArray, float]:
    """Compare a step with all that the members of its class end in.

    Parameters
    ----------
    sources : (n,) above 0 where some member comes to the state from this one
    transitions, emissions, last, state, code, priors, surprise : as in `judge`

    Returns
    -------
    by the state before, (n, 2), whether the move is stranger, and as strange; the same of whole
    steps, counted by their observations; the same of observations alone, (3,), with their number;
    and how strange the whole step is
    """
    n, width = emissions.shape
    into, seen, whole = judge(transitions, emissions, last, state, code, priors, surprise)
    moves, steps = np.zeros((n, 2), dtype=np.int64), np.zeros((n, 2), dtype=np.int64)
    observed = np.zeros(3, dtype=np.int64)
    room, there = np.empty(n * width), 0
    codes, known = np.empty(width), 0
    ways, found = np.empty(n), 0
    for k in range(width):
        if emissions[state, k] or k == code + 1:
            codes[known] = seen[k]
            known += 1
    for u in range(n):
        if sources[u]:
            ways[found] = into[u]
            found += 1
            for k in range(width):
                if emissions[state, k] or k == code + 1:
                    room[there] = whole[u, k]
                    there += 1
    own = code + 1
    least, most = tied_with(seen[own], codes[:known])
    low_move, high_move = tied_with(into[last], ways[:found])
    low, high = tied_with(whole[last, own], room[:there])
    for k in range(width):
        count = emissions[state, k] + (k == own)
        observed[0] += count * (seen[k] > most)
        observed[1] += count * (least <= seen[k] <= most)
        observed[2] += count
        for u in range(n):
            if sources[u] and count:
                steps[u, 0] += count * (whole[u, k] > high)
                steps[u, 1] += count * (low <= whole[u, k] <= high)
    for u in range(n):
        if sources[u]:
            moves[u, 0] = into[u] > high_move
            moves[u, 1] = low_move <= into[u] <= high_move
    return moves, steps, observed, float(whole[last, own])


@kernel
def place_all_in_class(
    transitions: IntArray,
    emissions: IntArray,
    sources: IntArray,
    last: int,
    code: int,
    priors: tuple[float, float],
    surprise: bool,
) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Compare a step to each state with what the members of its class end in.

    Parameters
    ----------
    sources : (n, n) by state and the state before it, as in `place_in_class`; none of a state that
        there is nothing to compare with
    """
    n = len(transitions)
    moves, steps = np.zeros((n, n, 2), dtype=np.int64), np.zeros((n, n, 2), dtype=np.int64)
    seen, scores = np.zeros((n, 3), dtype=np.int64), np.zeros(n)
    for state in range(n):
        if sources[state].any():
            moves[state], steps[state], seen[state], scores[state] = place_in_class(
                transitions, emissions, sources[state], last, state, code, priors, surprise
            )
        else:
            whole = judge(transitions, emissions, last, state, code, priors, surprise)[2]
            scores[state] = whole[last, code + 1]
    return moves, steps, seen, scores


@kernel
def place_in_past(
    transitions: IntArray,
    emissions: IntArray,
    steps: IntArray,
    last: int,
    code: int,
    priors: tuple[float, float],
    surprise: bool,
) -> tuple[IntArray, FloatArray]:
    """Compare a step to each state with the past steps to it: stranger, as strange, and all.

    Parameters
    ----------
    steps : (n, n, m + 1) past steps by the state before, the state and the observation
    transitions, emissions, last, code, priors, surprise : as in `judge`

    Returns
    -------
    these numbers, (n, 3), and how strange each step is, (n,)
    """
    n, width = emissions.shape
    placed, scores = np.zeros((n, 3), dtype=np.int64), np.empty(n)
    for state in range(n):
        whole = judge(transitions, emissions, last, state, code, priors, surprise)[2]
        room, there = np.empty(n * width), 0
        for u in range(n):
            for k in range(width):
                if steps[u, state, k]:
                    room[there] = whole[u, k]
                    there += 1
        low, high = tied_with(whole[last, code + 1], room[:there])
        scores[state] = whole[last, code + 1]
        placed[state, 1] = placed[state, 2] = 1
        for u in range(n):
            for k in range(width):
                count = steps[u, state, k]
                if count:
                    placed[state, 0] += count * (whole[u, k] > high)
                    placed[state, 1] += count * (low <= whole[u, k] <= high)
                    placed[state, 2] += count
    return placed, scores
