"""Observations that are symbols."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.checks import checked_prior
from definetti._system.compiled import kernel
from definetti.data.labels import MISSING, Alphabet, each_once, hashable, listed
from definetti.emissions.base import ByState, Emission, Labels


class Counted(ByState):
    """A law of symbols that is known by how often each of them occurs in each state."""

    symbols = True

    @abstractmethod
    def fix_counts(self, table: Any, counts: FloatArray) -> Counted:
        """Return the law fixed on how often each symbol of a table occurs, ``(n_states, m)``."""

    @property
    def fixed_by_counts(self) -> bool:
        """Whether `fix_counts` is written for this very class, not for one that it derives from."""
        return "fix_counts" in vars(type(self))

    def fix(self, table: Any, codes: IntArray, states: IntArray, labels: Labels) -> Emission:
        if not self.fixed_by_counts:  # what a derived class does is its own affair
            return super().fix(table, codes, states, labels)
        return self.fix_counts(table, count_symbols(codes, len(table), states, len(labels)))

    def gathered(self, table: Any, counts: FloatArray) -> FloatArray:
        """Return the statistics that follow from how often each symbol of a table occurs."""
        width, cells = self.cells(table, np.arange(counts.shape[1]))
        found = np.zeros((width, len(counts)))
        np.add.at(found, cells, counts.T)
        return found.T

    def statistics(
        self, table: Any, codes: IntArray, states: IntArray, n_states: int
    ) -> FloatArray:
        """Return how often each symbol occurs in each state, ``(n_states, number of cells)``."""
        width, symbols = self.cells(table, codes)
        return count_symbols(symbols, width, states, n_states)

    def cells(self, table: Any, codes: IntArray) -> tuple[int, IntArray]:
        """Return how many cells symbols are counted in, and the cell of each."""
        return len(table.labels), codes


@dataclass(frozen=True)
class Categorical(Counted, name="categorical"):
    """Relative frequencies of symbols in each state, with ``prior`` added to every count.

    The symbols are those of the completed sequence, so a symbol never seen in a state has a
    small probability there, and a state never seen has the uniform law.

    Examples
    --------
    >>> emission = Categorical(prior=0.5)
    >>> table, codes = emission.encode(["wet", "dry", "wet", None], None, "observations")
    >>> states = np.array([0, 1, 0, 1])
    >>> statistics = emission.statistics(table, codes, states, n_states=2)
    >>> np.exp(emission.log_likelihood(table, statistics, codes)).round(3)
    array([[0.833, 0.25 ],
           [0.167, 0.75 ],
           [0.833, 0.25 ],
           [1.   , 1.   ]])
    """

    prior: float = 0.5

    law = "frequencies"
    example = ("a", "b", None)

    def __post_init__(self) -> None:
        checked_prior(self.prior)

    def encode(
        self, observations: Any, table: Alphabet | None, name: str
    ) -> tuple[Alphabet, IntArray]:
        symbols = listed(observations, name)
        met = each_once(symbols)
        for row, symbol in enumerate(symbols if met is None else []):
            if not hashable(symbol):
                raise TypeError(
                    f"{name}[{row}] is a {type(symbol).__name__}, {symbol!r}, which cannot serve "
                    "as a symbol; use text, numbers or tuples"
                )
        table = Alphabet() if table is None else table
        assert met is not None  # all can be hashed
        table.check_kind(symbols, name, met)
        table = table.extended(met)
        return table, table.encode_missing(symbols, met)

    def decode(self, table: Alphabet, codes: IntArray) -> npt.NDArray[Any]:
        return decode_symbols(table, codes)

    def judge_rows(
        self, table: Alphabet, rows: FloatArray, total: FloatArray, codes: IntArray
    ) -> FloatArray:
        _, symbols = self.cells(table, codes)
        return judge_symbols(rows, float(self.prior), symbols)

    def fix_counts(self, table: Any, counts: FloatArray) -> FixedCategorical:
        """Fix the alphabet on the symbols that occur."""
        return FixedCategorical(self.prior, tuple(np.flatnonzero(counts.any(axis=0)).tolist()))


@dataclass(frozen=True)
class FixedCategorical(Categorical):
    """Frequencies in a fixed alphabet: the symbols known, and one cell for all others.

    A law that spreads over all symbols met so far would depend on the order of the blocks.
    """

    known: tuple[int, ...] = ()  # the codes of the symbols that it was trained on

    def cells(self, table: Alphabet, codes: IntArray) -> tuple[int, IntArray]:
        number = len(self.known)
        place = np.full(len(table) + 1, number)  # that of all others
        place[list(self.known)] = np.arange(number)
        place[MISSING] = MISSING
        return number + 1, place[codes]


def decode_symbols(table: Alphabet, codes: IntArray) -> npt.NDArray[Any]:
    """Return symbols by their codes, None where missing."""
    # The code MISSING, −1, finds the last.
    symbols = np.fromiter([*table.labels, None], dtype=object, count=len(table) + 1)
    return symbols[codes]


def count_symbols(codes: IntArray, width: int, states: IntArray, n_states: int) -> FloatArray:
    """Count how often each of so many symbols occurs in each state, ``(n_states, width)``."""
    seen = codes != MISSING
    counts = np.bincount(states[seen] * width + codes[seen], minlength=n_states * width)
    return counts.reshape(n_states, width).astype(np.float64)


def judge_symbols(counts: FloatArray, prior: float, codes: IntArray) -> FloatArray:
    """Judge symbols by how often each occurred in each state: ``codes.shape + (n_states,)``."""
    # One row more than symbols: the code MISSING, −1, finds the last row, whose logs are 0.
    logs = np.zeros((counts.shape[1] + 1, len(counts)))
    logs[:-1] = log_frequencies(counts, prior).T
    return logs.take(codes, axis=0)


@kernel
def log_frequencies(counts: FloatArray, prior: float) -> FloatArray:
    """Normalise rows of counts, with a prior on each cell; a row of nothing is uniform."""
    rows, columns = counts.shape
    logs = np.empty((rows, columns))
    for i in range(rows):
        total = 0.0
        for j in range(columns):
            total += counts[i, j] + prior
        for j in range(columns):
            share = (counts[i, j] + prior) / total if total > 0.0 else 1.0 / columns
            logs[i, j] = math.log(share) if share > 0.0 else -np.inf
    return logs
