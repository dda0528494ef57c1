"""Encode observations of any kind as columns of symbols or numbers, as the tests read them.

Numbers become *scores*: the rank of each within its state, as a normal deviate, so that units,
outliers and the distribution in a state do not matter. Rearrangements move these values without
changing them.
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

ONE = 2**16  # units of a score: whole numbers, whose sums do not depend on the order
OFTEN = 5  # mean count of a value from which on whole numbers are symbols
# The fewest distinct values of an identifier. By chance a column of so many values is monotone in 2
# of 20! orders, and hardly ever free of repeated values.
IDENTIFIER_VALUES = 20
IDENTIFIER_SHARE = 0.9  # share of distinct values from which on symbols identify rows


@dataclass(frozen=True, eq=False)
class Column:
    """A column of observations: numbers, NaN where missing, or symbols, `MISSING` where missing.

    `tokens` ``(T,)`` are the codes of the rows' tokens; `places` are the ranks of the symbols by
    their labels.
    """

    name: str
    values: FloatArray | None = None
    symbols: IntArray | None = None
    tokens: CodeArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    places: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def called(self) -> str:
        """Name of the column in messages."""
        return f"column {self.name}" if self.name else "observations"

    @cached_property
    def ranks(self) -> IntArray:
        """Rank of each value among all, equal for ties; without meaning where missing."""
        if self.symbols is not None:
            return self.places[self.symbols]
        assert self.values is not None
        return np.unique(self.values, return_inverse=True)[1].astype(np.int64)

    @cached_property
    def seen(self) -> CodeArray:
        """1 where a value is present, 0 where it is missing."""
        there = self.symbols != MISSING if self.values is None else ~np.isnan(self.values)
        return np.asarray(there, dtype=np.int8)

    @property
    def distinct(self) -> int:
        """Number of distinct values."""
        values: Any = self.symbols if self.values is None else self.values
        return len(np.unique(values[self.seen == 1]))

    @cached_property
    def cells(self) -> CodeArray:
        """Code of each row's pair of token and symbol, −1 where the symbol is missing."""
        names = self._pairs[1]
        return as_short_codes(np.where(self.seen == 1, names, -1), len(self._pairs[0]))

    @cached_property
    def cell_counts(self) -> tuple[IntArray, IntArray]:
        """Counts of cells, and of the tokens of rows whose symbol is not missing."""
        there = self.cells >= 0
        wide = int(self.tokens.max()) + 1
        return np.bincount(self.cells[there]), np.bincount(self.tokens[there], minlength=wide)

    @cached_property
    def score_totals(self) -> list[tuple[IntArray, IntArray]]:
        """Sum and number of the scores of each token, for both kinds of scores."""
        there, wide = self.seen == 1, int(self.tokens.max()) + 1
        own = self.tokens[there]
        sizes = np.bincount(own, minlength=wide)
        sums = [np.bincount(own, scores[there], minlength=wide) for scores in self.scores]
        return [(np.rint(totals).astype(np.int64), sizes) for totals in sums]

    @cached_property
    def made_of(self) -> tuple[CodeArray, CodeArray]:
        """Token and symbol of each cell."""
        assert self.symbols is not None
        first = self._pairs[0]
        return self.tokens[first], self.symbols[first]

    @cached_property
    def _pairs(self) -> tuple[IntArray, IntArray]:
        assert self.symbols is not None
        return distinct_rows(np.column_stack([self.tokens, self.symbols]))[:2]

    @cached_property
    def scores(self) -> tuple[CodeArray, CodeArray]:
        """Normal scores of numbers within their token, and centred squares of these scores.

        In units; `GONE` where a number is missing.
        """
        tokens = self.tokens
        assert self.values is not None
        deviates = np.zeros(len(tokens))
        there = np.flatnonzero(self.seen)
        order = there[np.lexsort((self.values[there], tokens[there]))]
        if len(order):
            own, values = tokens[order], self.values[order]
            new = np.concatenate([[True], np.diff(own) != 0])
            begin = np.flatnonzero(new)
            size = np.diff([*begin, len(order)])
            place = np.arange(len(order)) - np.repeat(begin, size) + 0.5
            # Ties share their mean rank.
            run = np.cumsum(new | np.concatenate([[True], values[1:] != values[:-1]])) - 1
            middle = np.bincount(run, place) / np.bincount(run)
            deviates[order] = ndtri(middle[run] / np.repeat(size, size))
        scores = np.full((2, len(tokens)), GONE, dtype=np.int32)  # below every score
        units: IntArray = np.rint(deviates[there] * ONE).astype(np.int64)
        scores[:, there] = units, _centred(units * units // ONE, tokens[there])
        return scores[0], scores[1]


def _centred(numbers: IntArray, tokens: CodeArray) -> IntArray:
    """Subtract the rounded mean of its token from each number."""
    size = np.maximum(np.bincount(tokens), 1)
    return np.asarray(numbers - np.rint(np.bincount(tokens, numbers) / size).astype(int)[tokens])


def read_observations(observations: Any, length: int) -> tuple[list[Column], dict[str, str]]:
    """Return the columns that can be tested, and by name the reasons why others cannot."""
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
    """Return why a column is left out as an identifier of rows or times, or ""."""
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
    """Return the kind and the values of each column, by name."""
    kinds = kinds_of(observations)
    by_column = dict(kinds.kinds)
    whole = kinds.shape == "tuples" and "numbers" not in by_column.values()
    if kinds.shape in ("single", "nothing") or whole:
        kind = "symbols" if whole else by_column.get(0, "nothing")
        return {"": (kind, listed(observations, "observations"))}
    if isinstance(observations, np.ndarray) and observations.ndim == 2:
        values: Mapping[Any, Any] = dict(enumerate(observations.T))
    else:
        values = read_columns(observations, "observations").values
    return {str(key): (by_column.get(key, "nothing"), values[key]) for key in values}


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
    """Return numbers as floats, NaN where missing."""
    entries = values if type(values) is np.ndarray else listed(values, "observations")
    try:
        return np.array(entries, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):  # converted one by one
        return np.array([np.nan if is_missing(x) else as_float(x) for x in entries])


def rank_labels(labels: Sequence[Any]) -> IntArray:
    """Return the rank of each label, by value or, if labels cannot be compared, by text."""
    try:
        order = sorted(range(len(labels)), key=lambda k: labels[k])
    except TypeError:
        order = sorted(range(len(labels)), key=lambda k: str(labels[k]))
    return np.argsort(order)
