"""Evaluate all windows of a segment in one pass, from the ranks of their candidates.

The results equal those of single predictions. Where windows cannot be ranked in one pass,
`roll_at_once` returns None, and each is predicted by itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti.data.candidates import is_long
from definetti.data.encoded import warn_of_gaps
from definetti.data.labels import MISSING, piece
from definetti.engine.chains import RankedWindows, find_ways, rank_fixed_windows
from definetti.engine.counts import find_way, rank_counted_windows
from definetti.engine.pvalues import Ranked, entry, membership, most_plausible, p_values_of
from definetti.engine.segment import Segment
from definetti.engine.thresholds import blocks_needed
from definetti.levels import Levels, read_levels
from definetti.sets.making import InsufficientCalibration
from definetti.symmetry.base import PRESENT

if TYPE_CHECKING:
    from definetti.evaluation.rolling import JudgedLevels


BoolArray = npt.NDArray[np.bool_]


class Read(NamedTuple):
    """What there is to know of some windows, as `JudgedLevels` has it.

    Attributes
    ----------
    first, covers, p_values, sizes, scaled_sizes, best, filled : as there, for these windows
    few : the first window whose set has everything for want of blocks: its place among all
        windows, that of its level, and what to say of it; None where there is none
    """

    first: IntArray
    covers: IntArray
    p_values: FloatArray
    sizes: npt.NDArray[Any]
    scaled_sizes: FloatArray
    best: FloatArray
    filled: BoolArray
    few: tuple[int, int, InsufficientCalibration] | None = None


class WindowReader:
    """Reads windows of a segment, at several levels.

    Parameters
    ----------
    segment : all windows
    levels : what each set may miss, by state
    """

    def __init__(self, segment: Segment, levels: Sequence[Levels]) -> None:
        self.segment, self.levels = segment, levels

    def read_sets(self, ranked: RankedWindows, filling: bool) -> Read:
        """Read windows off a set for each level, each state held to its own."""
        ranks, uniforms = self._ranks(ranked)
        p, truth = p_values_of(ranks, uniforms), self._truth(ranked)
        windows = np.arange(len(p))
        nodes, held, sizes, filled = [], [], [], []
        few: tuple[int, int, InsufficientCalibration] | None = None
        for place, levels in enumerate(self.levels):
            alphas = self._alphas(ranked, levels)
            inside, empty = membership(ranks, p, alphas, uniforms, fill=filling)
            numbers = inside.sum(axis=1)
            everything = (numbers == inside.shape[1]) & ~empty
            found = self._few(ranked, everything, alphas, place)
            if found is not None and (few is None or found[0] < few[0]):
                few = found
            held.append(inside[windows, truth] & (truth >= 0) & ~empty)  # before a set is filled
            nodes.append(_nodes(inside, ranked))
            sizes.append(numbers)
            filled.append(empty)
        there = np.array(nodes)
        first = np.where(there.any(axis=0), there.argmax(axis=0), len(self.levels))
        inside_from = np.array(held)
        covers = np.where(inside_from.any(axis=0), inside_from.argmax(axis=0), len(self.levels))
        each = np.array(sizes).T
        return Read(
            first,
            covers,
            np.where(truth >= 0, p[windows, truth], np.nan),
            each,
            each / len(ranked.candidates),
            np.zeros(0),
            np.array(filled).T,
            few,
        )

    def read_p_values(self, ranked: RankedWindows, written: Sequence[float], filling: bool) -> Read:
        """Read windows off the p-values of all candidates, at levels that are numbers."""
        p, truth = p_values_of(*self._ranks(ranked)), self._truth(ranked)
        windows, never = np.arange(len(p)), len(written)
        own = np.where(truth >= 0, p[windows, truth], np.nan)
        covers = np.where(truth >= 0, entry(np.nan_to_num(own), written), never)
        steps = ranked.candidates.shape[1]
        tables = [p.reshape(len(p), ranked.size**k, ranked.size, -1) for k in range(steps)]
        best = np.stack([table.max(axis=(1, 3)) for table in tables], axis=1)
        first = entry(best, written)
        entered = entry(p, written)
        sizes = np.stack([(entered <= k).sum(axis=1) for k in range(never)], axis=1)
        filled = np.zeros(sizes.shape, dtype=np.bool_)
        if filling:
            top = most_plausible(p, ranked.scores)
            filled = np.arange(never) < entry(p.max(axis=1), written)[:, None]
            sizes = np.where(filled & (sizes == 0), 1, sizes)
            for step in range(steps):
                first[windows, step, ranked.candidates[top, step]] = 0
        return Read(
            first.reshape(-1, ranked.size),
            covers,
            own,
            sizes,
            sizes / len(ranked.candidates),
            best.reshape(-1, ranked.size),
            filled,
        )

    def _ranks(self, ranked: RankedWindows) -> tuple[Ranked, FloatArray | None]:
        """Return the ranks of all candidates, and what breaks their ties."""
        uniforms = self.segment.uniforms
        if uniforms is not None:
            uniforms = uniforms[ranked.first : ranked.last, None]
        number, width = len(ranked.candidates), ranked.total.shape[1]
        total = ranked.total if width == 1 else np.tile(ranked.total, (1, number // width))
        return Ranked(ranked.greater, ranked.equal, total, ranked.scores), uniforms

    def _truth(self, ranked: RankedWindows) -> IntArray:
        """Return the place of the truth among the candidates, −1 where it is none of them."""
        codes = self.segment.truth[ranked.first : ranked.last]
        weights = ranked.size ** np.arange(codes.shape[1] - 1, -1, -1)
        return np.where((codes >= 0).all(axis=1), codes @ weights, -1)

    def _alphas(self, ranked: RankedWindows, levels: Levels) -> npt.NDArray[np.object_]:
        """Return what may be missed: by candidates ``(1, C)``, or by windows ``(W, 1)``."""
        segment = self.segment
        if not levels.named:
            return np.full((1, 1), levels.alpha(None), dtype=object)
        each = np.array(levels.alphas(segment.names[: ranked.size]), dtype=object)
        if segment.task.symmetry.given == PRESENT:
            return np.asarray(each[self._present(ranked)][:, None])
        return np.asarray(each[ranked.candidates[:, -1]][None])

    def _present(self, ranked: RankedWindows) -> IntArray:
        segment = self.segment
        return segment.states[segment.lengths[ranked.first : ranked.last] - 1]

    def _few(
        self,
        ranked: RankedWindows,
        everything: BoolArray,
        alphas: npt.NDArray[np.object_],
        place: int,
    ) -> tuple[int, int, InsufficientCalibration] | None:
        """Find the first window whose set has everything because blocks are too few."""
        segment, task = self.segment, self.segment.task
        if not task.by_last_state or not everything.any():
            return None
        size = ranked.size
        shape = (len(everything), size)
        numbers = np.broadcast_to(ranked.total - 1, shape)
        held = np.broadcast_to(alphas[:, :size], shape)
        needs = {alpha: blocks_needed(alpha) for alpha in set(alphas.ravel().tolist())}
        needed = np.vectorize(needs.__getitem__, otypes=[np.int64])(alphas[:, :size])
        missing = everything & (numbers < needed).any(axis=1)
        if not missing.any():
            return None
        window = int(missing.argmax())
        names = segment.names[:size]
        present: tuple[Hashable, ...] = ()
        if task.symmetry.given == PRESENT:
            present = (names[int(self._present(ranked)[window])],)
        own: list[Fraction] = held[window].tolist()
        length = int(segment.lengths[ranked.first + window])
        how = segment.horizon, length, present, task.symmetry
        found = InsufficientCalibration.among(names, numbers[window].tolist(), own, *how)
        return ranked.first + window, place, found


def _nodes(inside: BoolArray, ranked: RankedWindows) -> BoolArray:
    """Return which states some member has at each step: (W · steps, n)."""
    n, steps = ranked.size, ranked.candidates.shape[1]
    if steps == 1:
        return inside.copy()
    tables = [inside.reshape(len(inside), n**k, n, -1).any(axis=(1, 3)) for k in range(steps)]
    return np.stack(tables, axis=1).reshape(-1, n)


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
    if len(states) < FEWEST * horizon or not getattr(predictor, "_ranks_windows", False):
        return None
    if not predictor._is_fitted():
        return None
    first = None if observations is None else piece(observations, 0, horizon)
    if observed is not None and observed < horizon:
        first = None if first is None or not observed else piece(first, 0, observed)
    if not predictor._data.settled(observations):
        return None
    task = predictor._task(first, horizon, lag)
    segment = Segment.of(predictor, task, observations, states)
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
    reader = WindowReader(segment, read)
    parts = [
        reader.read_p_values(ranked, levels, filling)
        if by_p_values
        else reader.read_sets(ranked, predictor._fills)
        for ranked in found
    ]
    few = min((part.few for part in parts if part.few), key=lambda one: one[:2], default=None)
    if few is not None:
        few[2].warn()
    judged = [*levels] if by_p_values else [one.written for one in read]
    return _joined(segment, parts, judged, by_p_values)


def rank_windows(segment: Segment) -> Iterator[RankedWindows] | None:
    """Rank all candidates of all windows; None where each window must be ranked by itself."""
    ways = find_ways(segment) if segment.task.model.fixed else None
    if ways is not None:
        return rank_fixed_windows(segment, ways)
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


def _joined(
    segment: Segment, parts: list[Read], levels: list[Any], by_p_values: bool
) -> JudgedLevels:
    """Put what was read of all windows together, with the truth of those that were unknown."""
    from definetti.evaluation.rolling import JudgedLevels

    task, size = segment.task, int(segment.sizes[-1])
    truth, p_values = segment.truth, np.concatenate([part.p_values for part in parts])
    for window in np.flatnonzero((truth < 0).any(axis=1)).tolist():
        p_values[window] = segment.p_value_at(window)
    given = truth[:, -1]
    if task.symmetry.given == PRESENT:
        given = segment.states[segment.lengths - 1]
    best = [_widened(part.best, size, 0) for part in parts] if by_p_values else None
    return JudgedLevels(
        levels,
        segment.names[:size],
        task.steps,
        truth.ravel(),
        np.concatenate([_widened(part.first, size, len(levels)) for part in parts]),
        np.concatenate([part.covers for part in parts]),
        p_values,
        np.concatenate([part.sizes for part in parts]),
        np.concatenate([part.scaled_sizes for part in parts]),
        given,
        None if best is None else np.concatenate(best),
        np.concatenate([part.filled for part in parts]),
        segment.begins + task.lag,
    )


def _widened(table: Any, size: int, value: float) -> Any:
    if table.shape[1] == size:
        return table  # what is padded with nothing is copied all the same
    return np.pad(table, [(0, 0), (0, size - table.shape[1])], constant_values=value)
