"""A labelled history as it is tested: tokens, transitions and columns, in codes."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from definetti._system.arrays import (
    CodeArray,
    IntArray,
    as_codes,
    as_short_codes,
    distinct_numbers,
    distinct_rows,
)
from definetti.check.columns import Column, name_identifier, read_observations
from definetti.check.likelihood import deal, entropy_table
from definetti.data.history import History
from definetti.data.labels import MISSING, Alphabet, checked_states, read_lengths, readable
from definetti.memory import Memory, Order, resolve_memory
from definetti.memory.base import checked_tokens

KEPT = 4  # columns of draws, so that wide tables take no more memory


@dataclass(frozen=True, eq=False)
class Draws:
    """Rearrangements of a sample, a row each.

    Attributes
    ----------
    tokens : (B, T) the path
    edges : (B, T) the transition out of each time, −1 where a segment ends
    times : (B, T) the time from which each observation comes
    """

    tokens: CodeArray
    edges: CodeArray
    times: CodeArray
    _taken: list[tuple[CodeArray, CodeArray]] = field(default_factory=list, repr=False)

    def take(self, values: CodeArray) -> CodeArray:
        """Return what each step has of ``(T,)`` values that travel with observations: (B, T).

        Of the first few values it is kept, for the next statistic that takes them.
        """
        for known, taken in self._taken:
            if known is values:
                return taken
        found = deal(values, self.times)
        if len(self._taken) < KEPT:
            self._taken.append((values, found))
        return found


class Origin(NamedTuple):
    """The row of the table that each step is, from 0, and the series of each row, if several."""

    rows: IntArray
    names: list[Hashable] | None


@dataclass(frozen=True, eq=False)
class Sample:
    """A labelled sequence, or several one after the other.

    Attributes
    ----------
    labels : of the states
    states, tokens : (T,) codes; a token is the state and what a memory adds to it
    rows : (n, w) what each token is made of, the state first
    begins : (S + 1,) where segments begin, and the last ends
    edges : (T,) the transition out of each time, −1 where a segment ends
    sources, targets : (E,) from where to where each transition leads, sorted by both
    columns : of the observations
    others : what cannot be tested, and why
    memory : what the future is taken to depend on
    raw : the observations as they came
    before : how many rows come before its first, where it is a part of them
    origin : where it is from, if it is many series of a table, or some rows of one
    """

    labels: tuple[Hashable, ...]
    states: CodeArray
    tokens: CodeArray
    rows: IntArray
    begins: IntArray
    edges: CodeArray
    sources: CodeArray
    targets: CodeArray
    columns: tuple[Column, ...]
    others: dict[str, str]
    memory: Memory
    raw: Any
    before: int = 0
    origin: Origin | None = None

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def heads(self) -> IntArray:
        """The state of each token."""
        return np.ascontiguousarray(self.rows[:, 0])

    @property
    def segments(self) -> int:
        return len(self.begins) - 1

    @cached_property
    def exits(self) -> IntArray:
        """Where the transitions of each token begin, and the last end."""
        counts = np.bincount(self.sources, minlength=len(self.rows))
        return np.concatenate([[0], counts.cumsum()])

    @cached_property
    def table(self) -> IntArray:
        return entropy_table(len(self))

    @cached_property
    def moves(self) -> tuple[IntArray, IntArray]:
        """How often each transition is made, and each token left."""
        moves = np.bincount(self.edges[self.edges >= 0], minlength=len(self.sources))
        leaves = np.bincount(self.sources, moves, len(self.rows)).astype(np.int64)
        return moves, leaves

    @cached_property
    def gains(self) -> IntArray:
        """By how much each entry of `table` is below the next."""
        return np.diff(self.table)

    @property
    def itself(self) -> Draws:
        """The sample, as if it was a draw."""
        times = as_codes(np.arange(len(self)), len(self))
        return Draws(self.tokens[None], self.edges[None], times[None])

    def find_row(self, row: int) -> int:
        """Return the row that so many steps end in, from 1, as it is counted where it is from."""
        if self.origin is not None and row > 0:
            row = int(self.origin.rows[row - 1]) + 1
        return self.before + row

    def name(self, token: int) -> str:
        """Write a token for a person: its state, and those before it where they belong to it."""
        row = self.rows[token]
        if not isinstance(self.memory, Order):
            return str(self.labels[row[0]])
        return " ".join(str(self.labels[code]) for code in row[::-1] if code >= 0)


def read_sample(
    observations: Any,
    states: Any,
    lengths: Any,
    memory: Any,
    before: int = 0,
    origin: Origin | None = None,
) -> Sample:
    """Take in a labelled sequence."""
    labels = checked_states(states)
    if not labels:
        raise ValueError("states is empty; a check needs a labelled history of some steps")
    each = read_lengths(lengths, len(labels), "states")
    begins = np.concatenate([[0], each.cumsum()])
    alphabet = Alphabet().extended(labels)
    codes = alphabet.encode(labels, "states")
    del labels
    observations = readable(observations)
    given, others = read_observations(observations, len(codes))
    names = {column.called: name_identifier(column, begins) for column in given}
    columns = [column for column in given if not names[column.called]]
    others |= {called: why for called, why in names.items() if why}
    chosen = resolve_memory(memory)
    tokens, rows = trace_tokens(codes, given, begins, chosen)
    tokens = as_short_codes(tokens, len(rows))
    codes = tokens if chosen == Order(1) else as_short_codes(codes, len(alphabet.labels))
    edges, sources, targets = _edges(tokens, begins)
    return Sample(
        alphabet.labels, codes, tokens, rows, begins, edges, sources, targets,
        tuple(replace(column, tokens=tokens) for column in columns), others, chosen, observations,
        before, origin,
    )  # fmt: skip


def trace_tokens(
    codes: IntArray, columns: list[Column], begins: IntArray, memory: Memory
) -> tuple[IntArray, IntArray]:
    """Return the tokens of states in segments, in codes, and what each is made of."""
    if memory == Order(1):
        return codes, np.arange(int(codes.max()) + 1)[:, None]
    own = columns[0].symbols if len(columns) == 1 else None
    symbols = np.full(len(codes), MISSING) if own is None else own
    history = History(int(codes.max()) + 1, symbols=own is not None)
    history.append(codes, symbols)
    memory.check(history)
    parts = [
        checked_tokens(memory.trace(codes[begin:end], symbols[begin:end]), codes[begin:end])
        for begin, end in pairwise(begins.tolist())
    ]
    traced = np.concatenate(parts)
    first, tokens, _ = distinct_rows(traced)
    return tokens, traced[first]


def _edges(tokens: CodeArray, begins: IntArray) -> tuple[CodeArray, CodeArray, CodeArray]:
    goes_on = np.ones(len(tokens), dtype=bool)
    goes_on[begins[1:] - 1] = False
    leaves = as_codes(np.flatnonzero(goes_on), len(tokens))
    names = tokens[leaves].astype(np.int64) * (int(tokens.max()) + 1)
    names += tokens[leaves + 1]
    first, names, _ = distinct_numbers(names)
    edges = np.full(len(tokens), -1)
    edges[leaves] = names
    return as_short_codes(edges, len(first)), tokens[leaves[first]], tokens[leaves[first] + 1]
