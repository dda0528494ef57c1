"""Where too few blocks of the past leave nothing out: what a set says of it, and a warning."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import ceil, floor
from typing import NamedTuple

from definetti._system.caller import warn_caller
from definetti.exceptions import FewBlocksWarning
from definetti.promises import LAST
from definetti.question import Question
from definetti.ranks.limits import blocks_needed
from definetti.symmetry import Symmetry

NAMED = 3  # states that are spoken of by name
ENOUGH = 20  # windows that a level may leave out, of those that are recommended


class Few(NamedTuple):
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
    def of(cls, question: Question, numbers: list[int], alphas: list[Fraction]) -> Few:
        """Find the states with too few blocks, by the numbers of blocks that all states have."""
        by_last = question.symmetry.given == LAST
        present = () if by_last else (question.labels[question.history.last],)
        horizon, length = len(question.observations), len(question.history)
        how = horizon, length, present, question.symmetry
        return cls.among(question.labels, numbers, alphas, *how)

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
    ) -> Few:
        """Find them where there is no question to ask; the rest is as in the attributes."""
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
