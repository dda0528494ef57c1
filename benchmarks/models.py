"""The models that the benchmarks draw from, all with fixed seeds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from definetti.simulate import Sample, sample

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def random_model(n_states: int, n_symbols: int, seed: int) -> tuple[Floats, Floats]:
    """Draw a transition matrix and an emission matrix with no zeros."""
    rng = np.random.default_rng(seed)
    transition = rng.dirichlet(np.full(n_states, 2.0), n_states)
    emission = rng.dirichlet(np.full(n_symbols, 1.0), n_states)
    return transition, emission


def paper_model(p: float, b: float) -> tuple[Floats, Floats]:
    """Two states that last with probability p, seen as they are with probability b."""
    return np.array([[p, 1 - p], [1 - p, p]]), np.array([[b, 1 - b], [1 - b, b]])


def draw_sample(model: tuple[Floats, Floats], length: int, seed: int) -> Sample:
    n = len(model[0])
    return sample(np.full(n, 1 / n), *model, length, np.random.default_rng(seed))


def draw_states(transition: Floats, length: int, rng: np.random.Generator) -> Ints:
    """Draw a chain that begins in the first state."""
    heights, uniform = transition.cumsum(axis=1), rng.random(length)
    states = np.zeros(length, dtype=np.int64)
    for t in range(1, length):
        states[t] = min(heights[states[t - 1]].searchsorted(uniform[t]), len(transition) - 1)
    return states
