"""A user's own group of permutations of the blocks: Step 4 allows any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from definetti._system.arrays import IntArray
from definetti.data.history import Completion
from definetti.symmetry._blocks import cut_at_pair, cut_at_state
from definetti.symmetry.base import Generator, Reference, Symmetry

Permutations = Sequence[Sequence[int]]


@dataclass(frozen=True)
class BlockGroup(Symmetry):
    """Rearrange blocks by the permutations of a group of one's own; exactly valid.

    Parameters
    ----------
    permutations : list of permutations of ``0 … g − 1``, or a function from the number of blocks
        to such a list
        They act on the last ``g`` blocks and leave the others in place; with fewer than ``g``
        blocks nothing is rearranged. They must form a group: anything else is refused.
    blocks : {"returns", "pairs"}
        Where the sequence is cut.

    Examples
    --------
    >>> BlockGroup([[0, 1, 2], [1, 2, 0], [2, 0, 1]]).orders(5)
    array([[4, 3, 2, 1, 0],
           [2, 4, 3, 1, 0],
           [3, 2, 4, 1, 0]])
    >>> BlockGroup([[0, 1, 2], [1, 2, 0]])
    Traceback (most recent call last):
    ValueError: permutations are not a group: (1, 2, 0) after (1, 2, 0) is (2, 0, 1), which is ...
    """

    permutations: Permutations | Callable[[int], Permutations]
    blocks: Literal["returns", "pairs"] = "returns"

    exact = True

    def __post_init__(self) -> None:
        if self.blocks not in ("returns", "pairs"):
            raise ValueError(f"blocks must be 'returns' or 'pairs', got {self.blocks!r}")
        # As they were when they were checked, whatever becomes of the user's own lists.
        members = None if callable(self.permutations) else check_group(self.permutations)
        object.__setattr__(self, "_members", members)

    @property
    def reads_observations(self) -> bool:  # type: ignore[override]
        return self.blocks == "pairs"

    def orders(self, number: int) -> IntArray:
        """Return the order of `number` blocks under each permutation, read from the end."""
        group: list[tuple[int, ...]] | None = vars(self)["_members"]
        if group is None:
            assert callable(self.permutations)
            group = check_group(self.permutations(number))
        degree = len(group[0])
        if degree > number:
            group, degree = [()], 0
        moved = number - degree + np.array(group, dtype=np.int64).reshape(len(group), degree)
        kept = np.broadcast_to(np.arange(number - degree), (len(group), number - degree))
        return np.ascontiguousarray(np.concatenate([kept, moved], axis=1)[:, ::-1])

    def reference(
        self, completion: Completion, n_resamples: int, generator: Generator
    ) -> Reference:
        cut = cut_at_state if self.blocks == "returns" else cut_at_pair
        blocks = cut(completion)
        windows = blocks.arranged(self.orders(blocks.number), completion.horizon)
        return Reference(windows, np.ones(len(windows.start), dtype=np.int64), joins=False)


def check_group(permutations: Permutations) -> list[tuple[int, ...]]:
    """Return the members of a group of permutations; refuse a list that is none, and say why."""
    members = [tuple(int(k) for k in member) for member in permutations]
    if not members:
        raise ValueError("permutations are not a group: the list is empty; give the identity")
    identity = tuple(range(len(members[0])))
    for member in members:
        if tuple(sorted(member)) != identity:
            raise ValueError(
                f"permutations[{members.index(member)}] is {member}, not a permutation of "
                f"0 … {len(identity) - 1}"
            )
    known = set(members)
    if len(known) < len(members):
        raise ValueError("permutations are not a group: a member occurs twice; list each once")
    # Close the set under products, one generator at a time: each at least doubles the subgroup,
    # so a list of g members is checked with g log g products, not g².
    generators: list[tuple[int, ...]] = []
    closed = {identity}
    for member in members:
        if member in closed:
            continue
        generators.append(member)
        closed, fresh = {identity}, [identity]
        while fresh:
            a = fresh.pop()
            for b in generators:
                product = tuple(a[k] for k in b)
                if product not in known:
                    raise ValueError(
                        f"permutations are not a group: {a} after {b} is {product}, which is not "
                        "among them; add it and all further products"
                    )
                if product not in closed:
                    closed.add(product)
                    fresh.append(product)
    if identity not in known:
        raise ValueError("permutations are not a group: the identity is not among them; add it")
    return members
