"""What a candidate is compared with: one symmetry a file, one contract."""

from definetti.symmetry.base import Reference, Symmetry
from definetti.symmetry.full import Full
from definetti.symmetry.group import BlockGroup
from definetti.symmetry.named import resolve
from definetti.symmetry.pairs import Pairs
from definetti.symmetry.published import Published
from definetti.symmetry.returns import Returns
from definetti.symmetry.shifts import Shifts
from definetti.symmetry.spaced import Spaced

__all__ = [
    "BlockGroup",
    "Full",
    "Pairs",
    "Published",
    "Reference",
    "Returns",
    "Shifts",
    "Spaced",
    "Symmetry",
    "resolve",
]
