"""The first uniform number of many NumPy generators at once, to the last bit.

`numpy.random.default_rng(SeedSequence(entropy, spawn_key=key)).random()` takes some ten
microseconds, nearly all of them Python's. This is what NumPy documents that it does: the hash of
`SeedSequence` (O'Neill 2015) and PCG64 (O'Neill 2014), whose streams it promises to keep.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray
from definetti._system.compiled import kernel

Words = npt.NDArray[np.uint64]

POOL = 4
HIGH, LOW = np.uint64(2549297995355413924), np.uint64(4865540595714422341)  # PCG's multiplier
BITS32 = np.uint64(0xFFFFFFFF)


def first_uniforms(entropy: int, keys: Words) -> FloatArray:
    """Return what the generators of one entropy and many spawn keys draw first.

    Parameters
    ----------
    entropy : a whole number
    keys : (B, k) spawn keys, in rows

    Examples
    --------
    >>> keys = np.array([[3, 2**40]], dtype=np.uint64)
    >>> seed = np.random.SeedSequence(7, spawn_key=(3, 2**40))
    >>> float(first_uniforms(7, keys)[0]) == np.random.default_rng(seed).random()
    True
    """
    words = [entropy >> shift & 0xFFFFFFFF for shift in range(0, entropy.bit_length(), 32)]
    words += [0] * (POOL - len(words))
    return _first_uniforms(np.array(words, dtype=np.uint64), keys)


@kernel
def _hashed(word: np.uint64, constant: np.uint64) -> np.uint64:
    """Hash 32 bits with the constant of this turn and of the next."""
    word = word ^ constant
    word = word * ((constant * np.uint64(0x931E8875)) & BITS32) & BITS32
    return word ^ (word >> np.uint64(16))


@kernel
def _mixed(x: np.uint64, y: np.uint64) -> np.uint64:
    found = (np.uint64(0xCA01F9DD) * x - np.uint64(0x4973F715) * y) & BITS32
    return found ^ (found >> np.uint64(16))


@kernel
def _absorbed(pool: Words, constant: np.uint64, word: np.uint64) -> np.uint64:
    """Mix a word into the whole pool."""
    for k in range(POOL):
        pool[k] = _mixed(pool[k], _hashed(word, constant))
        constant = (constant * np.uint64(0x931E8875)) & BITS32
    return constant


@kernel
def _stepped(
    high: np.uint64, low: np.uint64, more_high: np.uint64, more_low: np.uint64
) -> tuple[np.uint64, np.uint64]:
    """Multiply 128 bits, in two halves, by PCG's number, and add others."""
    a, b = low >> np.uint64(32), low & BITS32
    c, d = LOW >> np.uint64(32), LOW & BITS32
    middle = a * d + ((b * d) >> np.uint64(32))
    other = b * c + (middle & BITS32)
    carried = a * c + (middle >> np.uint64(32)) + (other >> np.uint64(32))
    high = high * LOW + low * HIGH + carried + more_high
    low = low * LOW + more_low
    return high + np.uint64(low < more_low), low


@kernel
def _first_uniforms(words: Words, keys: Words) -> FloatArray:
    begun = np.empty(POOL, dtype=np.uint64)
    start = np.uint64(0x43B0D7E5)
    for k in range(POOL):
        begun[k] = _hashed(words[k], start)
        start = (start * np.uint64(0x931E8875)) & BITS32
    for source in range(POOL):
        for k in range(POOL):
            if source != k:
                begun[k] = _mixed(begun[k], _hashed(begun[source], start))
                start = (start * np.uint64(0x931E8875)) & BITS32
    for k in range(POOL, len(words)):
        start = _absorbed(begun, start, words[k])
    found = np.empty(len(keys))
    seed = np.empty(4, dtype=np.uint64)
    pool = np.empty(POOL, dtype=np.uint64)
    for b in range(len(keys)):
        pool[:] = begun
        constant = start
        for key in keys[b]:
            constant = _absorbed(pool, constant, key & BITS32)
            if key > BITS32:
                constant = _absorbed(pool, constant, key >> np.uint64(32))
        constant = np.uint64(0x8B51F9DD)
        for k in range(8):
            word = pool[k % POOL] ^ constant
            constant = (constant * np.uint64(0x58F38DED)) & BITS32
            word = word * constant & BITS32
            word = word ^ (word >> np.uint64(16))
            seed[k // 2] = word if k % 2 == 0 else seed[k // 2] | word << np.uint64(32)
        # The stream's own number is odd; the state begins at nothing.
        more_high = seed[2] << np.uint64(1) | seed[3] >> np.uint64(63)
        more_low = seed[3] << np.uint64(1) | np.uint64(1)
        high, low = more_high, more_low
        low = low + seed[1]
        high = high + seed[0] + np.uint64(low < seed[1])
        high, low = _stepped(high, low, more_high, more_low)
        high, low = _stepped(high, low, more_high, more_low)
        bits, turn = high ^ low, high >> np.uint64(58)
        bits = bits >> turn | bits << (np.uint64(64) - turn & np.uint64(63))
        found[b] = (bits >> np.uint64(11)) * (1.0 / 9007199254740992.0)
    return found
