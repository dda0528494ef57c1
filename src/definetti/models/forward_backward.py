"""Forward–backward recursions on windows: states, pairs and paths given the observations.

A window is ``h`` steps that follow a known state. An observation that no reachable state could
have produced carries no information: its likelihood counts as one.

Probabilities are carried as they are while none can underflow. A window in which one might, and
one with an impossible observation, is computed again with logarithms.

Given the observations, a hidden chain run backwards is a Markov chain as well. Its transition
probabilities, the backward kernel Pr(x_k = i | x_{k+1} = j, y_1, ..., y_k), follow from the
filter alone, so that all results agree with it on which observations count.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel, unroll_size
from definetti.data.history import Windows
from definetti.data.labels import check_indices, check_shape

BoolArray = npt.NDArray[np.bool_]

# A positive weight times a positive transition probability is then a normal number, so that a
# zero always means a state out of reach, and nothing is lost that a later observation needs.
SMALLEST_TRANSITION = 1e-100
SMALLEST_WEIGHT = 1e-200

# Weights are rescaled only below this: a division at every step would hold up the next.
SMALLEST_TOTAL = 1e-20

# Ratios are cut off here, still positive but too small to be safe: zero means impossible.
SMALLEST_LOG_RATIO = -700.0


class ChainWindows(NamedTuple):
    """Windows of hidden chains, each under one of several models.

    Attributes
    ----------
    matrices, models : (G, n, n) row-stochastic matrices, and (B,) the matrix of each window
    logs, codes : (m, n) log-likelihoods of the distinct observations, and (B, h) the row
        of each step; a row of zeros where one is missing
    start : (B,) the state before the first step
    """

    matrices: FloatArray
    models: IntArray
    logs: FloatArray
    codes: IntArray
    start: IntArray

    def check(self) -> None:
        """Raise an error if parts do not fit together: kernels do not check."""
        n = self.matrices.shape[-1]
        check_shape(self.matrices, (len(self.matrices), n, n), "transition")
        check_indices(self.models, 0, len(self.matrices), "models")
        check_shape(self.models, self.start.shape, "models")
        check_shape(self.logs, (len(self.logs), n), "log_likelihood")
        check_indices(self.codes, -1, len(self.logs), "observations")  # −1 finds the last row
        check_shape(self.codes, (len(self.start), *self.codes.shape[1:2]), "observations")
        check_indices(self.start, 0, n, "start")


class Chain(ABC):
    """An `Estimate` by forward–backward recursions."""

    @abstractmethod
    def seen(self, windows: Windows) -> ChainWindows:
        """Return windows with the matrices and log-likelihoods of their models."""

    def filtering(self, windows: Windows) -> FloatArray:
        filtered, logarithmic, _ = forward(self.seen(windows))
        if logarithmic.any():
            with np.errstate(under="ignore"):
                filtered[logarithmic] = np.exp(filtered[logarithmic])
        return filtered

    def smoothing(self, windows: Windows) -> FloatArray:
        return smooth(self.seen(windows))

    def pairwise(self, windows: Windows) -> FloatArray:
        seen = self.seen(windows)
        forwards = forward(seen)
        n = forwards.filtered.shape[-1]
        pairs = np.zeros((*forwards.filtered.shape, n))
        _backward(seen, forwards, pairs)
        return pairs[:, 1:]

    def joint(self, windows: Windows, order: int) -> FloatArray:
        if not 0 <= order < windows.states.shape[1]:
            raise ValueError(f"order must be from 0 to {windows.states.shape[1] - 1}, got {order}")
        seen = self.seen(windows)
        forwards = forward(seen)
        steps = _log_steps(seen, forwards, windows.states)
        _backward(seen, forwards)
        return _runs(steps, forwards.filtered, windows.states, order)

    def log_posterior(self, windows: Windows) -> FloatArray:
        seen = self.seen(windows)
        # The terms are at most zero, so that none of their digits cancel.
        return _totals(_log_steps(seen, forward(seen), windows.states))

    def log_emission(self, windows: Windows) -> FloatArray:
        seen = self.seen(windows)
        return np.asarray(seen.logs[seen.codes, windows.states].sum(axis=1))

    def log_kernels(self, windows: Windows) -> tuple[FloatArray, FloatArray]:
        seen = self.seen(windows)
        forwards = forward(seen)
        return _log_kernels(_logarithms(seen.matrices), seen.models, *forwards[:2])


class Forward(NamedTuple):
    """Results of the forward recursion.

    Attributes
    ----------
    filtered : (B, h, n) the probability of each state given the observations so far
    logarithmic : (B,) whether `filtered` holds logarithms for a window
    log_matrices : (G, n, n) logarithms of the transition matrices, if any window is so; else unused
    """

    filtered: FloatArray
    logarithmic: BoolArray
    log_matrices: FloatArray


def forward(seen: ChainWindows) -> Forward:
    """Run the forward recursion on windows."""
    seen.check()
    matrices, models, logs, codes, start = seen
    unroll = unroll_size(matrices.shape[-1])
    ratios = np.exp(_log_ratios(np.ascontiguousarray(logs)))
    filtered, logarithmic = _scaled_forward(matrices, models, start, ratios, codes, unroll)
    if logarithmic.any():
        matrices = _logarithms(matrices)
        _log_forward(matrices, models, logs.take(codes, axis=0), start, logarithmic, filtered)
    return Forward(filtered, logarithmic, matrices)


def smooth(seen: ChainWindows) -> FloatArray:
    """Return the probability of each state given all observations of the window: ``(B, h, n)``."""
    forwards = forward(seen)
    _backward(seen, forwards)
    return forwards.filtered


def _log_steps(seen: ChainWindows, forwards: Forward, states: IntArray) -> FloatArray:
    """Return the log-probability of each step of a path backwards, then that of its end: (B, h)."""
    windows, steps, n = forwards.filtered.shape
    check_shape(states, (windows, steps), "states")
    check_indices(states, 0, n, "states")
    return log_backward_kernel(seen.matrices, seen.models, *forwards, states)


def _backward(seen: ChainWindows, forwards: Forward, pairs: FloatArray | None = None) -> None:
    """Replace filtered by smoothed probabilities, and write those of `pairs`, if given."""
    filtered, logarithmic, log_matrices = forwards
    n = filtered.shape[-1]
    keep = pairs is not None
    pairs = np.empty((1, 1, n, n)) if pairs is None else pairs
    _scaled_backward(seen.matrices, seen.models, filtered, logarithmic, pairs, keep, unroll_size(n))
    if logarithmic.any():
        _log_backward(log_matrices, seen.models, filtered, logarithmic, pairs, keep)


@kernel
def _totals(terms: FloatArray) -> FloatArray:
    """Sum each row; numpy is slow on short rows."""
    totals = np.zeros(len(terms))
    for b in range(len(terms)):
        for k in range(terms.shape[1]):
            totals[b] += terms[b, k]
    return totals


@kernel
def _logarithms(matrices: FloatArray) -> FloatArray:
    return np.log(matrices)


@kernel
def _log_ratios(logs: FloatArray) -> FloatArray:
    """Return log-likelihoods relative to the largest of each row."""
    ratios = np.empty_like(logs)
    for y in range(len(logs)):
        top = logs[y, 0]
        for j in range(1, logs.shape[1]):
            top = max(top, logs[y, j])
        for j in range(logs.shape[1]):
            ratio = logs[y, j] - top  # NaN in a row without any possible state
            ratios[y, j] = ratio if ratio == -np.inf else max(ratio, SMALLEST_LOG_RATIO)
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
    log_matrices: FloatArray,
    models: IntArray,
    log_likelihood: FloatArray,
    start: IntArray,
    chosen: BoolArray,
    scores: FloatArray,
) -> None:
    """Sum over the paths to each state, on logarithms."""
    windows, steps, n = scores.shape
    terms = np.empty(n)
    for b in range(windows):
        if not chosen[b]:
            continue
        log_transition = log_matrices[models[b]]
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


@kernel
def log_backward_kernel(
    matrices: FloatArray,
    models: IntArray,
    filtered: FloatArray,
    logarithmic: BoolArray,
    log_matrices: FloatArray,
    states: IntArray,
) -> FloatArray:
    """Log-probability of each step of a path backwards, after that of its end: (B, h)."""
    windows, steps, n = filtered.shape
    backward = np.full((windows, steps), -np.inf)
    for b in range(windows):
        transition = matrices[models[b]]
        log_transition = log_matrices[models[b]]
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
    """Run the backward recursion; unless `keep`, all pairs are written to one cell."""
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
    log_matrices: FloatArray,
    models: IntArray,
    filtered: FloatArray,
    logarithmic: BoolArray,
    pairs: FloatArray,
    keep: bool,
) -> None:
    """Run the backward recursion on windows that hold logarithms."""
    windows, steps, n = filtered.shape
    for b in range(windows):
        if not logarithmic[b]:
            continue
        log_transition = log_matrices[models[b]]
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
    """Return the probability of each run: that of its end times those of the steps back."""
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


@kernel
def _log_kernels(
    log_matrices: FloatArray, models: IntArray, filtered: FloatArray, logarithmic: BoolArray
) -> tuple[FloatArray, FloatArray]:
    windows, steps, n = filtered.shape
    ends = np.empty((windows, n))
    kernels = np.full((windows, steps - 1, n, n), -np.inf)
    for b in range(windows):
        log_transition = log_matrices[models[b]]
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
