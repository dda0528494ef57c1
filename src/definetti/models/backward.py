"""Backward recursion: states and whole paths given all observations of a window.

Given the observations, a hidden chain run backwards is a Markov chain as well. Its transition
probabilities, the backward kernel Pr(x_k = i | x_{k+1} = j, y_1, ..., y_k), follow from the
filter alone, so that all below agrees with it on which observations count.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel, unroll_size
from definetti.data.history import Windows
from definetti.models.forward import (
    BoolArray,
    Coded,
    Likelihood,
    Transition,
    Transitions,
    by_window,
    check_paths,
    filtering,
    forward,
)


class Chain(ABC):
    """Probabilities of the states in windows, from what the chain makes of what is seen there."""

    @abstractmethod
    def seen(self, windows: Windows) -> tuple[Transition, Coded, IntArray]:
        """Return the transitions, what each step's observation says, and the first states."""

    def filtering(self, windows: Windows) -> FloatArray:
        return filtering(*self.seen(windows))

    def smoothing(self, windows: Windows) -> FloatArray:
        return smoothing(*self.seen(windows))

    def joint(self, windows: Windows, order: int) -> FloatArray:
        return joint(*self.seen(windows), windows.states, order)

    def log_posterior(self, windows: Windows) -> FloatArray:
        return log_posterior(*self.seen(windows), windows.states)

    def log_emission(self, windows: Windows) -> FloatArray:
        _, seen, _ = self.seen(windows)
        return np.asarray(seen.logs[seen.codes, windows.states].sum(axis=1))

    def pairwise(self, windows: Windows) -> FloatArray:
        return pairwise(*self.seen(windows))[:, 1:]

    def log_kernels(self, windows: Windows) -> tuple[FloatArray, FloatArray]:
        return log_kernels(*self.seen(windows))


def smoothing(transition: Transition, log_likelihood: Likelihood, start: IntArray) -> FloatArray:
    """Probability of each state given all observations of the window.

    Parameters
    ----------
    transition : (n, n) row-stochastic matrix, or `Transitions` with one for each window
    log_likelihood : (B, h, n), a row of zeros where an observation is missing
    start : (B,) the state before the first step

    Returns
    -------
    (B, h, n) array of Pr(x_k = i | x_0 = start, y_1, ..., y_h)

    Examples
    --------
    >>> lasting = np.array([[1.0, 0.0], [0.5, 0.5]])
    >>> log_likelihood = np.log([[[0.5, 0.5], [0.2, 0.8]]])
    >>> smoothing(lasting, log_likelihood, np.array([1])).round(3)
    array([[[0.286, 0.714],
            [0.429, 0.571]]])
    """
    filtered, logarithmic = forward(transition, log_likelihood, start)
    _backward(by_window(transition, len(start)), filtered, logarithmic)
    return filtered


def pairwise(transition: Transition, log_likelihood: Likelihood, start: IntArray) -> FloatArray:
    """Probability of each two successive states given all observations of the window.

    Parameters
    ----------
    transition, log_likelihood, start : as in `smoothing`

    Returns
    -------
    (B, h, n, n) array of Pr(x_{k-1} = i, x_k = j | x_0 = start, y_1, ..., y_h)

    Examples
    --------
    >>> lasting = np.array([[1.0, 0.0], [0.5, 0.5]])
    >>> pairwise(lasting, np.zeros((1, 2, 2)), np.array([1]))
    array([[[[0.  , 0.  ],
             [0.5 , 0.5 ]],
    <BLANKLINE>
            [[0.5 , 0.  ],
             [0.25, 0.25]]]])
    """
    filtered, logarithmic = forward(transition, log_likelihood, start)
    pairs = np.zeros((*filtered.shape, filtered.shape[-1]))
    _backward(by_window(transition, len(start)), filtered, logarithmic, pairs)
    pairs[np.arange(len(start)), 0, start] = filtered[:, 0]
    return pairs


def joint(
    transition: Transition,
    log_likelihood: Likelihood,
    start: IntArray,
    states: IntArray,
    order: int,
) -> FloatArray:
    """Probability of each run of ``order + 1`` given states, given all observations.

    Parameters
    ----------
    transition, log_likelihood, start : as in `smoothing`
    states : (B, h) the path of which to take the runs
    order : how many transitions a run has, at least 0 and less than ``h``

    Returns
    -------
    (B, h - order) array of Pr(x_k = states_k, ..., x_{k+order} = states_{k+order} | x_0, y)

    Examples
    --------
    >>> lasting = np.array([[1.0, 0.0], [0.5, 0.5]])
    >>> path = np.array([[1, 1, 0]])
    >>> joint(lasting, np.zeros((1, 3, 2)), np.array([1]), path, 1)
    array([[0.25 , 0.125]])
    """
    if not 0 <= order < states.shape[1]:
        raise ValueError(f"order must be from 0 to {states.shape[1] - 1}, got {order}")
    filtered, logarithmic = forward(transition, log_likelihood, start)
    check_paths(states, filtered)
    transitions = by_window(transition, len(start))
    backward = log_backward_kernel(*transitions, filtered, logarithmic, states)
    _backward(transitions, filtered, logarithmic)
    return _runs(backward, filtered, states, order)


@kernel
def log_backward_kernel(
    matrices: FloatArray,
    models: IntArray,
    filtered: FloatArray,
    logarithmic: BoolArray,
    states: IntArray,
) -> FloatArray:
    """Log-probability of each step of a path backwards, after that of its end: (B, h).

    Examples
    --------
    >>> lasting, path = np.array([[[1.0, 0.0], [0.5, 0.5]]]), np.array([[1, 0]])
    >>> filtered, model = np.array([[[0.5, 0.5], [0.75, 0.25]]]), np.array([0])
    >>> np.exp(log_backward_kernel(lasting, model, filtered, np.array([False]), path)).round(3)
    array([[0.333, 0.75 ]])
    """
    windows, steps, n = filtered.shape
    log_transition = np.empty((n, n))
    backward = np.full((windows, steps), -np.inf)
    known = -1
    for b in range(windows):
        transition = matrices[models[b]]
        if logarithmic[b] and models[b] != known:
            known = models[b]
            for i in range(n):
                for j in range(n):
                    own = transition[i, j]
                    log_transition[i, j] = math.log(own) if own else -np.inf
        end = filtered[b, steps - 1, states[b, steps - 1]]
        if logarithmic[b]:
            backward[b, steps - 1] = end
        elif end > 0.0:
            backward[b, steps - 1] = math.log(end)
        for k in range(steps - 1):
            i, j = states[b, k], states[b, k + 1]
            total = 0.0
            if not logarithmic[b]:
                come = filtered[b, k, i] * transition[i, j]
                if come > 0.0:
                    for m in range(n):
                        total += filtered[b, k, m] * transition[m, j]
                    backward[b, k] = math.log(come / total)
                continue
            come = filtered[b, k, i] + log_transition[i, j]
            if come > -np.inf:
                top = come
                for m in range(n):
                    top = max(top, filtered[b, k, m] + log_transition[m, j])
                for m in range(n):
                    total += math.exp(filtered[b, k, m] + log_transition[m, j] - top)
                backward[b, k] = come - top - math.log(total)
    return backward


def _backward(
    transitions: Transitions,
    filtered: FloatArray,
    logarithmic: BoolArray,
    pairs: FloatArray | None = None,
) -> None:
    """Replace filtered by smoothed probabilities, and note those of pairs if there is room."""
    n = filtered.shape[-1]
    keep = pairs is not None
    pairs = np.empty((1, 1, n, n)) if pairs is None else pairs
    _scaled_backward(*transitions, filtered, logarithmic, pairs, keep, unroll_size(n))
    if logarithmic.any():
        _log_backward(*transitions, filtered, logarithmic, pairs, keep)


@kernel
def _scaled_backward(
    matrices: FloatArray,
    models: IntArray,
    filtered: FloatArray,
    logarithmic: BoolArray,
    pairs: FloatArray,
    keep: bool,
    unroll: tuple[bool, ...],
) -> None:
    """Walk back; pairs that are not kept are all written to one place."""
    windows, steps, states = filtered.shape
    n = len(unroll) or states
    ratios = np.empty(n)
    for b in range(windows):
        if logarithmic[b]:
            continue
        transition = matrices[models[b]]
        for k in range(steps - 1, 0, -1):
            p, q = (b, k) if keep else (0, 0)
            for j in range(n):
                predicted = filtered[b, k - 1, 0] * transition[0, j]
                for i in range(1, n):
                    predicted += filtered[b, k - 1, i] * transition[i, j]
                ratios[j] = filtered[b, k, j] * (1.0 / predicted) if predicted > 0.0 else 0.0
            total = 0.0
            for i in range(n):
                smoothed = 0.0
                for j in range(n):
                    pair = filtered[b, k - 1, i] * transition[i, j] * ratios[j]
                    pairs[p, q, i, j] = pair
                    smoothed += pair
                filtered[b, k - 1, i] = smoothed
                total += smoothed
            # Rounding errors would otherwise add up over the steps.
            scale = 1.0 / total
            for i in range(n):
                filtered[b, k - 1, i] *= scale


@kernel
def _log_backward(
    matrices: FloatArray,
    models: IntArray,
    filtered: FloatArray,
    logarithmic: BoolArray,
    pairs: FloatArray,
    keep: bool,
) -> None:
    """The same on windows that hold logarithms."""
    windows, steps, n = filtered.shape
    log_transition = np.empty((n, n))
    known = -1
    for b in range(windows):
        if not logarithmic[b]:
            continue
        if models[b] != known:
            known = models[b]
            log_transition[:] = np.log(matrices[known])
        for i in range(n):
            filtered[b, steps - 1, i] = math.exp(filtered[b, steps - 1, i])
        for k in range(steps - 1, 0, -1):
            p, q = (b, k) if keep else (0, 0)
            for j in range(n):
                top, total = -np.inf, 0.0
                for i in range(n):
                    top = max(top, filtered[b, k - 1, i] + log_transition[i, j])
                for i in range(n):
                    weight = filtered[b, k - 1, i] + log_transition[i, j] - top
                    pairs[p, q, i, j] = math.exp(weight) if top > -np.inf else 0.0
                    total += pairs[p, q, i, j]
                # The total is at least one, or zero in a column out of reach.
                for i in range(n):
                    pairs[p, q, i, j] *= filtered[b, k, j] / max(total, 1.0)
            total = 0.0
            for i in range(n):
                smoothed = 0.0
                for j in range(n):
                    smoothed += pairs[p, q, i, j]
                filtered[b, k - 1, i] = smoothed
                total += smoothed
            for i in range(n):
                filtered[b, k - 1, i] /= total


@kernel
def _runs(backward: FloatArray, smoothed: FloatArray, states: IntArray, order: int) -> FloatArray:
    """Probability of the end of each run, times that of the steps back from it."""
    windows, steps = states.shape
    runs = np.empty((windows, steps - order))
    for b in range(windows):
        for k in range(steps - order):
            log_probability = 0.0
            for step in range(k, k + order):
                log_probability += backward[b, step]
            end = k + order
            runs[b, k] = math.exp(log_probability) * smoothed[b, end, states[b, end]]
    return runs


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
