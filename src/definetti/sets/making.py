"""Make prediction sets from a task: listed, as a lattice, or step by step."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import Any, NamedTuple

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.checks import warn_caller
from definetti.data.candidates import all_candidates, check_listing
from definetti.engine.algorithm import rank
from definetti.engine.past import past_by_state
from definetti.engine.pvalues import Ranked, membership, p_values_of
from definetti.engine.task import PredictionTask
from definetti.engine.thresholds import blocks_needed, limit, risk_limit
from definetti.exceptions import FewBlocksWarning
from definetti.levels import Levels
from definetti.models.base import Estimate
from definetti.scores import Band, Smoother
from definetti.scores.nonconformity import round_scores
from definetti.sets.lattice import LatticeSet
from definetti.sets.listed import PredictionSet
from definetti.sets.steps import StepSets
from definetti.symmetry import Symmetry
from definetti.symmetry.base import LAST

NAMED = 3  # states that are spoken of by name
ENOUGH = 20  # windows that a level may leave out, of those that are recommended


class InsufficientCalibration(NamedTuple):
    """States that end too few blocks of the past for anything that ends in them to be left out.

    Attributes
    ----------
    labels : these states, the one with the fewest first
    numbers, needed : how many blocks each has, and how many its level takes
    levels : the level of each
    states : how many states there are in all
    horizon, length : the steps of a block, and of the history that calibrates
    present : the present state, where it is that one which has too few; then all states have
    bounded : what to do where the symmetry compares with fewer blocks than that; else nothing
    """

    labels: list[Hashable]
    numbers: list[int]
    needed: list[int]
    levels: list[float]
    states: int
    horizon: int
    length: int
    present: tuple[Hashable, ...]
    bounded: str = ""

    @classmethod
    def of(
        cls, task: PredictionTask, numbers: list[int], alphas: list[Fraction]
    ) -> InsufficientCalibration:
        """Find the states with too few blocks, by the numbers of blocks that all states have."""
        by_last = task.symmetry.given == LAST
        present = () if by_last else (task.labels[task.history.last],)
        horizon, length = len(task.observations), len(task.history)
        how = horizon, length, present, task.symmetry
        return cls.among(task.labels, numbers, alphas, *how)

    @classmethod
    def among(
        cls,
        labels: Sequence[Hashable],
        numbers: list[int],
        alphas: list[Fraction],
        horizon: int,
        length: int,
        present: tuple[Hashable, ...],
        symmetry: Symmetry,
    ) -> InsufficientCalibration:
        """Find them where there is no task to ask; the rest is as in the attributes."""
        needed = list(map(blocks_needed, alphas))
        few = [last for last, number in enumerate(numbers) if number < needed[last]]
        few.sort(key=lambda last: numbers[last] / needed[last])
        bounded = ""
        if few and numbers[few[0]] == symmetry.recent:
            bounded = _widen(symmetry, alphas[few[0]])
        return cls(
            [labels[last] for last in few],
            [numbers[last] for last in few],
            [needed[last] for last in few],
            [float(1 - alphas[last]) for last in few],
            len(numbers),
            horizon,
            length,
            present,
            bounded,
        )

    def note(self, everything: bool, steps: int = 1) -> str:
        """Say what the set does not say, in a line of it; nothing where there is nothing to say.

        Parameters
        ----------
        everything : whether the set has all there is
        steps : of a set step by step, how many it has: all but the last have the largest limit
        """
        if not self.labels:
            return ""
        if self.present:
            return f"says nothing: too few windows of the past begin in {self.present[0]!r}"
        windows = f"too few windows of the past end in {self._names()}"
        if everything:
            return f"says nothing: {windows}"
        if steps > 1:
            return f"says nothing of the steps before the last: {windows}"
        return f"leaves nothing out that ends in {self._names()}: too few windows of the past do"

    def warn(self) -> None:
        """Warn of it, with what can be done."""
        if not self.labels:
            return
        begin = f"too few blocks of {self.horizon} steps to leave anything out at level "
        begin += f"{self.levels[0]:g}"
        if self.bounded:
            told = f"{begin}, which takes {self.needed[0]}: {self.bounded}, or lower the level"
        elif self.present:
            told = (
                f"{begin}: the present state {self.present[0]!r} was left {self.numbers[0]} times "
                f"of the {self.needed[0]} that it takes; merge it with a state that is like it, or "
                "lower the level or the horizon"
            )
        else:
            told = (
                f"{begin} where the last state is one of {len(self.labels)} of {self.states} "
                f"states: {self._counts()} that it takes; {self._cure()}"
            )
        warn_caller(told, FewBlocksWarning)

    def _names(self) -> str:
        return _listed([repr(label) for label in self.labels], "or")

    def _counts(self) -> str:
        """Say how many blocks states have, of those that they need."""
        alike = len(set(self.needed)) == 1
        words = [
            f"{label!r} has {number}{'' if alike else f' of {needed}'}"
            for label, number, needed in zip(self.labels, self.numbers, self.needed, strict=True)
        ]
        return f"{_listed(words, 'and')}{f' of the {self.needed[0]}' if alike else ''}"

    def _cure(self) -> str:
        """Say what helps: to merge rare states or to ask less of them; for all, more data."""
        if len(self.labels) == self.states:
            number, takes = self.numbers[0], self.needed[0]
            if number:
                more = f"about {takes / number:.1f} times the {self.length:,} steps"
            else:  # each block is at least so long
                more = f"at least {(takes + 1) * self.horizon:,} steps"
            return f"give {more} to calibrate on, or lower the level or the horizon"
        # More data would be a long wait for a rare state, and a common one needs no other promise.
        one = len(self.labels) == 1
        it, state = ("it", "a state that is") if one else ("them", "states that are")
        cure = (
            f"merge {it} with {state} like {it}, or use symmetry='departures', to which a rare "
            "last state is none"
        )
        lower = self._lower()
        return cure + (f", or ask less of {it}: confidence_level={lower}" if lower else "")

    def _lower(self) -> str:
        """Write levels that so few blocks can keep; none where there is no block at all."""
        pairs = [
            f"{label!r}: {floor(100 * number / (number + 1)) / 100:g}"
            for label, number in zip(self.labels, self.numbers, strict=True)
            if number
        ]
        if not pairs or len(pairs) > NAMED:
            return ""
        return f"{{{', '.join(pairs)}, None: {self.levels[0]:g}}}"


def note_recent(symmetry: Symmetry, alphas: list[Fraction], number: int) -> str:
    """Say that a symmetry compares with fewer windows than a level needs, where it does.

    Parameters
    ----------
    number : how many windows of the past a candidate is compared with, at most

    Examples
    --------
    >>> from definetti.symmetry import Spaced
    >>> note_recent(Spaced(recent=200), [Fraction(1, 200)], 200)
    'leaves out hardly anything at level 0.995: compares with at most the latest 200 windows; use \
symmetry=Spaced(recent=4000)'
    >>> note_recent(Spaced(recent=200), [Fraction(1, 100)], 200)
    ''
    >>> note_recent(Spaced(recent=200), [Fraction(1, 200)], 60)  # the history has no more
    ''
    """
    alpha = min(alphas)
    if symmetry.recent is None or number < symmetry.recent or not 0 < alpha * number < 2:
        return ""
    told = f"leaves out hardly anything at level {float(1 - alpha):g}"
    return f"{told}: {_widen(symmetry, alpha)}"


def join_notes(*notes: str) -> str:
    """Write what there is to say in one line."""
    return "; ".join(note for note in notes if note)


def _widen(symmetry: Symmetry, alpha: Fraction) -> str:
    """Say how many windows a symmetry compares with, and how to have enough for a level."""
    wider = f"symmetry={symmetry.known_as.capitalize()}(recent={ceil(ENOUGH / alpha)})"
    return f"compares with at most the latest {symmetry.recent} windows; use {wider}"


def _listed(words: list[str], last: str) -> str:
    """Write a few of several words with commas between.

    >>> _listed(["a", "b", "c"], "or"), _listed(list("abcde"), "and")
    ('a, b or c', 'a, b, c and 2 more')
    """
    if len(words) > NAMED:
        return f"{', '.join(words[:NAMED])} and {len(words) - NAMED} more"
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


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
    uniforms, note = task.tie_breakers(found), ""
    if levels is None:
        p_values, kept, filled = list_members(found, uniforms, None, False)
    else:
        alphas = levels.alphas(task.labels)
        held_to = [alphas[last] for last in candidates[:, -1].tolist()]
        p_values, kept, filled = list_members(found, uniforms, held_to, not allow_empty)
        if task.by_last_state:
            # The first candidates differ in their last states alone.
            numbers = (found.total[0, : len(alphas)] - 1).tolist()
            few = InsufficientCalibration.of(task, numbers, alphas)
            everything = len(kept) == len(candidates)
            if everything:
                few.warn()
            if everything or not task.smoothing:  # with luck, ties leave even these out
                note = few.note(everything)
        most = int(found.total.max()) - 1
        note = join_notes(note, note_recent(task.symmetry, alphas, most))
    promised = task.promise()
    return PredictionSet(
        [tuple(task.labels[code] for code in candidates[k].tolist()) for k in kept],
        p_values[kept],
        task.labels,
        candidates.shape[1],
        None if levels is None else levels.written,
        task.describe(),
        promised.exact,
        p_values,
        promised.holds_given,
        note,
        filled,
    )


def list_members(
    ranked: Ranked,
    uniforms: FloatArray | None,
    alphas: Sequence[Fraction] | None,
    fill: bool,
) -> tuple[FloatArray, list[int], bool]:
    """Return p-values, the places of the members of a set, most plausible first, and if filled.

    Parameters
    ----------
    ranked, uniforms : the ranks of one window, and what breaks their ties
    alphas : what each is held to; all are kept if left out
    fill : whether a set that would be empty gets its most plausible candidate
    """
    p_values = p_values_of(ranked, uniforms)
    order = np.lexsort((ranked.scores[0], -p_values[0]))
    if alphas is None:
        return p_values[0], order.tolist(), False
    held = np.array([alphas], dtype=object)
    inside, filled = membership(ranked, p_values, held, uniforms, fill=fill)
    return p_values[0], order[inside[0, order]].tolist(), bool(filled[0])


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
