"""All windows of a stretch predicted and judged in one pass, where that gives the same answers.

What a window by itself would be told is told here to all, from whole numbers that are the same to
the last one. Where that is not sure, `roll_at_once` says so, and each is predicted by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from definetti.data.candidates import is_long
from definetti.data.labelled import warn_of_gaps
from definetti.data.labels import MISSING, piece
from definetti.front_door import FrontDoor
from definetti.judging.along import RankedWindows, find_ways, rank_fixed_windows
from definetti.judging.classed import is_classed, rank_classed_windows
from definetti.judging.counted import find_way, rank_counted_windows
from definetti.judging.reading import Read, WindowReader
from definetti.judging.stretch import Stretch
from definetti.levels import Levels, read_levels
from definetti.symmetry.base import PRESENT

if TYPE_CHECKING:
    from definetti.judging.rolling import JudgedLevels

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
    if len(states) < FEWEST * horizon or not isinstance(predictor, FrontDoor):
        return None
    if not predictor._is_fitted():
        return None
    first = None if observations is None else piece(observations, 0, horizon)
    if observed is not None and observed < horizon:
        first = None if first is None or not observed else piece(first, 0, observed)
    if not predictor._ranks_windows or not predictor._data.settled(observations):
        return None
    question = predictor._question(first, horizon, lag)
    stretch = Stretch.of(predictor, question, observations, states)
    if stretch is None or is_long(len(stretch.names), question.steps, predictor.max_candidates):
        return None
    found = rank_windows(stretch)
    if found is None:
        return None
    asked = [predictor.confidence_level if level is None else level for level in levels]
    read = [read_levels(level) for level in asked]
    if any(one.named for one in read) and not _levels_fit(stretch, read):
        return None
    _warn_of_gaps(stretch)
    reader = WindowReader(stretch, read)
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
    return _joined(stretch, parts, judged, by_p_values)


def rank_windows(stretch: Stretch) -> Iterator[RankedWindows] | None:
    """Rank all candidates of all windows; None where each window must be ranked by itself."""
    if not stretch.question.model.fixed:
        way = find_way(stretch)
        return rank_counted_windows(stretch, way) if way else None
    ways = find_ways(stretch)
    if ways is not None:
        return rank_fixed_windows(stretch, ways)
    return rank_classed_windows(stretch) if is_classed(stretch) else None


def _levels_fit(stretch: Stretch, levels: Sequence[Levels]) -> bool:
    """Tell whether there are levels for just the states there are, whenever it is asked."""
    try:
        for _, _, size in stretch.epochs():
            for one in levels:
                if one.named:
                    one.check(stretch.names[:size])
    except ValueError:
        return False  # whoever goes window by window says where it is
    return True


def _warn_of_gaps(stretch: Stretch) -> None:
    """Warn where a window is the first to have a gap; of the first of all it was done."""
    new = stretch.codes[stretch.known :]
    gaps = np.flatnonzero(new == MISSING)
    if stretch.question.history.gaps or not len(gaps):
        return
    window, step = divmod(int(gaps[0]), stretch.horizon)
    if 0 < window < len(stretch.begins) and not stretch.question.unseen[step]:
        warn_of_gaps()


def _joined(
    stretch: Stretch, parts: list[Read], levels: list[Any], by_p_values: bool
) -> JudgedLevels:
    """Put what was read of all windows together, with the truth of those that were unknown."""
    from definetti.judging.rolling import JudgedLevels

    question, size = stretch.question, int(stretch.sizes[-1])
    truth, p_values = stretch.truth, np.concatenate([part.p_values for part in parts])
    for window in np.flatnonzero((truth < 0).any(axis=1)).tolist():
        p_values[window] = stretch.p_value_at(window)
    given = truth[:, -1]
    if question.symmetry.given == PRESENT:
        given = stretch.states[stretch.lengths - 1]
    best = [_widened(part.best, size, 0) for part in parts] if by_p_values else None
    return JudgedLevels(
        levels,
        stretch.names[:size],
        question.steps,
        truth.ravel(),
        np.concatenate([_widened(part.first, size, len(levels)) for part in parts]),
        np.concatenate([part.covers for part in parts]),
        p_values,
        np.concatenate([part.sizes for part in parts]),
        np.concatenate([part.scaled_sizes for part in parts]),
        given,
        None if best is None else np.concatenate(best),
        np.concatenate([part.filled for part in parts]),
        stretch.begins + question.lag,
    )


def _widened(table: Any, size: int, value: float) -> Any:
    if table.shape[1] == size:
        return table  # what is padded with nothing is copied all the same
    return np.pad(table, [(0, 0), (0, size - table.shape[1])], constant_values=value)
