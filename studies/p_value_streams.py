"""The p-values of all steps of a simulated sequence, in floating-point numbers, compiled."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.engine.step_kernels import place_parts_in_class


@kernel
def stream_p_values(
    states: IntArray,
    codes: IntArray,
    n_states: int,
    n_symbols: int,
    uniforms: FloatArray,
    priors: tuple[float, float],
) -> FloatArray:
    """Return the smoothed p-values of all steps of a sequence, for simulations.

    Weights are floating-point numbers here, so that the p-values are those of `Stream.ranks` to
    some twelve digits; no set is decided by them.

    Parameters
    ----------
    states, codes : (T,) the sequence, -1 where an observation is missing
    n_states, n_symbols : how many there are
    uniforms : (T, 3) numbers that break the ties
    priors : what is added to each count of transitions and of symbols

    Returns
    -------
    (T, 3) p-values by part, in the order of `PARTS`; those of the first step are NaN
    """
    length = len(states)
    found = np.full((length, 3), np.nan)
    transitions = np.zeros((n_states, n_states), dtype=np.int64)
    emissions = np.zeros((n_states, n_symbols + 1), dtype=np.int64)
    met = np.zeros(n_states, dtype=np.bool_)
    root, last = states[0], states[0]
    met[root] = True
    emissions[root, codes[0] + 1] += 1
    for t in range(1, length):
        state, code = states[t], codes[t]
        if met[state]:
            weights = _weights(transitions, met, root, last, state)
            placed = place_parts_in_class(transitions, emissions, last, state, code, priors, True)
            total = weights.sum()
            moved, whole = 0.0, 0.0
            for u in range(n_states):
                moved += weights[u] * (placed[0, u] + uniforms[t, 0] * placed[1, u])
                whole += weights[u] * (placed[2, u] + uniforms[t, 2] * placed[3, u])
            found[t, 0] = moved / total
            found[t, 1] = (placed[4, 0] + uniforms[t, 1] * placed[4, 1]) / placed[4, 2]
            found[t, 2] = whole / (total * placed[4, 2])
        else:
            found[t] = uniforms[t]
        met[state] = True
        transitions[last, state] += 1
        emissions[state, code + 1] += 1
        last = state
    return found


@kernel
def visit_p_values(states: IntArray, n_states: int, uniforms: FloatArray) -> FloatArray:
    """Return the smoothed p-values of all steps by whether they come from each state.

    As `Stream.visits` has them, to some twelve digits, for simulations.

    Parameters
    ----------
    states : (T,) the sequence
    uniforms : (T, n) numbers that break the ties

    Returns
    -------
    (T, n) p-values by state; those of the first step are NaN
    """
    found = np.full((len(states), n_states), np.nan)
    transitions = np.zeros((n_states, n_states), dtype=np.int64)
    met = np.zeros(n_states, dtype=np.bool_)
    root, last = states[0], states[0]
    met[root] = True
    for t in range(1, len(states)):
        state = states[t]
        found[t] = uniforms[t]
        if met[state]:
            weights = _weights(transitions, met, root, last, state)
            shares = weights / weights.sum()
            for u in range(n_states):
                below = 0.0 if u == last else shares[u]
                width = shares[u] if u == last else 1.0 - shares[u]
                found[t, u] = below + uniforms[t, u] * width
        met[state] = True
        transitions[last, state] += 1
        last = state
    return found


@kernel
def _weights(
    transitions: IntArray, met: npt.NDArray[np.bool_], root: int, last: int, state: int
) -> FloatArray:
    """Weigh the states that may come before the end, as `Trees.ends` does, by one's own being 1."""
    n = len(transitions)
    weights = transitions[:, state].astype(np.float64)
    weights[last] += 1.0
    if state == root:
        return weights
    # The Laplacian of the reversed sequence without the root; states never met stand alone.
    matrix = np.zeros((n, n + 1))
    for v in range(n):
        if not met[v] or v == root:
            matrix[v, v] = 1.0
            continue
        for u in range(n):
            if u != v:
                matrix[v, v] += transitions[u, v]
                if u != root:
                    matrix[v, u] -= transitions[u, v]
    matrix[state, n] = 1.0
    for k in range(n):
        pivot = k
        for v in range(k + 1, n):
            if abs(matrix[v, k]) > abs(matrix[pivot, k]):
                pivot = v
        if pivot != k:
            for j in range(k, n + 1):
                matrix[k, j], matrix[pivot, j] = matrix[pivot, j], matrix[k, j]
        for v in range(n):
            if v != k and matrix[v, k] != 0.0:
                factor = matrix[v, k] / matrix[k, k]
                for j in range(k, n + 1):
                    matrix[v, j] -= factor * matrix[k, j]
    for u in range(n):
        share = 0.0 if u == root or not met[u] else matrix[u, n] / matrix[u, u]
        base = 0.0 if last == root else matrix[last, n] / matrix[last, last]
        trees = 1.0 - base + share
        weights[u] *= trees if trees > 1e-12 else 0.0
    return weights
