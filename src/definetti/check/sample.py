"""A labelled history encoded for the tests: tokens, transitions and columns."""

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

KEPT = 4  # the most columns of draws that are cached, which bounds memory for wide tables


@dataclass(frozen=True, eq=False)
class Draws:
    """Rearrangements of a sample, one per row.

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
        """Return ``(T,)`` values that move with the observations, at each step of draws: (B, T).

        The results for the first few arrays are cached for other statistics.
        """
        for known, taken in self._taken:
            if known is values:
                return taken
        dealt = deal(values, self.times)
        if len(self._taken) < KEPT:
            self._taken.append((values, dealt))
        return dealt


class Origin(NamedTuple):
    """The table row of each step, from 0, and the series of each row, if there are several."""

    rows: IntArray
    names: list[Hashable] | None


@dataclass(frozen=True, eq=False)
class Sample:
    """A labelled sequence, or several one after the other.

    Attributes
    ----------
    labels : the labels of the states
    states, tokens : (T,) codes; a token is the state and what a memory adds to it
    rows : (n, w) the components of each token, the state first
    begins : (S + 1,) where segments begin, and the last ends
    edges : (T,) the transition out of each time, −1 where a segment ends
    sources, targets : (E,) the tokens before and after each transition, sorted by both
    columns : the columns of the observations
    others : columns that cannot be tested, and why
    memory : the memory that the assumption allows
    raw : the observations as given
    before : number of rows before the first, where the sample is a part of a longer history
    origin : the table rows of the steps, for several series of a table or some rows of one
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
        """Counts of each transition, and of the transitions out of each token."""
        moves = np.bincount(self.edges[self.edges >= 0], minlength=len(self.sources))
        leaves = np.bincount(self.sources, moves, len(self.rows)).astype(np.int64)
        return moves, leaves

    @cached_property
    def gains(self) -> IntArray:
        """Differences of successive entries of `table`."""
        return np.diff(self.table)

    @property
    def itself(self) -> Draws:
        """The sample as a single draw."""
        times = as_codes(np.arange(len(self)), len(self))
        return Draws(self.tokens[None], self.edges[None], times[None])

    def find_row(self, row: int) -> int:
        """Return the number of the last of `row` rows, from 1, as counted in the original table."""
        if self.origin is not None and row > 0:
            row = int(self.origin.rows[row - 1]) + 1
        return self.before + row

    def name(self, token: int) -> str:
        """Return a token as text: its state, after the earlier states that are part of it."""
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
    """Encode a labelled sequence."""
    labels = checked_states(states)
    if not labels:
        raise ValueError("states is empty; a check needs a labelled history of some steps")
    sizes = read_lengths(lengths, len(labels), "states")
    begins = np.concatenate([[0], sizes.cumsum()])
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
    """Return the codes of the tokens of states in segments, and the components of each token."""
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
