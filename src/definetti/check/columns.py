"""Observations of any kind, column by column, in the form in which they are tested.

A column is symbols or numbers. Numbers become *scores*: the place of each among those of its state,
as a normal deviate, so that no unit, outlier or law of a state plays a part. All of it is the same
for every rearrangement, but for where it comes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtri

from definetti._system.arrays import (
    CodeArray,
    FloatArray,
    IntArray,
    as_float,
    as_short_codes,
    distinct_rows,
)
from definetti.check.likelihood import GONE
from definetti.data.labels import MISSING, Alphabet, all_hashable, is_missing, listed
from definetti.emissions.choice import kinds_of
from definetti.emissions.mixed import NUMBERS, read_columns

ONE = 2**16  # units of a score, which are whole numbers and add up in any order
OFTEN = 5  # how often whole numbers come each, on average, to be symbols
# Distinct values that an identifier has. By chance no column of so many values is monotone (2 of
# 20! orders), and next to none has no value twice.
IDENTIFIER_VALUES = 20
IDENTIFIER_SHARE = 0.9  # distinct values over rows from which on symbols name the rows


@dataclass(frozen=True, eq=False)
class Column:
    """A column of observations: numbers, NaN where missing, or symbols, `MISSING` where missing.

    `tokens` ``(T,)`` are the codes of what each was observed in; `places` those of the symbols in
    their own order.
    """

    name: str
    values: FloatArray | None = None
    symbols: IntArray | None = None
    tokens: CodeArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    places: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def called(self) -> str:
        """What it is called where other things have names as well."""
        return f"column {self.name}" if self.name else "observations"

    @cached_property
    def ranks(self) -> IntArray:
        """The place of each value among all, equal ones at one; of no meaning where missing."""
        if self.symbols is not None:
            return self.places[self.symbols]
        assert self.values is not None
        return np.unique(self.values, return_inverse=True)[1].astype(np.int64)

    @cached_property
    def seen(self) -> CodeArray:
        """Whether each is there, 1 or 0."""
        there = self.symbols != MISSING if self.values is None else ~np.isnan(self.values)
        return np.asarray(there, dtype=np.int8)

    @property
    def distinct(self) -> int:
        """How many values there are."""
        values: Any = self.symbols if self.values is None else self.values
        return len(np.unique(values[self.seen == 1]))

    @cached_property
    def cells(self) -> CodeArray:
        """The name of each pair of token and symbol, −1 where it is missing."""
        names = self._pairs[1]
        return as_short_codes(np.where(self.seen == 1, names, -1), len(self._pairs[0]))

    @cached_property
    def cell_counts(self) -> tuple[IntArray, IntArray]:
        """How many steps have each cell, and each token where it is not missing."""
        there = self.cells >= 0
        wide = int(self.tokens.max()) + 1
        return np.bincount(self.cells[there]), np.bincount(self.tokens[there], minlength=wide)

    @cached_property
    def score_totals(self) -> list[tuple[IntArray, IntArray]]:
        """The sum and the number of the scores of each token, of both kinds of scores."""
        there, wide = self.seen == 1, int(self.tokens.max()) + 1
        own = self.tokens[there]
        sizes = np.bincount(own, minlength=wide)
        sums = [np.bincount(own, one[there], minlength=wide) for one in self.scores]
        return [(np.rint(one).astype(np.int64), sizes) for one in sums]

    @cached_property
    def made_of(self) -> tuple[CodeArray, CodeArray]:
        """The token and the symbol of each cell."""
        assert self.symbols is not None
        first = self._pairs[0]
        return self.tokens[first], self.symbols[first]

    @cached_property
    def _pairs(self) -> tuple[IntArray, IntArray]:
        assert self.symbols is not None
        return distinct_rows(np.column_stack([self.tokens, self.symbols]))[:2]

    @cached_property
    def scores(self) -> tuple[CodeArray, CodeArray]:
        """Each number's place among those of its token, and how far that is from the middle.

        In units, `GONE` where it is missing.
        """
        tokens = self.tokens
        assert self.values is not None
        found = np.zeros(len(tokens))
        there = np.flatnonzero(self.seen)
        order = there[np.lexsort((self.values[there], tokens[there]))]
        if len(order):
            own, values = tokens[order], self.values[order]
            new = np.concatenate([[True], np.diff(own) != 0])
            begin = np.flatnonzero(new)
            size = np.diff([*begin, len(order)])
            place = np.arange(len(order)) - np.repeat(begin, size) + 0.5
            # Equal values share the middle of their places.
            run = np.cumsum(new | np.concatenate([[True], values[1:] != values[:-1]])) - 1
            middle = np.bincount(run, place) / np.bincount(run)
            found[order] = ndtri(middle[run] / np.repeat(size, size))
        scores = np.full((2, len(tokens)), GONE, dtype=np.int32)  # none is that far off
        units: IntArray = np.rint(found[there] * ONE).astype(np.int64)
        scores[:, there] = units, _centred(units * units // ONE, tokens[there])
        return scores[0], scores[1]


def _centred(numbers: IntArray, tokens: CodeArray) -> IntArray:
    """Take from each number the mean of its token."""
    size = np.maximum(np.bincount(tokens), 1)
    return np.asarray(numbers - np.rint(np.bincount(tokens, numbers) / size).astype(int)[tokens])


def read_observations(observations: Any, length: int) -> tuple[list[Column], dict[str, str]]:
    """Read columns that can be tested; of the others return why they cannot, by their names."""
    if observations is None:
        return [], {"observations": "there are none"}
    given = _columns(observations)
    columns, others = [], {}
    for key, (kind, values) in given.items():
        if len(values) != length:
            raise ValueError(
                f"observations has {len(values)} elements and states has {length}; they must be "
                "of equal length, one pair per step"
            )
        named = Column(key).called
        column = _column(key, kind, values) if kind not in ("nothing", "dates") else None
        if column is None:
            others[named] = "all are missing" if kind == "nothing" else "it holds dates"
        elif column.distinct < 2:
            others[named] = "it has one value only"
        else:
            columns.append(column)
    return columns, others


def name_identifier(column: Column, begins: IntArray) -> str:
    """Say why a column is an identifier, of rows or of times, to be left out; else return ""."""
    distinct, there = column.distinct, np.flatnonzero(column.seen)
    if distinct < IDENTIFIER_VALUES:
        return ""
    if column.symbols is not None and distinct >= IDENTIFIER_SHARE * len(there):
        rows = f"{distinct:,} distinct values in {len(there):,} rows"
        return f"it has {rows}, as an identifier has; leave it out"
    values = column.ranks if column.values is None else column.values
    sequence = np.searchsorted(begins, there, side="right")
    steps = np.diff(values[there])[np.diff(sequence) == 0]
    moves = (steps != 0).sum()
    if moves >= IDENTIFIER_VALUES - 1 and ((steps >= 0).all() or (steps <= 0).all()):
        return (
            "its values only rise or only fall, as those of a counter or a clock do; leave it out"
        )
    return ""


def _columns(observations: Any) -> dict[str, tuple[str, Any]]:
    """Return the kind and the values of each column, by its name."""
    kinds = kinds_of(observations)
    found = dict(kinds.kinds)
    whole = kinds.shape == "tuples" and "numbers" not in found.values()
    if kinds.shape in ("single", "nothing") or whole:
        kind = "symbols" if whole else found.get(0, "nothing")
        return {"": (kind, listed(observations, "observations"))}
    if isinstance(observations, np.ndarray) and observations.ndim == 2:
        values: Mapping[Any, Any] = dict(enumerate(observations.T))
    else:
        values = read_columns(observations, "observations").values
    return {str(key): (found.get(key, "nothing"), values[key]) for key in values}


def _column(name: str, kind: str, values: Any) -> Column:
    if kind in NUMBERS:
        numbers = _numbers(values)
        there = ~np.isnan(numbers)
        distinct, codes = np.unique(numbers[there], return_inverse=True)
        if kind == "numbers" or len(distinct) * OFTEN > len(numbers):
            return Column(name, numbers)
        symbols = np.full(len(numbers), MISSING)
        symbols[there] = codes
        return Column(name, symbols=symbols, places=np.arange(len(distinct)))
    entries = listed(values, "observations")
    if not all_hashable(entries):
        raise TypeError(
            "observations holds values that cannot be told apart by a hash, such as lists or "
            "sets; give text, numbers or tuples, or one column for each entry"
        )
    alphabet = Alphabet().extended(entries)
    codes = alphabet.encode_missing(entries)
    return Column(name, symbols=codes, places=rank_labels(alphabet.labels))


def _numbers(values: Any) -> FloatArray:
    """Return numbers as machine numbers, NaN where they are missing."""
    entries = values if type(values) is np.ndarray else listed(values, "observations")
    try:
        return np.array(entries, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):  # one at a time, what arrays do not know
        return np.array([np.nan if is_missing(x) else as_float(x) for x in entries])


def rank_labels(labels: Sequence[Any]) -> IntArray:
    """Return the place of each label in their order, or in that of their names."""
    try:
        order = sorted(range(len(labels)), key=lambda k: labels[k])
    except TypeError:
        order = sorted(range(len(labels)), key=lambda k: str(labels[k]))
    return np.argsort(order)
