"""The symmetry that a parameter stands for."""

from __future__ import annotations

from typing import Any

from definetti._system.checks import checked_choice, is_auto
from definetti.symmetry.base import Symmetry


def find_symmetry(symmetry: Any) -> Symmetry:
    """Return the symmetry that is meant.

    What goes together stays together in whole blocks: of what is exact given the last state,
    "auto" is the one that keeps its level where recorded data are no hidden Markov model.
    """
    meant = "spaced" if is_auto(symmetry) else symmetry
    found: Symmetry = checked_choice(meant, Symmetry, "symmetry", ", 'auto'")
    return found
