"""Coverage and sizes of prediction sets by window and level, computed from sets or ranks."""

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
    """Coverage and sizes of the sets of all windows, at one or several levels.

    Sets grow with the level, so a state at a step, or the truth, is recorded by the place of the
    first level whose set holds it; ``len(levels)`` if none does.

    Attributes
    ----------
    levels, states : the levels in rising order, or one mapping from states to levels; the labels
    horizon : how many steps of each window are predicted
    truth : (steps,) the true codes, −1 for a label never seen
    first : (steps, n) the first level at which each state is in the set of its step
    covers : (windows,) the first level at which the set holds the truth, before filling
    p_values : (windows,) the p-value of the truth; NaN where sets have none
    sizes, scaled_sizes : (windows, levels) how many sequences a set holds, and their share of all;
        NaN where sequences are not listed and the level is not the requested one
    given : (windows,) the code of the state that coverage is conditional on, −1 if unknown
    step_p_values : (steps, n) of the best sequence with each state; None if not computed
    filled : (windows, levels) whether an empty set was filled with its most plausible member
    begins : (windows,) the first predicted row of each window, from 0
    filled_steps : (steps, levels) whether a step had no plausible state; None for sets of sequences
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
        """Return the windows at `places`."""
        steps = (places[:, None] * self.horizon + np.arange(self.horizon)).ravel()
        by_step = ("truth", "first", "step_p_values", "filled_steps")
        by_window = (
            "covers", "p_values", "sizes", "scaled_sizes", "given", "filled", "begins",
        )  # fmt: skip
        fields = self._asdict()
        return self._replace(
            **{name: fields[name][steps] for name in by_step if fields[name] is not None},
            **{name: fields[name][places] for name in by_window if fields[name] is not None},
        )

    def evaluation(self, place: int) -> Evaluation:
        """Return the evaluation of the sets at one level."""
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
    """Concatenate parts, each of which knows all states of earlier parts."""
    last, n = parts[-1], len(parts[-1].states)
    if len(parts) == 1:
        return last
    never = len(last.levels)
    widen = {"first": never, "step_p_values": 0}
    joined: dict[str, Any] = {}
    for name in last._fields:
        values = [getattr(part, name) for part in parts]
        if name in widen and values[0] is not None:
            values = [_widened(table, n, widen[name]) for table in values]
        if isinstance(values[0], np.ndarray):
            joined[name] = np.concatenate(values)
    return last._replace(**joined)


def judge_sets(
    sets: Sequence[AnySet], truth: tuple[Hashable, ...], levels: list[Any]
) -> JudgedLevels:
    """Judge one window by a set for each level."""
    covers = next((k for k, s in enumerate(sets) if s.covers_unfilled(truth)), len(sets))
    filled = np.array([s.filled_steps for s in sets]).T
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
    """Judge one window by the p-values of all candidates, at numeric levels.

    If candidates are too many to count at all levels, `sized` is the set at level `asked`.
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
    empty = int(entry(best.max(), levels)) if filling else 0  # number of levels with an empty set
    if filling:
        first = fill_entries(first, s)
        numbers = [1 if k < empty and number == 0 else number for k, number in enumerate(numbers)]
    filled = np.tile(np.arange(never) < empty, (s.horizon, 1))
    judged = _judge_one(s, truth, list(levels), first, covers, numbers, filled)
    return judged._replace(step_p_values=best)


def _judge_one(
    s: AnySet,
    truth: tuple[Hashable, ...],
    levels: list[Any],
    first: IntArray,
    covers: int,
    numbers: Sequence[Any],
    filled: npt.NDArray[np.bool_],
) -> JudgedLevels:
    """Return the results of one window, without its p-value and first row."""
    codes, every = places_of(truth, s.states), len(s.states) ** s.horizon
    sizes = numbers
    if not isinstance(s, PredictionSet):  # the number may exceed a float
        sizes = [float(number) if not number >= 2**1000 else np.inf for number in numbers]
    shares = [float(Fraction(number, every)) if number == number else np.nan for number in numbers]
    judged = JudgedLevels(
        levels, s.states, s.horizon, codes, first, np.array([covers]), np.array([np.nan]),
        np.array([sizes]), np.array([shares]), codes[-1:],
        filled=np.atleast_2d(filled.any(axis=0)),
        shared_calibration=s.given.endswith(ANY_TIME),
    )  # fmt: skip
    if not isinstance(s, StepSets):
        return judged
    return judged._replace(guarantee=s.guarantee, filled_steps=filled, max_errors=s.max_errors)


def fill_entries(first: IntArray, s: PredictionSet | LatticeSet) -> IntArray:
    """Return the first level of each state, with the most plausible sequence at all levels."""
    filled = first.copy()
    filled[np.arange(s.horizon), places_of(s.best or (), s.states)] = 0
    return filled


def entries_of_nodes(sets: Sequence[AnySet]) -> IntArray:
    """Return the first of several sets, in rising order of level, that holds each state."""
    return first_level(np.array([s.nodes for s in sets]))


def first_level(there: npt.NDArray[np.bool_]) -> IntArray:
    """Return the first true entry along levels, ``len(levels)`` if none: (levels, ...) to (...)."""
    return np.asarray(np.where(there.any(axis=0), there.argmax(axis=0), len(there)))


def places_of(labels: Iterable[Hashable], states: tuple[Hashable, ...]) -> IntArray:
    """Return the codes of labels, −1 for a label not among the states."""
    return np.array([states.index(label) if label in states else -1 for label in labels])


def _count(s: AnySet) -> int:
    """Return the number of sequences in a set, or an upper bound of it."""
    if isinstance(s, StepSets):
        return prod(s.widths.tolist())
    return s.size().high


def _widened(table: npt.NDArray[Any], n: int, value: float) -> npt.NDArray[Any]:
    """Pad a table with one row per step to n columns."""
    if table.shape[1] == n:
        return table  # np.pad would copy
    return np.pad(table, [(0, 0), (0, n - table.shape[1])], constant_values=value)
