"""Observations that are vectors of real numbers: normal distributions given the state."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray, distinct_rows
from definetti._system.checks import checked_prior
from definetti._system.compiled import cut_pieces, kernel
from definetti.emissions.base import Labels
from definetti.emissions.tables import (
    CodedRows,
    Rows,
    Vectors,
    entry_sums,
    ratio,
    share,
    shrunk,
    summed,
)

# No variance is below this part of the column's variance over all states: a state in which a
# column does not vary would otherwise have an infinite density there.
FLOOR = 1e-8

# A column whose variance is below this part of its mean square varies by rounding alone.
ROUNDING = 1e-13

HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
BLOCK = 256  # rows whose densities are computed together, within a cache

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Centred:
    """Rows, and the point subtracted from them: the median of the first data.

    In exact arithmetic no estimate depends on the point; without it, squares of data far from zero
    would be lost in rounding. The point never changes, so that sums add up.
    """

    rows: Rows = field(default_factory=Rows)
    point: FloatArray = field(default_factory=lambda: np.zeros(0))

    def __len__(self) -> int:
        return len(self.rows)

    def added(self, vectors: Vectors, used: FloatArray) -> tuple[Centred, IntArray]:
        """Return a table that also holds new vectors, `used` those of them in the statistics."""
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
        """Return rows minus the point."""
        return self.rows.take(codes) - self.point


COVARIANCES = ("full", "diagonal", "tied")


@dataclass(frozen=True)
class Gaussian(CodedRows, name="gaussian"):
    """Normal laws with a mean and a covariance for each state, or a common covariance.

    With ``N`` points of mean ``y`` and scatter matrix ``W`` in a state, the estimate is

        mean        =  (N y + p m) / (N + p)
        covariance  =  (W + s D) / (max(N - 1, 0) + s)

    where ``m`` is the mean of all data, and ``D`` the diagonal matrix of the variances within
    states, mixed with those of all data at the weight of ``m``. A column that never varies has no
    influence. Incomplete rows are evaluated by their known entries; only "diagonal" estimates from
    them, too.

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
        remedy = "its square is beyond what a machine number holds; rescale the column"
        vectors.refuse(np.abs(vectors.values) > 1e150, remedy)
        return table.added(vectors, vectors.values[self._used(vectors.values)])

    def decode(self, table: Centred, codes: IntArray) -> FloatArray:
        return table.rows.decoded(codes)

    def columns_of(self, table: Centred) -> Labels | None:
        return table.rows.columns

    def statistics(
        self, table: Centred, codes: IntArray, states: IntArray, n_states: int
    ) -> FloatArray:
        """Return counts, sums and sums of products; of squares for "diagonal"."""
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

    def log_likelihood(self, table: Centred, statistics: FloatArray, codes: IntArray) -> FloatArray:
        once = np.zeros(1, dtype=np.int64)
        logs = self.log_likelihoods(table, statistics[None], codes.reshape(1, -1), once)
        return logs.reshape(*codes.shape, len(statistics))

    def log_likelihoods(
        self, table: Centred, statistics: FloatArray, codes: IntArray, sets: IntArray
    ) -> FloatArray:
        """Return log-likelihoods, (G, m, n), of sets of observations, (K, m), under estimates."""
        laws = self._estimate(statistics, len(table.point))
        return laws.log_densities(table.take(codes), sets)

    def _estimate(self, statistics: FloatArray, width: int) -> Laws:
        """Estimate laws from statistics, ``(G, n, …)``, each column in units of its spread."""
        number, n = statistics.shape[:2]
        full = self.covariance != "diagonal"
        if full:
            sums, count = statistics[..., 1 : 1 + width], statistics[..., :1]
            counts = np.repeat(count, width, axis=2)
            products = statistics[..., 1 + width :].reshape(number, n, width, width)
            squares = np.einsum("gikk->gik", products)
        else:
            counts, sums, squares = np.moveaxis(statistics.reshape(number, n, 3, width), 2, 0)
        every = _over_states(counts)
        pooled, own = ratio(_over_states(sums), every), ratio(sums, counts)
        within = np.maximum(squares - sums * own, 0.0)
        between = _over_states(counts * (own - pooled) ** 2)
        variance = ratio(_over_states(within) + between, every)
        alive = variance > ROUNDING * ratio(_over_states(squares), every)
        within = within / np.where(alive, variance, 1.0)
        units = np.sqrt(np.where(alive, variance, 1.0))
        freedom = np.maximum(counts - 1.0, 0.0)
        free = _over_states(freedom)
        inside = np.where(alive & (free > 0), ratio(_over_states(within), free), 1.0)
        # The variance is pooled with the weight of the pooled mean: wholly in a state without data.
        leaning = share(counts, self.prior)
        means = shrunk(counts, sums, self.prior, pooled) / units
        targets = inside + leaning * (1.0 - inside)
        weight = self.shrinkage
        if weight is None:
            weight = alive.sum(axis=2, keepdims=True) + 1.0 if full else 2.0
        if not full:
            spread = _drawn(within, freedom, targets, weight) + FLOOR
            return Laws(alive[:, 0], units[:, 0], means, spread)
        scaled, unit = own / units, units[..., None] * units[..., None, :]
        scatter = products / unit - count[..., None] * (scaled[..., None] * scaled[..., None, :])
        free = np.maximum(count - 1.0, 0.0)
        if self.covariance == "tied":
            scatter, free, targets = _over_states(scatter), _over_states(free), inside
        diagonal = np.eye(width)
        target = targets[..., None] * diagonal
        spread = _drawn(scatter, free[..., None], target, np.asarray(weight)[..., None])
        spread = np.ascontiguousarray(np.broadcast_to(spread + FLOOR * diagonal, products.shape))
        return Laws(alive[:, 0], units[:, 0], means, spread)

    def _used(self, values: FloatArray) -> BoolArray:
        """Return which rows the estimate uses."""
        missing = np.isnan(values)
        lacking = missing.all(axis=1) if self.covariance == "diagonal" else missing.any(axis=1)
        return np.asarray(~lacking & (values.shape[1] > 0))


class Laws(NamedTuple):
    """Normal laws of ``n`` states under ``G`` estimates, in units that fit each column."""

    alive: BoolArray  # (G, d) which columns vary at all; constant columns are left out
    units: FloatArray  # (G, d) the spread over all states
    means: FloatArray  # (G, n, d)
    covariances: FloatArray  # (G, n, d, d), or (G, n, d) where columns are independent

    def log_densities(self, values: FloatArray, sets: IntArray) -> FloatArray:
        """Log-density of rows under each law, ``(G, R, n)``; NaN is left out.

        Leaving out an entry of a normal vector leaves the matching block of its covariance, so
        rows are grouped by their missing entries.
        """
        number, n, _ = self.means.shape
        logs = np.zeros((number, values.shape[1], n))
        density: Any = _full_densities if self.covariances.ndim == 4 else _diagonal_densities
        rows = np.ascontiguousarray(np.moveaxis(values, 2, 1))
        for alive in _distinct(self.alive):
            members = np.flatnonzero((self.alive == alive).all(axis=1))
            seen = ~np.isnan(values) & alive
            for there in _distinct(seen.reshape(-1, len(alive))):
                chosen = (seen == there).all(axis=2)
                columns = np.flatnonzero(there)
                for part in cut_pieces(values.shape[1], len(members) * n * len(columns) ** 2):
                    density(self, rows, columns, chosen, members, sets, part.start, part.stop, logs)
        return logs


def _distinct(marks: BoolArray) -> BoolArray:
    """Return the distinct rows of marks that have any."""
    marks = marks[marks.any(axis=1)]
    if marks.all():
        return marks[:1]
    first, _, _ = distinct_rows(np.packbits(marks, axis=1).astype(np.int64))
    return marks[first]


def _over_states(values: FloatArray) -> FloatArray:
    """Sum over the second axis, one state after the other, and keep it."""
    return values.cumsum(axis=1)[:, -1:]


def _drawn(scatter: FloatArray, freedom: FloatArray, target: FloatArray, weight: Any) -> FloatArray:
    """Shrink the scatter to a target of some weight; without scatter, return the target."""
    own = ratio(scatter, freedom)
    return np.asarray(own + share(freedom, weight) * (target - own))


@kernel
def _whiten(covariance: FloatArray, whitening: FloatArray) -> float:
    """Write the inverse of the Cholesky factor; return the logarithm of its determinant, negated.

    The floor only meets rounding: no pivot of the estimate is below `FLOOR` in exact arithmetic.
    """
    width = len(covariance)
    factor = np.zeros((width, width))
    logarithm = 0.0
    for a in range(width):
        for b in range(a + 1):
            rest = covariance[a, b]
            for k in range(b):
                rest -= factor[a, k] * factor[b, k]
            if a == b:
                factor[a, a] = math.sqrt(max(rest, FLOOR / 2))
                logarithm += math.log(factor[a, a])
            else:
                factor[a, b] = rest / factor[b, b]
    for a in range(width):
        whitening[a, a] = 1.0 / factor[a, a]
        for b in range(a):
            rest = 0.0
            for k in range(b, a):
                rest -= factor[a, k] * whitening[k, b]
            whitening[a, b] = rest / factor[a, a]
    return logarithm


@kernel
def _full_densities(
    laws: Laws,
    values: FloatArray,
    columns: IntArray,
    chosen: BoolArray,
    members: IntArray,
    sets: IntArray,
    first: int,
    last: int,
    logs: FloatArray,
) -> None:
    """Write the log-densities of rows, ``(K, d, R)``, that have the same columns."""
    n, width = laws.means.shape[1], len(columns)
    covariance, whitening = np.empty((width, width)), np.zeros((n, width, width))
    constants = np.empty(n)
    places = np.empty(last - first, dtype=np.int64)
    scaled, centred = np.empty((width, BLOCK)), np.empty((width, BLOCK))
    along, lengths = np.empty(BLOCK), np.empty(BLOCK)
    for g in members:
        own = sets[g]
        number = 0
        for r in range(first, last):
            if chosen[own, r]:
                places[number] = r
                number += 1
        for i in range(n):
            for a in range(width):
                for b in range(width):
                    covariance[a, b] = laws.covariances[g, i, columns[a], columns[b]]
            constants[i] = _whiten(covariance, whitening[i]) + width * HALF_LOG_2PI
            for k in columns:
                constants[i] += math.log(laws.units[g, k])
        for begin in range(0, number, BLOCK):  # together, each in the same order
            size = min(BLOCK, number - begin)
            for k in range(width):
                unit = laws.units[g, columns[k]]
                for r in range(size):
                    scaled[k, r] = values[own, columns[k], places[begin + r]] / unit
            for i in range(n):
                for k in range(width):
                    mean = laws.means[g, i, columns[k]]
                    for r in range(size):
                        centred[k, r] = scaled[k, r] - mean
                lengths[:] = 0.0
                for e in range(width):
                    along[:] = 0.0
                    for k in range(e + 1):
                        axis = whitening[i, e, k]
                        for r in range(size):
                            along[r] += centred[k, r] * axis
                    for r in range(size):
                        lengths[r] += along[r] * along[r]
                for r in range(size):
                    logs[g, places[begin + r], i] = -0.5 * lengths[r] - constants[i]


@kernel
def _diagonal_densities(
    laws: Laws,
    values: FloatArray,
    columns: IntArray,
    chosen: BoolArray,
    members: IntArray,
    sets: IntArray,
    first: int,
    last: int,
    logs: FloatArray,
) -> None:
    """Write the log-densities of rows where columns are independent."""
    for g in members:
        own = sets[g]
        for i in range(laws.means.shape[1]):
            for k in columns:
                variance, mean = laws.covariances[g, i, k], laws.means[g, i, k]
                unit = laws.units[g, k]
                precision = 1.0 / variance
                constant = 0.5 * math.log(variance) + HALF_LOG_2PI + math.log(unit)
                for r in range(first, last):
                    if chosen[own, r]:
                        away = values[own, k, r] / unit - mean
                        logs[g, r, i] -= 0.5 * away * away * precision + constant
