"""The uniform numbers that break ties: one stream, indexed by the row of a prediction."""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import FloatArray, IntArray

DRAWS = 4  # numbers of a Philox block, by which `advance` counts


def tie_uniforms(entropy: int, key: int, rows: IntArray) -> FloatArray:
    """Return the numbers of a stream at given places.

    Parameters
    ----------
    entropy, key : whole numbers that name the stream
    rows : (B,) places in it, from 0

    Examples
    --------
    >>> both = tie_uniforms(0, 7, np.array([6, 1_000_003]))
    >>> both[1] == tie_uniforms(0, 7, np.array([1_000_003]))[0], both[0] == both[1]
    (np.True_, np.False_)
    """
    if not len(rows):
        return np.zeros(0)
    bits = np.random.Philox(np.random.SeedSequence(entropy, spawn_key=(1, key)))
    first = int(rows.min()) // DRAWS
    bits.advance(first)
    stream = np.random.Generator(bits).random(int(rows.max()) + 1 - DRAWS * first)
    return np.asarray(stream[rows - DRAWS * first])
