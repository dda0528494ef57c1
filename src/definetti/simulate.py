"""Hidden Markov models to try things on."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, NamedTuple

import numpy as np

from definetti._system.arrays import FloatArray, IntArray


class Sample(NamedTuple):
    """Observations and the states behind them."""

    observations: Any
    states: Any


def sample(
    initial: FloatArray,
    transition: FloatArray,
    emission: FloatArray,
    length: int,
    rng: np.random.Generator,
) -> Sample:
    """Draw a sequence from a model, as codes.

    Parameters
    ----------
    initial : (n,) the law of the first state
    transition : (n, n) probabilities of the next state, in rows that sum to one
    emission : (n, m) probabilities of the symbols of each state, in rows that sum to one
    length : how many steps to draw
    rng : where random numbers come from

    Examples
    --------
    >>> alternating = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> sample(np.array([1.0, 0.0]), alternating, np.eye(2), 4, np.random.default_rng(0))
    Sample(observations=array([0, 1, 0, 1]), states=array([0, 1, 0, 1]))
    """
    # Lists, because a step at a time they are many times faster than arrays.
    steps, emitted = np.cumsum(transition, axis=1).tolist(), np.cumsum(emission, axis=1)
    law, top, path = np.cumsum(initial).tolist(), len(initial) - 1, []
    for u in rng.random(length).tolist():
        path.append(min(bisect_right(law, u), top))
        law = steps[path[-1]]
    states: IntArray = np.array(path, dtype=np.int64)
    draws = rng.random((length, 1))
    observations = np.minimum((emitted[states] <= draws).sum(axis=1), emission.shape[1] - 1)
    return Sample(observations, states)


def weather(length: int, random_state: int | None = None) -> Sample:
    """Draw days that are sunny or rainy, and what a neighbour carries.

    Parameters
    ----------
    length : int
        How many days.
    random_state : int, optional
        The seed; fresh random numbers if left out.

    Examples
    --------
    >>> weather(3, random_state=1).states
    ['sun', 'rain', 'sun']
    """
    rng = np.random.default_rng(random_state)
    transition = np.array([[0.9, 0.1], [0.2, 0.8]])
    emission = np.array([[0.1, 0.7, 0.2], [0.8, 0.05, 0.15]])
    drawn = sample(np.array([0.7, 0.3]), transition, emission, length, rng)
    things, skies = ("umbrella", "hat", "nothing"), ("sun", "rain")
    return Sample([things[k] for k in drawn.observations], [skies[k] for k in drawn.states])
