"""Trees of the reversed sequence, counted in whole numbers as the sequence goes on.

A member of the class of a sequence, read backwards, is an Euler trail to its first state ``r``. The
members that end in the step ``u → i`` are, but for a factor that all share,
``F_ui · t_r(R − e_iu)`` in number (BEST theorem, Whittle's formula), with ``t_r`` the number of
trees directed to ``r``: a determinant, which depends on the row of ``i`` through its cofactors.
These make the adjugate of the Laplacian, and a step changes that by a matrix of rank one: it costs
``O(n²)`` however long the sequence is, and no number is ever rounded.
"""

from __future__ import annotations

from definetti._system.arrays import IntArray


class Trees:
    """How many trees there are, and the cofactors that tell it for the next step.

    Attributes
    ----------
    root : the first state
    number : how many trees are directed to it
    cofactors : by state `u` and state `i`, how the number changes with the edges from `i` to `u`;
        states that were not met, and the root, have none

    Examples
    --------
    >>> trees = Trees(0, 3)
    >>> for earlier, later in [(0, 1), (1, 1), (1, 0), (0, 1), (1, 2), (2, 1)]:
    ...     trees.follow(earlier, later)
    >>> trees.number
    2
    """

    def __init__(self, root: int, n_states: int) -> None:
        self.root = root
        self.met = [False] * n_states
        self.met[root] = True
        self.number = 1
        self.cofactors = [[0] * n_states for _ in range(n_states)]

    @classmethod
    def of(cls, root: int, transitions: IntArray) -> Trees:
        """Return the trees of a sequence that has been, by its first state and its steps.

        >>> import numpy as np
        >>> Trees.of(0, np.array([[0, 2, 0], [1, 1, 1], [0, 1, 0]])).number
        2
        """
        # In an order in which each state is met from one that was met before; then all others.
        trees, left = cls(root, len(transitions)), transitions.tolist()
        waiting = [root]
        while waiting:
            earlier = waiting.pop()
            for later, count in enumerate(left[earlier]):
                if count and not trees.met[later]:
                    trees.follow(earlier, later)
                    left[earlier][later] -= 1
                    waiting.append(later)
        for earlier, row in enumerate(left):
            for later, count in enumerate(row):
                if count:
                    trees.follow(earlier, later, count)
        return trees

    def grow(self, n_states: int) -> None:
        """Make room for more states."""
        more = n_states - len(self.met)
        if more > 0:
            self.met += [False] * more
            self.cofactors = [row + [0] * more for row in self.cofactors]
            self.cofactors += [[0] * n_states for _ in range(more)]

    def follow(self, earlier: int, later: int, times: int = 1) -> None:
        """Take in a step, from a state that was met."""
        if later == earlier or later == self.root:
            return  # a loop is in no tree, and the root has no way out
        cofactors = self.cofactors
        if not self.met[later]:
            # Its one way out, so far, is in every tree, and no way leads to it.
            self.met[later] = True
            cofactors[later] = cofactors[earlier].copy()
            cofactors[later][later] = self.number
            times -= 1
            if not times:
                return
        old = self.number
        pairs = zip(cofactors[later], cofactors[earlier], strict=True)
        change = [times * (here - there) for here, there in pairs]
        new = self.number = old + change[later]
        for u, row in enumerate(cofactors):
            if own := row[later]:
                pairs = zip(row, change, strict=True)
                cofactors[u] = [(new * one - own * other) // old for one, other in pairs]
            elif new != old and any(row):
                cofactors[u] = [new * one // old for one in row]

    def ends(self, entries: list[int], last: int, state: int) -> list[int]:
        """Tell how many members end in a step to `state` from each state, but for a factor.

        Parameters
        ----------
        entries : how often each state came before `state`, the step from `last` included
        last : the last state so far, from which the step to `state` is the new one
        """
        if state == self.root:
            return entries
        base = self.number - self.cofactors[last][state]
        return [
            count and count * (base + row[state])
            for count, row in zip(entries, self.cofactors, strict=True)
        ]
