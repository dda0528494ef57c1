"""How prediction sets fared, window by window and level by level; read off sets or ranks."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti.engine.promise import ANY_TIME
from definetti.engine.pvalues import entry
from definetti.evaluation.results import Evaluation
from definetti.sets import LatticeSet, PredictionSet, StepSets

AnySet = PredictionSet | LatticeSet | StepSets


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
    filled_steps : (steps, levels) at which steps nothing was plausible; None for sets of sequences
    guarantee, max_errors, shared_calibration : as in `Evaluation.of_steps`
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


def judge_sets(
    sets: Sequence[AnySet], truth: tuple[Hashable, ...], levels: list[Any]
) -> JudgedLevels:
    """Judge one window by a set for each level."""
    covers = next((k for k, one in enumerate(sets) if one.covers_unfilled(truth)), len(sets))
    filled = np.array([one.filled_steps for one in sets]).T
    numbers = list(map(_count, sets))
    return _judge_one(sets[-1], truth, levels, entries_of_nodes(sets), covers, numbers, filled)


def judge_p_values(
    s: PredictionSet | LatticeSet,
    truth: tuple[Hashable, ...],
    levels: Sequence[Any],
    sized: LatticeSet | None,
    asked: int,
    filling: bool,
) -> JudgedLevels:
    """Judge one window by the p-values of all candidates, at levels that are numbers.

    Where these are too many to be counted at all levels, there is a set `sized` for the one asked.
    """
    best, never = s.step_p_values, len(levels)
    first = entry(best, levels)
    covers = int(entry(s.p_value(truth), levels)) if truth in s else never
    numbers: list[Any] = [np.nan] * never
    if isinstance(s, PredictionSet):
        entered = np.bincount(entry(s.p_values, levels), minlength=never + 1)
        numbers = entered[:-1].cumsum().tolist()
    elif sized is not None:
        numbers[asked] = _count(sized)
    empty = int(entry(best.max(), levels)) if filling else 0  # of levels with nothing plausible
    if filling:
        first = fill_entries(first, s)
        numbers = [1 if k < empty and one == 0 else one for k, one in enumerate(numbers)]
    filled = np.tile(np.arange(never) < empty, (s.horizon, 1))
    found = _judge_one(s, truth, list(levels), first, covers, numbers, filled)
    return found._replace(step_p_values=best)


def _judge_one(
    s: AnySet,
    truth: tuple[Hashable, ...],
    levels: list[Any],
    first: IntArray,
    covers: int,
    numbers: Sequence[Any],
    filled: npt.NDArray[np.bool_],
) -> JudgedLevels:
    """Put together what is known of one window, but for its p-value and where it begins."""
    codes, every = places_of(truth, s.states), len(s.states) ** s.horizon
    sizes = numbers
    if not isinstance(s, PredictionSet):  # where they may be more than a float can hold
        sizes = [float(one) if not one >= 2**1000 else np.inf for one in numbers]
    shares = [float(Fraction(one, every)) if one == one else np.nan for one in numbers]
    found = JudgedLevels(
        levels, s.states, s.horizon, codes, first, np.array([covers]), np.array([np.nan]),
        np.array([sizes]), np.array([shares]), codes[-1:],
        filled=np.atleast_2d(filled.any(axis=0)),
        shared_calibration=s.given.endswith(ANY_TIME),
    )  # fmt: skip
    if not isinstance(s, StepSets):
        return found
    return found._replace(guarantee=s.guarantee, filled_steps=filled, max_errors=s.max_errors)


def fill_entries(first: IntArray, s: PredictionSet | LatticeSet) -> IntArray:
    """Return from which level on each state is in, the most plausible sequence from the first."""
    found = first.copy()
    found[np.arange(s.horizon), places_of(s.best or (), s.states)] = 0
    return found


def entries_of_nodes(sets: Sequence[AnySet]) -> IntArray:
    """Return from which of several sets on, in rising order of level, each state is in."""
    return first_level(np.array([s.nodes for s in sets]))


def first_level(there: npt.NDArray[np.bool_]) -> IntArray:
    """Return from which level on something is in a set: (levels, ...) to (...)."""
    return np.asarray(np.where(there.any(axis=0), there.argmax(axis=0), len(there)))


def places_of(labels: Iterable[Hashable], states: tuple[Hashable, ...]) -> IntArray:
    """Return the codes of labels, −1 for one that is not among the states."""
    return np.array([states.index(label) if label in states else -1 for label in labels])


def _count(s: AnySet) -> int:
    """Return how many sequences a set has, or at most how many."""
    if isinstance(s, StepSets):
        return prod(s.widths.tolist())
    return s.size().high


def _widened(table: npt.NDArray[Any], n: int, value: float) -> npt.NDArray[Any]:
    """Return a table with a row a step that has a column for each of n states."""
    if table.shape[1] == n:
        return table  # what is padded with nothing is copied all the same
    return np.pad(table, [(0, 0), (0, n - table.shape[1])], constant_values=value)
