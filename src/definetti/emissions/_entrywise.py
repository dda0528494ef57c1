"""Vectors whose entries are independent given the state, each with a rate of its own."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.checks import checked_prior
from definetti.emissions._pooled import entry_sums
from definetti.emissions._reading import Vectors
from definetti.emissions._rows import CodedRows, Rows


class Total(NamedTuple):
    """How many entries there are in each column, and their sums, both ``(d,)``."""

    counts: FloatArray
    sums: FloatArray


@dataclass(frozen=True)
class Entrywise(CodedRows):
    """A law that is known by how many entries there are in each column, and by their sums."""

    prior: float = 0.5

    def __post_init__(self) -> None:
        checked_prior(self.prior)

    @abstractmethod
    def check(self, vectors: Vectors) -> None:
        """Refuse entries that the law does not allow."""

    @abstractmethod
    def logs(
        self, values: FloatArray, counts: FloatArray, sums: FloatArray, total: Total
    ) -> FloatArray:
        """Judge rows, ``(R, d)``, in each state, given what was summed up of it: ``(R, n)``.

        Parameters
        ----------
        counts, sums : (n, d) how many entries a state has, and their sums
        total : the same of all states there are
        """

    def encode(self, observations: Any, table: Rows | None, name: str) -> tuple[Rows, IntArray]:
        table = Rows() if table is None else table
        vectors = table.read(observations, name)
        self.check(vectors)
        return table.added(vectors)

    def statistics(
        self, table: Rows, codes: IntArray, states: IntArray, n_states: int
    ) -> FloatArray:
        """Return how many entries there are in each column, and their sums, ``(n_states, 2 d)``."""
        return entry_sums(table.take(codes), states, n_states)

    def log_likelihood(self, table: Rows, statistics: FloatArray, codes: IntArray) -> FloatArray:
        return self._judge(table, statistics, statistics.sum(axis=0), codes)

    def judge_rows(
        self, table: Rows, rows: FloatArray, total: FloatArray, codes: IntArray
    ) -> FloatArray:
        return self._judge(table, rows, total, codes)

    def _judge(
        self, table: Rows, rows: FloatArray, total: FloatArray, codes: IntArray
    ) -> FloatArray:
        counts, sums = np.split(rows, 2, axis=1)
        together = Total(*np.split(total, 2))
        logs = self.logs(table.take(codes.ravel()), counts, sums, together)
        return logs.reshape(*codes.shape, len(rows))
