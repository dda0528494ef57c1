"""Ranks from as few scores as they need.

A window that is known to be stranger than a candidate, or known to be less strange, counts as such
without its score. Ties are chains of small gaps: what lies within a margin around the candidate is
always scored, and a chain that leads out of it is followed among all scores.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.ranks.pvalue import tied

# A thousand gaps that make a tie, and far above the rounding of scores and of their bounds.
MARGIN = 1e-6


class Undecided(NamedTuple):
    """Windows that have to be scored, candidate by candidate.

    Attributes
    ----------
    models, places : (W,) whose candidate it is, in rising order, and which of the windows
    begins : (G + 1,) where those of each candidate begin and end
    above : (G,) how many others are known to be stranger
    """

    models: IntArray
    places: IntArray
    begins: IntArray
    above: IntArray


def decide(low: FloatArray, high: FloatArray, own: FloatArray) -> Undecided:
    """Find out which windows have to be scored, given bounds on their scores.

    Parameters
    ----------
    low, high : (B,) bounds on the scores of windows, whoever's candidate they are compared with
    own : (G,) the scores of the candidates

    Examples
    --------
    >>> low, high = np.array([0.0, 1.0, 3.0]), np.array([1.0, 2.0, 4.0])
    >>> decide(low, high, np.array([1.5, 9.0]))
    Undecided(models=array([0]), places=array([1]), begins=array([0, 1, 1]), above=array([1, 0]))
    """
    return Undecided(*_decide(low, high, own))


def everything(windows: int, candidates: int) -> Undecided:
    """Let all windows be scored for all candidates."""
    models, places = np.indices((candidates, windows)).reshape(2, -1)
    begins = np.arange(candidates + 1) * windows
    return Undecided(models, places, begins, np.zeros(candidates, dtype=np.int64))


@kernel
def _decide(
    low: FloatArray, high: FloatArray, own: FloatArray
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    begins = np.zeros(len(own) + 1, dtype=np.int64)
    above = np.zeros(len(own), dtype=np.int64)
    for g in range(len(own)):
        margin = MARGIN * max(1.0, abs(own[g]))
        known = np.isfinite(own[g])
        number = 0
        for b in range(len(low)):
            if known and low[b] > own[g] + margin:
                above[g] += 1
            elif not (known and high[b] < own[g] - margin):
                number += 1
        begins[g + 1] = begins[g] + number
    models = np.empty(begins[-1], dtype=np.int64)
    places = np.empty(begins[-1], dtype=np.int64)
    for g in range(len(own)):
        margin = MARGIN * max(1.0, abs(own[g]))
        known = np.isfinite(own[g])
        at = begins[g]
        for b in range(len(low)):
            if not (known and (low[b] > own[g] + margin or high[b] < own[g] - margin)):
                models[at], places[at] = g, b
                at += 1
    return models, places, begins, above


def place(
    scores: FloatArray, begins: IntArray, own: FloatArray, total: int
) -> tuple[IntArray, IntArray, npt.NDArray[np.bool_]]:
    """Count, of the windows scored, those stranger than each candidate and those tied with it.

    With a mark where a chain of ties leads to windows that were not scored.

    Parameters
    ----------
    scores : (W,) of the windows that were scored, candidate by candidate
    begins : (G + 1,) where those of each begin and end
    own : (G,) the scores of the candidates
    total : how many windows there are, scored or not

    Examples
    --------
    >>> place(np.array([0.5, 0.1, 0.5]), np.array([0, 3]), np.array([0.5]), 3)
    (array([0]), array([2]), array([False]))
    """
    owners = np.repeat(np.arange(len(own)), np.diff(begins))
    ordered = scores[np.lexsort((scores, owners))]  # those of each candidate in rising order
    return _place(ordered, begins, own, total)


@kernel
def _place(
    scores: FloatArray, begins: IntArray, own: FloatArray, total: int
) -> tuple[IntArray, IntArray, npt.NDArray[np.bool_]]:
    greater = np.zeros(len(own), dtype=np.int64)
    equal = np.zeros(len(own), dtype=np.int64)
    open_ended = np.zeros(len(own), dtype=np.bool_)
    for g in range(len(own)):
        begin, end = begins[g], begins[g + 1]
        low, high = begin, end
        while low < high:
            middle = (low + high) // 2
            if scores[middle] < own[g]:
                low = middle + 1
            else:
                high = middle
        least, most = own[g], own[g]
        while low > begin and tied(scores[low - 1], least):
            low -= 1
            least = scores[low]
        while high < end and tied(most, scores[high]):
            most = scores[high]
            high += 1
        greater[g], equal[g] = end - high, high - low
        if end - begin < total:
            margin = 0.99 * MARGIN * max(1.0, abs(own[g]))
            open_ended[g] = most > own[g] + margin or least < own[g] - margin
    return greater, equal, open_ended
