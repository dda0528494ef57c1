"""Any emission, asked by whole numbers, as an enumeration asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray
from definetti.emissions import Emission


class OnGrid(Emission):
    """An emission of which whole numbers show the values of another."""

    def __init__(self, emission: Emission, values: tuple[Any, ...]) -> None:
        self.emission, self.values = emission, values
        self.symbols, self.ordered = emission.symbols, emission.ordered

    def encode(self, observations: Any, table: Any, name: str) -> Any:
        shown = [self.values[k] if isinstance(k, (int, np.integer)) else k for k in observations]
        return self.emission.encode(shown, table, name)

    def decode(self, table: Any, codes: Any) -> Any:
        return self.emission.decode(table, codes)

    def statistics(self, table: Any, codes: Any, states: Any, n_states: int) -> FloatArray:
        return self.emission.statistics(table, codes, states, n_states)

    def log_likelihood(self, table: Any, statistics: FloatArray, codes: Any) -> FloatArray:
        return self.emission.log_likelihood(table, statistics, codes)

    def fix(self, table: Any, codes: Any, states: Any, labels: Any) -> Emission:
        return OnGrid(self.emission.fix(table, codes, states, labels), self.values)
