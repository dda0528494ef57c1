"""Nonconformity scores one step ahead under a model refitted on counts, and their ranks."""

from __future__ import annotations

import math

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.scores.nonconformity import rounded


@kernel
def share_row(counts: IntArray, prior: float, shares: FloatArray) -> None:
    """Normalise counts, with a prior on each cell; nothing at all is uniform."""
    columns, total = len(counts), 0.0
    for j in range(columns):
        total += counts[j] + prior
    for j in range(columns):
        shares[j] = (counts[j] + prior) / total if total > 0.0 else 1.0 / columns


@kernel
def estimate(
    transitions: IntArray, emissions: IntArray, priors: tuple[float, float]
) -> tuple[FloatArray, FloatArray]:
    """Return the shares of moves, (n, n), and of observations that are not missing, (n, m)."""
    n, width = emissions.shape
    moves, law = np.empty((n, n)), np.empty((n, width - 1))
    for i in range(n):
        share_row(transitions[i], priors[0], moves[i])
        share_row(emissions[i, 1:], priors[1], law[i])
    return moves, law


@kernel
def judge(
    transitions: IntArray,
    emissions: IntArray,
    moves: FloatArray,
    law: FloatArray,
    last: int,
    state: int,
    code: int,
    priors: tuple[float, float],
    surprise: bool,
    into: FloatArray,
    seen: FloatArray,
    whole: FloatArray,
) -> None:
    """Score steps to a state, under counts that include the step to be scored.

    Parameters
    ----------
    transitions, emissions : (n, n) and (n, m + 1) counts so far, missing observations first
    moves, law : what `estimate` makes of them; all is as it was afterwards
    last, state, code : the step to be judged
    priors : what is added to the counts of each
    surprise : whether the score of a whole step is minus a log-probability, else one minus it
    into, seen, whole : (n,), (m + 1,), (n, m + 1) where the scores go, of the move by the state
        before it, of the observation, and of the whole step
    """
    n, width = emissions.shape
    transitions[last, state] += 1
    emissions[state, code + 1] += 1
    share_row(transitions[last], priors[0], moves[last])
    share_row(emissions[state, 1:], priors[1], law[state])
    into[:], seen[:], whole[:] = np.inf, np.inf, np.inf
    seen[0] = 0.0
    for k in range(1, width):
        if law[state, k - 1] > 0.0:
            seen[k] = rounded(-math.log(law[state, k - 1]))
    for u in range(n):
        if moves[u, state] <= 0.0:
            continue
        into[u] = rounded(-math.log(moves[u, state]))
        whole[u, 0] = into[u] if surprise else rounded(1.0 - moves[u, state])
        for k in range(1, width):
            own = moves[u, state] * law[state, k - 1]
            if own > 0.0:
                total = 0.0
                for j in range(n):
                    total += moves[u, j] * law[j, k - 1]
                share = own / total
                whole[u, k] = rounded(-math.log(share) if surprise else 1.0 - share)
    transitions[last, state] -= 1
    emissions[state, code + 1] -= 1
    share_row(transitions[last], priors[0], moves[last])
    share_row(emissions[state, 1:], priors[1], law[state])


@kernel
def count_scores(scores: FloatArray, weights: IntArray, own: float, counts: IntArray) -> None:
    """Add the weight of greater scores, of equal ones and of all to three counts."""
    for k in range(len(scores)):
        counts[0] += weights[k] * (scores[k] > own)
        counts[1] += weights[k] * (scores[k] == own)
        counts[2] += weights[k]


@kernel
def with_own(emissions: IntArray, state: int, code: int) -> IntArray:
    """Return how often a state came with each observation, the step to be judged included."""
    counts: IntArray = emissions[state].copy()
    counts[code + 1] += 1
    return counts


@kernel
def place_parts_in_class(
    transitions: IntArray,
    emissions: IntArray,
    last: int,
    state: int,
    code: int,
    priors: tuple[float, float],
    surprise: bool,
) -> IntArray:
    """Compare the parts of a step with those that the members of its class end in.

    Parameters
    ----------
    transitions, emissions, last, state, code, priors, surprise : as in `judge`

    Returns
    -------
    five rows: whether the score of the move is greater, and equal, by the state before; the same of
    whole steps, counted by their observations; the same of observations alone, with their number,
    three numbers in one row. One array for all, since each that leaves a kernel takes its time.
    """
    n, width = emissions.shape
    moves, law = estimate(transitions, emissions, priors)
    into, seen, whole = np.empty(n), np.empty(width), np.empty((n, width))
    judge(
        transitions, emissions, moves, law, last, state, code, priors, surprise, into, seen, whole
    )
    found = np.zeros((5, max(n, 3)), dtype=np.int64)
    counts = with_own(emissions, state, code)
    count_scores(seen, counts, seen[code + 1], found[4])
    for u in range(n):
        found[0, u], found[1, u] = into[u] > into[last], into[u] == into[last]
        placed = np.zeros(3, dtype=np.int64)
        count_scores(whole[u], counts, whole[last, code + 1], placed)
        found[2, u], found[3, u] = placed[0], placed[1]
    return found


@kernel
def place_in_class(
    transitions: IntArray,
    emissions: IntArray,
    last: int,
    code: int,
    priors: tuple[float, float],
    surprise: bool,
) -> tuple[IntArray, FloatArray]:
    """Compare a step to each state with what the members of its class end in.

    Returns
    -------
    the counts of `count_scores` for each state and each state before it, (n, n, 3), and the score
    of each step, (n,)
    """
    n, width = emissions.shape
    found, scores = np.zeros((n, n, 3), dtype=np.int64), np.empty(n)
    moves, law = estimate(transitions, emissions, priors)
    into, seen, whole = np.empty(n), np.empty(width), np.empty((n, width))
    for state in range(n):
        judge(
            transitions, emissions, moves, law, last, state, code, priors, surprise, into, seen,
            whole,
        )  # fmt: skip
        scores[state] = whole[last, code + 1]
        counts = with_own(emissions, state, code)
        for u in range(n):
            count_scores(whole[u], counts, scores[state], found[state, u])
    return found, scores


@kernel
def place_fixed_in_class(
    table: FloatArray, emissions: IntArray, last: int, code: int
) -> tuple[IntArray, FloatArray]:
    """Compare a step to each state as `place_in_class` does, by scores of a fixed model.

    Parameters
    ----------
    table : (n, n, m + 1) scores by state before, state and observation, a missing one first
    """
    n = len(table)
    found, scores = np.zeros((n, n, 3), dtype=np.int64), table[last, :, code + 1].copy()
    for state in range(n):
        counts = with_own(emissions, state, code)
        for u in range(n):
            count_scores(table[u, state], counts, scores[state], found[state, u])
    return found, scores


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
    """Rank a step to each state among the past steps to it: greater, equal, and total.

    Parameters
    ----------
    steps : (n, n, m + 1) past steps by the state before, the state and the observation
    transitions, emissions, last, code, priors, surprise : as in `judge`

    Returns
    -------
    these numbers, (n, 3), and the score of each step, (n,)
    """
    n, width = emissions.shape
    placed, scores = np.zeros((n, 3), dtype=np.int64), np.empty(n)
    moves, law = estimate(transitions, emissions, priors)
    into, seen, whole = np.empty(n), np.empty(width), np.empty((n, width))
    for state in range(n):
        judge(
            transitions, emissions, moves, law, last, state, code, priors, surprise, into, seen,
            whole,
        )  # fmt: skip
        scores[state] = whole[last, code + 1]
        placed[state, 1] = placed[state, 2] = 1
        for u in range(n):
            count_scores(whole[u], steps[u, state], scores[state], placed[state])
    return placed, scores


@kernel
def count_step(
    steps: IntArray, ring: IntArray, entered: IntArray, earlier: int, state: int, column: int
) -> None:
    """Count a step to a state; where the ring is full, its oldest step to the state goes out.

    Parameters
    ----------
    steps, ring, entered : as in `definetti.engine.stream.Stream`; they are changed
    earlier, state, column : the state before, the state, and the column of the observation
    """
    room = ring.shape[1]
    if room:
        place = entered[state] % room
        if entered[state] >= room:
            steps[ring[state, place, 0], state, ring[state, place, 1]] -= 1
        ring[state, place, 0], ring[state, place, 1] = earlier, column
    steps[earlier, state, column] += 1
    entered[state] += 1
