"""The contract of an emission, and the default for fixed ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import is_dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.mixins import Named, Parametrized
from definetti.data.history import padded
from definetti.data.labels import MISSING, NONE

Labels = tuple[Hashable, ...]


class Emission(Named, Parametrized, ABC):
    """The law of an observation given its state, estimated from labelled data.

    Observations are kept in a *table*; the code of one is its row there, and a missing one has the
    code ``MISSING`` and the likelihood one in every state. Labelled data are summed up in
    *statistics*, an array that adds up over segments of data.

    A subclass must define the four abstract methods; `definetti.testing.check_emission` tests it.
    Emissions are immutable; the fields of a dataclass are parameters,
    ``set_params(model__emission__prior=1)`` of an estimator.

    Attributes
    ----------
    symbols : whether equal observations share a code, so that counting them is worth while; the
        table then has a length, the number of its codes
    ordered : whether states are identified by column order alone, so that they must be declared
    example : some valid observations; those of a named emission are enumerated by exhaustive tests
    law : a name in plain words; the name of the class if left out
    """

    symbols: bool = False
    ordered: bool = False
    example: ClassVar[tuple[Any, ...]] = ()
    law: ClassVar[str] = ""

    __repr__ = object.__repr__  # dataclasses define their own

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        return super()._defaults() if is_dataclass(cls) else {}

    def __sklearn_clone__(self) -> Emission:
        return self

    @abstractmethod
    def encode(self, observations: Any, table: Any, name: str) -> tuple[Any, IntArray]:
        """Return a table that also holds the new observations, and their codes."""

    @abstractmethod
    def decode(self, table: Any, codes: IntArray) -> npt.NDArray[Any]:
        """Return observations in their original form, missing ones as None (NaN among numbers)."""

    @abstractmethod
    def statistics(
        self, table: Any, codes: IntArray, states: IntArray, n_states: int
    ) -> FloatArray:
        """Sum up labelled observations, state by state along the first axis."""

    @abstractmethod
    def log_likelihood(self, table: Any, statistics: FloatArray, codes: IntArray) -> FloatArray:
        """Return log-likelihoods of observations: shape ``codes.shape + (n_states,)``."""

    def fix(self, table: Any, codes: IntArray, states: IntArray, labels: Labels) -> Emission:
        """Return the law fixed on a labelled segment, which no later observation changes.

        It must not depend on other entries of the table. An emission that never does returns
        itself; by default each observation is evaluated as if it alone followed the segment, which
        is always right, and slow.
        """
        return JudgedAlone(self, table)

    def symbols_of(self, table: Any) -> Labels:
        """Return the symbols of a table, in the order of their codes; empty if it has none."""
        if not self.symbols:
            return ()
        return tuple(self.decode(table, np.arange(len(table))).tolist())

    def columns_of(self, table: Any) -> Labels | None:
        """Return the column names of decoded observations; None if they have none."""
        return None

    def describe(self, columns: Sequence[str]) -> list[str]:
        """Describe the law of the columns in plain words."""
        law = self.law or type(self).__name__
        return [f"{law} for {', '.join(columns)}"] if columns else []


class ByState(Emission):
    """An emission whose law in a state depends on that state's statistics and on their sum."""

    @abstractmethod
    def judge_rows(
        self, table: Any, rows: FloatArray, total: FloatArray, codes: IntArray
    ) -> FloatArray:
        """Return log-likelihoods from statistics of single states and their sum over all states."""

    def log_likelihood(self, table: Any, statistics: FloatArray, codes: IntArray) -> FloatArray:
        return self.judge_rows(table, statistics, statistics.sum(axis=0), codes)


class Wrapped(Emission):
    """A fixed law of observations that are coded by another emission."""

    def __init__(self, emission: Emission) -> None:
        self.emission = emission
        self.symbols, self.ordered = emission.symbols, emission.ordered

    def encode(self, observations: Any, table: Any, name: str) -> tuple[Any, IntArray]:
        return self.emission.encode(observations, table, name)

    def decode(self, table: Any, codes: IntArray) -> npt.NDArray[Any]:
        return self.emission.decode(table, codes)

    def columns_of(self, table: Any) -> Labels | None:
        return self.emission.columns_of(table)

    def statistics(
        self, table: Any, codes: IntArray, states: IntArray, n_states: int
    ) -> FloatArray:
        return self.emission.statistics(table, codes, states, n_states)

    def fix(self, table: Any, codes: IntArray, states: IntArray, labels: Labels) -> Emission:
        return self

    def describe(self, columns: Sequence[str]) -> list[str]:
        return self.emission.describe(columns)


class JudgedAlone(Wrapped):
    """A law that evaluates each observation as if it alone followed the training segment."""

    def __init__(self, emission: Emission, table: Any) -> None:
        super().__init__(emission)
        self.table = table

    def statistics(
        self, table: Any, codes: IntArray, states: IntArray, n_states: int
    ) -> FloatArray:
        return super().statistics(self.table, codes, states, n_states)

    def log_likelihood(self, table: Any, statistics: FloatArray, codes: IntArray) -> FloatArray:
        def judge(distinct: IntArray) -> FloatArray:
            rows = [self._judge(table, statistics, code) for code in distinct]
            return np.stack(rows)

        return judge_distinct(codes, len(statistics), judge)

    def _judge(self, table: Any, statistics: FloatArray, code: int) -> FloatArray:
        """Return log-likelihoods of one observation from the segment and itself alone."""
        came = self.emission.decode(table, np.array([code]))
        own, codes = self.emission.encode(came, self.table, "observations")
        shape = self.emission.statistics(own, NONE, NONE, len(statistics)).shape
        logs = self.emission.log_likelihood(own, padded(statistics, *shape), codes)
        return np.asarray(logs[0])

    def __repr__(self) -> str:
        return repr(self.emission)


def judge_distinct(
    codes: IntArray, n_states: int, judge: Callable[[IntArray], FloatArray]
) -> FloatArray:
    """Call `judge` on the distinct observations; missing ones have the likelihood one."""
    flat = codes.ravel()
    seen = flat != MISSING
    logs = np.zeros((codes.size, n_states))
    if seen.any():
        distinct, places = np.unique(flat[seen], return_inverse=True)
        logs[seen] = judge(distinct)[places]
    return logs.reshape(*codes.shape, n_states)
