"""A log-likelihood for every step and state, for people with a model of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.emissions.tables import CodedRows, Rows


@dataclass(frozen=True)
class LogLikelihood(CodedRows, name="loglikelihood"):
    """Observations that are judged already: row ``t`` holds ``log B(i, y_t)`` for each state.

    Columns are in the order of the estimator's ``states``, which must be declared. The rows must
    come from a model that does not know these labels; anything added to a whole row is without
    effect. A state that rules an observation out has ``-inf``; a step without observation is None.

    Examples
    --------
    >>> from definetti import HMM, ConformalHMM
    >>> y, x = [[-0.1, -2.0], [-3.0, -0.2]] * 20, ["low", "high"] * 20
    >>> cp = ConformalHMM(HMM(emission=LogLikelihood()), states=["low", "high"]).fit(y, x)
    >>> cp.predict_set([[-0.1, -2.5]]).sequences
    [('low',)]
    """

    example = ((-0.1, -2.0), (-3.0, -0.2), None)
    ordered = True  # its columns are states by their order alone

    def encode(self, observations: Any, table: Rows | None, name: str) -> tuple[Rows, IntArray]:
        table = Rows() if table is None else table
        vectors = table.read(observations, name, infinite=True)
        values, gaps = vectors.values, np.isnan(vectors.values)
        vectors.refuse(values == np.inf, "use a finite number, or -inf to rule a state out")
        vectors.refuse(
            gaps & ~gaps.all(axis=1, keepdims=True),
            "give a number for every state, or None for the whole row where nothing is observed",
        )
        vectors.refuse(
            np.isneginf(values) & np.isneginf(values).all(axis=1, keepdims=True),
            "and so is the whole row; leave a state possible, or give None for the whole row",
        )
        return table.added(vectors)

    def statistics(
        self, table: Rows, codes: IntArray, states: IntArray, n_states: int
    ) -> FloatArray:
        # Row 0 came with the fit, where each state must have its column; others may come up later.
        width = table.width or 0
        # With no states, the shape alone is asked for.
        if n_states and not (width == n_states if (codes == 0).any() else width <= n_states):
            raise ValueError(
                f"observations has {width} columns for {n_states} states; give one column per "
                "state, and declare states=[…] in their order"
            )
        return np.zeros((n_states, 0))

    def log_likelihood(self, table: Rows, statistics: FloatArray, codes: IntArray) -> FloatArray:
        logs = np.zeros((*codes.shape, len(statistics)))
        if table.width is not None:
            rows = np.nan_to_num(table.take(codes), nan=0.0, neginf=-np.inf)
            # A state that came up later is as unlikely as the unlikeliest.
            logs[...] = rows.min(axis=-1, keepdims=True)
            logs[..., : table.width] = rows
        return logs
