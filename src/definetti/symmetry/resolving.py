"""Symmetries by what the user gives."""

from __future__ import annotations

from definetti.symmetry.base import Symmetry
from definetti.symmetry.full import Full
from definetti.symmetry.spaced import Spaced


def resolve(symmetry: str | Symmetry, fixed: bool = False) -> Symmetry:
    """Find a symmetry by its name; an object is one already.

    ``"auto"`` is the whole class where the model is refitted for every candidate: nothing valid
    gives smaller sets. With a fixed model it is the spaced blocks, whose windows are scored once.

    >>> resolve("returns"), resolve("auto", fixed=True)
    (Returns(max_windows=20000), Spaced())
    """
    if isinstance(symmetry, Symmetry):
        return symmetry
    if isinstance(symmetry, str) and symmetry == "auto":
        return Spaced() if fixed else Full()
    if isinstance(symmetry, str) and symmetry in Symmetry.named:
        found: Symmetry = Symmetry.named[symmetry]()
        return found
    raise ValueError(
        f"symmetry must be one of 'auto', {', '.join(map(repr, Symmetry.named))} or a "
        f"definetti.symmetry.Symmetry, such as BlockGroup; got {symmetry!r}"
    )
