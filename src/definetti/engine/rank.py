"""Algorithm 1 of the paper, for a batch of candidates.

Step 1 completes the history with a candidate, Step 2 estimates the model from the completed
sequence, Step 3 rearranges it, Step 4 scores the window that each rearrangement ends in, and Step 5
ranks the candidate's own window among them. Candidates with the same rearrangements and the same
training rows are ranked together.

`rank_general` is the specification. Which tasks are ranked from counts instead is decided by the
types of model, score and symmetry; a class that derives from one of these is ranked in general.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti._system.terminal import show_progress
from definetti.data.history import Completion, History, Windows, stacked
from definetti.emissions import Categorical, Text
from definetti.engine.pvalues import Rank, Ranked, ranks
from definetti.engine.task import ROOM, PredictionTask, evaluate_each
from definetti.models.base import Model
from definetti.models.estimates import LONGEST, Estimates, estimates_of_counts
from definetti.models.hmm import HMM
from definetti.scores import Filter, Joint, Path, Score, Smoother
from definetti.symmetry import Full, Returns, Spaced, Symmetry
from definetti.symmetry.base import Reference
from definetti.symmetry.class_counts import Classes, Pasts, count_classes

NONE = np.zeros(0, dtype=np.int64)
TOGETHER = 2**14  # windows, or cells of matrices, of all candidates that are ranked at once


def rank(task: PredictionTask, candidates: IntArray, verbose: bool = False) -> Ranked:
    """Rank candidate state sequences, ``(C, h)``: one window of `Ranked`."""
    counted = rank_in_class(task, candidates)
    return rank_general(task, candidates, verbose) if counted is None else counted


def rank_general(task: PredictionTask, candidates: IntArray, verbose: bool = False) -> Ranked:
    """Rank candidates step by step as the paper has it: what every other way must agree with."""
    found, scores = [Rank(0, 0, 1)] * len(candidates), np.empty(len(candidates))
    own = task.windows(candidates)
    completions = list(map(task.complete, own.states))  # Step 1
    groups = _group(task, completions)
    shown = show_progress(groups, len(groups), "ranking candidates", verbose)
    rearranged = (_rearrange(task, completions, members) for members in shown)  # Step 3
    for batch in _batch(task, rearranged):
        members = [k for group in batch for k in group.members]
        estimates = task.estimates(  # Step 2
            [completions[k] for k in members], stacked(group.windows for group in batch)
        )
        mine = task.hide_unseen(Windows(*(array[members] for array in own)))
        models = np.arange(len(members)) if len(estimates) > 1 else np.zeros(len(members), int)
        scores[members] = evaluate_each(task.score, estimates, models, mine)  # Step 4
        each = _score_references(task, estimates, batch)
        for group, values in zip(batch, each, strict=True):
            own_scores, joins = scores[group.members], group.reference.joins
            placed = ranks(values, group.weights, own_scores, joins)  # Step 5
            for k, one in zip(group.members, placed, strict=True):
                found[k] = one._replace(randomised=group.reference.randomised)
    return Ranked.of_one(found, scores)


def rank_by_scores(
    task: PredictionTask, candidate: IntArray, scores: Sequence[Score]
) -> list[Rank]:
    """Rank one candidate, ``(h,)``, by several scores among the same rearrangements.

    Each rank is that of `rank_general` with its score. Draws are shared, so that the ranks are not
    independent of each other.
    """
    own = task.hide_unseen(task.windows(candidate[None]))
    completion = task.complete(candidate)
    reference = task.rearrange(completion)
    others, weights = task.windows_to_rank_among(reference)
    estimates = task.estimates([completion], others)
    windows, models = stacked([own, others]), np.zeros(1 + len(others.start), dtype=np.int64)
    found = []
    for score in scores:
        values = evaluate_each(score, estimates, models, windows)
        found += ranks(values[1:], weights, values[:1], reference.joins)
    return found


class Group(NamedTuple):
    """Candidates that are compared with the same windows.

    Attributes
    ----------
    members : their places among all candidates
    reference, windows, weights : what they are compared with, equal windows of symbols once
    """

    members: list[int]
    reference: Reference
    windows: Windows
    weights: npt.NDArray[Any]


def _group(task: PredictionTask, completions: list[Completion]) -> list[list[int]]:
    """Group candidates by what they are compared with, and what a refitted model learns from."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for index, completion in enumerate(completions):
        groups.setdefault(task.symmetry.orbit(completion), []).append(index)
    return list(groups.values())


def _rearrange(task: PredictionTask, completions: list[Completion], members: list[int]) -> Group:
    reference = task.rearrange(completions[members[0]])
    return Group(members, reference, *task.windows_to_rank_among(reference))


def _batch(task: PredictionTask, groups: Iterator[Group]) -> Iterator[list[Group]]:
    """Put small groups together, whose models are then made at once; split large ones."""
    fixed, n_states = task.model.fixed, len(task.labels)
    alike = fixed or task.symmetry.learns_all  # all candidates learn from the same rows
    batch: list[Group] = []
    members = scored = 0  # candidates of the batch, and windows to score under their models
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


def _score_references(
    task: PredictionTask, estimates: Estimates, batch: list[Group]
) -> list[FloatArray]:
    """Score what each group is compared with, under the model of each member: ``(G, R)``."""
    if task.model.fixed:
        estimate = estimates.at(NONE)
        return [
            task.score_windows(estimate, group.windows)
            if group.reference.ends is None
            else task.past_scores(estimate, group.reference.ends)  # each once and for all
            for group in batch
        ]
    models, windows, shapes, first = [], [], [], 0
    for group in batch:
        number, size = len(group.members), len(group.windows.start)
        each, places = np.divmod(np.arange(number * size), max(size, 1))
        models.append(first + each if len(estimates) > 1 else each)
        windows.append(Windows(*(array[places] for array in group.windows)))
        shapes.append((number, size))
        first += number
    values = evaluate_each(task.score, estimates, np.concatenate(models), stacked(windows))
    ends = np.cumsum([number * size for number, size in shapes])[:-1]
    parts = zip(np.split(values, ends), shapes, strict=True)
    return [part.reshape(shape) for part, shape in parts]


def rank_in_class(task: PredictionTask, candidates: IntArray) -> Ranked | None:
    """Rank candidates of a model of counts by windows that are counted, those of all at once.

    None where the symmetry does not count so, or the model is another.
    """
    model, history, horizon = task.model, task.history, len(task.observations)
    priors = None if model.fixed else find_priors(model, task.table)
    if priors is None or horizon > LONGEST:
        return None
    sizes = len(task.labels), len(task.table)
    states = task.windows(candidates).states
    found = find_classes(task.symmetry, history, states, task.observations, *sizes)
    if found is None:  # Steps 1 and 3
        return None
    emission, table, labels = model.emission_, task.table, task.labels
    estimates = estimates_of_counts(  # Step 2
        found.moves, found.pairs, priors, emission, table, labels
    )
    windows = task.hide_unseen(found.windows)
    scores = evaluate_each(task.score, estimates, found.each, windows)  # Step 4
    return Ranked.of_one(rank_in_classes(scores, found), scores[found.own])  # Step 5


LEAST = 1e-9  # a prior below which a probability may be none, or not be told from none


def find_priors(model: Model, table: Any) -> tuple[float, float] | None:
    """Return what is added to counts of transitions and of symbols, if these are the whole model.

    None where the estimate is not a hidden Markov model of relative frequencies, or may become
    something else as symbols of the table come again.
    """
    if not isinstance(model, HMM) or type(model).estimate is not HMM.estimate:
        return None
    emission = model.emission_
    few = type(emission) is Text and len(table) <= emission.few  # labels, and not words
    if type(emission) is not Categorical and not few:
        return None
    return float(model.prior), float(emission.prior)  # type: ignore[attr-defined]


def find_step_score(score: Score) -> str:
    """Tell what a score makes of one step: "surprise", "rest", or nothing that is known here.

    Minus the log-probability of the state given the one before and the observation, or one minus
    the probability.
    """
    if type(score) is Path and not score.lag:
        return "surprise"
    known = isinstance(score, (Filter, Smoother, Joint)) and not score.lag
    return "rest" if known and type(score) in (Filter, Smoother, Joint) else ""


def find_step_reference(symmetry: Symmetry, n_states: int, n_symbols: int) -> str:
    """Tell what one step is compared with, where counts of steps are all it takes.

    "past" for the latest steps to the same state, but the first of all, each counted once; "class"
    for the last steps of all sequences of the same counts; nothing where it is something else, or
    is drawn at random.
    """
    if type(symmetry) in (Spaced, Returns):
        return "past"
    if type(symmetry) is not Full:
        return ""
    most = symmetry.max_windows
    counted = n_states * (n_symbols + 1) <= most and n_states**4 <= 10 * most
    return "class" if counted else ""


def find_classes(
    symmetry: Symmetry,
    history: History,
    candidates: IntArray,
    observations: IntArray,
    n_states: int,
    n_symbols: int,
) -> Classes | None:
    """Return the windows that candidates are compared with, of all at once, where they are counted.

    Parameters
    ----------
    candidates, observations : (C, h) states, and (h,) codes, that follow the history
    n_states, n_symbols : how many there are
    """
    if type(symmetry) is not Full or not history.symbols:
        return None
    pasts = Pasts.of(history, n_states, n_symbols)
    return count_classes(pasts, candidates, observations[None], symmetry.max_windows)


BITS = 32  # of a digit


def rank_in_classes(scores: FloatArray, found: Classes) -> list[Rank]:
    """Rank candidates as `ranks` does, each in a class that it is in already.

    Parameters
    ----------
    scores : (R,) those of all windows
    """
    placed = _placed(scores, found.weights, found.begins, found.classes, found.own)
    parts = ([_joined(digits) for digits in one] for one in placed.tolist())
    return [Rank(above, tied, total) for above, tied, total in parts]


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
