"""What a monitor bets on, part by part."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

from definetti.conformal import ConformalHMM
from definetti.ranks.stream import PARTS

VISITS = "visits"


class Parts(NamedTuple):
    """The parts of a step that are judged, each with a bet of its own.

    Attributes
    ----------
    judged : some of `PARTS`
    visited : the states that are bet on not to come any more, one by one

    Examples
    --------
    >>> Parts(("transitions",), ("sun", "rain")).names
    ('transitions', "visits to 'sun'", "visits to 'rain'")
    """

    judged: tuple[str, ...]
    visited: tuple[Hashable, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return *self.judged, *(f"{VISITS} to {state!r}" for state in self.visited)


def read_parts(parts: Any, cp: ConformalHMM) -> Parts:
    """Read the names of parts; all but visits if there are none."""
    plain = cp._data.plain
    known = PARTS[:1] if plain else PARTS
    if parts is None:
        return Parts(known)
    several = isinstance(parts, Iterable) and not isinstance(parts, str)
    asked = tuple(parts) if several else (parts,)
    wrong = [one for one in asked if one not in (*known, VISITS)]
    if wrong or not asked or len(set(asked)) != len(asked):
        of_chain = " of a plain chain" if plain else ""
        raise ValueError(
            f"parts must be some of {', '.join(map(repr, (*known, VISITS)))}{of_chain}, got "
            f"{parts!r}; leave it out for all but {VISITS!r}"
        )
    visited = tuple(cp.states_) if VISITS in asked else ()
    return Parts(tuple(one for one in known if one in asked), visited)
