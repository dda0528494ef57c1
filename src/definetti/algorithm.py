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
from definetti._system.threads import map_threads
from definetti.data.sound import check_shape
from definetti.data.windows import Windows
from definetti.models.refits import LONGEST, Refits, refits_of
from definetti.question import ROOM, Question
from definetti.ranks.classes import rank_in_classes
from definetti.ranks.deciding import Undecided, decide, everything, place
from definetti.ranks.pvalue import Rank, ranks, ranks_among
from definetti.symmetry.base import Reference

Item = TypeVar("Item")
Ranked = tuple[list[Rank], FloatArray]
FEW = 8  # candidates, for fewer of which it does not pay to share work


def rank(question: Question, candidates: IntArray, verbose: bool = False) -> Ranked:
    """Rank candidate state sequences, ``(C, h)``; return their ranks and their scores."""
    if question.model.fixed:
        return rank_fixed(question, candidates, verbose)
    counted = rank_in_class(question, candidates) if question.symmetry.counts_classes else None
    if counted is not None:
        return counted
    found = rank_each if len(candidates) < FEW else rank_refitted
    return found(question, candidates, verbose)


def rank_in_class(question: Question, candidates: IntArray) -> Ranked | None:
    """Rank candidates of a model of counts by windows that are counted, those of all at once.

    None where the symmetry does not count so, or the model is another.
    """
    model, history, horizon = question.model, question.history, len(question.observations)
    priors = model.counting(question.table)
    if priors is None or not question.symmetry.learns_all or horizon > LONGEST:
        return None
    sizes = len(question.labels), len(question.table)
    states = question.windows(candidates).states
    found = question.symmetry.classes(history, states, question.observations, *sizes)
    if found is None:  # Steps 1, 3 and 4
        return None
    found.check(len(candidates), horizon, *sizes)
    emission, table, labels = model.emission_, question.table, question.labels
    refits = refits_of(found.moves, found.pairs, priors, emission, table, labels)  # Step 2
    scores = question.score_each(refits, found.each, question.hide_unseen(found.windows))
    return rank_in_classes(scores, found), scores[found.own]  # Step 5


def rank_refitted(question: Question, candidates: IntArray, verbose: bool = False) -> Ranked:
    """Rank candidates with the model estimated anew for each, as the paper has it.

    Estimates of candidates with the same orbit and the same lesson are made together, where the
    model knows how to, and windows scored only as far as ranks need it.
    """
    start, states, observations = question.windows(candidates)
    completions = list(map(question.complete, states))  # Step 1
    groups: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for index, completion in enumerate(completions):
        key = question.symmetry.orbit(completion), question.symmetry.lesson_key(completion)
        groups.setdefault(key, []).append(index)
    found, scores = [Rank(0, 0, 1)] * len(candidates), np.empty(len(candidates))

    def rank_group(group: list[int]) -> list[int]:
        """Rank the candidates of a group; return those that are to be ranked one by one."""
        if len(group) < FEW or states.shape[1] > LONGEST:
            return group
        alone: list[int] = []
        completion = completions[group[0]]
        reference = question.rearrange(completion)  # Steps 3 and 4
        others = question.hide_unseen(question.windows_of(reference))
        for members in _parted(group, others, len(question.labels)):
            refits = question.refits(completion, states[members], others)  # Step 2
            if refits is None:
                alone += members
                continue
            own = Windows(start[members], states[members], observations[members])
            own = refits.read(question.hide_unseen(own))
            placed, scores[members] = _place(question, refits, own, refits.read(others), reference)
            for index, one in zip(members, placed, strict=True):
                found[index] = one._replace(randomised=reference.randomised)
        return alone

    each = map_threads(rank_group, _watch(list(groups.values()), verbose))
    alone = [index for one in each for index in one]
    if alone:
        placed, scores[alone] = rank_each(question, candidates[alone], verbose)
        for index, one in zip(alone, placed, strict=True):
            found[index] = one
    return found, scores


def _place(
    question: Question, refits: Refits, own: Windows, others: Windows, reference: Reference
) -> Ranked:
    """Score candidates, and as many windows under the model of each as it takes to rank them."""
    number, size = len(refits), len(others.start)
    scores = question.score_each(refits, np.arange(number), own)

    def scored(todo: Undecided) -> FloatArray:
        windows = Windows(*(part[todo.places] for part in others))
        return question.score_each(refits, todo.models, windows)

    if not (reference.joins and (reference.weights == 1).all()):
        values = scored(everything(size, number)).reshape(number, size)
        each = zip(values, scores[:, None], strict=True)
        return [ranks(v, reference.weights, s, reference.joins)[0] for v, s in each], scores
    bounds = question.score.bounds(refits, others)
    if bounds is not None:
        for one in bounds:
            check_shape(one, (size,), "what the score's bounds returns")
    todo = everything(size, number) if bounds is None else decide(*bounds, scores)
    greater, equal = place(scored(todo), todo.begins, scores)  # Step 5
    greater += todo.above
    counts = zip(greater.tolist(), equal.tolist(), strict=True)
    return [Rank(above, tied + 1, size + 1) for above, tied in counts], scores


def _parted(members: list[int], windows: Windows, n_states: int) -> Iterable[list[int]]:
    """Cut candidates into parts whose models, and scores, there is room for."""
    size, steps = windows.states.shape
    each = n_states**2 + size * (steps * n_states + 1)
    most = max(1, ROOM // each)
    return (members[k : k + most] for k in range(0, len(members), most))


def rank_each(question: Question, candidates: IntArray, verbose: bool = False) -> Ranked:
    """Rank candidates one estimate after the other: what every model can do."""
    symmetry = question.symmetry
    start, states, observations = question.windows(candidates)
    completions = list(map(question.complete, states))  # Step 1
    # Those of one estimate after each other, so that one at a time is enough.
    groups: dict[tuple[int, ...], dict[tuple[int, ...], list[int]]] = {}
    for index, completion in enumerate(completions):
        orbit, taught = symmetry.orbit(completion), completion.counts_key
        if not symmetry.learns_all:
            taught = *taught, *symmetry.lesson_key(completion)
        groups.setdefault(taught, {}).setdefault(orbit, []).append(index)
    todo = [(key, *one) for key, alike in groups.items() for one in alike.items()]
    found, scores = [Rank(0, 0, 1)] * len(candidates), np.empty(len(candidates))
    known = None
    kept: dict[tuple[int, ...], tuple[Reference, Windows]] = {}
    for key, orbit, members in _watch(todo, verbose):
        completion = completions[members[0]]
        if key != known:
            estimate, known = question.estimate(completion), key  # Step 2
        if orbit in kept:
            reference, others = kept[orbit]
        else:
            reference = question.rearrange(completion)  # Steps 3 and 4
            others = question.windows_of(reference)
            if symmetry.by_last_state:  # as few as there are last states
                kept[orbit] = reference, others
        own = Windows(start[members], states[members], observations[members])
        values = question.score_windows(estimate, own, others)
        scores[members] = values[: len(members)]
        placed = ranks(  # Step 5
            values[len(members) :], reference.weights, scores[members], reference.joins
        )
        for index, one in zip(members, placed, strict=True):
            found[index] = one._replace(randomised=reference.randomised)
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
        for index, one in zip(members, placed, strict=True):
            found[index] = one._replace(randomised=reference.randomised)
    return found, scores


def _watch(work: list[Item], verbose: bool) -> Iterable[Item]:
    return show_progress(work, len(work), "ranking candidates", verbose) if verbose else work
