"""Symmetries by their names."""

from __future__ import annotations

from typing import Any

from definetti.symmetry.contract import Symmetry
from definetti.symmetry.full import Full
from definetti.symmetry.pairs import Pairs
from definetti.symmetry.published import Published
from definetti.symmetry.returns import Returns
from definetti.symmetry.shifts import Shifts
from definetti.symmetry.spaced import Spaced

NAMED: dict[str, Any] = {
    "auto": Full,
    "full": Full,
    "returns": Returns,
    "pairs": Pairs,
    "spaced": Spaced,
    "shifts": Shifts,
    "published": Published,
}


def resolve(symmetry: str | Symmetry) -> Symmetry:
    """Find a symmetry by its name; an object with the contract's methods is one already.

    ``"auto"`` is the whole class: wherever the model is refitted for every candidate, nothing
    valid gives smaller sets.

    >>> resolve("returns")
    Returns(max_windows=20000)
    """
    if isinstance(symmetry, str):
        if symmetry in NAMED:
            found: Symmetry = NAMED[symmetry]()
            return found
    elif all(hasattr(symmetry, name) for name in ("exact", "orbit", "reference")):
        return symmetry
    raise ValueError(
        f"symmetry must be one of {', '.join(map(repr, NAMED))} or an object with the methods of "
        f"definetti.symmetry.Symmetry, such as BlockGroup; got {symmetry!r}"
    )
