"""Random whole numbers in compiled code, and the uniforms that break ties."""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel

BITS = 2**53

# Draws without replacement, up to which searching a list is cheaper than marking each.
FEW = 32
DRAWS = 4  # numbers per Philox block, the unit of `advance`


@kernel
def draw_below(rng: np.random.Generator, bound: int) -> int:
    """Draw a whole number from 0 to ``bound - 1``, all with exactly the same probability."""
    share = BITS // bound
    while True:
        number = int(rng.random() * BITS) // share  # 53 random bits, in equal shares
        if number < bound:
            return number


def tie_uniforms(entropy: int, key: int, rows: IntArray) -> FloatArray:
    """Return the uniforms at positions `rows` of the stream with this entropy and key."""
    if not len(rows):
        return np.zeros(0)
    bits = np.random.Philox(np.random.SeedSequence(entropy, spawn_key=(1, key)))
    first = int(rows.min()) // DRAWS
    bits.advance(first)
    stream = np.random.Generator(bits).random(int(rows.max()) + 1 - DRAWS * first)
    return np.asarray(stream[rows - DRAWS * first])
