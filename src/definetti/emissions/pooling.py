"""Estimates that lean on the law of all states together.

A state's own data are joined by a few pseudo-observations from the pooled law. Where a state has
plenty of data they do not matter; where it has none they are all there is, and it is judged
neither likely nor unlikely. Sums over all states are the same for all rearrangements of a
sequence, so this costs no validity.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray, IntArray


def summed(values: FloatArray, states: IntArray, n_states: int) -> FloatArray:
    """Sum rows, ``(k, width)``, state by state: ``(n_states, width)``.

    >>> summed(np.array([[1.0], [2.0], [4.0]]), np.array([2, 0, 2]), n_states=3)
    array([[2.],
           [0.],
           [5.]])
    """
    sums = np.zeros((n_states, values.shape[1]))
    for state in np.unique(states):
        sums[state] = values[states == state].sum(axis=0)
    return sums


def entry_sums(values: FloatArray, states: IntArray, n_states: int) -> FloatArray:
    """Count the entries that are there, then sum them: ``(n_states, 2 · width)``."""
    seen = ~np.isnan(values)
    both = np.concatenate([seen, np.where(seen, values, 0.0)], axis=1)
    return summed(both, states, n_states)


def shrunk(
    counts: FloatArray, sums: FloatArray, prior: float, pooled: FloatArray | None = None
) -> FloatArray:
    """Means of states, ``(n, width)``, with ``prior`` pseudo-observations of the pooled mean.

    A state without data has the pooled mean; a column without data has the mean 0. The pooled mean
    is that of the states given, or of more where it comes with them.

    >>> shrunk(np.array([[4.0], [0.0]]), np.array([[8.0], [0.0]]), prior=0.5)
    array([[2.],
           [2.]])
    """
    if pooled is None:
        pooled = ratio(sums.sum(axis=-2), counts.sum(axis=-2))[..., None, :]
    own = np.where(counts > 0, ratio(sums, counts), pooled)
    return np.asarray(own + share(counts, prior) * (pooled - own))


def share(counts: FloatArray, prior: float) -> FloatArray:
    """Weight of the pseudo-observations in an estimate from so many observations."""
    return np.where(counts + prior > 0, ratio(np.float64(prior), counts + prior), 1.0)


def ratio(numerator: Any, denominator: Any) -> FloatArray:
    """Divide, with 0 where there is nothing to divide by."""
    top, bottom = np.broadcast_arrays(np.asarray(numerator, float), np.asarray(denominator, float))
    return np.asarray(np.divide(top, bottom, out=np.zeros(top.shape), where=bottom > 0))
