"""Forward recursion: each state given the observations up to it.

A window is ``h`` steps that follow a known state. An observation that no reachable state could
have produced carries no information: its likelihood counts as one.

Probabilities are carried as they are while none can underflow. A window in which one might, and
one with an impossible observation, is done again on logarithms.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel, unroll_size
from definetti.data.labels import check_indices, check_shape

BoolArray = npt.NDArray[np.bool_]

# A positive weight times a positive transition probability is then a normal number, so that a
# zero always means a state out of reach, and no later observation can ask for what was lost.
SMALLEST_TRANSITION = 1e-100
SMALLEST_WEIGHT = 1e-200

# Weights are rescaled only below this: a division at every step would hold up the next.
SMALLEST_TOTAL = 1e-20

# Ratios are cut off here, still positive but too small to be safe: zero is for the impossible.
SMALLEST_LOG_RATIO = -700.0


class Coded(NamedTuple):
    """Log-likelihoods of the distinct observations, (m, n), and which of them come when, (B, h)."""

    logs: FloatArray
    codes: IntArray


class Transitions(NamedTuple):
    """Transition matrices of several models, (G, n, n), and the model of each window, (B,)."""

    matrices: FloatArray
    models: IntArray


Transition = FloatArray | Transitions


def by_window(transition: Transition, windows: int) -> Transitions:
    """Return one matrix for all windows as that of each; leave several as they are."""
    if isinstance(transition, Transitions):
        return transition
    return Transitions(np.asarray(transition)[None], np.zeros(windows, dtype=np.int64))


def coded(log_likelihood: FloatArray) -> Coded:
    """Take every step's observation for a distinct one."""
    windows, steps, n = log_likelihood.shape
    return Coded(log_likelihood.reshape(-1, n), np.arange(windows * steps).reshape(windows, steps))


Likelihood = FloatArray | Coded


def filtering(transition: Transition, log_likelihood: Likelihood, start: IntArray) -> FloatArray:
    """Probability of each state given the observations so far.

    Parameters
    ----------
    transition : (n, n) row-stochastic matrix, or `Transitions` with one for each window
    log_likelihood : (B, h, n), a row of zeros where an observation is missing; or `Coded`, where
        few distinct observations come again and again
    start : (B,) the state before the first step

    Returns
    -------
    (B, h, n) array of Pr(x_k = i | x_0 = start, y_1, ..., y_k)

    Examples
    --------
    >>> transition = np.array([[0.5, 0.5], [0.5, 0.5]])
    >>> log_likelihood = np.log([[[0.9, 0.1], [0.2, 0.8]]])
    >>> filtering(transition, log_likelihood, np.array([0]))
    array([[[0.9, 0.1],
            [0.2, 0.8]]])
    """
    filtered, logarithmic = forward(transition, log_likelihood, start)
    if logarithmic.any():
        with np.errstate(under="ignore"):
            filtered[logarithmic] = np.exp(filtered[logarithmic])
    return filtered


def forward(
    transition: Transition, log_likelihood: Likelihood, start: IntArray
) -> tuple[FloatArray, BoolArray]:
    """Filtered probabilities, (B, h, n), and a mark, (B,), on windows that hold their logarithms.

    Examples
    --------
    >>> certain = np.eye(2)
    >>> forward(certain, np.array([[[-np.inf, 0.0]]]), np.array([0]))
    (array([[[  0., -inf]]]), array([ True]))
    """
    transitions = by_window(transition, len(start))
    unroll = unroll_size(transitions.matrices.shape[-1])
    logs, codes = log_likelihood if isinstance(log_likelihood, Coded) else coded(log_likelihood)
    check_chain(transitions, logs, codes, start)
    ratios = _log_likelihood_ratios(logs, unroll)
    np.exp(ratios, out=ratios)
    filtered, logarithmic = _scaled_forward(*transitions, start, ratios, codes, unroll)
    if logarithmic.any():
        dense = logs.take(codes, axis=0)
        _log_forward(*transitions, dense, start, logarithmic, filtered)
    return filtered, logarithmic


def check_chain(
    transitions: Transitions, logs: FloatArray, codes: IntArray, start: IntArray
) -> None:
    """Refuse parts of a model, or of windows, that do not fit together: kernels do not look."""
    matrices, models = transitions
    n = matrices.shape[-1]
    check_shape(matrices, (len(matrices), n, n), "transition")
    check_indices(models, 0, len(matrices), "models")
    check_shape(models, start.shape, "models")
    check_shape(logs, (len(logs), n), "log_likelihood")
    check_indices(codes, -1, len(logs), "observations")  # −1 finds the last row
    check_shape(codes, (len(start), *codes.shape[1:2]), "observations")
    check_indices(start, 0, n, "start")


def check_paths(states: IntArray, filtered: FloatArray) -> None:
    """Refuse paths that are not as many, as long and of the states that probabilities are for."""
    windows, steps, n = filtered.shape
    check_shape(states, (windows, steps), "states")
    check_indices(states, 0, n, "states")


@kernel
def _log_likelihood_ratios(logs: FloatArray, unroll: tuple[bool, ...]) -> FloatArray:
    """Log-likelihoods less the largest of each row."""
    rows, states = logs.shape
    n = len(unroll) or states
    ratios = np.empty((rows, states))
    for y in range(rows):
        top = logs[y, 0]
        for j in range(1, n):
            top = max(top, logs[y, j])
        for j in range(n):
            ratio = logs[y, j] - top
            if -np.inf < ratio < SMALLEST_LOG_RATIO:
                ratio = SMALLEST_LOG_RATIO
            ratios[y, j] = ratio
    return ratios


@kernel
def _scaled_forward(
    matrices: FloatArray,
    models: IntArray,
    start: IntArray,
    ratios: FloatArray,
    codes: IntArray,
    unroll: tuple[bool, ...],
) -> tuple[FloatArray, BoolArray]:
    """Filtered probabilities from likelihood ratios; mark windows that need logarithms."""
    windows, steps = codes.shape
    filtered = np.empty((windows, steps, matrices.shape[1]))
    n = len(unroll) or matrices.shape[1]
    unsafe = np.zeros(windows, dtype=np.bool_)
    into = np.empty((n, n))
    weights = np.empty((2, n))
    known, tiny = -1, False
    for b in range(windows):
        transition = matrices[models[b]]
        if models[b] != known:
            known, tiny = models[b], False
            for i in range(n):
                for j in range(n):
                    tiny = tiny or 0.0 < transition[i, j] < SMALLEST_TRANSITION
                    into[j, i] = transition[i, j]
        unsafe[b] = tiny
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
                filtered[b, k, j] = weights[new, j] * scale
            if total < SMALLEST_TOTAL:
                for j in range(n):
                    weights[new, j] *= scale
    return filtered, unsafe


@kernel
def _log_forward(
    matrices: FloatArray,
    models: IntArray,
    log_likelihood: FloatArray,
    start: IntArray,
    chosen: BoolArray,
    scores: FloatArray,
) -> None:
    """Sum over the paths to each state, on logarithms."""
    windows, steps, n = scores.shape
    log_transition = np.empty((n, n))
    terms = np.empty(n)
    known = -1
    for b in range(windows):
        if not chosen[b]:
            continue
        if models[b] != known:
            known = models[b]
            log_transition[:] = np.log(matrices[known])
        for k in range(steps):
            # Likelihoods relative to a state within reach cost the fewest digits.
            top = -np.inf
            for j in range(n):
                if k == 0:
                    scores[b, k, j] = log_transition[start[b], j]
                else:
                    for i in range(n):
                        terms[i] = scores[b, k - 1, i] + log_transition[i, j]
                    scores[b, k, j] = _log_sum(terms)
                if scores[b, k, j] > -np.inf:
                    top = max(top, log_likelihood[b, k, j])
            for j in range(n):
                if top > -np.inf:
                    scores[b, k, j] += log_likelihood[b, k, j] - top
                terms[j] = scores[b, k, j]
            total = _log_sum(terms)
            for j in range(n):
                scores[b, k, j] -= total


@kernel
def _log_sum(terms: FloatArray) -> float:
    """Return the logarithm of the sum of exponentials."""
    top = -np.inf
    for i in range(len(terms)):
        top = max(top, terms[i])
    if top == -np.inf:
        return top
    total = 0.0
    for i in range(len(terms)):
        total += math.exp(terms[i] - top)
    return top + math.log(total)
