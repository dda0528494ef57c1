"""Rank candidates of a refitted model of counts in their whole class, over several steps.

A class is all sequences of the same counts. Its windows, and how many members end in each, are
counted for all candidates in one compiled pass.
"""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.engine.pvalues import Ranked
from definetti.engine.stream import find_priors
from definetti.engine.task import PredictionTask, evaluate_each
from definetti.models.estimates import LONGEST, estimates_of_counts
from definetti.symmetry import Full
from definetti.symmetry.class_counts import BITS, count_classes


def rank_in_class(task: PredictionTask, candidates: IntArray) -> Ranked | None:
    """Rank candidates by windows that are counted; None where they are not to be counted so."""
    model, history, table, labels = task.model, task.history, task.table, task.labels
    assert isinstance(task.symmetry, Full)
    if not history.symbols or model.fixed or len(task.observations) > LONGEST:
        return None
    priors = find_priors(model, table)
    if priors is None:
        return None
    states, most = task.windows(candidates).states, task.symmetry.max_windows
    sizes = len(labels), len(table)
    found = count_classes(history, states, task.observations, *sizes, most)  # Steps 1 and 3
    if found is None:
        return None
    estimates = estimates_of_counts(  # Step 2
        found.moves, found.pairs, priors, model.emission_, table, labels
    )
    windows = task.hide_unseen(found.windows)
    scores = evaluate_each(task.score, estimates, found.each, windows)  # Step 4
    placed = _placed(scores, found.weights, found.begins, found.classes, found.own).tolist()
    counts = [[_joined(one[part]) for one in placed] for part in range(3)]
    return Ranked.of_window(counts, scores[found.own])  # Step 5


def _joined(digits: list[int]) -> int:
    """Put a number together; digits that were added up may be larger than digits are.

    >>> _joined([2**32 + 1, 1]) == 2 * 2**32 + 1
    True
    """
    found = 0
    for digit in reversed(digits):
        found = (found << BITS) + digit
    return found


@kernel
def _placed(
    scores: FloatArray, weights: IntArray, begins: IntArray, classes: IntArray, own: IntArray
) -> IntArray:
    """Add up the digits of the weights of greater and equal scores, and of all: (C, 3, L)."""
    placed = np.zeros((len(own), 3, weights.shape[1]), dtype=np.int64)
    for c in range(len(own)):
        begin, end = begins[classes[c]], begins[classes[c] + 1]
        for r in range(begin, end):
            if scores[r] > scores[own[c]]:
                placed[c, 0] += weights[r]
            elif scores[r] == scores[own[c]]:
                placed[c, 1] += weights[r]
            placed[c, 2] += weights[r]
    return placed
