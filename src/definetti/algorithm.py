"""Algorithm 1 of the paper, for a batch of candidates.

Step 1 completes the history with a candidate, Step 2 estimates the model from the completed
sequence, Step 3 rearranges it, Step 4 scores the window that each rearrangement ends in, and Step 5
ranks the candidate's own window among them. Candidates with the same rearrangements and the same
training rows are ranked together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.progress import show_progress
from definetti.data.history import Completion
from definetti.data.windows import Windows, stacked
from definetti.models.estimates import LONGEST, Estimates, estimates_of_counts
from definetti.question import ROOM, Question, evaluate_each
from definetti.ranks.classes import rank_in_classes
from definetti.ranks.pvalue import Rank, ranks
from definetti.scores import Score
from definetti.strategies import find_classes, find_priors
from definetti.symmetry.base import Reference

Ranked = tuple[list[Rank], FloatArray]
NONE = np.zeros(0, dtype=np.int64)


def rank(question: Question, candidates: IntArray, verbose: bool = False) -> Ranked:
    """Rank candidate state sequences, ``(C, h)``; return their ranks and their scores."""
    counted = rank_in_class(question, candidates)
    return rank_general(question, candidates, verbose) if counted is None else counted


def rank_general(question: Question, candidates: IntArray, verbose: bool = False) -> Ranked:
    """Rank candidates step by step as the paper has it: what every other way must agree with."""
    found, scores = [Rank(0, 0, 1)] * len(candidates), np.empty(len(candidates))
    windows = question.windows(candidates)
    own, states = question.hide_unseen(windows), windows.states
    completions = list(map(question.complete, states))  # Step 1
    groups = list(_group(question, completions).values())
    for members in show_progress(groups, len(groups), "ranking candidates", verbose):
        reference = question.rearrange(completions[members[0]])  # Step 3
        others, weights = question.windows_to_rank_among(reference)
        for part in _split(question, members, others):
            taught = part[:1] if question.model.fixed else part
            estimates = question.estimates(  # Step 2
                [completions[k] for k in taught], states[taught], others
            )
            models = np.arange(len(estimates)) if len(estimates) > 1 else np.zeros(len(part), int)
            mine = Windows(*(array[part] for array in own))
            scores[part] = evaluate_each(question.score, estimates, models, mine)  # Step 4
            values = _score_reference(question, estimates, reference, others)
            placed = ranks(values, weights, scores[part], reference.joins)  # Step 5
            for k, one in zip(part, placed, strict=True):
                found[k] = one._replace(randomised=reference.randomised)
    return found, scores


def rank_by_scores(question: Question, candidate: IntArray, scores: Sequence[Score]) -> list[Rank]:
    """Rank one candidate, ``(h,)``, by several scores among the same rearrangements.

    Each rank is that of `rank_general` with its score. Draws are shared, so that the ranks are not
    independent of each other.
    """
    own = question.hide_unseen(question.windows(candidate[None]))
    completion = question.complete(candidate)
    reference = question.rearrange(completion)
    others, weights = question.windows_to_rank_among(reference)
    estimates = question.estimates([completion], candidate[None], others)
    windows, models = stacked([own, others]), np.zeros(1 + len(others.start), dtype=np.int64)
    found = []
    for score in scores:
        values = evaluate_each(score, estimates, models, windows)
        found += ranks(values[1:], weights, values[:1], reference.joins)
    return found


def _group(
    question: Question, completions: list[Completion]
) -> dict[tuple[tuple[int, ...], ...], list[int]]:
    """Group candidates by what they are compared with, and by what a refitted model learns."""
    symmetry = question.symmetry
    subsets = not (question.model.fixed or symmetry.learns_all)
    groups: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for index, completion in enumerate(completions):
        key = symmetry.orbit(completion), symmetry.lesson_key(completion) if subsets else ()
        groups.setdefault(key, []).append(index)
    return groups


def _split(question: Question, members: list[int], windows: Windows) -> Iterator[list[int]]:
    """Split a group into parts whose models and scores there is room for."""
    n_states, (size, steps) = len(question.labels), windows.states.shape
    most = len(members)
    if not question.model.fixed:
        most = max(1, ROOM // (n_states**2 + size * (steps * n_states + 1)))
    for begin in range(0, len(members), most):
        yield members[begin : begin + most]


def _score_reference(
    question: Question, estimates: Estimates, reference: Reference, windows: Windows
) -> FloatArray:
    """Score the windows of a reference under each of several estimates: ``(G, R)``."""
    if question.model.fixed and reference.ends is not None:  # each once for all predictions
        return question.past_scores(estimates.at(NONE), reference.ends)[None]
    number, size = len(estimates), len(windows.start)
    models, places = np.divmod(np.arange(number * size), max(size, 1))
    every = Windows(*(array[places] for array in windows)) if number > 1 else windows
    return evaluate_each(question.score, estimates, models, every).reshape(number, size)


def rank_in_class(question: Question, candidates: IntArray) -> Ranked | None:
    """Rank candidates of a model of counts by windows that are counted, those of all at once.

    None where the symmetry does not count so, or the model is another.
    """
    model, history, horizon = question.model, question.history, len(question.observations)
    priors = None if model.fixed else find_priors(model, question.table)
    if priors is None or horizon > LONGEST:
        return None
    sizes = len(question.labels), len(question.table)
    states = question.windows(candidates).states
    found = find_classes(question.symmetry, history, states, question.observations, *sizes)
    if found is None:  # Steps 1 and 3
        return None
    found.check(len(candidates), horizon, *sizes)
    emission, table, labels = model.emission_, question.table, question.labels
    estimates = estimates_of_counts(  # Step 2
        found.moves, found.pairs, priors, emission, table, labels
    )
    windows = question.hide_unseen(found.windows)
    scores = evaluate_each(question.score, estimates, found.each, windows)  # Step 4
    return rank_in_classes(scores, found), scores[found.own]  # Step 5
