"""Algorithm 1 of the paper, for a batch of candidates.

Step 1 completes the history with a candidate, Step 2 estimates the model from the completed
sequence, Steps 3 and 4 rearrange it and score the window that each rearrangement ends in, and
Step 5 ranks the candidate's own window among them. Candidates share what work they can.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.progress import show_progress
from definetti.data.windows import Windows
from definetti.question import Question
from definetti.ranks.pvalue import Rank, ranks, ranks_among

Item = TypeVar("Item")
Ranked = tuple[list[Rank], FloatArray]


def rank(question: Question, candidates: IntArray, verbose: bool = False) -> Ranked:
    """Rank candidate state sequences, ``(C, h)``; return their ranks and their scores."""
    found = rank_fixed if question.model.fixed else rank_refitted
    return found(question, candidates, verbose)


def rank_refitted(question: Question, candidates: IntArray, verbose: bool = False) -> Ranked:
    """Rank candidates with the model estimated anew for each, as the paper has it."""
    start, states, observations = question.windows(candidates)
    completions = list(map(question.complete, states))  # Step 1
    # Those of one estimate after each other, so that one at a time is enough.
    groups: dict[tuple[int, ...], dict[tuple[int, ...], list[int]]] = {}
    for index, completion in enumerate(completions):
        orbit = question.symmetry.orbit(completion)
        taught = *completion.counts_key, *question.symmetry.lesson_key(completion)
        groups.setdefault(taught, {}).setdefault(orbit, []).append(index)
    todo = [(key, members) for key, alike in groups.items() for members in alike.values()]
    found, scores = [Rank(0, 0, 1)] * len(candidates), np.empty(len(candidates))
    known = None
    for key, members in _watch(todo, verbose):
        completion = completions[members[0]]
        if key != known:
            estimate, known = question.estimate(completion), key  # Step 2
        reference = question.rearrange(completion)  # Steps 3 and 4
        own = Windows(start[members], states[members], observations[members])
        values = question.score_windows(estimate, own, question.windows_of(reference))
        scores[members] = values[: len(members)]
        placed = ranks(  # Step 5
            values[len(members) :], reference.weights, scores[members], reference.joins
        )
        for index, place in zip(members, placed, strict=True):
            found[index] = place._replace(randomised=reference.randomised)
    return found, scores


def rank_fixed(question: Question, candidates: IntArray, verbose: bool = False) -> Ranked:
    """Rank candidates with a model that no candidate changes, so that Step 2 is done once."""
    windows = question.windows(candidates)
    completions = list(map(question.complete, windows.states))  # Step 1
    estimate = question.estimate(completions[0])  # Step 2
    scores = question.score_windows(estimate, windows)
    orbits: dict[tuple[int, ...], list[int]] = {}
    for index, completion in enumerate(completions):
        orbits.setdefault(question.symmetry.orbit(completion), []).append(index)
    found = [Rank(0, 0, 1)] * len(candidates)
    for orbit, members in _watch(list(orbits.items()), verbose):
        reference = question.rearrange(completions[members[0]])  # Steps 3 and 4
        if reference.ends is not None:
            past = question.past_scores(estimate, reference.ends, orbit)
            placed = ranks_among(past, scores[members])  # Step 5
        else:
            others = question.score_windows(estimate, question.windows_of(reference))
            placed = ranks(others, reference.weights, scores[members], reference.joins)  # Step 5
        for index, place in zip(members, placed, strict=True):
            found[index] = place._replace(randomised=reference.randomised)
    return found, scores


def _watch(work: list[Item], verbose: bool) -> Iterable[Item]:
    return show_progress(work, len(work), "ranking candidates", verbose) if verbose else work
