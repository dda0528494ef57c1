"""How far data are from a hidden Markov model whose law does not change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from definetti.experiments.worlds import Recording

Codes = npt.NDArray[np.int64]
SHUFFLES = 100


class Departure(NamedTuple):
    """What something that ought to be irrelevant tells of the next state.

    Attributes
    ----------
    bits : per step, beyond what the present state tells
    chance : the most in `SHUFFLES` shuffles in which it is irrelevant indeed
    """

    bits: float
    chance: float


def two_back(states: Codes) -> Codes:
    """The state before the present one: irrelevant in a Markov chain."""
    return states[:-2]


def half(states: Codes) -> Codes:
    """Whether the present is in the second half: irrelevant if the law does not change."""
    return (2 * np.arange(1, len(states) - 1) >= len(states)).astype(np.int64)


def departure(histories: Sequence[Recording], context: Callable[[Codes], Codes]) -> Departure:
    """Measure what a context tells, averaged over the steps of all histories."""
    rng = np.random.default_rng(0)
    values = np.zeros(SHUFFLES + 1)
    for history in histories:
        _, states = np.unique(history.states, return_inverse=True)
        present, following = states[1:-1], states[2:].copy()
        of = [np.flatnonzero(present == state) for state in np.unique(present)]
        for k in range(SHUFFLES + 1):
            values[k] += len(following) * information(context(states), present, following)
            for times in of:  # the first round is the truth, all others are shuffled
                following[times] = rng.permutation(following[times])
    values /= sum(len(history.states) - 2 for history in histories)
    return Departure(float(values[0]), float(values[1:].max()))


def information(context: Codes, present: Codes, following: Codes) -> float:
    """Bits that the context tells of what follows, given the present, as counted.

    >>> coin = np.array([0, 1, 0, 1])
    >>> information(coin, np.zeros(4, dtype=int), coin)
    1.0
    """
    alone = _entropy(present, following) - _entropy(present)
    return alone - (_entropy(context, present, following) - _entropy(context, present))


def _entropy(*columns: Codes) -> float:
    width = 1 + max(int(column.max()) for column in columns)
    joint = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        joint = joint * width + column
    share = np.unique(joint, return_counts=True)[1] / len(joint)
    return float(-(share * np.log2(share)).sum())


def lingering(histories: Sequence[Recording]) -> float | None:
    """Correlate successive observations once the means of their states are taken off.

    Nought in a hidden Markov model; None where observations are not numbers.
    """
    products = squares = 0.0
    for history in histories:
        values = np.asarray(history.observations)
        if values.dtype.kind != "f":
            return None
        for state in set(history.states):
            own = np.array(history.states) == state
            values = np.where(own[:, None], values - values[own].mean(axis=0), values)
        values = values / values.std(axis=0)
        products += float((values[1:] * values[:-1]).sum())
        squares += float((values[1:] ** 2).sum())
    return products / squares


def describe(name: str, histories: Sequence[Recording]) -> str:
    """Say in words how far the histories of one kind are from a hidden Markov model."""
    memory, change = departure(histories, two_back), departure(histories, half)
    text = (
        f"{name}: the state before the present one adds {memory.bits:.3f} bits about the next "
        f"(at most {memory.chance:.3f} by chance); the half of the history adds {change.bits:.3f} "
        f"({change.chance:.3f})"
    )
    correlation = lingering(histories)
    if correlation is None:
        return f"{text}."
    return f"{text}; successive observations have correlation {correlation:.2f} given the state."
