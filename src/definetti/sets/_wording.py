"""What sets say of themselves."""

from __future__ import annotations

import math
import reprlib
from typing import NamedTuple

from definetti.levels.by_state import ConfidenceLevel, write_at_least
from definetti.promises import LAST, write_condition

SHOWN = 10  # rows in a repr
# Said of a set that would be empty, and has its most plausible sequence instead.
FILLED = "nothing is plausible at this level; the most plausible is shown"


class Size(NamedTuple):
    """Two numbers between which the number of members lies; equal where it is known.

    >>> Size(3, 3), Size(10**20, 2 * 10**20)
    (3, 1.0e+20 to 2.0e+20)
    """

    low: int
    high: int

    def __repr__(self) -> str:
        low, high = map(_short, self)
        return low if self.low == self.high else f"{low} to {high}"


def promise(confidence_level: ConfidenceLevel | None, exact: bool, given: str = LAST) -> str:
    """Say what a set of sequences promises.

    >>> promise(0.9, True)
    'holding the truth with probability ≥ 0.9'
    >>> promise(0.9, True, "present state")
    'holding the truth with probability ≥ 0.9 each time it is in this state, counted by visits'
    >>> promise(0.9, True, "present state, at any time")
    'holding the truth with probability ≥ 0.9 given the present state, at any time'
    >>> promise({"N1": 0.99, None: 0.8}, True)
    'holding the truth with probability ≥ 0.99 where the last state is N1, ≥ 0.8 otherwise'
    """
    if confidence_level is None:
        return f"all candidates{'' if exact else ', p-values NOT valid'}"
    if exact:
        level = write_at_least(confidence_level)
        return f"holding the truth with probability {level}{write_condition(given)}"
    return f"level {write_at_least(confidence_level, '')} NOT guaranteed"


def short(value: object) -> str:
    """Write a value in a few words, however long it is.

    >>> short(list(range(1000)))
    '[0, 1, 2, 3, 4, 5, ...]'
    """
    return reprlib.repr(value)


def _short(number: int) -> str:
    """Write a whole number of any size in a few digits.

    >>> _short(1234), _short(3 * 10**400)
    ('1,234', '3.0e+400')
    """
    if number < 10**7:
        return f"{number:,}"
    power = int((number.bit_length() - 1) * math.log10(2))  # or one less than it is
    power += number >= 10 ** (power + 1)
    return f"{number // 10 ** (power - 1) / 10:.1f}e+{power}"
