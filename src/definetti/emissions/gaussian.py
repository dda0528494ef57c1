"""Observations that are vectors of real numbers."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.checks import checked_prior
from definetti.emissions._centred import Centred
from definetti.emissions._normal import Laws
from definetti.emissions._pooled import entry_sums, summed
from definetti.emissions._shrinkage import Unlike, estimate
from definetti.emissions.base import Emission

COVARIANCES = ("full", "diagonal", "tied")


@dataclass(frozen=True)
class Gaussian(Emission, name="gaussian"):
    """Normal laws, with means and covariances of their own or a common covariance.

    With ``N`` points of mean ``y`` and scatter matrix ``W`` in a state, the estimate is

        mean        =  (N y + p m) / (N + p)
        covariance  =  (W + s D) / (max(N - 1, 0) + s)

    where ``m`` is the mean of all data, and ``D`` the diagonal matrix of the variances within
    states and, with the weight that ``m`` has, of those of all data. A state with fewer points
    than columns has a proper law, and one without any has the mean and the variances of all data.
    A column that never varies has no influence.

    Rows that lack entries are judged by those they have. With ``"diagonal"`` the estimate uses
    them too; with ``"full"`` and ``"tied"`` it uses complete rows only.

    Parameters
    ----------
    covariance : {"full", "diagonal", "tied"}, default "full"
        A covariance for each state; columns independent given the state; one for all states.
    prior : float, default 0.1
        ``p``, the weight of the pooled mean, in observations.
    shrinkage : float, optional
        ``s``, the weight of the pooled variances, in observations. If left out, as many as a
        scatter matrix needs to be invertible: ``d + 1``, or 2 for "diagonal".

    Examples
    --------
    >>> emission = Gaussian("diagonal")
    >>> table, codes = emission.encode([[1.0], [1.2], [3.0], [3.4]], None, "observations")
    >>> states = np.array([0, 0, 1, 1])
    >>> statistics = emission.statistics(table, codes, states, n_states=2)
    >>> emission.log_likelihood(table, statistics, codes).argmax(axis=1)
    array([0, 0, 1, 1])
    """

    covariance: str = "full"
    prior: float = 0.1
    shrinkage: float | None = None

    law = "Gaussian"
    adds_up = True
    example = ((0.0, 1.0), (2.5, None), None)

    def __post_init__(self) -> None:
        if self.covariance not in COVARIANCES:
            known = ", ".join(map(repr, COVARIANCES))
            raise ValueError(f"covariance must be one of {known}, got {self.covariance!r}")
        checked_prior(self.prior)
        if self.shrinkage is not None:
            checked_prior(self.shrinkage, "shrinkage")

    def encode(
        self, observations: Any, table: Centred | None, name: str
    ) -> tuple[Centred, IntArray]:
        table = Centred() if table is None else table
        vectors = table.rows.read(observations, name)
        large = np.abs(vectors.values) > 1e150
        vectors.refuse(
            large, "its square is beyond what a machine number holds; rescale the column"
        )
        return table.added(vectors, vectors.values[self._used(vectors.values)])

    def decode(self, table: Centred, codes: IntArray) -> FloatArray:
        return table.rows.decoded(codes)

    def columns_of(self, table: Centred) -> tuple[Hashable, ...] | None:
        return table.rows.columns

    def statistics(
        self, table: Centred, codes: IntArray, states: IntArray, n_states: int
    ) -> FloatArray:
        """Return counts, sums and sums of products, ``(n_states, 1 + d + d²)``.

        For "diagonal" these are counts, sums and sums of squares of entries, ``(n_states, 3 d)``.
        """
        values = table.take(codes)
        if self.covariance == "diagonal":
            squares = summed(np.nan_to_num(values**2), states, n_states)
            return np.concatenate([entry_sums(values, states, n_states), squares], axis=1)
        width = values.shape[1]
        sums = np.zeros((n_states, 1 + width + width**2))
        used = self._used(values)
        for state in np.unique(states[used]):
            own = values[used & (states == state)]
            sums[state] = np.concatenate([[len(own)], own.sum(axis=0), (own.T @ own).ravel()])
        return sums

    def fix(
        self, table: Any, codes: IntArray, states: IntArray, labels: tuple[Hashable, ...]
    ) -> Emission:
        return self  # sums do not depend on what else is in the table

    def log_likelihood(self, table: Centred, statistics: FloatArray, codes: IntArray) -> FloatArray:
        laws = self._laws(table, statistics)
        logs = laws.log_density(table.take(codes.ravel()))
        return logs.reshape(*codes.shape, len(statistics))

    def judge_each(self, table: Centred, statistics: FloatArray, codes: IntArray) -> FloatArray:
        try:
            laws = self._laws(table, statistics)
        except Unlike:
            return super().judge_each(table, statistics, codes)
        return laws.log_densities(table.take(codes))

    def _laws(self, table: Centred, statistics: FloatArray) -> Laws:
        """Return the laws of states by their sums, or of those of several estimates."""
        leading, width = statistics.shape[:-1], len(table.point)
        if self.covariance == "diagonal":
            parts = statistics.reshape(*leading, 3, width)
            counts, sums, products = (parts[..., k, :] for k in range(3))
        else:
            sums = statistics[..., 1 : 1 + width]
            counts = np.broadcast_to(statistics[..., :1], sums.shape)
            products = statistics[..., 1 + width :].reshape(*leading, width, width)
        tied = self.covariance == "tied"
        return estimate(counts, sums, products, self.prior, self.shrinkage, tied)

    def _used(self, values: FloatArray) -> npt.NDArray[np.bool_]:
        """Tell which rows the estimate uses."""
        missing = np.isnan(values)
        lacking = missing.all(axis=1) if self.covariance == "diagonal" else missing.any(axis=1)
        return np.asarray(~lacking & (values.shape[1] > 0))
