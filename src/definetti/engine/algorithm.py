"""Algorithm 1 of the paper, for a batch of candidates.

Step 1 completes the history with a candidate, Step 2 estimates the model from the completed
sequence, Step 3 rearranges it, Step 4 scores the window that each rearrangement ends in, and Step 5
ranks the candidate's own window among them. Candidates with the same rearrangements and the same
training rows are ranked together.

`rank_general` is the specification. Faster strategies with equal results are chosen by the exact
types of model, score and symmetry, so that derived classes are ranked in general: counting the
whole class of symbols (here), one step ahead from counts (`step_counts`), many windows among past
ones (`past`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.terminal import show_progress
from definetti.data.history import Completion, Windows, stacked
from definetti.engine.pvalues import Ranked, count_ranks
from definetti.engine.step_counts import find_priors
from definetti.engine.task import ROOM, PredictionTask, evaluate, evaluate_each
from definetti.models.estimates import LONGEST, Estimates, estimates_of_counts
from definetti.scores import Score
from definetti.symmetry import Full
from definetti.symmetry.base import Reference
from definetti.symmetry.class_counts import BITS, count_classes

NONE = np.zeros(0, dtype=np.int64)
TOGETHER = 2**15  # windows, or matrix cells, of a batch of candidates


def rank(task: PredictionTask, candidates: IntArray, verbose: bool = False) -> Ranked:
    """Rank candidate state sequences, ``(C, h)``, of one window."""
    counted = rank_in_class(task, candidates)
    return rank_general(task, candidates, verbose) if counted is None else counted


def rank_in_class(task: PredictionTask, candidates: IntArray) -> Ranked | None:
    """Rank candidates in their whole class by counting, for a refitted model of symbols.

    None where this strategy does not apply.
    """
    model, history, table, labels = task.model, task.history, task.table, task.labels
    symmetry, usable = task.symmetry, history.symbols and not model.fixed
    if type(symmetry) is not Full or not usable or len(task.observations) > LONGEST:
        return None
    priors = find_priors(model, table)
    if priors is None:
        return None
    states, sizes = task.windows(candidates).states, (len(labels), len(table))
    counted = count_classes(history, states, task.observations, *sizes, symmetry.max_windows)
    if counted is None:
        return None
    counts = counted.moves, counted.pairs, priors
    estimates = estimates_of_counts(*counts, model.emission_, table, labels)
    scores = evaluate_each(task.score, estimates, counted.each, task.hide_unseen(counted.windows))
    weights = counted.weights[:, -1].astype(object)
    for digits in counted.weights.T[-2::-1]:
        weights = (weights << BITS) + digits
    ranks = np.empty((3, len(candidates)), dtype=object)
    for number, (begin, end) in enumerate(pairwise(counted.begins.tolist())):
        own = counted.classes == number
        mine = scores[counted.own[own]]
        ranks[0, own], ranks[1, own], ranks[2, own] = count_ranks(
            scores[begin:end], weights[begin:end], mine, joins=False
        )
    return Ranked.of_window(ranks, scores[counted.own])


def rank_general(task: PredictionTask, candidates: IntArray, verbose: bool = False) -> Ranked:
    """Rank candidates by the five steps of the paper; the specification of all strategies."""
    return rank_by_scores(task, candidates, [task.score], verbose)[0]


def rank_by_scores(
    task: PredictionTask, candidates: IntArray, scores: Sequence[Score], verbose: bool = False
) -> list[Ranked]:
    """Rank candidates by each of several scores, among the same rearrangements.

    The scores share drawn rearrangements, so their ranks are dependent.
    """
    counts = np.empty((len(scores), 3, len(candidates)), dtype=object)
    values, randomised = np.empty((len(scores), len(candidates))), np.zeros(len(candidates), bool)
    own = task.windows(candidates)
    completions = list(map(task.complete, own.states))  # Step 1
    orbits: dict[tuple[int, ...], list[int]] = {}  # candidates compared with the same windows
    for index, completion in enumerate(completions):
        orbits.setdefault(task.symmetry.orbit(completion), []).append(index)
    shown: Iterable[list[int]] = orbits.values()
    if verbose:
        shown = show_progress(shown, len(orbits), "ranking candidates", verbose)
    rearranged = (_rearrange(task, completions, members) for members in shown)  # Step 3
    for batch in _batch(task, rearranged):
        members = [k for group in batch for k in group.members]
        sets = np.repeat(np.arange(len(batch)), [len(group.members) for group in batch])
        estimates = task.estimates(  # Step 2
            [completions[k] for k in members], [group.windows for group in batch], sets
        )
        mine = task.hide_unseen(Windows(*(array[members] for array in own)))
        for s, score in enumerate(scores):
            scored = _score(replace(task, score=score), estimates, mine, batch)  # Step 4
            for (places, reference, _, weights), (own_scores, others) in zip(
                batch, scored, strict=True
            ):
                values[s, places] = own_scores
                counted = count_ranks(others, weights, own_scores, reference.joins)  # Step 5
                counts[s, 0, places], counts[s, 1, places], counts[s, 2, places] = counted
                randomised[places] = reference.randomised
    return [Ranked.of_window(counts[s], values[s], randomised) for s in range(len(scores))]


class Group(NamedTuple):
    """Candidates, by index, and their reference; equal windows of symbols once."""

    members: list[int]
    reference: Reference
    windows: Windows
    weights: npt.NDArray[Any]


def _rearrange(task: PredictionTask, completions: list[Completion], members: list[int]) -> Group:
    reference = task.rearrange(completions[members[0]])
    return Group(members, reference, *task.windows_to_rank_among(reference))


def _batch(task: PredictionTask, groups: Iterator[Group]) -> Iterator[list[Group]]:
    """Join small groups, so that their models are estimated together; split large ones."""
    fixed, n_states = task.model.fixed, len(task.labels)
    alike = fixed or task.symmetry.learns_all  # all candidates learn from the same rows
    batch: list[Group] = []
    members = scored = 0  # of the batch: candidates, and windows to score
    for group in groups:
        size, steps = group.windows.states.shape
        most = len(group.members)
        if not fixed:
            most = max(1, ROOM // (n_states**2 + size * (steps * n_states + 1)))
        for begin in range(0, len(group.members), most):
            part = group._replace(members=group.members[begin : begin + most])
            members, scored = members + len(part.members), scored + len(part.members) * size
            small = max(scored, members * n_states**2) <= TOGETHER
            if batch and not (alike and small):
                yield batch
                batch, members, scored = [], len(part.members), len(part.members) * size
            batch.append(part)
    if batch:
        yield batch


def _score(
    task: PredictionTask, estimates: Estimates, own: Windows, batch: list[Group]
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Score the candidates of each group, ``(G,)``, and their reference, ``(R,)`` or ``(G, R)``."""
    first = 0
    if task.model.fixed:
        estimate = estimates.at(NONE)
        scores = evaluate(task.score, estimate, own)
        for group in batch:
            mine = scores[first : first + len(group.members)]
            first += len(group.members)
            if group.reference.ends is None:
                yield mine, task.score_windows(estimate, group.windows)
            else:  # past scores are cached
                yield mine, task.past_scores(estimate, group.reference.ends)
        return
    models, places, begin = [], [], len(own.start)
    for group in batch:  # a candidate's own window first, then its reference
        members, size = len(group.members), len(group.windows.start)
        which, others = np.arange(first, first + members), np.arange(begin, begin + size)
        models.append(which.repeat(1 + size))
        places.append(np.column_stack([which, np.tile(others, (members, 1))]).ravel())
        first, begin = first + members, begin + size
    every = stacked([own, *(group.windows for group in batch)])
    which = np.concatenate(models)
    values = evaluate_each(task.score, estimates, which, every, np.concatenate(places))
    for group, part in zip(batch, np.split(values, np.cumsum([*map(len, places)])), strict=False):
        table = part.reshape(len(group.members), -1)
        yield table[:, 0], table[:, 1:]
