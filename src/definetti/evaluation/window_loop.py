"""Predict each window of a history from all rows before it, and judge it by the truth.

One loop, `roll_windows`, serves `evaluate`, the backtest, `definetti compare` and the studies.
`roll_levels` judges its windows, at one or several levels. If windows can be ranked in one pass,
`roll_at_once` judges all of them, with the same results.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import IntArray
from definetti._system.terminal import show_progress
from definetti.data.encoded import warn_of_gaps
from definetti.data.labels import MISSING, piece
from definetti.data.timing import read_rows
from definetti.engine.past import find_ways, rank_past_windows
from definetti.engine.promise import ANY_TIME, promise_of
from definetti.engine.pvalues import Ranked, membership, miscoverage, p_values_of
from definetti.engine.segment import Segment
from definetti.engine.step_counts import find_way, rank_counted_windows
from definetti.engine.task import all_candidates, is_long
from definetti.engine.thresholds import blocks_needed
from definetti.evaluation.judged import (
    AnySet,
    JudgedLevels,
    first_level,
    join_judged,
    judge_p_values,
    judge_sets,
)
from definetti.levels import ConfidenceLevel, Levels, read_levels
from definetti.levels.by_state import several_levels
from definetti.sets import PredictionSet, StepSets
from definetti.sets.wording import InsufficientCalibration
from definetti.symmetry.base import PRESENT


class Window(NamedTuple):
    """A window to predict: its first row, its observations and its true states."""

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
    """Yield windows in order, after the learner has learned all rows before each."""
    for begin in begins:
        if known < begin:
            learner.partial_fit(piece(observations, known, begin), states[known:begin])
            known = begin
        end = begin + horizon
        yield Window(begin, piece(observations, begin, end), tuple(states[begin:end]))


def share_right(predictor: Any, observations: Any, states: Sequence[Any]) -> float:
    """Return the share of steps whose most plausible state is right, predicted one by one."""
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
    lag: int,
    verbose: bool,
    lengths: Sequence[int],
) -> Any:
    """Judge the sets of one level, the predictor's own if None, or of each of several levels."""
    if not count_windows(lengths, horizon):
        raise ValueError(
            f"no segment of rows between holes has room for a window of {horizon}, but for the "
            "first row after a hole, which is learned; give more rows, or shorten the horizon"
        )
    several = several_levels(confidence_level)
    levels = [confidence_level] if several is None else rising_levels(several)
    judged = roll_segments(
        predictor, observations, states, lengths, horizon, levels=levels, lag=lag, verbose=verbose
    )
    if several is None:
        return judged.evaluation(0)
    return [judged.evaluation(levels.index(level)) for level in several]


def rising_levels(levels: Sequence[Any]) -> list[Any]:
    """Return several levels in rising order, each once; refuse mappings among them."""
    if any(isinstance(level, Mapping) for level in levels):
        raise ValueError(
            "confidence_level has a mapping among several levels; give the mapping alone"
        )
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
    verbose: bool = False,
    at_once: bool = True,
    places: IntArray | None = None,
    every: bool = False,
) -> JudgedLevels:
    """Predict each window of a segment from all that came before it, then learn its labels.

    Parameters
    ----------
    levels : in rising order; None for the predictor's own; a mapping is a single level
    lag : the label delay: how many first steps of each window are left out
    observed : how many steps of a window are observed when it is predicted; all if left out
    asked : the place of the level whose sets are counted even if they are not listed
    by_p_values : derive all levels from one prediction of all candidates; else predict by level
    at_once : whether all windows may be predicted in one pass if results are the same
    places : which windows to judge, in rising order; all if left out
    every : whether windows predicted in one pass are all judged, whatever `places` is
    """
    if at_once:
        found_at_once = roll_at_once(
            predictor, observations, states, levels, horizon, lag=lag, observed=observed,
            by_p_values=by_p_values,
        )  # fmt: skip
        if found_at_once is not None:
            return found_at_once if places is None or every else found_at_once.take(places)

    learner, judged = copy.deepcopy(predictor), []
    begins = list(range(0, len(states) - horizon + 1, horizon))
    if places is not None:
        begins = [begins[place] for place in places]
    counted: Iterable[int] = begins
    if verbose and len(begins) > 1:
        what = f"{type(predictor).__name__}: predicting windows"
        counted = show_progress(begins, len(begins), what, verbose)
    arguments = _asked_about(horizon, lag)
    for window in roll_windows(learner, observations, states, counted, horizon):
        seen, truth = window.observations, window.truth[lag:]
        if observed is not None and observed < horizon:
            seen = piece(seen, 0, observed) if observed else None
        s: Any
        if by_p_values:
            s = learner.predict_p(seen, **arguments)
            level = None if isinstance(s, PredictionSet) else levels[asked]
            sized = None if level is None else learner.predict_set(seen, level, **arguments)
            result = judge_p_values(s, truth, levels, sized, asked, predictor._fills)
        else:
            sets = [learner.predict_set(seen, level, **arguments) for level in levels]
            s = sets[-1]
            result = judge_sets(sets, truth, _levels_asked(predictor, levels, sets))
        if s.given.startswith(PRESENT):
            result = result._replace(given=np.array([s.states.index(learner.present_)]))
        p_values = np.array([_p_value(learner, s, seen, truth, arguments)])
        judged.append(result._replace(p_values=p_values, begins=np.array([window.begin + lag])))
    return join_judged(judged)


def _asked_about(horizon: int, lag: int) -> dict[str, int]:
    """Return the arguments of a prediction, with `lag` only if it is not 0."""
    return {"horizon": horizon, **({"lag": lag} if lag else {})}


def _p_value(
    learner: Any, s: AnySet, seen: Any, truth: tuple[Hashable, ...], arguments: dict[str, Any]
) -> float:
    """Return the p-value of the truth, from the set if it has it; NaN for sets of states."""
    if isinstance(s, StepSets):
        return np.nan
    try:
        return s.p_value(truth)
    except KeyError:  # a label never seen, or a set that stores p-values of its members only
        return float(learner.p_value(seen, truth, **arguments))


def _levels_asked(predictor: Any, levels: Sequence[Any], sets: Sequence[AnySet]) -> list[Any]:
    """Return the requested levels; a set by the present state has only the level of that state."""
    asked = [predictor.confidence_level if level is None else level for level in levels]
    return [
        read_levels(level).written if isinstance(level, Mapping) else s.confidence_level
        for level, s in zip(asked, sets, strict=True)
    ]


def roll_segments(
    predictor: Any,
    observations: Any,
    states: Sequence[Any],
    lengths: Sequence[int],
    horizon: int,
    places: IntArray | None = None,
    every: bool = False,
    **options: Any,
) -> JudgedLevels:
    """Judge windows of several segments with gaps between; no window crosses a gap.

    The first label of a segment after a gap is learned and not predicted, as its previous state is
    unknown. Other arguments are as in `roll_levels`; `places` counts windows over all segments.
    """
    learner, parts, chosen = predictor, [], []
    if len(lengths) > 1:
        learner = copy.deepcopy(predictor)
    begin, number = 0, 0  # rows and windows so far
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
                learner, seen, truth, horizon=horizon, places=None if places is None else own,
                every=every, **options,
            )  # fmt: skip
            parts.append(part._replace(begins=part.begins + begin))
            chosen.append(own)
        number += windows
        if segment < len(lengths) - 1 and end > begin:
            learner.partial_fit(piece(observations, begin, end), states[begin:end])
        begin = end
    pairs = list(zip(parts, chosen, strict=True))
    if any(len(part.covers) == len(own) for part, own in pairs):
        # Some segments were predicted in one pass and some were not: judge the same windows.
        parts = [part if len(part.covers) == len(own) else part.take(own) for part, own in pairs]
    return join_judged(parts)


def count_windows(lengths: Sequence[int], horizon: int) -> int:
    """Return the number of windows in segments, as `roll_segments` counts them."""
    return sum(max(length - (place > 0), 0) // horizon for place, length in enumerate(lengths))


FEWEST = 2  # windows from which on one pass saves work


def roll_at_once(
    predictor: Any,
    observations: Any,
    states: Sequence[Any],
    levels: Sequence[Any],
    horizon: int,
    *,
    lag: int,
    observed: int | None,
    by_p_values: bool,
) -> JudgedLevels | None:
    """Judge all windows in one pass, as `roll_levels` does; None if it is not possible."""
    if len(states) < FEWEST * horizon or not predictor._ranks_windows:
        return None
    if not predictor._is_fitted() or not predictor._data.settled(observations):
        return None
    seen = horizon if observed is None else min(observed, horizon)
    task = predictor._task(piece(observations, 0, seen) if seen else None, horizon, lag)
    segment = Segment.of(predictor._data_of(task), task, observations, states)
    if segment is None or is_long(len(segment.names), task.steps, predictor.max_candidates):
        return None
    ways = find_ways(segment)  # to rank windows of the past
    way = "" if ways is not None else find_way(segment)  # to rank by counts
    if ways is None and not way:
        return None
    asked = [predictor.confidence_level if level is None else level for level in levels]
    read = [read_levels(level) for level in asked]
    if any(level.named for level in read) and not _levels_fit(segment, read):
        return None
    _warn_of_gaps(segment)
    chunks = (
        rank_counted_windows(segment, way) if ways is None else rank_past_windows(segment, ways)
    )
    parts, few = [], None
    for windows, ranked in chunks:
        part, missing = judge_ranks(segment, windows, ranked, read, predictor._fills, by_p_values)
        parts.append(part)
        few = few or missing
    judged = join_judged(parts)
    for window in np.flatnonzero((segment.truth < 0).any(axis=1)).tolist():
        # The truth has states unknown at the window: rank it separately.
        learner, begin = copy.deepcopy(predictor), int(segment.begins[window])
        if begin:
            learner.partial_fit(piece(observations, 0, begin), states[:begin])
        new = piece(observations, begin, begin + seen) if seen else None
        truth = [*states[begin + lag : begin + horizon]]
        judged.p_values[window] = learner.p_value(new, truth, **_asked_about(horizon, lag))
    if few is not None and not by_p_values:
        few.warn()
    return judged._replace(levels=[*levels]) if by_p_values else judged


def _levels_fit(segment: Segment, levels: Sequence[Levels]) -> bool:
    """Return whether levels name exactly the states known at each window."""
    try:
        for _, _, size in segment.epochs():
            for level in levels:
                if level.named:
                    level.check(segment.names[:size])
    except ValueError:
        return False  # predicting window by window raises the error in its place
    return True


def _warn_of_gaps(segment: Segment) -> None:
    """Warn if the first gap is in a window after the first, which has warned already."""
    new = segment.codes[segment.known :]
    gaps = np.flatnonzero(new == MISSING)
    if segment.task.history.gaps or not len(gaps):
        return
    window, step = divmod(int(gaps[0]), segment.horizon)
    if 0 < window < len(segment.begins) and not segment.task.unseen[step]:
        warn_of_gaps()


def judge_ranks(
    segment: Segment,
    windows: slice,
    ranked: Ranked,
    levels: Sequence[Levels],
    fill: bool,
    by_steps: bool,
) -> tuple[JudgedLevels, InsufficientCalibration | None]:
    """Judge some windows of a segment by the ranks of all their candidates, at several levels.

    With `fill`, an empty set gets its most plausible member; with `by_steps`, p-values of states by
    step are kept. Also returns which calibration the first window lacks whose set is full for too
    few blocks, or None.
    """
    task, steps = segment.task, segment.task.steps
    size, by_present = int(segment.sizes[windows.start]), task.symmetry.given == PRESENT
    candidates, codes = all_candidates(size, steps), segment.truth[windows]
    uniforms = None if segment.uniforms is None else segment.uniforms[windows, None]
    p, every = p_values_of(ranked, uniforms), np.arange(len(codes))
    truth = np.where((codes >= 0).all(axis=1), codes @ size ** np.arange(steps)[::-1], -1)
    present = segment.states[segment.lengths[windows] - 1]
    held, numbers, filled, nodes, few = [], [], [], [], []
    for level in levels:
        if level.named:  # by windows, (W, 1), or by candidates, (1, C)
            own = np.array(level.alphas(segment.names[:size]), dtype=object)
            alphas = own[present][:, None] if by_present else own[candidates[:, -1]][None]
        else:
            alphas = np.full((1, 1), level.alpha(None), dtype=object)
        inside, empty = membership(ranked, p, alphas, uniforms, fill=fill)
        held.append(inside[every, truth] & (truth >= 0) & ~empty)  # before a set is filled
        numbers.append(inside.sum(axis=1))
        filled.append(empty)
        nodes.append(_by_step(inside, size, steps))
        everything = inside.all(axis=1) & ~empty
        if task.by_last_state and everything.any():
            blocks = ranked.total[:, :size] - 1
            few += _find_few(segment, windows, blocks, everything, alphas[:, :size])
    sizes = np.array(numbers).T
    promised = promise_of(task.symmetry, task.model.fixed)
    judged = JudgedLevels(
        [level.written for level in levels], segment.names[:size], steps, codes.ravel(),
        first_level(np.array(nodes)), first_level(np.array(held)), p[every, truth],
        sizes, sizes / len(candidates), present if by_present else codes[:, -1],
        _by_step(p, size, steps) if by_steps else None, np.array(filled).T,
        segment.begins[windows] + task.lag,
        shared_calibration=promised.holds_given.endswith(ANY_TIME),
    )  # fmt: skip
    return judged, min(few, key=lambda pair: pair[0])[1] if few else None


def _find_few(
    segment: Segment,
    windows: slice,
    blocks: IntArray,
    everything: npt.NDArray[np.bool_],
    alphas: npt.NDArray[np.object_],
) -> list[tuple[int, InsufficientCalibration]]:
    """Return the first window whose set is full because `blocks`, (W, n), are too few."""
    needs = {alpha: blocks_needed(alpha) for alpha in set(alphas.ravel().tolist())}
    needed = np.vectorize(needs.__getitem__, otypes=[np.int64])(alphas)
    missing = everything & (blocks < needed).any(axis=1)
    if not missing.any():
        return []
    window, symmetry = int(missing.argmax()), segment.task.symmetry
    length, names = int(segment.lengths[windows][window]), segment.names[: blocks.shape[1]]
    by_present = symmetry.given == PRESENT
    present = (names[int(segment.states[length - 1])],) if by_present else ()
    own = np.broadcast_to(alphas, blocks.shape)[window].tolist()
    details = segment.horizon, length, present, symmetry
    return [(window, InsufficientCalibration.among(names, blocks[window].tolist(), own, *details))]


def _by_step(values: npt.NDArray[Any], n: int, steps: int) -> npt.NDArray[Any]:
    """Return the largest value over candidates with each state at each step: (W · steps, n)."""
    tables = [values.reshape(len(values), n**k, n, -1).max(axis=(1, 3)) for k in range(steps)]
    return np.stack(tables, axis=1).reshape(-1, n)
