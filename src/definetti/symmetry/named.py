"""Symmetries by their names."""

from __future__ import annotations

from typing import Any

from definetti.symmetry.base import Symmetry
from definetti.symmetry.full import Full
from definetti.symmetry.pairs import Pairs
from definetti.symmetry.published import Published
from definetti.symmetry.returns import Returns
from definetti.symmetry.shifts import Shifts
from definetti.symmetry.spaced import Spaced

NAMED: dict[str, Any] = {
    "full": Full,
    "returns": Returns,
    "pairs": Pairs,
    "spaced": Spaced,
    "shifts": Shifts,
    "published": Published,
}


def resolve(symmetry: str | Symmetry, fixed: bool = False) -> Symmetry:
    """Find a symmetry by its name; an object with the contract's methods is one already.

    ``"auto"`` is the whole class where the model is refitted for every candidate: nothing valid
    gives smaller sets. With a fixed model it is the spaced blocks, whose windows are scored once.

    >>> resolve("returns"), resolve("auto", fixed=True)
    (Returns(max_windows=20000), Spaced())
    """
    if isinstance(symmetry, str) and symmetry == "auto":
        return Spaced() if fixed else Full()
    if isinstance(symmetry, str):
        if symmetry in NAMED:
            found: Symmetry = NAMED[symmetry]()
            return found
    elif not isinstance(symmetry, type) and all(
        hasattr(symmetry, name) for name in ("exact", "orbit", "reference")
    ):
        return symmetry
    raise ValueError(
        f"symmetry must be one of 'auto', {', '.join(map(repr, NAMED))} or an object with the "
        f"methods of definetti.symmetry.Symmetry, such as BlockGroup; got {symmetry!r}"
    )
