"""The check of a memory."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from definetti._system.arrays import IntArray
from definetti.memory import Memory
from definetti.testing.uniform import same

LENGTH = 12


def check_memory(memory: Memory) -> None:
    """Check that tokens follow from each other, and mean the same wherever they come.

    Parameters
    ----------
    memory : an object that derives from `definetti.memory.Memory`

    Examples
    --------
    >>> from definetti.memory import Age
    >>> check_memory(Age(most=3))
    """
    assert isinstance(memory, Memory), f"{memory!r} does not derive from definetti.memory.Memory"
    for states, seen in _sequences():
        tokens = Memory.trace(memory, states, seen)  # by `begin` and `follow`
        assert same(tokens[:, 0], states), "a token must begin with the code of its state"
        _check_followed(memory, tokens, states, seen)
        _check_traced(memory, tokens, states, seen)
        _check_codes(memory, tokens, states, seen)
        _check_begun(memory, tokens, states, seen)
        if not memory.reads_observations:
            assert same(tokens, memory.trace(states, 1 - seen)), (
                "reads_observations is False, and tokens depend on observations; leave it out"
            )


def _sequences() -> Any:
    """Yield all short sequences of two states, and longer ones of three; of two symbols."""
    rng = np.random.default_rng(0)
    for states in product(range(2), repeat=6):
        yield np.array(states), rng.integers(0, 2, 6)
    for _ in range(40):
        yield rng.integers(0, 3, LENGTH), rng.integers(0, 2, LENGTH)


def _check_followed(memory: Memory, tokens: IntArray, states: IntArray, seen: IntArray) -> None:
    """Check that a token is a function of the one before it and of what is new."""
    at_once = memory.follow(tokens[:-1], states[1:], seen[1:])
    assert same(at_once, tokens[1:]), (
        "a token depends on more than the one before it and what is new: the same come out "
        "otherwise when they are asked for together; keep nothing between calls"
    )


def _check_traced(memory: Memory, tokens: IntArray, states: IntArray, seen: IntArray) -> None:
    """Check that the fast way is the slow one, from the beginning and from any token."""
    assert same(memory.trace(states, seen), tokens), "`trace` is not `begin` and then `follow`"
    for cut in (1, len(states) // 2):
        later = memory.trace(states[cut:], seen[cut:], tokens[cut - 1])
        assert same(later, tokens[cut:]), "`trace` after a token is not `follow`"


def _check_codes(memory: Memory, tokens: IntArray, states: IntArray, seen: IntArray) -> None:
    """Check that codes are looked up, never computed with."""
    other = memory.trace(np.array([2, 0, 1])[states], 1 - seen)
    assert same(_alike(tokens), _alike(other)), (
        "tokens compute with codes as if they were numbers: with other codes for the same states "
        "or symbols, other steps share a token; use codes only to tell them apart"
    )


def _check_begun(memory: Memory, tokens: IntArray, states: IntArray, seen: IntArray) -> None:
    """Check that steps that share a token would do so whatever had come before the first."""
    for cut in range(1, len(states)):
        alone = memory.trace(states[cut:], seen[cut:])
        shared, known = _alike(alone), _alike(tokens[cut:])
        assert not (shared & ~known).any(), (
            "`begin` gives a token that a later step may have, though the past, which is not "
            "known, makes a difference to it; give it a token of its own, as Age does"
        )


def _alike(tokens: IntArray) -> Any:
    """Tell which steps share a token, ``(T, T)``."""
    return (tokens[:, None] == tokens[None]).all(axis=2)
