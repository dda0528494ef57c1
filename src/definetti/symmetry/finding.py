"""The symmetry that parameters stand for."""

from __future__ import annotations

from typing import Any

from definetti._system.checks import checked_choice, is_auto
from definetti.data.history import History
from definetti.memory import Order, resolve_memory
from definetti.symmetry.base import Symmetry
from definetti.symmetry.remembering import Remembering


def find_symmetry(symmetry: Any) -> Symmetry:
    """Return the symmetry that is meant.

    What goes together stays together in whole blocks: of what is exact given the last state,
    "auto" is the one that keeps its level where recorded data are no hidden Markov model.
    """
    meant = "spaced" if is_auto(symmetry) else symmetry
    found: Symmetry = checked_choice(meant, Symmetry, "symmetry", ", 'auto'")
    return found


def remember(symmetry: Symmetry, memory: Any, history: History) -> Symmetry:
    """Return a symmetry of tokens; of states, where these are all that the future depends on.

    Parameters
    ----------
    memory : as `definetti.memory.resolve_memory` reads it
    history : one that must have such tokens
    """
    if type(memory) is int and memory == 1:
        return symmetry
    resolved = resolve_memory(memory)
    if resolved == Order(1):
        return symmetry
    found = Remembering(symmetry, resolved)
    found.check(history)
    return found
