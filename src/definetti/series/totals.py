"""What all series add up to, counted where the data are: only counts come back."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from definetti._system.arrays import IntArray
from definetti.data.history import padded
from definetti.data.labels import Alphabet

BEFORE, NUMBER = "_state_before", "_number"


@dataclass(frozen=True, eq=False)
class SeriesTotals:
    """Counts of many series, of which a series' own can be taken away.

    Attributes
    ----------
    states, symbols : the labels there are
    moves : (n, n) how often each state follows each
    seen : (n, m) how often each symbol is seen in each state; m is 0 for plain chains
    """

    states: Alphabet
    symbols: Alphabet
    moves: IntArray
    seen: IntArray

    def __add__(self, other: SeriesTotals) -> SeriesTotals:
        """Add up what was counted in different places."""
        states = self.states.extended(other.states.labels)
        symbols = self.symbols.extended(other.symbols.labels)
        n, m = len(states), len(symbols)
        rows = states.encode(list(other.states.labels), "states")
        columns = symbols.encode(list(other.symbols.labels), "symbols")
        moves, seen = padded(self.moves, n, n).copy(), padded(self.seen, n, m).copy()
        moves[np.ix_(rows, rows)] += other.moves
        seen[np.ix_(rows, columns)] += other.seen
        return SeriesTotals(states, symbols, moves, seen)


def count_series(
    table: Any, state: str, group: str, order: str | None = None, symbol: str | None = None
) -> SeriesTotals:
    """Count transitions, and symbols by state, over all series of a table.

    One query, run by whatever holds the table: polars, DuckDB, pandas or pyarrow, lazily where it
    can. What comes back is as large as the counts are, however many rows there are.

    Parameters
    ----------
    table : a frame of any of these, lazy or not
    state, group : the columns with the states and with the series; a row without a state is a gap
    order : the column that the rows of a series are sorted by; may be left out where rows have an
        order of their own, which they have not in a database
    symbol : the column with the observations, symbols; none for plain chains

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.LazyFrame({"town": list("ababa"), "day": [1, 1, 2, 2, 3], "sky": list("ssrsr")})
    >>> found = count_series(table, "sky", "town", "day")
    >>> found.states.labels, found.moves.tolist()
    (('r', 's'), [[1, 0], [1, 1]])
    """
    frame = nw.from_native(table)
    steps = _steps(frame, state, group, order).drop_nulls(subset=[BEFORE, state])
    moves = _collected(steps.group_by(BEFORE, state).agg(nw.len().alias(NUMBER)))
    known = frame.drop_nulls(subset=[state])
    there = _collected(known.group_by(state).agg(nw.len().alias(NUMBER)))
    states = Alphabet(sorted(there[state].to_list(), key=_key))
    n = len(states)
    found: IntArray = np.zeros((n, n), dtype=np.int64)
    _fill(found, states, moves[BEFORE].to_list(), states, moves[state].to_list(), moves[NUMBER])
    symbols, seen = Alphabet(), np.zeros((n, 0), dtype=np.int64)
    if symbol is not None:
        pairs = _collected(
            known.drop_nulls(subset=[symbol]).group_by(state, symbol).agg(nw.len().alias(NUMBER))
        )
        symbols = Alphabet(sorted(dict.fromkeys(pairs[symbol].to_list()), key=_key))
        seen = np.zeros((n, len(symbols)), dtype=np.int64)
        given = pairs[state].to_list(), symbols, pairs[symbol].to_list(), pairs[NUMBER]
        _fill(seen, states, *given)
    return SeriesTotals(states, symbols, found, seen)


def _steps(frame: Any, state: str, group: str, order: str | None) -> Any:
    """Put the state before beside each, within its series."""
    before = nw.col(state).shift(1)
    if isinstance(frame, nw.LazyFrame):
        if order is None:
            raise ValueError(
                "order is None, and rows of a lazy table have no order of their own; name the "
                "column that the rows of a series are sorted by"
            )
        return frame.with_columns(before.over(group, order_by=order).alias(BEFORE))
    # Not every library that holds all rows looks back within groups; each can sort.
    if order is None:
        frame, order = frame.with_row_index(NUMBER), NUMBER
    rows = frame.sort(group, order).with_columns(
        before.alias(BEFORE), nw.col(group).shift(1).alias(NUMBER)
    )
    return rows.filter(nw.col(group) == nw.col(NUMBER))


def _collected(frame: Any) -> Any:
    """Bring counts back."""
    return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


def _fill(
    counts: IntArray,
    rows: Alphabet,
    given: list[Any],
    columns: Alphabet,
    then: list[Any],
    numbers: Any,
) -> None:
    places = rows.encode(given, "states"), columns.encode(then, "states")
    counts[places] = np.array(numbers.to_list(), dtype=np.int64)


def _key(label: Hashable) -> tuple[str, Any]:
    """Sort labels the same way wherever they were counted."""
    return (type(label).__name__, label) if not isinstance(label, str) else ("", label)
