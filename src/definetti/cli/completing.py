"""Names that the shell can complete, where a list of them is separated by commas."""

from __future__ import annotations

from collections.abc import Iterable


def complete_scores(incomplete: str) -> list[str]:
    """Complete the name of a score."""
    from definetti.scores import Score

    return [name for name in Score.named if name.startswith(incomplete)]


def complete_symmetries(incomplete: str) -> list[str]:
    """Complete the name of a symmetry."""
    from definetti.symmetry import Symmetry

    return [name for name in ("auto", *Symmetry.named) if name.startswith(incomplete)]


def complete_memories(incomplete: str) -> list[str]:
    """Complete the name of a memory; that of a number of states is the number."""
    from definetti.memory import Memory, Order

    names = ["1", "2", *(name for name in Memory.named if name != Order.known_as)]
    return [name for name in names if name.startswith(incomplete)]


def complete_tests(incomplete: str) -> list[str]:
    """Complete the last of some names of tests."""
    from definetti.check import Statistic

    return complete_last(incomplete, Statistic.named)


def complete_worlds(incomplete: str) -> list[str]:
    """Complete the last of some names of worlds."""
    from definetti.experiments.worlds import DRAWN, NEEDS

    return complete_last(incomplete, [*DRAWN, *NEEDS])


def complete_methods(incomplete: str) -> list[str]:
    """Complete the last of some names of methods."""
    from definetti.experiments.contestants import CONTESTANTS

    return complete_last(incomplete, CONTESTANTS)


def complete_last(incomplete: str, names: Iterable[str]) -> list[str]:
    """Return what a list that ends in the beginning of a name may become.

    >>> complete_last("sticky,ra", ["sticky", "rare", "random"])
    ['sticky,rare', 'sticky,random']
    """
    before, comma, begun = incomplete.rpartition(",")
    taken = before.split(",")
    return [
        f"{before}{comma}{name}" for name in names if name.startswith(begun) and name not in taken
    ]
