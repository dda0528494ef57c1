"""Observations that are vectors of real numbers: normal distributions given the state."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.checks import checked_prior
from definetti.emissions.base import Emission
from definetti.emissions.gaussian_density import FLOOR, Laws
from definetti.emissions.pooling import entry_sums, ratio, share, shrunk, summed
from definetti.emissions.reading import Vectors
from definetti.emissions.tables import Rows


@dataclass(frozen=True, eq=False)
class Centred:
    """Rows, and the point that they are measured from.

    In exact arithmetic the estimate is the same wherever data are measured from: means follow, and
    scatter is taken about means. So the point is no part of the estimate, and no matter to
    validity; it only keeps the squares of data that lie far from zero from drowning in rounding.
    It has to stay the same, for sums to add up. The median of the first data is the same in
    whatever order they came, no single wild value moves it, and a column that does not vary is
    zero as seen from there.
    """

    rows: Rows = field(default_factory=Rows)
    point: FloatArray = field(default_factory=lambda: np.zeros(0))

    def __len__(self) -> int:
        return len(self.rows)

    def added(self, vectors: Vectors, used: FloatArray) -> tuple[Centred, IntArray]:
        """Return a table that also holds what was read, given the rows of it that are summed up."""
        rows, codes = self.rows.added(vectors)
        point = self.point if len(self.point) else np.full(rows.width or 0, np.nan)
        unknown = np.isnan(point) & (len(used) > 0)
        for k in np.flatnonzero(unknown):
            known = used[~np.isnan(used[:, k]), k]
            if len(known):
                point = point.copy()
                point[k] = np.median(known)
        return Centred(rows, point), codes

    def take(self, codes: IntArray) -> FloatArray:
        """Return rows as seen from the point."""
        return self.rows.take(codes) - self.point


# A column whose variance is below this part of its mean square varies by rounding alone.
ROUNDING = 1e-13


class Unlike(Exception):
    """Raised where a column varies under some estimates and does not under others."""


def estimate(
    counts: FloatArray,
    sums: FloatArray,
    products: FloatArray,
    prior: float,
    shrinkage: float | None = None,
    tied: bool = False,
) -> Laws:
    """Estimate normal laws from sums, as `Gaussian` says.

    Parameters
    ----------
    counts, sums : (n, d) how many entries there are, and their sums; or (G, n, d), for as many
        estimates, each of which is to the last bit what it is by itself
    products : (n, d, d) sums of their products, or (n, d) of their squares; or (G, …)
    prior, shrinkage : weights of the pooled mean and of the pooled variances
    tied : whether one covariance serves all states
    """
    full = products.ndim > sums.ndim
    squares = np.einsum("...kk->...k", products) if full else products
    number = counts.sum(axis=-2)
    own = ratio(sums, counts)
    within = np.maximum(squares - sums * own, 0.0)
    middle = ratio(sums.sum(axis=-2), number)
    between = (counts * (own - middle[..., None, :]) ** 2).sum(axis=-2)
    total = ratio(within.sum(axis=-2) + between, number)
    each = total > ROUNDING * ratio(squares.sum(axis=-2), number)
    alive = np.asarray(each[(0,) * (each.ndim - 1)])
    if (each != alive).any():
        raise Unlike

    counts, own, within = counts[..., alive], own[..., alive], within[..., alive]
    total = total[..., alive]
    freedom = np.maximum(counts - 1.0, 0.0)
    unit = np.sqrt(total)
    means = shrunk(counts, sums[..., alive], prior) / unit[..., None, :]
    # From here on in units of the overall spread, so that one floor fits all columns.
    within = within / total[..., None, :]
    free = freedom.sum(axis=-2)
    inside = np.where(free > 0, ratio(within.sum(axis=-2), free), 1.0)[..., None, :]
    # In so far as the mean is that of all data, so is the variance: all, where a state has none.
    target = inside + share(counts, prior) * (1.0 - inside)
    # As many as it takes for the pooled variances to hold their own against a scatter matrix that
    # has just enough points to be invertible.
    weight = shrinkage if shrinkage is not None else unit.shape[-1] + 1.0 if full else 2.0
    if not full:
        return Laws(alive, unit, means, _drawn(within, freedom, target, weight) + FLOOR)
    eye = np.eye(unit.shape[-1])
    points = freedom[..., :1, None]
    scatter = products[..., alive, :][..., alive] / _outer(unit)[..., None, :, :]
    scatter = scatter - counts[..., :1, None] * _outer(own / unit[..., None, :])
    if tied:
        covariances = _drawn(scatter.sum(axis=-3), points.sum(axis=-3), inside * eye, weight)
        covariances = covariances[..., None, :, :]
    else:
        covariances = _drawn(scatter, points, target[..., None, :] * eye, weight)
    shape = (*means.shape, len(eye))
    return Laws(alive, unit, means, np.broadcast_to(covariances + FLOOR * eye, shape))


def _drawn(
    scatter: FloatArray, freedom: FloatArray, target: FloatArray, weight: float
) -> FloatArray:
    """Draw scatter to a target of some weight; the target alone where there is no scatter."""
    own = ratio(scatter, freedom)
    return np.asarray(own + share(freedom, weight) * (target - own))


def _outer(vectors: FloatArray) -> FloatArray:
    return np.asarray(vectors[..., :, None] * vectors[..., None, :])


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
