"""From ranks to sets: listed, as a lattice, or step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.algorithm import rank
from definetti.data.candidates import all_candidates, check_listing
from definetti.levels import Levels
from definetti.models.estimate import Estimate
from definetti.question import Question
from definetti.ranks.limits import limit, risk_limit
from definetti.ranks.membership import Ranked, membership, p_values_of
from definetti.ranks.pvalue import Rank
from definetti.scores import Band, Smoother
from definetti.scores.rounding import round_scores
from definetti.sets import LatticeSet, PredictionSet, StepSets
from definetti.sets._few import Few, join_notes, note_recent

AllRanked = tuple[IntArray, list[Rank], FloatArray]


def listed_set(
    question: Question,
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
    ranked = all_ranked(question, max_candidates, verbose) if ranked is None else ranked
    candidates, found, scores = ranked
    broken = question.tie_breakers(found)
    note = ""
    if levels is None:
        p_values, kept, filled = list_members(found, scores, broken, None, False)
    else:
        alphas = levels.alphas(question.labels)
        held_to = [alphas[last] for last in candidates[:, -1].tolist()]
        p_values, kept, filled = list_members(found, scores, broken, held_to, not allow_empty)
        if question.by_last_state:
            # The first candidates differ in their last states alone.
            numbers = [one.total - 1 for one in found[: len(alphas)]]
            few = Few.of(question, numbers, alphas)
            everything = len(kept) == len(candidates)
            if everything:
                few.warn()
            if everything or not question.smoothing:  # with luck, ties leave even these out
                note = few.note(everything)
        most = max(one.total - 1 for one in found)
        note = join_notes(note, note_recent(question.symmetry, alphas, most))
    promised = question.promise()
    return PredictionSet(
        [tuple(question.labels[code] for code in candidates[k].tolist()) for k in kept],
        p_values[kept],
        question.labels,
        candidates.shape[1],
        None if levels is None else levels.written,
        question.describe(),
        promised.exact,
        p_values,
        promised.holds_given,
        note,
        filled,
    )


def list_members(
    found: list[Rank],
    scores: FloatArray,
    broken: Sequence[float | None],
    alphas: Sequence[Fraction] | None,
    fill: bool,
) -> tuple[FloatArray, list[int], bool]:
    """Return p-values, the places of the members of a set, most plausible first, and if filled.

    Parameters
    ----------
    broken : what breaks the ties of each
    alphas : what each is held to; all are kept if left out
    fill : whether a set that would be empty gets its most plausible candidate
    """
    uniforms = np.array([[np.nan if one is None else one for one in broken]])
    ranked = Ranked.of_one(found, scores)
    p_values = p_values_of(ranked, uniforms)
    order = np.lexsort((scores, -p_values[0]))
    if alphas is None:
        return p_values[0], order.tolist(), False
    held = np.array([alphas], dtype=object)
    inside, filled = membership(ranked, p_values, held, uniforms, fill=fill)
    return p_values[0], order[inside[0, order]].tolist(), bool(filled[0])


def all_ranked(question: Question, max_candidates: Any, verbose: bool = False) -> AllRanked:
    """Return all candidates with their ranks and their scores."""
    n, steps = len(question.labels), question.steps
    check_listing(n, steps, max_candidates, question.way_to_limits)
    candidates = all_candidates(n, steps)
    return candidates, *rank(question, candidates, verbose)


def lattice_set(
    question: Question, levels: Levels | None, max_listed: int, allow_empty: bool = True
) -> LatticeSet | None:
    """Return the set as thresholds on a trellis; None where the score makes no trellis."""
    estimate = question.estimate(question.complete_with(0))
    window = question.hide_unseen(question.windows(np.zeros((1, question.steps), dtype=np.int64)))
    trellis = question.score.trellis(estimate, window)
    if trellis is None:
        return None
    promised = question.promise()
    past = past_by_state(question, estimate)
    uniform = question.uniform() if question.smoothing else None
    note = ""
    if levels is None:
        limits = np.full(len(past), np.inf)
    else:
        alphas = levels.alphas(question.labels)
        few = Few.of(question, list(map(len, past)), alphas)
        few.warn()
        pairs = zip(past, alphas, strict=True)
        limits = np.array([limit(scores, alpha, uniform) for scores, alpha in pairs])
        everything = bool((limits == np.inf).all())
        if everything or not question.smoothing:  # with luck, ties leave even these out
            note = few.note(everything)
        most = max(map(len, past))
        note = join_notes(note, note_recent(question.symmetry, alphas, most))
        # A limit just short of the impossible is one that all possible paths keep.
        limits = np.where(np.isinf(limits), limits, np.minimum(limits, trellis.most + 1.0))
    found = LatticeSet(
        trellis,
        past,
        limits,
        uniform,
        question.labels,
        None if levels is None else levels.written,
        question.describe(),
        promised.exact,
        estimate.smoothing(window)[0, question.lag :],
        max_listed,
        promised.holds_given,
        note,
    )
    return found if allow_empty else found.fill()


def step_sets(
    question: Question,
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
    promised = question.promise(guarantee)
    estimate = question.estimate(question.complete_with(0))
    window = question.hide_unseen(question.windows(np.zeros((1, question.steps), dtype=np.int64)))
    band = Band(max_errors, lag=question.lag)
    method = replace(question, score=Smoother(), smoothing=False).describe()
    alphas = levels.alphas(question.labels)
    if guarantee == "errors":
        past = past_by_state(replace(question, score=band), estimate)
        numbers = list(map(len, past))
        limits = list(map(limit, past, alphas))
    else:
        past = [_past_steps(question, estimate, last) for last in range(len(question.labels))]
        numbers = [len(steps) // question.steps for steps in past]
        limits = [
            risk_limit(steps, number, question.steps, alpha)
            for steps, number, alpha in zip(past, numbers, alphas, strict=True)
        ]
    few = Few.of(question, numbers, alphas)
    few.warn()
    marginals = estimate.smoothing(window)[0, question.lag :]
    own = np.array(limits)
    largest = own.max()
    if guarantee == "errors" and not max_errors:
        # A true last state that its own limit leaves out has lost the window, whatever becomes of
        # the other steps: it need not be reckoned with there.
        largest = own[1.0 - marginals[-1] <= own].max(initial=-np.inf)
    found = StepSets(
        question.labels,
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
    note = few.note(bool(found.nodes.all()), question.steps)
    bounded = note_recent(question.symmetry, alphas, max(numbers))
    return replace(found, note=join_notes(note, bounded))


def past_by_state(question: Question, estimate: Estimate) -> list[FloatArray]:
    """Return the scores of the past for each last state, in rising order."""
    found: dict[tuple[int, ...], FloatArray] = {}
    orbits = [question.orbit_of(last) for last in range(len(question.labels))]
    for last, orbit in enumerate(orbits):
        if orbit not in found:
            found[orbit] = np.sort(question.past_scores(estimate, question.past_ends(last)))
    return [found[orbit] for orbit in orbits]


def _past_steps(question: Question, estimate: Estimate, last: int) -> FloatArray:
    """Return how strange every step of the past was, for one last state, in rising order."""
    windows = question.hide_unseen(question.windows_ending(question.past_ends(last)))
    return round_scores(np.sort(Band(lag=question.lag).steps(estimate, windows), axis=None))
