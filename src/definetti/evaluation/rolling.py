"""Each window of a history predicted from all before it, and judged by the truth.

One loop, `roll_windows`, serves `evaluate`, the backtest, `definetti compare` and the studies.
There is one judge, `roll_levels`: at one level for `evaluate`, at all levels for a report.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from definetti._system.arrays import IntArray
from definetti._system.terminal import show_progress
from definetti.data.labels import piece
from definetti.data.timing import read_rows
from definetti.engine.pvalues import miscoverage
from definetti.evaluation.at_once import roll_at_once
from definetti.evaluation.judged import (
    AnySet,
    JudgedLevels,
    join_judged,
    judge_p_values,
    judge_sets,
)
from definetti.levels import ConfidenceLevel, read_levels
from definetti.levels.by_state import several_levels
from definetti.sets import PredictionSet, StepSets
from definetti.symmetry.base import PRESENT


class Window(NamedTuple):
    """A window to be predicted: where it begins, what is observed in it, and its true states."""

    begin: int
    observations: Any
    truth: tuple[Hashable, ...]


def roll_windows(
    learner: Any,
    observations: Any,
    states: Sequence[Any],
    begins: Iterable[int],
    horizon: int,
    known: int = 0,
) -> Iterator[Window]:
    """Yield windows one after the other; by then the learner knows all labels before each.

    The windows begin at `begins`, in rising order; the learner knows so many steps already.

    >>> from definetti import ConformalHMM
    >>> cp = ConformalHMM().fit(None, ["sun", "rain"])
    >>> windows = roll_windows(cp, None, ["sun", "sun", "rain", "sun"], range(0, 4, 2), horizon=2)
    >>> [(window.truth, cp.n_steps_) for window in windows]
    [(('sun', 'sun'), 2), (('rain', 'sun'), 4)]
    """
    for begin in begins:
        if known < begin:
            learner.partial_fit(piece(observations, known, begin), states[known:begin])
            known = begin
        end = begin + horizon
        yield Window(begin, piece(observations, begin, end), tuple(states[begin:end]))


def share_right(predictor: Any, observations: Any, states: Sequence[Any]) -> float:
    """Return the share of steps whose most plausible state is right, each predicted in turn."""
    if not states:
        raise ValueError("states is empty; give the true states of at least one step")
    rows = read_rows(observations, states, clock=predictor._data.clock, name="new_observations")
    if rows.after_hole or len(rows.lengths) > 1:
        raise ValueError(
            "there is a hole in the times of the rows, or before the first; score one segment, or "
            "use evaluate"
        )
    learner, right = copy.deepcopy(predictor), 0
    for window in roll_windows(learner, rows.observations, states, range(len(states)), 1):
        right += learner.predict_p(window.observations, horizon=1).best == window.truth
    return right / len(states)


def judge_windows(
    predictor: Any,
    observations: Any,
    states: Sequence[Any],
    confidence_level: Any,
    horizon: int,
    lag: int = 0,
    verbose: bool = False,
    lengths: Sequence[int] = (),
) -> Any:
    """Judge the sets of one level, the predictor's own if None, or of each of several levels."""
    lengths = lengths or [len(states)]
    if not count_windows(lengths, horizon):
        raise ValueError(
            f"no segment of rows between holes has room for a window of {horizon}, but for the "
            "first row after a hole, which is learned; give more rows, or shorten the horizon"
        )
    several = several_levels(confidence_level)
    levels = [confidence_level] if several is None else rising_levels(several)
    found = roll_segments(
        predictor, observations, states, lengths, horizon, levels=levels, lag=lag, verbose=verbose
    )
    if several is None:
        return found.evaluation(0)
    return [found.evaluation(levels.index(one)) for one in several]


def rising_levels(levels: Sequence[Any]) -> list[Any]:
    """Return several levels in rising order, each once; refuse mappings among them."""
    if any(isinstance(one, Mapping) for one in levels):
        raise ValueError("confidence_level has a mapping among several levels; ask by itself")
    return sorted({*levels}, key=lambda level: -miscoverage(level))


def roll_levels(
    predictor: Any,
    observations: Any,
    states: Sequence[Any],
    levels: Sequence[ConfidenceLevel | None],
    horizon: int,
    *,
    lag: int = 0,
    observed: int | None = None,
    asked: int = 0,
    by_p_values: bool = False,
    filling: bool = False,
    verbose: bool = False,
    at_once: bool = True,
    places: IntArray | None = None,
    every: bool = False,
) -> JudgedLevels:
    """Predict each window of a segment from all that came before it, then learn its labels.

    Parameters
    ----------
    levels : in rising order; None for the predictor's own; one mapping stands by itself
    lag : how many of the first steps of each window not to ask about
    observed : how many steps of a window are observed when it is predicted; all if left out
    asked : the place of the level whose sets are counted even where they are not listed
    by_p_values : read all levels off one prediction of all candidates; else one for each level
    filling : whether sets read off so have their most plausible sequence where there is no other
    at_once : whether all windows may be predicted in one pass where that gives the same answers
    places : which windows to judge, in rising order; all if left out
    every : whether all are judged, whatever `places` says, if they are predicted in one pass
    """
    if at_once:
        found_at_once = roll_at_once(
            predictor, observations, states, levels, horizon, lag=lag, observed=observed,
            by_p_values=by_p_values, filling=filling,
        )  # fmt: skip
        if found_at_once is not None:
            return found_at_once if places is None or every else found_at_once.take(places)

    learner = copy.deepcopy(predictor)
    begins = list(range(0, len(states) - horizon + 1, horizon))
    if places is not None:
        begins = [begins[place] for place in places]
    counted: Iterable[int] = begins
    if verbose and len(begins) > 1:
        what = f"{type(predictor).__name__}: predicting windows"  # whose, where several are judged
        counted = show_progress(begins, len(begins), what, verbose)
    how = {"horizon": horizon, **({"lag": lag} if lag else {})}  # not all know of late labels
    judged = []
    for window in roll_windows(learner, observations, states, counted, horizon):
        seen, truth = window.observations, window.truth[lag:]
        if observed is not None and observed < horizon:
            seen = piece(seen, 0, observed) if observed else None
        sets: list[AnySet] = []
        if by_p_values:
            s = learner.predict_p(seen, **how)
            one = None if isinstance(s, PredictionSet) else levels[asked]
            sized = None if one is None else learner.predict_set(seen, one, **how)
            found = judge_p_values(s, truth, levels, sized, asked, filling)
        else:
            sets = [learner.predict_set(seen, level, **how) for level in levels]
            s = sets[-1]
            found = judge_sets(sets, truth, _levels_asked(predictor, levels, sets))
        given = found.given
        if s.given.startswith(PRESENT):
            given = np.array([s.states.index(learner.present_)])
        p_values = np.array([_p_value(learner, s, seen, truth, how)])
        begin = np.array([window.begin + lag])
        judged.append(found._replace(given=given, p_values=p_values, begins=begin))
    return join_judged(judged)


def _p_value(
    learner: Any, s: AnySet, seen: Any, truth: tuple[Hashable, ...], how: dict[str, Any]
) -> float:
    """Return the p-value of the truth, which most sets know; NaN where sets have none."""
    if isinstance(s, StepSets):
        return np.nan
    try:
        return s.p_value(truth)
    except KeyError:  # a label that was never seen, or a set that notes its members alone
        return float(learner.p_value(seen, truth, **how))


def _levels_asked(predictor: Any, levels: Sequence[Any], sets: Sequence[AnySet]) -> list[Any]:
    """Return levels as they were asked for: a set by the present state has that state's alone."""
    found = []
    for level, one in zip(levels, sets, strict=True):
        asked_for = predictor.confidence_level if level is None else level
        by_state = isinstance(asked_for, Mapping)
        found.append(read_levels(asked_for).written if by_state else one.confidence_level)
    return found


def roll_segments(
    predictor: Any,
    observations: Any,
    states: Sequence[Any],
    lengths: Sequence[int],
    horizon: int,
    places: IntArray | None = None,
    every: bool = False,
    **how: Any,
) -> JudgedLevels:
    """Judge windows of several segments with gaps between; none of them crosses a gap.

    A segment that follows a gap begins with a label that is learned and not predicted: what comes
    before it is not known. The rest is as for `roll_levels`; places count the windows of all.
    """
    if len(lengths) == 1:
        return roll_levels(
            predictor, observations, states, horizon=horizon, places=places, every=every, **how
        )
    learner, parts, chosen = copy.deepcopy(predictor), [], []
    begin, number = 0, 0  # of rows, and of windows, so far
    for segment, length in enumerate(lengths):
        end = begin + length
        if segment:
            learner.new_segment().partial_fit(
                piece(observations, begin, begin + 1), states[begin : begin + 1]
            )
            begin += 1
        windows = (end - begin) // horizon
        own = np.arange(windows)
        if places is not None:
            own = places[(places >= number) & (places < number + windows)] - number
        if len(own):
            seen, truth = piece(observations, begin, end), states[begin:end]
            part = roll_levels(
                learner, seen, truth, horizon=horizon, places=own, every=every, **how
            )
            parts.append(part._replace(begins=part.begins + begin))
            chosen.append(own)
        number += windows
        if segment < len(lengths) - 1 and end > begin:
            learner.partial_fit(piece(observations, begin, end), states[begin:end])
        begin = end
    if any(len(part.covers) == len(own) for part, own in zip(parts, chosen, strict=True)):
        # Of all segments the same share: some were predicted in one pass, and some were not.
        pairs = zip(parts, chosen, strict=True)
        parts = [part if len(part.covers) == len(own) else part.take(own) for part, own in pairs]
    return join_judged(parts)


def count_windows(lengths: Sequence[int], horizon: int) -> int:
    """Return how many windows segments have room for, as `roll_segments` takes them.

    >>> count_windows([10, 3, 1], 2)
    6
    """
    return sum(max(length - (place > 0), 0) // horizon for place, length in enumerate(lengths))
