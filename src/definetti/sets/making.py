"""From ranks to sets: listed, as a lattice, or step by step."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.caller import warn_caller
from definetti.algorithm import rank
from definetti.data.candidates import all_candidates, check_listing
from definetti.exceptions import FewBlocksWarning
from definetti.models.estimate import Estimate
from definetti.question import Question
from definetti.ranks.limits import blocks_needed, limit, risk_limit
from definetti.ranks.pvalue import Rank
from definetti.scores import Band, Smoother
from definetti.sets import LatticeSet, PredictionSet, StepSets
from definetti.sets._wording import LAST


def listed_set(
    question: Question,
    alpha: Fraction | None,
    max_candidates: Any,
    verbose: bool,
    allow_empty: bool = True,
) -> PredictionSet:
    """Rank all candidates and keep those whose p-value exceeds alpha, most plausible first.

    If there are none and the set may not be empty, the most plausible is kept.
    """
    candidates, found, scores = all_ranked(question, max_candidates, verbose)
    broken = question.tie_breakers(found)
    p_values = np.array(list(map(Rank.p_value, found, broken)))
    order = np.lexsort((scores, -p_values)).tolist()
    kept = [k for k in order if alpha is None or found[k].exceeds(alpha, broken[k])]
    if alpha is not None and len(kept) == len(candidates) and question.by_last_state:
        numbers = [len(question.past_ends(last)) for last in range(len(question.labels))]
        _warn_if_few(question, numbers, alpha)
    filled = not kept and not allow_empty
    kept = order[:1] if filled else kept
    return PredictionSet(
        [tuple(question.labels[code] for code in candidates[k].tolist()) for k in kept],
        p_values[kept],
        question.labels,
        candidates.shape[1],
        None if alpha is None else float(1 - alpha),
        question.describe(),
        question.symmetry.exact,
        p_values,
        question.symmetry.given,
        filled,
    )


def all_ranked(
    question: Question, max_candidates: Any, verbose: bool = False
) -> tuple[IntArray, list[Rank], FloatArray]:
    """Return all candidates with their ranks and their scores."""
    n, steps, by_last_state = len(question.labels), question.steps, question.by_last_state
    check_listing(n, steps, question.model.fixed, by_last_state, max_candidates)
    candidates = all_candidates(n, steps)
    return candidates, *rank(question, candidates, verbose)


def lattice_set(
    question: Question, alpha: Fraction | None, max_listed: int, allow_empty: bool = True
) -> LatticeSet | None:
    """Return the set as thresholds on a trellis; None where the score makes no trellis."""
    estimate = question.estimate(question.complete_with(0))
    window = question.hide_unseen(question.windows(np.zeros((1, question.steps), dtype=np.int64)))
    trellis = question.score.trellis(estimate, window)
    if trellis is None:
        return None
    past = _past(question, estimate)
    uniform = question.uniform() if question.smoothing else None
    if alpha is None:
        limits = np.full(len(past), np.inf)
    else:
        _warn_if_few(question, list(map(len, past)), alpha)
        limits = np.array([limit(scores, alpha, uniform) for scores in past])
        # A limit just short of the impossible is one that all possible paths keep.
        limits = np.where(np.isinf(limits), limits, np.minimum(limits, trellis.most + 1.0))
    found = LatticeSet(
        trellis,
        past,
        limits,
        uniform,
        question.labels,
        None if alpha is None else float(1 - alpha),
        question.describe(),
        question.symmetry.exact,
        estimate.smoothing(window)[0, question.lag :],
        max_listed,
        question.symmetry.given,
    )
    return found if allow_empty else found.fill()


def step_sets(
    question: Question,
    alpha: Fraction,
    guarantee: str,
    max_errors: int,
    allow_empty: bool = True,
) -> StepSets:
    """Return a set of states for each step, good for whatever the last state is."""
    estimate = question.estimate(question.complete_with(0))
    window = question.hide_unseen(question.windows(np.zeros((1, question.steps), dtype=np.int64)))
    band = Band(max_errors, lag=question.lag)
    method = replace(question, score=Smoother(), smoothing=False).describe()
    if guarantee == "errors":
        past = _past(replace(question, score=band), estimate)
        numbers = list(map(len, past))
        limits = [limit(scores, alpha) for scores in past]
    else:
        past = [_past_steps(question, estimate, last) for last in range(len(question.labels))]
        numbers = [len(steps) // question.steps for steps in past]
        limits = [
            risk_limit(steps, number, question.steps, alpha)
            for steps, number in zip(past, numbers, strict=True)
        ]
    _warn_if_few(question, numbers, alpha)
    return StepSets(
        question.labels,
        float(1 - alpha),
        guarantee,
        max_errors,
        max(limits),
        method,
        question.symmetry.exact,
        estimate.smoothing(window)[0, question.lag :],
        question.symmetry.given,
        allow_empty,
    )


def _past(question: Question, estimate: Estimate) -> list[FloatArray]:
    """Return the scores of the past for each last state, in rising order."""
    found: dict[tuple[int, ...], FloatArray] = {}
    orbits = [question.orbit_of(last) for last in range(len(question.labels))]
    for last, orbit in enumerate(orbits):
        if orbit not in found:
            found[orbit] = question.past_scores(estimate, question.past_ends(last), orbit)
    return [found[orbit] for orbit in orbits]


def _past_steps(question: Question, estimate: Estimate, last: int) -> FloatArray:
    """Return how strange every step of the past was, for one last state, in rising order."""

    def made() -> FloatArray:
        windows = question.hide_unseen(question.windows_ending(question.past_ends(last)))
        return np.sort(Band(lag=question.lag).steps(estimate, windows), axis=None)

    if not question.model.fixed:
        return made()
    setting = ("steps", *question.setting)
    return question.history.present.recall(setting, question.orbit_of(last), made)


def _warn_if_few(question: Question, numbers: list[int], alpha: Fraction) -> None:
    """Say what it takes to leave anything out, where that was asked for."""
    needed = blocks_needed(alpha)
    few = [last for last, number in enumerate(numbers) if number < needed]
    if not few:
        return
    begin = f"too few blocks of {len(question.observations)} steps to leave anything out at level "
    begin += f"{float(1 - alpha):g}"
    if question.symmetry.given == LAST:
        told = f"{begin} {_rare_last(question, numbers, few, needed)}"
    else:
        present = question.labels[question.history.last]
        told = (
            f"{begin}: the present state {present!r} was left {numbers[0]} times of the {needed} "
            "that it takes; merge it with a state that is like it, or lower the level or the "
            "horizon"
        )
    warn_caller(told, FewBlocksWarning)


def _rare_last(question: Question, numbers: list[int], few: list[int], needed: int) -> str:
    """Say which last state has the fewest blocks, and what to do about it."""
    fewest = min(few, key=lambda last: numbers[last])
    label, number = question.labels[fewest], numbers[fewest]
    if number:
        more = f"about {needed / number:.1f} times the {len(question.history):,} steps"
    else:  # each block is at least so long
        more = f"at least {(needed + 1) * len(question.observations):,} steps"
    cure = f"give {more} to calibrate on, or lower the level or the horizon"
    if len(few) < len(numbers):
        # It is rare, and more data would be a long wait; a common state needs no other promise.
        cure = (
            "merge it with another, or use symmetry='departures', to which a rare last state is "
            f"none; or {cure}"
        )
    return (
        f"where the last state is one of {len(few)} of {len(numbers)} states: {label!r} has "
        f"{number} of the {needed} that it takes; {cure}"
    )
