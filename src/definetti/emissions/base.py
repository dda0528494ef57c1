"""What an emission has to offer."""

from __future__ import annotations

from typing import Any, Protocol

import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray


class Emission(Protocol):
    """The law of an observation given its state, estimated from labelled data.

    Observations are kept in a *table* and spoken of by their row in it, their code; a missing
    one has the code ``MISSING`` and the likelihood one in every state. What the estimate needs to
    know of labelled data is its *statistics*, an array that adds up over stretches of data: a
    candidate's few steps are added to those of a long history at no cost.

    Attributes
    ----------
    symbols : whether equal observations share a code, so that counting them is worth while
    """

    @property
    def symbols(self) -> bool: ...

    def encode(self, observations: Any, table: Any, name: str) -> tuple[Any, IntArray]:
        """Return a table that also holds the new observations, and their codes."""
        ...

    def decode(self, table: Any, codes: IntArray) -> npt.NDArray[Any]:
        """Return coded observations as they came, None (NaN among numbers) where missing."""
        ...

    def statistics(
        self, table: Any, codes: IntArray, states: IntArray, n_states: int
    ) -> FloatArray:
        """Sum up labelled observations, state by state along the first axis."""
        ...

    def log_likelihood(self, table: Any, statistics: FloatArray, codes: IntArray) -> FloatArray:
        """Judge observations: shape ``codes.shape + (n_states,)``."""
        ...
