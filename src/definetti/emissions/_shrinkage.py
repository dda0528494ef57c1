"""Normal laws from sums, safe where data are few or do not vary."""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import FloatArray
from definetti.emissions._normal import FLOOR, Laws
from definetti.emissions._pooled import ratio, share, shrunk

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
