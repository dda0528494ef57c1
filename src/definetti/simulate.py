"""Simulate sequences of hidden Markov models."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.checks import checked_limit, checked_model
from definetti._system.compiled import kernel


class Sample(NamedTuple):
    """Observations and the hidden states that generated them."""

    observations: Any
    states: Any


def sample(
    initial: FloatArray,
    transition: FloatArray,
    emission: FloatArray,
    length: int,
    rng: np.random.Generator,
) -> Sample:
    """Draw a sequence of codes from a hidden Markov model.

    Parameters
    ----------
    initial, transition, emission : (n,), (n, n) and (n, m) probabilities of the first state, the
        next state and the symbols, in rows that sum to one
    length : the number of steps
    rng : generator of the random numbers

    Examples
    --------
    >>> alternating = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> sample(np.array([1.0, 0.0]), alternating, np.eye(2), 4, np.random.default_rng(0))
    Sample(observations=array([0, 1, 0, 1]), states=array([0, 1, 0, 1]))
    """
    checked_limit(length, "length")
    begin, steps, emitted = checked_model(initial, transition, emission)
    laws = np.cumsum(begin), np.cumsum(steps, axis=1), np.cumsum(emitted, axis=1)
    return Sample(*_walk(*laws, rng.random((2, length))))


@kernel
def _walk(
    begin: FloatArray, steps: FloatArray, emitted: FloatArray, uniforms: FloatArray
) -> tuple[IntArray, IntArray]:
    """Return the observations and states of (2, T) uniforms, by cumulative probabilities."""
    length = uniforms.shape[1]
    observations, states = np.empty(length, dtype=np.int64), np.empty(length, dtype=np.int64)
    law = begin
    for t in range(length):
        states[t] = _pick(law, uniforms[0, t])
        observations[t] = _pick(emitted[states[t]], uniforms[1, t])
        law = steps[states[t]]
    return observations, states


@kernel
def _pick(law: FloatArray, uniform: float) -> int:
    """Return the index of the first cumulative probability above a uniform, or the last index."""
    place = 0
    while place < len(law) - 1 and law[place] <= uniform:
        place += 1
    return place


# Sunny or rainy days, and what a neighbour carries.
INITIAL = np.array([0.7, 0.3])
TRANSITION = np.array([[0.9, 0.1], [0.2, 0.8]])
EMISSION = np.array([[0.1, 0.7, 0.2], [0.8, 0.05, 0.15]])


def weather_series(number: int, length: int, random_state: Any = None) -> Sample:
    """Draw many series of `weather` at once, as two arrays of codes, ``(number, length)``.

    Parameters
    ----------
    number, length : the number of series, and the number of days in each
    random_state : the seed, an int or a list of them; fresh random numbers if left out

    Examples
    --------
    >>> weather_series(2, 3, random_state=0).states
    array([[0, 0, 0],
           [0, 0, 1]], dtype=int8)
    """
    checked_limit(number, "number")
    checked_limit(length, "length")
    rng = np.random.default_rng(random_state)
    states = np.empty((number, length), dtype=np.int8)
    now = (rng.random(number) >= INITIAL[0]).astype(np.int8)
    for day in range(length):
        if day:
            now = (rng.random(number) >= TRANSITION[now, 0]).astype(np.int8)
        states[:, day] = now
    draws, within = rng.random((number, length)), np.cumsum(EMISSION, axis=1)
    things = (draws >= within[states, 0]).astype(np.int8) + (draws >= within[states, 1])
    return Sample(things.astype(np.int8), states)


def weather(length: int, random_state: int | None = None) -> Sample:
    """Draw sunny and rainy days (states), and what a neighbour carries (observations).

    Parameters
    ----------
    length : the number of days
    random_state : the seed, an int; fresh random numbers if left out

    Examples
    --------
    >>> weather(3, random_state=1).states
    ['sun', 'rain', 'sun']
    """
    rng = np.random.default_rng(random_state)
    drawn = sample(INITIAL, TRANSITION, EMISSION, length, rng)
    things, skies = ("umbrella", "hat", "nothing"), ("sun", "rain")
    return Sample([things[k] for k in drawn.observations], [skies[k] for k in drawn.states])
