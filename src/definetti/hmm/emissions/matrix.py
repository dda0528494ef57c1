"""A log-likelihood for every step and state, for people with a model of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti.arrays import FloatArray, IntArray
from definetti.hmm.emissions.rows import Rows


@dataclass(frozen=True)
class LogLikelihood:
    """Observations that are judged already: row ``t`` holds ``log B(i, y_t)`` for each state.

    Columns are in the order of the estimator's ``states``, which must be declared. The rows must
    come from a model that does not know these labels; anything added to a whole row is without
    effect.

    Examples
    --------
    >>> from definetti import HMM, ConformalHMM
    >>> y, x = [[-0.1, -2.0], [-3.0, -0.2]] * 20, ["low", "high"] * 20
    >>> cp = ConformalHMM(HMM(emission=LogLikelihood()), states=["low", "high"]).fit(y, x)
    >>> cp.predict_set([[-0.1, -2.5]]).sequences
    [('low',)]
    """

    symbols = False

    def encode(self, observations: Any, table: Rows | None, name: str) -> tuple[Rows, IntArray]:
        return (Rows() if table is None else table).encoded(observations, name, infinite=True)

    def decode(self, table: Rows, codes: IntArray) -> npt.NDArray[Any]:
        return table.decoded(codes)

    def statistics(
        self, table: Rows, codes: IntArray, states: IntArray, n_states: int
    ) -> FloatArray:
        if table.width is not None and table.width > n_states:
            raise ValueError(
                f"observations has {table.width} columns for {n_states} states; declare "
                "states=[…] with one label per column"
            )
        return np.zeros((n_states, 0))

    def log_likelihood(self, table: Rows, statistics: FloatArray, codes: IntArray) -> FloatArray:
        rows = table.take(codes)
        logs = np.zeros((*codes.shape, len(statistics)))
        # A state that came up later is as unlikely as the unlikeliest.
        logs[..., :] = rows.min(axis=-1, keepdims=True, initial=0.0)
        logs[..., : rows.shape[-1]] = rows
        return np.nan_to_num(logs, nan=0.0, neginf=-np.inf, posinf=np.inf)
