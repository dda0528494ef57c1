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
from definetti.ranks.pvalue import Rank
from definetti.scores.rounding import lower_edge, round_scores, upper_edge


def limit(scores: FloatArray, alpha: Fraction, uniform: float | None = None) -> float:
    """Return the largest score that a candidate may have and be in the set.

    These are the ranks, ties included, of `definetti.ranks.pvalue.ranks`, seen from the other side.

    Parameters
    ----------
    scores : (K − 1,) scores of the past, rounded, in rising order; the candidate joins them
    alpha : one minus the confidence level
    uniform : the number that breaks ties, if it is to

    Returns
    -------
    the limit, the upper edge of what rounds to a score; infinite where there are too few scores
    to leave anything out, −inf where nothing is in the set

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
        own = float(scores[place])
        low, high = (int(np.searchsorted(scores, own, side=side)) for side in ("left", "right"))
        if Rank(past - high, high - low + 1, past + 1).exceeds(alpha, uniform):
            return upper_edge(own)
        if Rank(past - low, 1, past + 1).exceeds(alpha, uniform):  # in the gap below
            return lower_edge(own)
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
    return upper_edge(float(round_scores(steps)[len(steps) - 1 - wrong]))


def blocks_needed(alpha: Fraction) -> int:
    """Return how many past blocks it takes to leave anything out at a level.

    >>> blocks_needed(Fraction(1, 10))
    9
    """
    return -floor(-1 / alpha) - 1
