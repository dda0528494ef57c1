"""Make prediction sets from a task: listed, as a lattice, or step by step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.data.candidates import all_candidates, check_listing
from definetti.engine.algorithm import rank
from definetti.engine.past import past_by_state
from definetti.engine.pvalues import Ranked
from definetti.engine.task import PredictionTask
from definetti.engine.thresholds import limit, risk_limit
from definetti.levels import Levels
from definetti.models.base import Estimate
from definetti.scores import Band, Smoother
from definetti.scores.nonconformity import round_scores
from definetti.sets.batch import sets_of
from definetti.sets.lattice import LatticeSet
from definetti.sets.listed import PredictionSet
from definetti.sets.steps import StepSets
from definetti.sets.wording import InsufficientCalibration, join_notes, note_recent

AllRanked = tuple[IntArray, Ranked]


def listed_set(
    task: PredictionTask,
    levels: Levels | None,
    max_candidates: Any,
    verbose: bool,
    allow_empty: bool = True,
    ranked: AllRanked | None = None,
) -> PredictionSet:
    """Rank all candidates and keep those whose p-value exceeds alpha, most plausible first.

    Each is held to the alpha of its own last state. If there are none and the set may not be
    empty, the most plausible is kept. The ranks of `all_ranked` serve all levels.
    """
    ranked = all_ranked(task, max_candidates, verbose) if ranked is None else ranked
    candidates, found = ranked
    listed = sets_of(
        task, found, task.tie_breakers(found), candidates, levels, levels is None or allow_empty
    )[0]
    if levels is None:
        return listed
    alphas, note = levels.alphas(task.labels), ""
    if task.by_last_state:
        # The first candidates differ in their last states alone.
        numbers = (found.total[0, : len(alphas)] - 1).tolist()
        few = InsufficientCalibration.of(task, numbers, alphas)
        everything = len(listed) == len(candidates)
        if everything:
            few.warn()
        if everything or not task.smoothing:  # with luck, ties leave even these out
            note = few.note(everything)
    bounded = note_recent(task.symmetry, alphas, int(found.total.max()) - 1)
    return replace(listed, note=join_notes(note, bounded))


def all_ranked(task: PredictionTask, max_candidates: Any, verbose: bool = False) -> AllRanked:
    """Return all candidates with their ranks."""
    n, steps = len(task.labels), task.steps
    check_listing(n, steps, max_candidates, task.way_to_limits)
    candidates = all_candidates(n, steps)
    return candidates, rank(task, candidates, verbose)


def lattice_set(
    task: PredictionTask, levels: Levels | None, max_listed: int, allow_empty: bool = True
) -> LatticeSet | None:
    """Return the set as thresholds on a trellis; None where the score makes no trellis."""
    estimate = task.estimate(task.complete_with(0))
    window = task.hide_unseen(task.windows(np.zeros((1, task.steps), dtype=np.int64)))
    trellis = task.score.trellis(estimate, window)
    if trellis is None:
        return None
    promised = task.promise()
    past = past_by_state(task, estimate)
    uniform = task.uniform() if task.smoothing else None
    note = ""
    if levels is None:
        limits = np.full(len(past), np.inf)
    else:
        alphas = levels.alphas(task.labels)
        few = InsufficientCalibration.of(task, list(map(len, past)), alphas)
        few.warn()
        pairs = zip(past, alphas, strict=True)
        limits = np.array([limit(scores, alpha, uniform) for scores, alpha in pairs])
        everything = bool((limits == np.inf).all())
        if everything or not task.smoothing:  # with luck, ties leave even these out
            note = few.note(everything)
        most = max(map(len, past))
        note = join_notes(note, note_recent(task.symmetry, alphas, most))
        # A limit just short of the impossible is one that all possible paths keep.
        limits = np.where(np.isinf(limits), limits, np.minimum(limits, trellis.most + 1.0))
    found = LatticeSet(
        trellis,
        past,
        limits,
        uniform,
        task.labels,
        None if levels is None else levels.written,
        task.describe(),
        promised.exact,
        estimate.smoothing(window)[0, task.lag :],
        max_listed,
        promised.holds_given,
        note,
    )
    return found if allow_empty else found.fill()


def step_sets(
    task: PredictionTask,
    levels: Levels,
    guarantee: str,
    max_errors: int,
    allow_empty: bool = True,
) -> StepSets:
    """Return a set of states for each step, good for whatever the last state is.

    The promise given a last state is kept where, if that state is the true one, every step has what
    its limit lets in. At the last step the truth is that state itself, which is held to its own
    limit; at the steps before, the largest limit will do.
    """
    promised = task.promise(guarantee)
    estimate = task.estimate(task.complete_with(0))
    window = task.hide_unseen(task.windows(np.zeros((1, task.steps), dtype=np.int64)))
    band = Band(max_errors, lag=task.lag)
    method = replace(task, score=Smoother(), smoothing=False).describe()
    alphas = levels.alphas(task.labels)
    if guarantee == "errors":
        past = past_by_state(replace(task, score=band), estimate)
        numbers = list(map(len, past))
        limits = list(map(limit, past, alphas))
    else:
        past = [_past_steps(task, estimate, last) for last in range(len(task.labels))]
        numbers = [len(steps) // task.steps for steps in past]
        limits = [
            risk_limit(steps, number, task.steps, alpha)
            for steps, number, alpha in zip(past, numbers, alphas, strict=True)
        ]
    few = InsufficientCalibration.of(task, numbers, alphas)
    few.warn()
    marginals = estimate.smoothing(window)[0, task.lag :]
    own = np.array(limits)
    largest = own.max()
    if guarantee == "errors" and not max_errors:
        # A true last state that its own limit leaves out has lost the window, whatever becomes of
        # the other steps: it need not be reckoned with there.
        largest = own[1.0 - marginals[-1] <= own].max(initial=-np.inf)
    found = StepSets(
        task.labels,
        levels.written,
        guarantee,
        max_errors,
        float(largest),
        method,
        promised.exact,
        marginals,
        promised.holds_given,
        own,
        allow_empty=allow_empty,
    )
    note = few.note(bool(found.nodes.all()), task.steps)
    bounded = note_recent(task.symmetry, alphas, max(numbers))
    return replace(found, note=join_notes(note, bounded))


def _past_steps(task: PredictionTask, estimate: Estimate, last: int) -> FloatArray:
    """Return the nonconformity of all past steps, for one last state, in rising order."""
    windows = task.hide_unseen(task.windows_ending(task.past_ends(last)))
    return round_scores(np.sort(Band(lag=task.lag).steps(estimate, windows), axis=None))
