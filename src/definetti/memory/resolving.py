"""The memory that a parameter stands for."""

from __future__ import annotations

from typing import Any

import numpy as np

from definetti.memory.base import Memory
from definetti.memory.order import Order


def resolve_memory(memory: Any) -> Memory:
    """Return the memory that is meant: a number of steps, a name, or a memory as it is.

    >>> resolve_memory(2), resolve_memory("observation")
    (Order(k=2), Observation())
    """
    if isinstance(memory, Memory):
        return memory
    if isinstance(memory, str) and memory in Memory.named and memory != Order.known_as:
        found: Memory = Memory.named[memory]()
        return found
    if isinstance(memory, (int, np.integer)) and not isinstance(memory, bool) and memory >= 1:
        return Order(int(memory))
    names = ", ".join(repr(name) for name in Memory.named if name != Order.known_as)
    raise ValueError(
        f"memory must be a whole number of steps ≥ 1, one of {names}, or a "
        f"definetti.memory.Memory, got {memory!r}"
    )
