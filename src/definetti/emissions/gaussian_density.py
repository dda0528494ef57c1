"""Normal distributions, and their density where entries are missing."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray
from definetti._system.compiled import call_by_rows, cut_pieces, kernel

# No variance is below this part of the column's variance over all states: a state in which a
# column does not vary would otherwise have an infinite density there.
FLOOR = 1e-8

LOG_2PI = np.log(2 * np.pi)


class Laws(NamedTuple):
    """A normal law for each of ``n`` states, in units that fit each column.

    Attributes
    ----------
    alive : (d,) which columns vary at all; constant columns are left out
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
        return density(scaled, self.means, self.covariances, np.log(self.unit))

    def log_densities(self, values: FloatArray) -> FloatArray:
        """Log-density of rows under the laws of ``G`` estimates, ``(R, G · n)``, as of each."""
        number, n, _ = self.means.shape
        seen, units = values[:, self.alive], np.log(self.unit)
        logs = np.empty((len(values), number, n))
        if self.covariances.ndim == 3:
            for g in range(number):
                part = self.means[g], self.covariances[g], units[g]
                logs[:, g] = diagonal_log_density(seen / self.unit[g], *part)
            return logs.reshape(len(values), -1)
        for rows, there in _patterns(seen):
            whitening, constants = whiten(self.covariances[:, :, there][..., there])
            constants += units[:, there].sum(axis=1)[:, None]
            own, unit, means = (
                np.ascontiguousarray(one[..., there]) for one in (seen[rows], self.unit, self.means)
            )
            for some in cut_pieces(number, own.size * n):
                laws = unit[some], means[some], whitening[some], constants[some]
                logs[rows, some] = _densities(own, *laws)
        return logs.reshape(len(values), -1)


def diagonal_log_density(
    values: FloatArray, means: FloatArray, variances: FloatArray, log_unit: FloatArray
) -> FloatArray:
    """Log-density of rows, ``(R, d)``, for each of ``n`` laws, ``(R, n)``; NaN is left out.

    >>> one, none = np.ones((1, 2)), np.zeros((1, 2))
    >>> diagonal_log_density(np.array([[0.0, np.nan]]), none, one, np.zeros(2)).round(3)
    array([[-0.919]])
    """
    constants = 0.5 * (np.log(variances) + LOG_2PI) + log_unit
    return np.asarray(
        call_by_rows(_diagonal, values, means, 1.0 / variances, constants, each=means.size)
    )


def log_density(
    values: FloatArray, means: FloatArray, covariances: FloatArray, log_unit: FloatArray
) -> FloatArray:
    """Log-density of rows, ``(R, d)``, for each of ``n`` laws, ``(R, n)``; NaN is left out.

    Leaving out an entry of a normal vector leaves the matching block of its covariance, so rows
    are taken together by what they lack.

    >>> both, none = np.eye(2)[None], np.zeros((1, 2))
    >>> log_density(np.array([[0.0, np.nan]]), none, both, np.zeros(2)).round(3)
    array([[-0.919]])
    """
    logs = np.zeros((len(values), len(means)))
    for rows, seen in _patterns(values):
        whitening, constant = whiten(covariances[:, seen][:, :, seen])
        constant += log_unit[seen].sum()
        own = np.ascontiguousarray(values[rows][:, seen])
        centres = np.ascontiguousarray(means[:, seen])
        squares = call_by_rows(_distances, own, centres, whitening, each=whitening.size)
        logs[rows] = -0.5 * squares - constant
    return logs


def whiten(covariances: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return axes of unit variance for each covariance, and what its density is divided by."""
    # The floor here only meets rounding; with it no matrix fails to be definite.
    scales, axes = np.linalg.eigh(covariances)
    scales = np.maximum(scales, FLOOR / 2)
    whitening = np.swapaxes(axes / np.sqrt(scales)[..., None, :], -2, -1).copy()
    return whitening, 0.5 * (np.log(scales) + LOG_2PI).sum(axis=-1)


@kernel
def _diagonal(
    values: FloatArray, means: FloatArray, precisions: FloatArray, constants: FloatArray
) -> FloatArray:
    logs = np.zeros((len(values), len(means)))
    for r in range(len(values)):
        for i in range(len(means)):
            for k in range(values.shape[1]):
                if not np.isnan(values[r, k]):
                    away = values[r, k] - means[i, k]
                    logs[r, i] -= 0.5 * away * away * precisions[i, k] + constants[i, k]
    return logs


@kernel
def _distances(values: FloatArray, means: FloatArray, whitening: FloatArray) -> FloatArray:
    """Squared lengths of rows as seen from each mean, along axes of unit variance: ``(R, n)``."""
    squares = np.empty((len(values), len(means)))
    columns = values.T.copy()  # rows are done side by side, each in the same order
    for i in range(len(means)):
        squares[:, i] = _lengths(columns, means[i], whitening[i])
    return squares


@kernel
def _lengths(columns: FloatArray, mean: FloatArray, whitening: FloatArray) -> FloatArray:
    """Squared lengths of rows, given as ``(d, R)``, as seen from one mean: ``(R,)``."""
    width, size = columns.shape
    lengths, along = np.zeros(size), np.empty(size)
    for e in range(width):
        along[:] = 0.0
        for k in range(width):
            centre, axis = mean[k], whitening[e, k]
            for r in range(size):
                along[r] += (columns[k, r] - centre) * axis
        for r in range(size):
            lengths[r] += along[r] * along[r]
    return lengths


@kernel
def _densities(
    values: FloatArray,
    units: FloatArray,
    means: FloatArray,
    whitening: FloatArray,
    constants: FloatArray,
) -> FloatArray:
    """Log-density of rows under the laws of several estimates: ``(R, G, n)``."""
    logs = np.empty((len(values), means.shape[0], means.shape[1]))
    for g in range(len(means)):
        columns = (values / units[g]).T.copy()
        for i in range(means.shape[1]):
            lengths = _lengths(columns, means[g, i], whitening[g, i])
            for r in range(len(values)):
                logs[r, g, i] = -0.5 * lengths[r] - constants[g, i]
    return logs


def _patterns(values: FloatArray) -> list[tuple[Any, Any]]:
    """Group rows by the entries they have: pairs of an index of rows and one of columns."""
    seen = ~np.isnan(values)
    if seen.all():
        return [(slice(None), slice(None))]
    _, first, group = np.unique(
        np.packbits(seen, axis=1), axis=0, return_index=True, return_inverse=True
    )
    return [(group.ravel() == k, seen[row]) for k, row in enumerate(first)]
