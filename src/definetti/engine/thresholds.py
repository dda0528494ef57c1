"""Thresholds on nonconformity scores that are equivalent to ranks.

With a fixed model, and a reference that depends on the candidate through its last state alone, the
reference scores are known before the candidates: a set is a threshold for each last state. Whole
sequences are calibrated in exchangeable units, each a sequence or all sequences of a group.
"""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.data.labels import Alphabet, all_hashable, is_missing, listed
from definetti.engine.pvalues import Rank
from definetti.scores.nonconformity import lower_edge, round_scores, upper_edge


def limit(scores: FloatArray, alpha: Fraction, uniform: float | None = None) -> float:
    """Return the largest score of a candidate in the set, ties included.

    Parameters
    ----------
    scores : (K − 1,) rounded reference scores, sorted; the candidate joins them
    alpha : one minus the confidence level
    uniform : the number that breaks ties, if any

    Returns
    -------
    the upper edge of the rounding cell of a score; infinite where scores are too few to exclude
    any candidate, −inf where the set is empty

    Examples
    --------
    >>> round(limit(np.array([0.1, 0.2, 0.3, 0.4]), Fraction(2, 5)), 6)
    0.3
    >>> limit(np.array([0.1, 0.2, 0.3]), Fraction(1, 10))
    inf
    """
    past = len(scores)
    if Rank(0, 1, past + 1).exceeds(alpha, uniform):  # a score above all others is still included
        return np.inf
    # At most alpha of the scores lie above; a large uniform may lower the limit further.
    place = past - max(floor(alpha * (past + 1)), 1)
    while place >= 0:
        own = float(scores[place])
        low, high = (int(np.searchsorted(scores, own, side=side)) for side in ("left", "right"))
        if Rank(past - high, high - low + 1, past + 1).exceeds(alpha, uniform):
            return upper_edge(own)
        if Rank(past - low, 1, past + 1).exceeds(alpha, uniform):  # in the gap below
            return lower_edge(own)
        place = low - 1
    return -np.inf


def risk_limit(steps: FloatArray, blocks: int, horizon: int, alpha: Fraction) -> float:
    """Return the largest nonconformity of a state that is in the set of its step.

    Conformal risk control (Angelopoulos et al. 2022): all steps of the new one of ``K``
    exchangeable blocks may be wrong, so that ``α K − 1`` blocks' worth of the others may be.

    Parameters
    ----------
    steps : the sorted nonconformity of the true states of past steps
    blocks, horizon : the number of past blocks, ``K − 1``, and the steps of each

    Examples
    --------
    >>> steps = np.arange(40) / 40  # ten blocks of four steps
    >>> round(risk_limit(steps, 10, 4, Fraction(1, 5)), 6)  # 0.2 · 11 − 1 blocks: four steps
    0.875
    >>> risk_limit(steps, 3, 4, Fraction(1, 5))
    inf
    """
    wrong = floor(horizon * (alpha * (blocks + 1) - 1))
    if wrong < 0:
        return np.inf
    return upper_edge(float(round_scores(steps)[len(steps) - 1 - wrong]))


def blocks_needed(alpha: Fraction) -> int:
    """Return the smallest number of past blocks with which a candidate can be excluded.

    >>> blocks_needed(Fraction(1, 10))
    9
    """
    return -floor(-1 / alpha) - 1


def read_groups(groups: Any, sequences: int) -> IntArray:
    """Return the unit of each sequence, numbered in order of appearance."""
    if groups is None:
        return np.arange(sequences)
    labels = listed(groups, "groups")
    if len(labels) != sequences:
        raise ValueError(
            f"groups has {len(labels)} labels for {sequences} sequences; give one per sequence, "
            "not per step"
        )
    for row, label in enumerate(labels):
        if is_missing(label) or not all_hashable([label]):
            raise ValueError(
                f"groups[{row}] is {label!r}, which names no unit; use text or numbers"
            )
    return Alphabet(labels).encode(labels, "groups")


def weighted_limit(
    nonconformity: FloatArray, shares: IntArray, units: int, alpha: Fraction
) -> float:
    """Return the threshold on nonconformity scores that weigh one over their share.

    The smallest score for which the weight of all greater scores, plus one unit for the new one, is
    at most ``α`` of all units, the new one included; infinite where units are too few. With the
    steps of sequences this is conformal risk control (Angelopoulos et al. 2022); with one score
    a sequence, hierarchical conformal prediction (Dunn, Wasserman and Ramdas 2022; Lee, Barber and
    Willett 2023).

    >>> scores, shares = np.array([0.1, 0.2, 0.3, 0.4]), np.array([1, 2, 2, 1])  # of 3 units
    >>> round(weighted_limit(scores, shares, 3, Fraction(1, 2)), 6)
    0.3
    >>> weighted_limit(scores, shares, 3, Fraction(1, 5))
    inf
    """
    spare = alpha * (units + 1) - 1
    if spare < 0:
        return np.inf
    order = np.argsort(nonconformity, kind="stable")
    scores = round_scores(nonconformity[order])
    numbers, which = np.unique(shares[order], return_inverse=True)
    tops = np.append(np.flatnonzero(np.diff(scores) > 0), len(scores) - 1)

    def allowed(top: int) -> bool:
        above = np.bincount(which[top + 1 :], minlength=len(numbers))
        weights = map(Fraction, above.tolist(), numbers.tolist())
        return sum(weights, Fraction(0)) <= spare

    # The weight above falls with the score and is zero above the last.
    score = scores[tops[bisect_left(tops.tolist(), True, key=allowed)]]
    return upper_edge(float(score))


def after_errors(steps: FloatArray, max_errors: int) -> float:
    """Return the largest nonconformity of a step after the `max_errors` largest, else 0."""
    if max_errors >= len(steps):
        return 0.0
    return float(np.partition(steps, -1 - max_errors)[-1 - max_errors])
