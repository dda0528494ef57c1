"""Ranks from as few scores as they need.

A window that is known to be stranger than a candidate, or known to be less strange, counts as such
without its score. What lies within a margin around the candidate is always scored.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel

# Far above the rounding of scores and of their bounds.
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


@kernel
def place(scores: FloatArray, begins: IntArray, own: FloatArray) -> tuple[IntArray, IntArray]:
    """Count, of the windows scored, those stranger than each candidate and those tied with it.

    Parameters
    ----------
    scores : (W,) of the windows that were scored, candidate by candidate
    begins : (G + 1,) where those of each begin and end
    own : (G,) the scores of the candidates

    Examples
    --------
    >>> place(np.array([0.5, 0.1, 0.5]), np.array([0, 3]), np.array([0.5]))
    (array([0]), array([2]))
    """
    greater = np.zeros(len(own), dtype=np.int64)
    equal = np.zeros(len(own), dtype=np.int64)
    for g in range(len(own)):
        for score in scores[begins[g] : begins[g + 1]]:
            greater[g] += score > own[g]
            equal[g] += score == own[g]
    return greater, equal
