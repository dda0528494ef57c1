"""Wording of prediction sets: their guarantee, and notes on too little data."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from definetti._system.checks import warn_caller
from definetti.engine.promise import write_condition
from definetti.engine.task import PredictionTask
from definetti.engine.thresholds import blocks_needed
from definetti.exceptions import FewBlocksWarning
from definetti.levels.by_state import ConfidenceLevel, write_at_least
from definetti.symmetry.base import LAST, Symmetry

# Note of a set that was empty and got its most plausible sequence.
FILLED = "nothing is plausible at this level; the most plausible is shown"
NAMED = 3  # states that a note names
ENOUGH = 20  # windows above alpha among the recommended number


def promise(confidence_level: ConfidenceLevel | None, exact: bool, given: str = LAST) -> str:
    """Write the guarantee of a set of sequences."""
    if confidence_level is None:
        return f"all candidates{'' if exact else ', p-values NOT valid'}"
    if not exact:
        return f"level {write_at_least(confidence_level, '')} NOT guaranteed"
    level = write_at_least(confidence_level)
    return f"holding the truth with probability {level}{write_condition(given)}"


def promise_by_step(
    confidence_level: ConfidenceLevel, exact: bool, given: str, guarantee: str, max_errors: int
) -> str:
    """Write the guarantee of sets of states for each step."""
    if not exact:
        return f"level {write_at_least(confidence_level, '')} NOT guaranteed"
    level = write_at_least(confidence_level)
    if guarantee == "steps" and isinstance(confidence_level, Mapping):
        promised = f"the share of steps that are right is on average {level}"
    elif guarantee == "steps":
        promised = f"of all steps a share {level} is right on average"
    elif max_errors:
        promised = f"at most {max_errors} wrong with probability {level}"
    else:
        promised = f"all right together with probability {level}"
    return promised + write_condition(given)


def short(value: object) -> str:
    """Write a value, shortened where it is long."""
    return reprlib.repr(value)


class Size(NamedTuple):
    """Bounds on the number of members; equal where it is known."""

    low: int
    high: int

    def __repr__(self) -> str:
        low, high = map(_write_number, self)
        return low if self.low == self.high else f"{low} to {high}"


def _write_number(number: int) -> str:
    """Write a whole number of any size in few digits."""
    if number < 10**7:
        return f"{number:,}"
    power = int((number.bit_length() - 1) * math.log10(2))  # may be one too small
    power += number >= 10 ** (power + 1)
    return f"{number // 10 ** (power - 1) / 10:.1f}e+{power}"


class InsufficientCalibration(NamedTuple):
    """States that end too few past blocks for candidates ending in them to be excluded.

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
    bounded: str

    @classmethod
    def of(
        cls, task: PredictionTask, numbers: list[int], alphas: list[Fraction]
    ) -> InsufficientCalibration:
        """Find the states with too few blocks, given the number of blocks of each state."""
        by_last = task.symmetry.given == LAST
        present = () if by_last else (task.labels[task.history.last],)
        horizon, length = len(task.observations), len(task.history)
        circumstances = horizon, length, present, task.symmetry
        return cls.among(task.labels, numbers, alphas, *circumstances)

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
        """Find such states for a window of a backtest."""
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
        """Write a note of one line; `steps` for sets of states by step."""
        if not self.labels:
            return ""
        if self.present:
            return f"says nothing: too few windows of the past begin in {self.present[0]!r}"
        names = _listed([repr(label) for label in self.labels], "or")
        windows = f"too few windows of the past end in {names}"
        if everything:
            return f"says nothing: {windows}"
        if steps > 1:
            return f"says nothing of the steps before the last: {windows}"
        return f"leaves nothing out that ends in {names}: too few windows of the past do"

    def warn(self) -> None:
        """Warn, with the remedy."""
        if not self.labels:
            return
        begin = f"too few blocks of {self.horizon} steps to leave anything out at level "
        begin += f"{self.levels[0]:g}"
        if self.bounded:
            message = f"{begin}, which takes {self.needed[0]}: {self.bounded}, or lower the level"
        elif self.present:
            message = (
                f"{begin}: the present state {self.present[0]!r} was left {self.numbers[0]} times "
                f"of the {self.needed[0]} that it takes; merge it with a state that is like it, or "
                "lower the level or the horizon"
            )
        else:
            message = (
                f"{begin} where the last state is one of {len(self.labels)} of {self.states} "
                f"states: {self._write_counts()} that it takes; {self._write_remedy()}"
            )
        warn_caller(message, FewBlocksWarning)

    def _write_counts(self) -> str:
        """Write how many blocks states have and need."""
        alike = len(set(self.needed)) == 1
        words = [
            f"{label!r} has {number}{'' if alike else f' of {needed}'}"
            for label, number, needed in zip(self.labels, self.numbers, self.needed, strict=True)
        ]
        return f"{_listed(words, 'and')}{f' of the {self.needed[0]}' if alike else ''}"

    def _write_remedy(self) -> str:
        """Write the remedy: merge rare states or lower their level; for all states, more data."""
        if len(self.labels) == self.states:
            number, takes = self.numbers[0], self.needed[0]
            if number:
                more = f"about {takes / number:.1f} times the {self.length:,} steps"
            else:  # the shortest length of a block
                more = f"at least {(takes + 1) * self.horizon:,} steps"
            return f"give {more} to calibrate on, or lower the level or the horizon"
        # More data take long for a rare state; a common one needs no other level.
        single = len(self.labels) == 1
        it, state = ("it", "a state that is") if single else ("them", "states that are")
        remedy = (
            f"merge {it} with {state} like {it}, or use symmetry='departures', to which a rare "
            "last state is none"
        )
        # The highest level for so few blocks; none without blocks.
        lower = [
            f"{label!r}: {math.floor(100 * number / (number + 1)) / 100:g}"
            for label, number in zip(self.labels, self.numbers, strict=True)
            if number
        ]
        if not 0 < len(lower) <= NAMED:
            return remedy
        levels = f"{{{', '.join(lower)}, None: {self.levels[0]:g}}}"
        return f"{remedy}, or ask less of {it}: confidence_level={levels}"


def note_recent(symmetry: Symmetry, alphas: list[Fraction], number: int) -> str:
    """Note that a symmetry compares with fewer windows than a level needs, if so.

    The number is how many windows of the past a candidate is compared with, at most.
    """
    alpha = min(alphas)
    if symmetry.recent is None or number < symmetry.recent or not 0 < alpha * number < 2:
        return ""
    begin = f"leaves out hardly anything at level {float(1 - alpha):g}"
    return f"{begin}: {_widen(symmetry, alpha)}"


def join_notes(*notes: str) -> str:
    """Write notes in one line."""
    return "; ".join(note for note in notes if note)


def _widen(symmetry: Symmetry, alpha: Fraction) -> str:
    """Write how many windows a symmetry compares with, and how to have enough."""
    wider = f"symmetry={symmetry.known_as.capitalize()}(recent={math.ceil(ENOUGH / alpha)})"
    return f"compares with at most the latest {symmetry.recent} windows; use {wider}"


def _listed(words: list[str], last: str) -> str:
    """Write the first few words, with commas between."""
    if len(words) > NAMED:
        return f"{', '.join(words[:NAMED])} and {len(words) - NAMED} more"
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)
