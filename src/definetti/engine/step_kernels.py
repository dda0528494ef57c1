"""Compiled kernels: scores and ranks one step ahead from counts.

The model is refitted on the counts, the step to be ranked included, or fixed and given as a table
of scores. `transitions`, ``(n, n)``, and `emissions`, ``(n, m + 1)`` with missing observations
first, are the counts so far; `priors` are added to the cells of each; `surprise` scores a whole
step by minus the log-probability of its state, else by one minus the probability.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.engine.pvalues import count_scores
from definetti.scores.nonconformity import rounded


@kernel
def share_row(counts: IntArray, prior: float, shares: FloatArray) -> None:
    """Normalise counts plus a prior on each cell; a zero total gives uniform shares."""
    columns, total = len(counts), 0.0
    for j in range(columns):
        total += counts[j] + prior
    for j in range(columns):
        shares[j] = (counts[j] + prior) / total if total > 0.0 else 1.0 / columns


@kernel
def estimate(
    transitions: IntArray, emissions: IntArray, priors: tuple[float, float]
) -> tuple[FloatArray, FloatArray]:
    """Return the shares of transitions, (n, n), and of non-missing observations, (n, m)."""
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
    """Score all steps to a state, under counts that include the step to be ranked.

    Scores of moves go `into` ``(n,)`` by the state before, of observations to `seen` ``(m + 1,)``,
    of whole steps to `whole` ``(n, m + 1)``. Counts, `moves` and `law` are restored afterwards.
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
def place_parts_in_class(
    transitions: IntArray,
    emissions: IntArray,
    last: int,
    state: int,
    code: int,
    priors: tuple[float, float],
    surprise: bool,
) -> IntArray:
    """Compare the parts of a step with the last steps of the members of its class.

    Returns five rows: whether the score of the move is greater, and equal, by previous state; how
    many whole steps score greater, and equal, by previous state; greater, equal and all counts of
    the observation. They are one array, since returning each array from a kernel takes time.
    """
    n, width = emissions.shape
    moves, law = estimate(transitions, emissions, priors)
    into, seen, whole = np.empty(n), np.empty(width), np.empty((n, width))
    judge(
        transitions, emissions, moves, law, last, state, code, priors, surprise, into, seen, whole
    )
    placed = np.zeros((5, max(n, 3)), dtype=np.int64)
    counts = emissions[state].copy()
    counts[code + 1] += 1
    placed[4, 0], placed[4, 1], placed[4, 2] = count_scores(seen, counts, seen[code + 1])
    for u in range(n):
        placed[0, u], placed[1, u] = into[u] > into[last], into[u] == into[last]
        placed[2, u], placed[3, u], _ = count_scores(whole[u], counts, whole[last, code + 1])
    return placed


@kernel
def place_step(
    transitions: IntArray,
    emissions: IntArray,
    steps: IntArray,
    table: FloatArray,
    last: int,
    code: int,
    priors: tuple[float, float],
    surprise: bool,
) -> tuple[IntArray, FloatArray]:
    """Count greater, equal and all steps to each state, by previous state, and score the step.

    Compare with past `steps`, ``(n, n, m + 1)``, by previous state, state and observation; where
    `steps` is empty, with the observations of the state after any previous state.
    Scores are those of `table`, ``(n, n, m + 1)``, where it is not empty. Returns ``(n, n, 3)`` and
    ``(n,)``.
    """
    n, width = emissions.shape
    counted, scores = np.zeros((n, n, 3), dtype=np.int64), np.empty(n)
    moves, law = estimate(transitions, emissions, priors)
    into, seen, whole = np.empty(n), np.empty(width), np.empty((n, width))
    counts = np.empty(width, dtype=np.int64)
    for state in range(n):
        if len(table):
            whole[:] = table[:, state]
        else:
            judge(
                transitions, emissions, moves, law, last, state, code, priors, surprise, into,
                seen, whole,
            )  # fmt: skip
        scores[state] = whole[last, code + 1]
        counts[:] = emissions[state]
        counts[code + 1] += 1
        for u in range(n):
            weights = steps[u, state] if len(steps) else counts
            greater, equal, total = count_scores(whole[u], weights, scores[state])
            counted[state, u, 0], counted[state, u, 1], counted[state, u, 2] = greater, equal, total
    return counted, scores


@kernel
def count_step(
    steps: IntArray, ring: IntArray, entered: IntArray, earlier: int, state: int, column: int
) -> None:
    """Count a step to a state; where the ring is full, remove its oldest step to the state."""
    room = ring.shape[1]
    if room:
        place = entered[state] % room
        if entered[state] >= room:
            steps[ring[state, place, 0], state, ring[state, place, 1]] -= 1
        ring[state, place, 0], ring[state, place, 1] = earlier, column
    steps[earlier, state, column] += 1
    entered[state] += 1


@kernel
def rank_steps(
    pooled: IntArray,
    emissions: IntArray,
    steps: IntArray,
    ring: IntArray,
    entered: IntArray,
    met: npt.NDArray[np.bool_],
    states: IntArray,
    codes: IntArray,
    lengths: IntArray,
    priors: tuple[float, float],
    surprise: bool,
) -> tuple[IntArray, FloatArray]:
    """Rank steps to all states among the latest to each; learn their labels in between.

    `states` and `codes` begin with the last step so far; `lengths` is how many later steps are
    learned before each ranking. The counts, as `Stream` has them, and the states `met` in the
    present segment are changed. Returns ``(W, n, 3)`` and the scores, ``(W, n)``.
    """
    windows, n = len(lengths), len(pooled)
    ranks, scores = np.empty((windows, n, 3), dtype=np.int64), np.empty((windows, n))
    fitted = np.empty((0, 0, 0))
    done = 0
    for w in range(windows):
        while done < lengths[w]:
            done += 1
            earlier, state, code = states[done - 1], states[done], codes[done] + 1
            if met[state]:
                count_step(steps, ring, entered, earlier, state, code)
            met[state] = True
            pooled[earlier, state] += 1
            emissions[state, code] += 1
        placed, own = place_step(
            pooled, emissions, steps, fitted, states[done], codes[done + 1], priors, surprise
        )
        for i in range(n):
            scores[w, i] = own[i]
            for part in range(3):
                ranks[w, i, part] = placed[i, :, part].sum() + (part > 0)  # itself included
    return ranks, scores
