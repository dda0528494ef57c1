"""Whole paths given all observations: their probability, and the best of them."""

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
    best_paths,
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


def viterbi(transition: FloatArray, log_likelihood: FloatArray, start: IntArray) -> IntArray:
    """Most probable path given all observations.

    Parameters
    ----------
    transition, log_likelihood, start : as in `log_posterior`

    Returns
    -------
    (B, h) array of states. Of equally probable states at the last step the smallest is taken,
    and so on backwards, as far as rounding leaves them equal.

    Examples
    --------
    >>> lasting = np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> log_likelihood = np.log([[[0.5, 0.5], [0.4, 0.6], [0.2, 0.8]]])
    >>> viterbi(lasting, log_likelihood, np.array([0]))
    array([[0, 0, 0]])
    """
    return _traced(transition, best_paths(transition, log_likelihood, start))


def max_marginals(
    transition: FloatArray, log_likelihood: FloatArray, start: IntArray
) -> FloatArray:
    """Log-probability of the best path through each state at each step.

    Parameters
    ----------
    transition, log_likelihood, start : as in `log_posterior`

    Returns
    -------
    (B, h, n) array of the largest `log_posterior` of a path with x_k = i, -inf where there is none

    Examples
    --------
    >>> lasting = np.array([[1.0, 0.0], [0.5, 0.5]])
    >>> np.exp(max_marginals(lasting, np.zeros((1, 2, 2)), np.array([1])))
    array([[[0.5 , 0.25],
            [0.5 , 0.25]]])
    """
    scores = best_paths(transition, log_likelihood, start)
    best = _traced(transition, scores)
    _max_backward(transition, scores)
    scores += log_posterior(transition, log_likelihood, start, best)[:, None, None]
    return scores


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


@kernel
def _traced(transition: FloatArray, scores: FloatArray) -> IntArray:
    """Follow the best path from its end."""
    windows, steps, n = scores.shape
    log_transition = np.log(transition)
    path = np.zeros((windows, steps), dtype=np.int64)
    for b in range(windows):
        for k in range(steps - 1, -1, -1):
            top = -np.inf
            for i in range(n):
                score = scores[b, k, i]
                if k < steps - 1:
                    score += log_transition[i, path[b, k + 1]]
                if score > top:
                    top = score
                    path[b, k] = i
    return path


@kernel
def _max_backward(transition: FloatArray, scores: FloatArray) -> None:
    """Replace the scores of the best paths to each state by those of the best through it."""
    windows, steps, n = scores.shape
    log_transition = np.log(transition)
    through = np.empty(n)
    for b in range(windows):
        for k in range(steps - 1, 0, -1):
            through[:] = -np.inf
            for j in range(n):
                if scores[b, k, j] == -np.inf:
                    continue
                top = -np.inf
                for i in range(n):
                    top = max(top, scores[b, k - 1, i] + log_transition[i, j])
                for i in range(n):
                    loss = scores[b, k - 1, i] + log_transition[i, j] - top
                    through[i] = max(through[i], loss + scores[b, k, j])
            scores[b, k - 1] = through
