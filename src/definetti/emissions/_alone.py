"""The law of an emission fixed on a segment, by the means that every emission has."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti.data.history import padded
from definetti.data.labels import MISSING
from definetti.emissions.base import Emission

NONE: IntArray = np.zeros(0, dtype=np.int64)


class JudgedAlone(Emission):
    """Each observation judged as if it had come alone after the segment that the law was fixed on.

    Parameters
    ----------
    emission : the law that was fixed
    table : the observations of the segment
    """

    def __init__(self, emission: Emission, table: Any) -> None:
        self.emission, self.table = emission, table
        self.symbols, self.ordered = emission.symbols, emission.ordered

    def encode(self, observations: Any, table: Any, name: str) -> tuple[Any, IntArray]:
        return self.emission.encode(observations, table, name)

    def decode(self, table: Any, codes: IntArray) -> npt.NDArray[Any]:
        return self.emission.decode(table, codes)

    def columns_of(self, table: Any) -> tuple[Hashable, ...] | None:
        return self.emission.columns_of(table)

    def statistics(
        self, table: Any, codes: IntArray, states: IntArray, n_states: int
    ) -> FloatArray:
        return self.emission.statistics(self.table, codes, states, n_states)

    def log_likelihood(self, table: Any, statistics: FloatArray, codes: IntArray) -> FloatArray:
        distinct, places = np.unique(codes, return_inverse=True)
        logs = np.zeros((len(distinct), len(statistics)))
        for row, code in enumerate(distinct.tolist()):
            if code != MISSING:
                logs[row] = self._judge(table, statistics, code)
        return logs[places].reshape(*codes.shape, len(statistics))

    def _judge(self, table: Any, statistics: FloatArray, code: int) -> FloatArray:
        """Judge one observation by the segment and itself, and nothing else."""
        came = self.emission.decode(table, np.array([code]))
        own, codes = self.emission.encode(came, self.table, "observations")
        shape = self.emission.statistics(own, NONE, NONE, len(statistics)).shape
        found = self.emission.log_likelihood(own, padded(statistics, *shape), codes)
        return np.asarray(found[0])

    def fix(
        self, table: Any, codes: IntArray, states: IntArray, labels: tuple[Hashable, ...]
    ) -> Emission:
        return self

    def describe(self, columns: Sequence[str]) -> list[str]:
        return self.emission.describe(columns)

    def __repr__(self) -> str:
        return repr(self.emission)
