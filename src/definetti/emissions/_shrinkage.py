"""Normal laws from sums, safe where data are few or do not vary."""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import FloatArray
from definetti.emissions._normal import FLOOR, Laws
from definetti.emissions._pooled import ratio, share, shrunk

# A column whose variance is below this part of its mean square varies by rounding alone.
ROUNDING = 1e-13


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
