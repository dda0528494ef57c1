"""How strange a window may be: the level turned into a threshold on the score.

With a fixed model, and blocks that depend on the candidate through its last state alone, the
scores that a candidate is ranked among are known beforehand. Its p-value falls as its score rises,
so that the set is a threshold for each last state.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.compiled import kernel
from definetti.ranks.pvalue import TIE, Rank, tied


def limit(scores: FloatArray, alpha: Fraction, uniform: float | None = None) -> float:
    """Return the largest score that a candidate may have and be in the set.

    These are the ranks, ties included, of `definetti.ranks.pvalue.ranks`, seen from the other side.

    Parameters
    ----------
    scores : (K − 1,) scores of the past in rising order; the candidate joins them
    alpha : one minus the confidence level
    uniform : the number that breaks ties, if it is to

    Returns
    -------
    the limit, with the slack that ties are given; infinite where there are too few scores to
    leave anything out, −inf where nothing is in the set

    Examples
    --------
    >>> round(limit(np.array([0.1, 0.2, 0.3, 0.4]), Fraction(2, 5)), 6)
    0.3
    >>> limit(np.array([0.1, 0.2, 0.3]), Fraction(1, 10))
    inf
    """
    past = len(scores)
    if Rank(0, 1, past + 1).exceeds(alpha, uniform):  # stranger than all
        return np.inf
    # As many scores as alpha leaves out lie above; only an unlucky uniform makes it fewer.
    place = past - max(floor(alpha * (past + 1)), 1)
    while place >= 0:
        low, high = _cluster(scores, place)
        above, there = past - 1 - high, high - low + 1
        if Rank(above, there + 1, past + 1).exceeds(alpha, uniform):
            return float(scores[high] + slack(scores[high]))
        if Rank(above + there, 1, past + 1).exceeds(alpha, uniform):  # in the gap below
            return _below(float(scores[low]))
        place = low - 1
    return -np.inf


def risk_limit(steps: FloatArray, blocks: int, horizon: int, alpha: Fraction) -> float:
    """Return how strange a state may be to be in the set of its step.

    Conformal risk control (Angelopoulos et al. 2022): of the ``K`` exchangeable blocks the new one
    may have all its steps wrong, so that the others may have ``α K − 1`` blocks' worth wrong.

    Parameters
    ----------
    steps : how strange each true state of the past was at its step, in rising order
    blocks, horizon : the number of past blocks, ``K − 1``, and the steps that each has

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
    _, high = _cluster(steps, len(steps) - 1 - wrong)
    return float(steps[high] + slack(steps[high]))


def slack(score: float) -> float:
    """Return by how much a score may be above another and still be tied with it."""
    return float(TIE * max(1.0, abs(score))) if np.isfinite(score) else 0.0


def blocks_needed(alpha: Fraction) -> int:
    """Return how many past blocks it takes to leave anything out at a level.

    >>> blocks_needed(Fraction(1, 10))
    9
    """
    return -floor(-1 / alpha) - 1


def _below(score: float) -> float:
    """Return the largest score that is not tied with one above it."""
    return score - 2 * slack(score) if np.isfinite(score) else float(np.finfo(np.float64).max)


@kernel
def _cluster(scores: FloatArray, place: int) -> tuple[int, int]:
    """Return the first and the last of the sorted scores that are tied with one of them."""
    low, high = place, place
    while low > 0 and tied(scores[low - 1], scores[low]):
        low -= 1
    while high + 1 < len(scores) and tied(scores[high], scores[high + 1]):
        high += 1
    return low, high
