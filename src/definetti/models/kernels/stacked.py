"""Paths under many models at once, each window under one of them.

The arithmetic is that of `forward` and `backward`, in the same order: what is found here for a
window is, to the last bit, what they find for it under its model alone.
"""

from __future__ import annotations

import math

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.models.kernels.forward import (
    SMALLEST_LOG_RATIO,
    SMALLEST_TOTAL,
    SMALLEST_WEIGHT,
    BoolArray,
)


@kernel
def picked_ratios(
    columns: FloatArray, picks: IntArray, models: IntArray, codes: IntArray
) -> FloatArray:
    """Log-likelihoods less the largest of each row, as in `forward`: ``(R, n)``.

    Parameters
    ----------
    columns : (m, P) log-likelihoods of observations, each column that of a state in some models
    picks : (G, n) which column each state of a model has
    models, codes : (R,) whose likelihoods, of what observation

    Examples
    --------
    >>> columns, picks = np.array([[-1.0, -3.0, -0.5]]), np.array([[0, 1], [2, 1]])
    >>> picked_ratios(columns, picks, np.array([0, 1]), np.array([0, 0]))
    array([[ 0. , -2. ],
           [ 0. , -2.5]])
    """
    n = picks.shape[1]
    ratios = np.empty((len(models), n))
    for r in range(len(models)):
        g, y = models[r], codes[r]
        top = columns[y, picks[g, 0]]
        for j in range(1, n):
            top = max(top, columns[y, picks[g, j]])
        for j in range(n):
            ratio = columns[y, picks[g, j]] - top
            if -np.inf < ratio < SMALLEST_LOG_RATIO:
                ratio = SMALLEST_LOG_RATIO
            ratios[r, j] = ratio
    return ratios


@kernel
def stacked_steps(
    transitions: FloatArray,
    models: IntArray,
    start: IntArray,
    states: IntArray,
    ratios: FloatArray,
    codes: IntArray,
) -> tuple[FloatArray, BoolArray]:
    """Log-probability of each step of a path backwards, after that of its end: (W, h).

    With a mark, (W,), on windows that need logarithms, and have nothing here.

    Parameters
    ----------
    transitions : (G, n, n) row-stochastic matrices
    models : (W,) which of them a window has
    ratios : (R, n) likelihood ratios of observations in each state
    codes : (W, h) which of them come when

    Examples
    --------
    >>> lasting = np.array([[[1.0, 0.0], [0.5, 0.5]]])
    >>> one, path = np.zeros(1, dtype=np.int64), np.array([[1, 0]])
    >>> steps, unsafe = stacked_steps(lasting, one, one + 1, path, np.ones((1, 2)), path * 0)
    >>> np.exp(steps).round(3), unsafe
    (array([[0.333, 0.75 ]]), array([False]))
    """
    windows, steps = codes.shape
    n = transitions.shape[1]
    backward = np.full((windows, steps), -np.inf)
    unsafe = np.zeros(windows, dtype=np.bool_)
    filtered = np.empty((steps, n))
    weights = np.empty((2, n))
    into = np.empty((n, n))
    known = -1
    for b in range(windows):
        g = models[b]
        transition = transitions[g]
        if g != known and steps > 1:
            for i in range(n):
                for j in range(n):
                    into[j, i] = transition[i, j]
            known = g
        for k in range(steps):
            old, new = k & 1, 1 - (k & 1)
            total = 0.0
            y = codes[b, k]
            for j in range(n):
                if k == 0:
                    predicted = transition[start[b], j]
                else:
                    predicted = weights[old, 0] * into[j, 0]
                    for i in range(1, n):
                        predicted += weights[old, i] * into[j, i]
                weight = predicted * ratios[y, j]
                if weight < SMALLEST_WEIGHT and predicted > 0.0 and ratios[y, j] > 0.0:
                    unsafe[b] = True
                weights[new, j] = weight
                total += weight
            if unsafe[b] or not total > 0.0:
                unsafe[b] = True
                break
            scale = 1.0 / total
            for j in range(n):
                filtered[k, j] = weights[new, j] * scale
            if total < SMALLEST_TOTAL:
                for j in range(n):
                    weights[new, j] *= scale
        if unsafe[b]:
            continue
        end = filtered[steps - 1, states[b, steps - 1]]
        if end > 0.0:
            backward[b, steps - 1] = math.log(end)
        for k in range(steps - 1):
            i, j = states[b, k], states[b, k + 1]
            come = filtered[k, i] * transition[i, j]
            if come > 0.0:
                total = 0.0
                for m in range(n):
                    total += filtered[k, m] * transition[m, j]
                backward[b, k] = math.log(come / total)
    return backward, unsafe


@kernel
def path_bounds(
    least: FloatArray,
    most: FloatArray,
    low: FloatArray,
    high: FloatArray,
    start: IntArray,
    states: IntArray,
    codes: IntArray,
) -> tuple[FloatArray, FloatArray]:
    """Bounds on minus the log-probability of paths, under any model between two: each (B,).

    With ``J`` the joint probability of a path and ``E`` that of all paths together, what is
    bounded is ``log(1 + (E − J) / J)``, and all of it grows with every entry of a model.

    Parameters
    ----------
    least, most : (n, n) the smallest and largest transition probabilities, all above zero
    low, high : (m, n) the smallest and largest log-likelihoods of observations, all finite

    Examples
    --------
    >>> half, zero = np.full((2, 2), 0.5), np.zeros((1, 2))
    >>> path = np.array([[1, 0]])
    >>> bounds = path_bounds(half, half, zero, zero, path[:, 0], path, path * 0)
    >>> [np.exp(-bound).round(9).tolist() for bound in bounds]  # all but rounding
    [[0.25], [0.25]]
    """
    windows, steps = codes.shape
    n = len(least)
    lower, upper = np.zeros(windows), np.full(windows, np.inf)
    weights = np.empty((2, n))
    shares = np.empty(2)  # of the path in the evidence, by the smallest and by the largest model
    rounding = 1e-14 * steps * (n + 8)
    for b in range(windows):
        apart = 0.0  # the logarithm of the largest joint less that of the smallest
        for k in range(steps):
            y, state = codes[b, k], states[b, k]
            before = states[b, k - 1] if k else start[b]
            apart += high[y, state] - low[y, state]
            apart += math.log(most[before, state] / least[before, state])
        for side in range(2):
            transition, logs = (most, high) if side else (least, low)
            shares[side] = 1.0
            for k in range(steps):
                old, new = k & 1, 1 - (k & 1)
                y, before = codes[b, k], states[b, k - 1] if k else start[b]
                top = logs[y, 0]
                for j in range(1, n):
                    top = max(top, logs[y, j])
                total = 0.0
                for j in range(n):
                    predicted = transition[before, j]
                    if k > 0:
                        predicted = 0.0
                        for i in range(n):
                            predicted += weights[old, i] * transition[i, j]
                    weights[new, j] = predicted * math.exp(logs[y, j] - top)
                    total += weights[new, j]
                state = states[b, k]
                come = transition[before, state] * math.exp(logs[y, state] - top)
                shares[side] *= come / total
                for j in range(n):
                    weights[new, j] /= total
        if apart > 600.0 or min(shares[0], shares[1]) < 1e-200:
            continue  # all but impossible: nothing is known of it
        spread = math.exp(apart)
        others = max(1.0 - shares[1], 0.0) + rounding
        upper[b] = math.log1p(others / shares[1] * spread)
        others = max(1.0 - shares[0] - rounding, 0.0)
        lower[b] = math.log1p(others / shares[0] / spread)
    return lower, upper
