"""Normal laws: their estimate from sums, and their density where entries are missing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from definetti.arrays import FloatArray
from definetti.hmm.emissions.pooled import ratio, share, shrunk

# No variance is below this part of the column's variance over all states: a state in which a
# column does not vary would otherwise have an infinite density there.
FLOOR = 1e-8
# A column whose variance is below this part of its mean square varies by rounding alone.
ROUNDING = 1e-13

LOG_2PI = np.log(2 * np.pi)


class Laws(NamedTuple):
    """A normal law for each of ``n`` states, in units that fit each column.

    Attributes
    ----------
    alive : (d,) which columns vary at all; the others tell nothing and are left out
    unit : (a,) the spread over all states of the columns that do
    means : (n, a)
    covariances : (n, a, a), or their diagonals (n, a) where columns are independent
    """

    alive: npt.NDArray[np.bool_]
    unit: FloatArray
    means: FloatArray
    covariances: FloatArray

    def log_density(self, values: FloatArray) -> FloatArray:
        """Log-density of rows, ``(R, d)``, in each state, ``(R, n)``; NaN is left out."""
        scaled = values[:, self.alive] / self.unit
        density = log_density if self.covariances.ndim == 3 else diagonal_log_density
        logs = density(scaled, self.means, self.covariances)
        return np.asarray(logs - (~np.isnan(scaled) @ np.log(self.unit))[:, None])


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
    counts, sums : (n, d) how many entries there are, and their sums
    products : (n, d, d) sums of their products, or (n, d) of their squares
    prior, shrinkage : weights of the pooled mean and of the pooled variances
    tied : whether one covariance serves all states
    """
    full = products.ndim == 3
    squares = np.einsum("nkk->nk", products) if full else products
    number = counts.sum(axis=0)
    own = ratio(sums, counts)
    within = np.maximum(squares - sums * own, 0.0)
    between = (counts * (own - ratio(sums.sum(axis=0), number)) ** 2).sum(axis=0)
    total = ratio(within.sum(axis=0) + between, number)
    alive = total > ROUNDING * ratio(squares.sum(axis=0), number)

    counts, own, within, total = counts[:, alive], own[:, alive], within[:, alive], total[alive]
    freedom = np.maximum(counts - 1.0, 0.0)
    unit = np.sqrt(total)
    means = shrunk(counts, sums[:, alive], prior) / unit
    # From here on in units of the overall spread, so that one floor fits all columns.
    within = within / total
    inside = np.where(freedom.sum(0) > 0, ratio(within.sum(0), freedom.sum(0)), 1.0)
    # In so far as the mean is that of all data, so is the variance: all, where a state has none.
    target = inside + share(counts, prior) * (1.0 - inside)
    # As many as it takes for the pooled variances to hold their own against a scatter matrix that
    # has just enough points to be invertible.
    weight = shrinkage if shrinkage is not None else len(unit) + 1.0 if full else 2.0
    if not full:
        return Laws(alive, unit, means, _drawn(within, freedom, target, weight) + FLOOR)
    eye = np.eye(len(unit))
    points = freedom[:, :1, None]
    scatter = products[:, alive][:, :, alive] / np.outer(unit, unit)
    scatter = scatter - counts[:, :1, None] * _outer(own / unit)
    if tied:
        covariances = _drawn(scatter.sum(axis=0), points.sum(axis=0), inside * eye, weight)
    else:
        covariances = _drawn(scatter, points, target[:, None] * eye, weight)
    shape = (len(means), *eye.shape)
    return Laws(alive, unit, means, np.broadcast_to(covariances + FLOOR * eye, shape))


def _drawn(
    scatter: FloatArray, freedom: FloatArray, target: FloatArray, weight: float
) -> FloatArray:
    """Draw scatter to a target of some weight; the target alone where there is no scatter."""
    own = ratio(scatter, freedom)
    return np.asarray(own + share(freedom, weight) * (target - own))


def _outer(vectors: FloatArray) -> FloatArray:
    return np.asarray(vectors[:, :, None] * vectors[:, None, :])


def diagonal_log_density(
    values: FloatArray, means: FloatArray, variances: FloatArray
) -> FloatArray:
    """Log-density of rows, ``(R, d)``, for each of ``n`` laws, ``(R, n)``; NaN is left out.

    >>> diagonal_log_density(np.array([[0.0, np.nan]]), np.zeros((1, 2)), np.ones((1, 2))).round(3)
    array([[-0.919]])
    """
    seen = ~np.isnan(values)
    away = (np.where(seen, values, 0.0)[:, None] - means) ** 2 / variances
    squares = np.einsum("rnd,rd->rn", away, seen.astype(np.float64))
    return np.asarray(-0.5 * (squares + seen @ (np.log(variances) + LOG_2PI).T))


def log_density(values: FloatArray, means: FloatArray, covariances: FloatArray) -> FloatArray:
    """Log-density of rows, ``(R, d)``, for each of ``n`` laws, ``(R, n)``; NaN is left out.

    Leaving out an entry of a normal vector leaves the matching block of its covariance, so rows
    are taken together by what they lack.

    >>> log_density(np.array([[0.0, np.nan]]), np.zeros((1, 2)), np.eye(2)[None]).round(3)
    array([[-0.919]])
    """
    logs = np.zeros((len(values), len(means)))
    for rows, seen in _patterns(values):
        # The floor here only meets rounding; with it no matrix fails to be definite.
        scales, axes = np.linalg.eigh(covariances[:, seen[:, None], seen])
        scales = np.maximum(scales, FLOOR / 2)
        whitening = axes / np.sqrt(scales)[:, None, :]
        away = np.tensordot(values[rows][:, seen], whitening, axes=(1, 1))
        away -= np.einsum("nd,nde->ne", means[:, seen], whitening)
        logs[rows] = -0.5 * ((away**2).sum(axis=2) + (np.log(scales) + LOG_2PI).sum(axis=1))
    return logs


def _patterns(values: FloatArray) -> list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Group rows by the entries they have: pairs of row numbers and column numbers."""
    seen = ~np.isnan(values)
    if seen.all():
        return [(np.arange(len(values)), np.arange(values.shape[1]))]
    _, first, group = np.unique(
        np.packbits(seen, axis=1), axis=0, return_index=True, return_inverse=True
    )
    grouped = ((group.ravel() == k, seen[row]) for k, row in enumerate(first))
    return [(np.flatnonzero(rows), np.flatnonzero(columns)) for rows, columns in grouped]
