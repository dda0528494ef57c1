"""Each window of a history predicted from all before it, and judged by the truth.

There is one loop, `roll_windows`: `evaluate`, the backtest, the contest and the studies go by it.
There is one judge, `roll_levels`: at one level for `evaluate`, at all levels for a report.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.terminal import show_progress
from definetti.data.labels import piece
from definetti.data.timing import read_rows
from definetti.engine.pvalues import entry, miscoverage
from definetti.evaluation.at_once import roll_at_once
from definetti.evaluation.results import Evaluation
from definetti.levels import ConfidenceLevel, read_levels
from definetti.levels.by_state import several_levels
from definetti.sets import LatticeSet, PredictionSet, StepSets
from definetti.symmetry.base import PRESENT

AnySet = PredictionSet | LatticeSet | StepSets


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

    Parameters
    ----------
    learner : what has `partial_fit`; it learns all labels between two windows at once
    observations, states : the history; no observations if None
    begins : where the windows begin, in rising order
    known : how many steps of the history the learner knows already

    Examples
    --------
    >>> from definetti import ConformalHMM
    >>> cp = ConformalHMM().fit(None, ["sun", "rain"])
    >>> windows = roll_windows(cp, None, ["sun", "sun", "rain", "sun"], range(0, 4, 2), horizon=2)
    >>> [(window.truth, cp.n_steps_) for window in windows]
    [(('sun', 'sun'), 2), (('rain', 'sun'), 4)]
    """
    for begin in begins:
        if known < begin:
            learner.partial_fit(_cut(observations, known, begin), states[known:begin])
            known = begin
        end = begin + horizon
        yield Window(begin, _cut(observations, begin, end), tuple(states[begin:end]))


def share_right(predictor: Any, observations: Any, states: Sequence[Any]) -> float:
    """Return the share of steps whose most plausible state is right, each predicted in turn.

    Parameters
    ----------
    predictor : fitted on what comes before; a copy of it learns each label after its step
    observations, states : what follows, and its true states
    """
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


class JudgedLevels(NamedTuple):
    """How sets fared over all windows, at one or at several levels.

    Sets grow with the level. So a state at a step, or the truth, is in from some level on, and the
    place of that level says all there is to say of it; ``len(levels)`` where it never is.

    Attributes
    ----------
    levels, states : the levels in rising order, or one mapping from states to theirs; the labels
    horizon : the steps of each window that were asked about
    truth : (steps,) the true codes, −1 for a label never seen
    first : (steps, n) from which level on each state is in the set of its step
    covers : (windows,) from which level on the truth is in the set, before empty ones are filled
    p_values : (windows,) of the truth; NaN where sets have none
    sizes, scaled_sizes : (windows, levels) how many sequences a set holds, and which share of all;
        NaN where they are not listed and the level was not the one asked for
    given : (windows,) the code of the state given which each promise holds, −1 for one unknown
    step_p_values : (steps, n) of the best sequence with each state; None where nobody asked
    filled : (windows, levels) whether a set would be empty, and has its most plausible member
    begins : (windows,) the first row of each window that was asked about, from 0
    guarantee : what was promised
    filled_steps : (steps, levels) at which steps nothing was plausible; None for sets of sequences,
        of which all steps are filled, or none
    shared_calibration : whether all windows are compared with the same calibration windows
    max_errors : how many steps of a window may be wrong, with the guarantee "errors"
    """

    levels: list[Any]
    states: tuple[Hashable, ...]
    horizon: int
    truth: IntArray
    first: IntArray
    covers: IntArray
    p_values: FloatArray
    sizes: npt.NDArray[Any]
    scaled_sizes: FloatArray
    given: IntArray
    step_p_values: FloatArray | None = None
    filled: npt.NDArray[np.bool_] | None = None
    begins: Any = None
    guarantee: str = "all"
    filled_steps: npt.NDArray[np.bool_] | None = None
    shared_calibration: bool = False
    max_errors: int = 0

    def take(self, places: IntArray) -> JudgedLevels:
        """Return some of the windows."""
        steps = (places[:, None] * self.horizon + np.arange(self.horizon)).ravel()
        by_step = ("truth", "first", "step_p_values", "filled_steps")
        by_window = (
            "covers", "p_values", "sizes", "scaled_sizes", "given", "filled", "begins",
        )  # fmt: skip
        each = self._asdict()
        return self._replace(
            **{name: each[name][steps] for name in by_step if each[name] is not None},
            **{name: each[name][places] for name in by_window if each[name] is not None},
        )

    def evaluation(self, place: int) -> Evaluation:
        """Return how the sets of one level fared."""
        filled_steps = None
        if self.filled_steps is not None:
            filled_steps = self.filled_steps[:, place]
        elif self.filled is not None:
            filled_steps = self.filled[:, place].repeat(self.horizon)
        return Evaluation.of_steps(
            np.full(len(self.covers), self.horizon),
            self.states,
            self.truth,
            self.first <= place,
            filled_steps,
            self.max_errors,
            covered=self.covers <= place,
            sizes=self.sizes[:, place],
            scaled_sizes=self.scaled_sizes[:, place],
            p_values=self.p_values,
            confidence_level=self.levels[place],
            given=self.given,
            filled=None if self.filled is None else self.filled[:, place],
            begins=self.begins,
            guarantee=self.guarantee,
            shared_calibration=self.shared_calibration,
        )


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
    """Judge the sets of one level, as `roll_levels` does; that of the predictor itself if None.

    Of several levels, which are numbers, each. With lengths of segments, as `roll_segments` does.
    """
    lengths = lengths or [len(states)]
    if not count_windows(lengths, horizon):
        raise ValueError(
            f"no segment of rows between holes has room for a window of {horizon}, but for the "
            "first row after a hole, which is learned; give more rows, or shorten the horizon"
        )
    several = several_levels(confidence_level)
    if several is not None:
        rising = rising_levels(several)
        judged = roll_segments(
            predictor, observations, states, lengths, horizon, levels=rising, lag=lag
        )
        return [judged.evaluation(rising.index(one)) for one in several]
    levels = [confidence_level]
    found = roll_segments(
        predictor, observations, states, lengths, horizon, levels=levels, lag=lag, verbose=verbose
    )
    return found.evaluation(0)


def rising_levels(levels: Sequence[Any]) -> list[Any]:
    """Return several levels in rising order, each once; refuse mappings among them.

    >>> rising_levels([0.9, 0.5, 0.9])
    [0.5, 0.9]
    """
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
    predictor : fitted on what comes before; a copy learns, and it is left as it is
    observations, states : the segment, and its true states
    levels : in rising order; None for the predictor's own; one mapping stands by itself
    lag : how many of the first steps of each window not to ask about
    observed : how many steps of a window are observed when it is predicted; all if left out. All
        are learned from.
    asked : the place of the level whose sets are counted even where they are not listed
    by_p_values : read all levels off one prediction of all candidates; else one for each level
    filling : whether sets read off so have their most plausible sequence where there is no other
    verbose : show a bar that counts the windows
    at_once : whether all windows may be predicted in one pass where that gives the same answers, as
        `roll_at_once` does; else one after the other, which is the witness
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

    def told(level: Any, one: AnySet) -> Any:
        """Return a level as it was asked for: a set by the present state has that state's alone."""
        asked_for = predictor.confidence_level if level is None else level
        by_state = isinstance(asked_for, Mapping)
        return read_levels(asked_for).written if by_state else one.confidence_level

    learner = copy.deepcopy(predictor)
    begins = list(range(0, len(states) - horizon + 1, horizon))
    if places is not None:
        begins = [begins[place] for place in places]
    if len(begins) > 1 and "verbose" in learner.get_params(deep=False):
        learner.verbose = False  # one bar for all windows, and none within it
    counted: Iterable[int] = begins
    if verbose and len(begins) > 1:
        what = f"{type(predictor).__name__}: predicting windows"  # whose, where several are judged
        counted = show_progress(begins, len(begins), what, verbose)
    how = {"horizon": horizon, **({"lag": lag} if lag else {})}  # not all know of late labels
    codes, found, p_values, given = [], [], [], []
    for window in roll_windows(learner, observations, states, counted, horizon):
        seen, truth = window.observations, window.truth[lag:]
        if observed is not None and observed < horizon:
            seen = _cut(seen, 0, observed) if observed else None
        if by_p_values:
            s = learner.predict_p(seen, **how)
            one = None if isinstance(s, PredictionSet) else levels[asked]
            sized = None if one is None else learner.predict_set(seen, one, **how)
            reading = _read_p_values(s, truth, levels, asked, sized)
            found.append(_fill(reading, s, levels) if filling else reading)
        else:
            sets = [learner.predict_set(seen, level, **how) for level in levels]
            s = sets[-1]
            found.append(_read_sets(sets, truth))
        codes.append(places_of(truth, s.states))
        present = s.given.startswith(PRESENT)
        given.append(s.states.index(learner.present_) if present else int(codes[-1][-1]))
        p_values.append(_p_value(learner, s, seen, truth, how))
    first, covers, sizes, best, filled_steps = zip(*found, strict=True)
    filled = [steps.any(axis=0) for steps in filled_steps]
    n, never = len(s.states), len(levels)  # states may have come up on the way
    numbers, shares = zip(*(zip(*each, strict=True) for each in sizes), strict=True)
    return JudgedLevels(
        list(levels) if by_p_values else list(map(told, levels, sets)),
        s.states,
        horizon - lag,
        np.concatenate(codes),
        np.concatenate([_widened(each, n, never) for each in first]),
        np.array(covers),
        np.array(p_values),
        np.array(numbers),
        np.array(shares),
        np.array(given),
        np.concatenate([_widened(each, n, 0) for each in best]) if by_p_values else None,
        np.array(filled),
        np.array(begins) + lag,
        s.guarantee if isinstance(s, StepSets) else "all",
        np.concatenate(filled_steps) if isinstance(s, StepSets) else None,
        max_errors=s.max_errors if isinstance(s, StepSets) else 0,
    )


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
    before it is not known.

    Parameters
    ----------
    predictor : fitted on what comes before the first, which goes on from there
    lengths : how many rows each segment has
    places, every, how : as for `roll_levels`; places count the windows of all segments
    """
    symmetry = getattr(predictor, "symmetry", None)
    shared = bool(getattr(symmetry, "shared_calibration", False))
    if len(lengths) == 1:
        return roll_levels(
            predictor, observations, states, horizon=horizon, places=places, every=every, **how
        )._replace(shared_calibration=shared)
    learner, parts, chosen = copy.deepcopy(predictor), [], []
    begin, number = 0, 0  # of rows, and of windows, so far
    for segment, length in enumerate(lengths):
        end = begin + length
        if segment:
            learner.new_segment().partial_fit(
                _cut(observations, begin, begin + 1), states[begin : begin + 1]
            )
            begin += 1
        windows = (end - begin) // horizon
        own = np.arange(windows)
        if places is not None:
            own = places[(places >= number) & (places < number + windows)] - number
        if len(own):
            seen, truth = _cut(observations, begin, end), states[begin:end]
            part = roll_levels(
                learner, seen, truth, horizon=horizon, places=own, every=every, **how
            )
            parts.append(part._replace(begins=part.begins + begin))
            chosen.append(own)
        number += windows
        if segment < len(lengths) - 1 and end > begin:
            learner.partial_fit(_cut(observations, begin, end), states[begin:end])
        begin = end
    if any(len(part.covers) == len(own) for part, own in zip(parts, chosen, strict=True)):
        # Of all segments the same share: some were predicted in one pass, and some were not.
        pairs = zip(parts, chosen, strict=True)
        parts = [part if len(part.covers) == len(own) else part.take(own) for part, own in pairs]
    return join_judged(parts)._replace(shared_calibration=shared)


def count_windows(lengths: Sequence[int], horizon: int) -> int:
    """Return how many windows segments have room for, as `roll_segments` takes them.

    >>> count_windows([10, 3, 1], 2)
    6
    """
    return sum(max(length - (place > 0), 0) // horizon for place, length in enumerate(lengths))


def join_judged(parts: Sequence[JudgedLevels]) -> JudgedLevels:
    """Put parts together, of which each knows all states of those before it."""
    last, n = parts[-1], len(parts[-1].states)
    if len(parts) == 1:
        return last
    never = len(last.levels)
    widen = {"first": never, "step_p_values": 0}
    joined: dict[str, Any] = {}
    for name in last._fields:
        values = [getattr(part, name) for part in parts]
        if name in widen and values[0] is not None:
            values = [_widened(each, n, widen[name]) for each in values]
        if isinstance(values[0], np.ndarray):
            joined[name] = np.concatenate(values)
    return last._replace(**joined)


Reading = tuple[IntArray, int, list[tuple[float, float]], Any, npt.NDArray[np.bool_]]


def _read_sets(sets: Sequence[AnySet], truth: tuple[Hashable, ...]) -> Reading:
    """Read a window off a set for each level: what is in from where on, and the sizes."""
    covers = next((k for k, one in enumerate(sets) if one.covers_unfilled(truth)), len(sets))
    filled = np.array([one.filled_steps for one in sets]).T
    return entries_of_nodes(sets), covers, [_sizes(one) for one in sets], None, filled


def _read_p_values(
    s: PredictionSet | LatticeSet,
    truth: tuple[Hashable, ...],
    levels: Sequence[Any],
    asked: int,
    sized: LatticeSet | None,
) -> Reading:
    """Read a window off the p-values of all candidates, as `_read_sets` does off its sets."""
    best = s.step_p_values
    covers = int(entry(s.p_value(truth), levels)) if truth in s else len(levels)
    sizes = [(np.nan, np.nan)] * len(levels)
    if isinstance(s, PredictionSet):
        entered = np.bincount(entry(s.p_values, levels), minlength=len(levels) + 1)
        numbers, every = entered[:-1].cumsum().tolist(), len(s.states) ** s.horizon
        sizes = [(number, float(number / every)) for number in numbers]
    elif sized is not None:
        sizes[asked] = _sizes(sized)
    filled = np.zeros((s.horizon, len(levels)), dtype=np.bool_)
    return entry(best, levels), covers, sizes, best, filled


def _fill(
    reading: Reading,
    s: PredictionSet | LatticeSet,
    levels: Sequence[Any],
) -> Reading:
    """Let the most plausible of all candidates in where a level has none; it stays in above."""
    _, covers, sizes, p_values, _ = reading
    number = int(entry(p_values.max(), levels))  # of levels at which nothing is plausible
    alone = 1, float(Fraction(1, len(s.states) ** s.horizon))
    sizes = [alone if k < number and one[0] == 0 else one for k, one in enumerate(sizes)]
    filled = np.tile(np.arange(len(levels)) < number, (s.horizon, 1))
    return fill_entries(reading[0], s), covers, sizes, p_values, filled


def fill_entries(first: IntArray, s: PredictionSet | LatticeSet) -> IntArray:
    """Return from which level on each state is in, the most plausible sequence from the first."""
    found = first.copy()
    found[np.arange(s.horizon), places_of(s.best or (), s.states)] = 0
    return found


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


def entries_of_nodes(sets: Sequence[AnySet]) -> IntArray:
    """Return from which of several sets on, in rising order of level, each state is in."""
    there = np.array([s.nodes for s in sets])
    return np.asarray(np.where(there.any(axis=0), there.argmax(axis=0), len(sets)))


def places_of(labels: Iterable[Hashable], states: tuple[Hashable, ...]) -> IntArray:
    """Return the codes of labels, −1 for one that is not among the states.

    >>> places_of(["rain", "snow"], ("sun", "rain"))
    array([ 1, -1])
    """
    return np.array([states.index(label) if label in states else -1 for label in labels])


def _sizes(s: AnySet) -> tuple[float, float]:
    """Return the number of sequences in a set, as a number or an infinity, and their share."""
    if isinstance(s, PredictionSet):
        return len(s), s.scaled_size
    every = len(s.states) ** s.horizon
    number = s.size().high if isinstance(s, LatticeSet) else prod(s.widths.tolist())
    return (float(number) if number < 2**1000 else np.inf), float(Fraction(number, every))


def _widened(table: npt.NDArray[Any], n: int, value: float) -> npt.NDArray[Any]:
    """Return a table with a row a step that has a column for each of n states."""
    return np.pad(table, [(0, 0), (0, n - table.shape[1])], constant_values=value)


def _cut(observations: Any, begin: int, end: int) -> Any:
    return None if observations is None else piece(observations, begin, end)
