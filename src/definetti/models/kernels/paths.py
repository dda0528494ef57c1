"""The probability of whole paths given all observations."""

from __future__ import annotations

import math

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.models.kernels.backward import log_backward_kernel
from definetti.models.kernels.forward import (
    BoolArray,
    Likelihood,
    Transition,
    by_window,
    check_paths,
    forward,
)


def log_posterior(
    transition: Transition, log_likelihood: Likelihood, start: IntArray, states: IntArray
) -> FloatArray:
    """Log-probability of a path given all observations of its window.

    Parameters
    ----------
    transition : (n, n) row-stochastic matrix, or `Transitions` with one for each window
    log_likelihood : (B, h, n), a row of zeros where an observation is missing
    start : (B,) the state before the first step
    states : (B, h) the path

    Returns
    -------
    (B,) array of log Pr(x_1, ..., x_h = states | x_0 = start, y_1, ..., y_h), -inf if impossible

    Examples
    --------
    >>> lasting = np.array([[1.0, 0.0], [0.5, 0.5]])
    >>> path = np.array([[1, 0], [0, 1]])
    >>> np.exp(log_posterior(lasting, np.zeros((2, 2, 2)), np.array([1, 1]), path))
    array([0.25, 0.  ])
    """
    filtered, logarithmic = forward(transition, log_likelihood, start)
    check_paths(states, filtered)
    # The terms are at most zero, so that none of their digits cancel.
    transitions = by_window(transition, len(start))
    steps = log_backward_kernel(*transitions, filtered, logarithmic, states)
    return np.asarray(steps.sum(axis=1))


def log_kernels(
    transition: Transition, log_likelihood: Likelihood, start: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Log-probabilities of the hidden chain run backwards, of which `log_posterior` is the sum.

    Parameters
    ----------
    transition, log_likelihood, start : as in `log_posterior`

    Returns
    -------
    (B, n) array of log Pr(x_h = j | x_0, y_1, ..., y_h) and (B, h - 1, n, n) array of
    log Pr(x_k = i | x_{k+1} = j, x_0, y_1, ..., y_k)

    Examples
    --------
    >>> lasting = np.array([[1.0, 0.0], [0.5, 0.5]])
    >>> ends, kernels = log_kernels(lasting, np.zeros((1, 2, 2)), np.array([1]))
    >>> np.exp(ends), np.exp(kernels).round(3)
    (array([[0.75, 0.25]]), array([[[[0.667, 0.   ],
             [0.333, 1.   ]]]]))
    """
    filtered, logarithmic = forward(transition, log_likelihood, start)
    return _log_kernels(*by_window(transition, len(start)), filtered, logarithmic)


@kernel
def _log_kernels(
    matrices: FloatArray, models: IntArray, filtered: FloatArray, logarithmic: BoolArray
) -> tuple[FloatArray, FloatArray]:
    windows, steps, n = filtered.shape
    ends = np.empty((windows, n))
    kernels = np.full((windows, steps - 1, n, n), -np.inf)
    log_transition = np.empty((n, n))
    known = -1
    for b in range(windows):
        if models[b] != known:
            known = models[b]
            log_transition[:] = np.log(matrices[known])
        # Logarithms from here on; a window that holds them already is left as it is.
        logs = filtered[b] if logarithmic[b] else np.log(filtered[b])
        ends[b] = logs[steps - 1]
        for k in range(steps - 1):
            for j in range(n):
                top = -np.inf
                for i in range(n):
                    top = max(top, logs[k, i] + log_transition[i, j])
                if top == -np.inf:
                    continue
                total = 0.0
                for i in range(n):
                    total += math.exp(logs[k, i] + log_transition[i, j] - top)
                scale = top + math.log(total)
                for i in range(n):
                    kernels[b, k, i, j] = logs[k, i] + log_transition[i, j] - scale
    return ends, kernels
