"""Evaluate all windows of a segment in one pass, from the ranks of their candidates.

The results equal those of single predictions. Where windows cannot be ranked in one pass,
`roll_at_once` returns None, and each is predicted by itself.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import IntArray
from definetti.data.candidates import all_candidates, is_long
from definetti.data.encoded import warn_of_gaps
from definetti.data.labels import MISSING, piece
from definetti.engine.past import find_ways, rank_past_windows
from definetti.engine.promise import ANY_TIME, promise_of
from definetti.engine.pvalues import Ranked, membership, p_values_of
from definetti.engine.segment import Segment
from definetti.engine.stream import find_way, rank_counted_windows
from definetti.engine.thresholds import blocks_needed
from definetti.evaluation.judged import JudgedLevels, first_level, join_judged
from definetti.levels import Levels, read_levels
from definetti.sets.wording import InsufficientCalibration
from definetti.symmetry.base import PRESENT

BoolArray = npt.NDArray[np.bool_]
FEWEST = 2  # windows for which there is anything to share


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
    filling: bool,
) -> JudgedLevels | None:
    """Judge as `roll_levels` does, all windows at once; None where each must be asked by itself."""
    if len(states) < FEWEST * horizon or not predictor._ranks_windows:
        return None
    if not predictor._is_fitted() or not predictor._data.settled(observations):
        return None
    seen = horizon if observed is None else min(observed, horizon)
    task = predictor._task(piece(observations, 0, seen) if seen else None, horizon, lag)
    segment = Segment.of(predictor._data_of(task), task, observations, states)
    if segment is None or is_long(len(segment.names), task.steps, predictor.max_candidates):
        return None
    found = rank_windows(segment)
    if found is None:
        return None
    asked = [predictor.confidence_level if level is None else level for level in levels]
    read = [read_levels(level) for level in asked]
    if any(one.named for one in read) and not _levels_fit(segment, read):
        return None
    _warn_of_gaps(segment)
    fill = filling if by_p_values else predictor._fills

    def p_value_at(window: int) -> float:
        """Return the p-value of the truth of a window by itself, which has unknown states."""
        learner, begin = copy.deepcopy(predictor), int(segment.begins[window])
        if begin:
            learner.partial_fit(piece(observations, 0, begin), states[:begin])
        asked = [*states[begin + lag : begin + horizon]]
        new = piece(observations, begin, begin + seen) if seen else None
        how = {"horizon": horizon, **({"lag": lag} if lag else {})}  # not all know of it
        return float(learner.p_value(new, asked, **how))

    reader = RankReader(segment, read, fill, by_p_values, p_value_at)
    judged = join_judged([reader.judge(windows, ranked) for windows, ranked in found])
    if reader.few is not None and not by_p_values:
        reader.few.warn()
    return judged._replace(levels=[*levels]) if by_p_values else judged


def rank_windows(segment: Segment) -> Iterator[tuple[slice, Ranked]] | None:
    """Rank all candidates of all windows; None where each window must be ranked by itself."""
    ways = find_ways(segment)
    if ways is not None:
        return rank_past_windows(segment, ways)
    way = find_way(segment)
    return rank_counted_windows(segment, way) if way else None


def _levels_fit(segment: Segment, levels: Sequence[Levels]) -> bool:
    """Tell whether there are levels for just the states there are, whenever it is asked."""
    try:
        for _, _, size in segment.epochs():
            for one in levels:
                if one.named:
                    one.check(segment.names[:size])
    except ValueError:
        return False  # whoever goes window by window says where it is
    return True


def _warn_of_gaps(segment: Segment) -> None:
    """Warn where a window is the first to have a gap; of the first of all it was done."""
    new = segment.codes[segment.known :]
    gaps = np.flatnonzero(new == MISSING)
    if segment.task.history.gaps or not len(gaps):
        return
    window, step = divmod(int(gaps[0]), segment.horizon)
    if 0 < window < len(segment.begins) and not segment.task.unseen[step]:
        warn_of_gaps()


class RankReader:
    """Judges windows of a segment by the ranks of all their candidates, at several levels.

    With `fill`, a set that would be empty gets its most plausible member; with `by_steps`, the
    p-values of states at their steps are kept; `p_value_at` ranks a truth that no candidate is.
    `few` tells of the first window whose set has everything for want of blocks.
    """

    def __init__(
        self,
        segment: Segment,
        levels: Sequence[Levels],
        fill: bool,
        by_steps: bool,
        p_value_at: Callable[[int], float],
    ) -> None:
        self.segment, self.levels, self.fill, self.by_steps = segment, levels, fill, by_steps
        self.p_value_at = p_value_at
        self.few: InsufficientCalibration | None = None
        promised = promise_of(segment.task.symmetry, segment.task.model.fixed)
        self._shares = promised.holds_given.endswith(ANY_TIME)

    def judge(self, windows: slice, ranked: Ranked) -> JudgedLevels:
        """Judge some windows, which come after those that were judged before."""
        segment, task, steps = self.segment, self.segment.task, self.segment.task.steps
        size = int(segment.sizes[windows.start])
        candidates, codes = all_candidates(size, steps), segment.truth[windows]
        uniforms = None if segment.uniforms is None else segment.uniforms[windows, None]
        p, each = p_values_of(ranked, uniforms), np.arange(len(codes))
        truth = np.where((codes >= 0).all(axis=1), codes @ size ** np.arange(steps)[::-1], -1)
        present = segment.states[segment.lengths[windows] - 1]
        held, numbers, filled, nodes, few = [], [], [], [], []
        for levels in self.levels:
            alphas = self._alphas(levels, candidates, present)
            inside, empty = membership(ranked, p, alphas, uniforms, fill=self.fill)
            held.append(inside[each, truth] & (truth >= 0) & ~empty)  # before a set is filled
            numbers.append(inside.sum(axis=1))
            filled.append(empty)
            nodes.append(_by_step(inside, size, steps))
            few += self._find_few(windows, ranked.total[:, :size] - 1, inside, empty, alphas)
        if few and self.few is None:
            self.few = min(few, key=lambda one: one[0])[1]
        sizes, own = np.array(numbers).T, p[each, truth]
        for window in np.flatnonzero(truth < 0).tolist():  # it has states unknown until then
            own[window] = self.p_value_at(windows.start + window)
        return JudgedLevels(
            [one.written for one in self.levels],
            segment.names[:size],
            steps,
            codes.ravel(),
            first_level(np.array(nodes)),
            first_level(np.array(held)),
            own,
            sizes,
            sizes / len(candidates),
            present if task.symmetry.given == PRESENT else codes[:, -1],
            _by_step(p, size, steps) if self.by_steps else None,
            np.array(filled).T,
            segment.begins[windows] + task.lag,
            shared_calibration=self._shares,
        )

    def _alphas(
        self, levels: Levels, candidates: IntArray, present: IntArray
    ) -> npt.NDArray[np.object_]:
        """Return what may be missed: by candidates ``(1, C)``, or by windows ``(W, 1)``."""
        if not levels.named:
            return np.full((1, 1), levels.alpha(None), dtype=object)
        names = self.segment.names[: candidates.max() + 1]
        each = np.array(levels.alphas(names), dtype=object)
        if self.segment.task.symmetry.given == PRESENT:
            return np.asarray(each[present][:, None])
        return np.asarray(each[candidates[:, -1]][None])

    def _find_few(
        self,
        windows: slice,
        blocks: IntArray,
        inside: BoolArray,
        empty: BoolArray,
        alphas: npt.NDArray[np.object_],
    ) -> list[tuple[int, InsufficientCalibration]]:
        """Find the first window whose set has everything because `blocks`, (W, n), are too few."""
        segment, task, size = self.segment, self.segment.task, blocks.shape[1]
        everything = inside.all(axis=1) & ~empty
        if not task.by_last_state or not everything.any() or self.few is not None:
            return []
        needs = {alpha: blocks_needed(alpha) for alpha in set(alphas.ravel().tolist())}
        needed = np.vectorize(needs.__getitem__, otypes=[np.int64])(alphas[:, :size])
        missing = everything & (blocks < needed).any(axis=1)
        if not missing.any():
            return []
        window = int(missing.argmax())
        length, names = int(segment.lengths[windows][window]), segment.names[:size]
        present: tuple[Hashable, ...] = ()
        if task.symmetry.given == PRESENT:
            present = (names[int(segment.states[length - 1])],)
        own = np.broadcast_to(alphas[:, :size], blocks.shape)[window].tolist()
        how = segment.horizon, length, present, task.symmetry
        found = InsufficientCalibration.among(names, blocks[window].tolist(), own, *how)
        return [(window, found)]


def _by_step(values: npt.NDArray[Any], n: int, steps: int) -> npt.NDArray[Any]:
    """Return the largest value of a candidate with each state at each step: (W · steps, n)."""
    tables = [values.reshape(len(values), n**k, n, -1).max(axis=(1, 3)) for k in range(steps)]
    return np.stack(tables, axis=1).reshape(-1, n)
