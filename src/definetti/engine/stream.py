"""Ranks one step ahead from counts, step after step, at a constant cost.

Given the class of a sequence that ends in ``i``, the state before the end has the weights of
Whittle's formula, and the last observation is any of those of ``i``, independently. With a model
refitted on the counts, the smoothed ranks of successive steps among the members of their classes
are independent and uniform for every hidden Markov model: what martingales are made of.
"""

from __future__ import annotations

from operator import mul
from typing import NamedTuple

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.data.history import History, padded
from definetti.engine.pvalues import Rank, Ranked
from definetti.engine.step_kernels import (
    count_step,
    place_all_in_class,
    place_fixed_in_class,
    place_in_class,
    place_in_past,
)


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


PARTS = ("transitions", "observations", "whole window")
ALONE = Rank(0, 1, 1)  # of a state met nowhere else in its segment: no evidence against it


class Stream:
    """A labelled sequence of symbols that goes on, as the counts that ranks depend on.

    Parameters
    ----------
    n_states, n_symbols : int
        How many there are; more may come up later, see `grow`.
    priors : (float, float)
        What is added to each count of transitions and of symbols.
    surprise : bool, default True
        Whether a whole step is judged by minus the log-probability of its state, else by one minus
        the probability.
    recent : int, optional
        How many past steps to each state `past_ranks` compares with, at most: the latest. All if
        left out.

    Attributes
    ----------
    transitions : (n, n) steps within the present segment
    pooled, emissions : (n, n), (n, m + 1) steps, and observations of each state with missing ones
        first, in all segments
    steps : (n, n, m + 1) the latest steps of the segment to each state, but the first
    entered : (n,) how many steps to each state there were, but the first
    ring : (n, r, 2) the steps in the table, by state, as the state before and the column of the
        observation; step ``k`` to a state is at place ``k % r``. Empty where all are counted.
    first, last : states of the present segment; -1 where it has none yet
    table : (n, n, m + 1) scores of steps under a fixed model, by the state before, the state and
        the observation, a missing one first; None where the model is refitted on the counts

    Examples
    --------
    >>> stream = Stream(n_states=2, n_symbols=2)
    >>> for state, code in [(0, 0), (0, 0), (1, 1), (0, 1), (0, 0)]:
    ...     stream.learn(state, code)
    >>> moved, seen, whole = stream.ranks(1, 0)
    >>> moved.p_value(), seen.p_value(), whole.p_value(uniform=0.5)
    (1.0, 1.0, 0.25)
    """

    def __init__(
        self,
        n_states: int,
        n_symbols: int,
        priors: tuple[float, float] = (0.5, 0.5),
        surprise: bool = True,
        recent: int | None = None,
    ) -> None:
        n, width = n_states, n_symbols + 1
        self.recent = recent
        self.priors = (float(priors[0]), float(priors[1]))
        self.surprise = surprise
        self.transitions: IntArray = np.zeros((n, n), dtype=np.int64)
        self.pooled: IntArray = np.zeros((n, n), dtype=np.int64)
        self.emissions: IntArray = np.zeros((n, width), dtype=np.int64)
        self.steps: IntArray = np.zeros((n, n, width), dtype=np.int64)
        self.entered: IntArray = np.zeros(n, dtype=np.int64)
        self.ring: IntArray = np.zeros((n, 0, 2), dtype=np.int64)
        self.first = self.last = -1
        self.table: FloatArray | None = None
        self._trees: Trees | None = None

    @classmethod
    def of(
        cls,
        history: History,
        n_symbols: int,
        priors: tuple[float, float] = (0.5, 0.5),
        surprise: bool = True,
        recent: int | None = None,
    ) -> Stream:
        """Return the counts of a history, and of the segments before it."""
        n, pool = history.n_states, history.pool
        made = cls(n, n_symbols, priors, surprise, recent)
        made.transitions[:] = padded(history.transitions, n, n)
        made.pooled[:] = padded(pool.transitions, n, n)
        dealt = slice(int(pool.omits_first), None)
        np.add.at(made.emissions, (pool.states[dealt], pool.observations[dealt] + 1), 1)
        if len(history):
            made.first, made.last = history.first, history.last
            made._count_latest(history)
        return made

    def _count_latest(self, history: History) -> None:
        """Count the latest steps of a history to each state."""
        later = [history.visits(state)[1:] for state in range(self.n_states)]
        self.entered[:] = list(map(len, later))
        self.make_room()
        room = self.ring.shape[1]
        for state, times in enumerate(later):
            latest = times if self.recent is None else times[-self.recent :]
            before, codes = history.states[latest - 1], history.observations[latest] + 1
            np.add.at(self.steps[:, state], (before, codes), 1)
            if room:
                places = np.arange(len(times) - len(latest), len(times)) % room
                self.ring[state, places] = np.column_stack([before, codes])

    @property
    def n_states(self) -> int:
        return len(self.pooled)

    @property
    def n_symbols(self) -> int:
        return int(self.emissions.shape[1]) - 1

    @property
    def trees(self) -> Trees:
        """The trees of the present segment, which follow from its counts."""
        if self._trees is None:
            self._trees = Trees.of(self.first, self.transitions)
        return self._trees

    def grow(self, n_states: int, n_symbols: int) -> None:
        """Make room for states and symbols that came up; there are never fewer."""
        if n_states > self.n_states or n_symbols > self.n_symbols:
            n, width = max(n_states, self.n_states), max(n_symbols, self.n_symbols) + 1
            self.transitions, self.pooled = (
                padded(counts, n, n) for counts in (self.transitions, self.pooled)
            )
            self.emissions, self.steps = (
                padded(self.emissions, n, width),
                padded(self.steps, n, n, width),
            )
            self.entered, self.ring = padded(self.entered, n), padded(self.ring, n)
            if self._trees is not None:
                self._trees.grow(n)

    def make_room(self, more: int = 0) -> None:
        """Make room in the ring for the latest steps of the past, and for so many more."""
        if self.recent is None:
            return
        room, needed = self.ring.shape[1], int(self.entered.max(initial=0)) + more
        if room < min(needed, self.recent):  # doubling, up to where the oldest is taken out
            room = min(max(needed, 2 * room), self.recent)
            self.ring = padded(self.ring, self.n_states, room)

    def learn(self, state: int, code: int) -> None:
        """Let the sequence go on; the first step of a segment follows nothing."""
        last = self.last
        if last < 0:
            self.first, self._trees = state, None
        else:
            trees = self.trees
            if trees.met[state]:
                self.make_room(1)
                count_step(self.steps, self.ring, self.entered, last, state, code + 1)
            trees.follow(last, state)
            self.transitions[last, state] += 1
            self.pooled[last, state] += 1
        self.emissions[state, code + 1] += 1
        self.last = state

    def new_segment(self) -> None:
        """Begin a new segment, after a gap of which nothing is known."""
        self.transitions[:] = 0
        self.steps[:] = self.entered[:] = 0
        self.first = self.last = -1
        self._trees = None

    def ranks(self, state: int, code: int) -> tuple[Rank, Rank, Rank]:
        """Rank a step among the members of its class: its move, its observation, all of it."""
        self._check_begun()
        if not self.trees.met[state]:
            return ALONE, ALONE, ALONE
        weights = self._ends(state)
        sources = np.array([weight > 0 for weight in weights], dtype=np.int64)
        found = place_in_class(
            self.pooled,
            self.emissions,
            sources,
            self.last,
            state,
            code,
            self.priors,
            self.surprise,
        )
        return _ranks(weights, found.tolist())

    def visits(self, state: int) -> list[Rank]:
        """Rank a step by whether it comes from each state, the more nonconforming case.

        Where a state comes no more, the small p-values of its own are those that are missing.

        >>> stream = Stream(n_states=2, n_symbols=0)
        >>> for one in [0, 0, 1, 0, 0]:
        ...     stream.learn(one, -1)
        >>> [rank.p_value(uniform=0.5) for rank in stream.visits(0)]
        [0.375, 0.625]
        """
        self._check_begun()
        if not self.trees.met[state]:
            return [ALONE] * self.n_states
        weights = self._ends(state)
        total = sum(weights)
        return [
            Rank(0, own, total) if u == self.last else Rank(own, total - own, total)
            for u, own in enumerate(weights)
        ]

    def _ends(self, state: int) -> list[int]:
        """Weigh the states that the last step, to a state that was met, may come from."""
        entries = self.transitions[:, state].tolist()
        entries[self.last] += 1
        return self.trees.ends(entries, self.last, state)

    def place_all(self, code: int) -> Placed:
        """Compare a step to each state with the members of its class."""
        self._check_begun()
        trees, last, nothing = self.trees, self.last, [0] * self.n_states
        sources, weights = self.transitions, []
        for state, entries in enumerate(sources.T.tolist()):
            entries[last] += 1
            weighed = trees.ends(entries, last, state) if trees.met[state] else nothing
            # Without the step there may be no tree.
            if 0 in weighed and weighed.count(0) > entries.count(0):
                sources = sources.copy() if sources is self.transitions else sources
                sources[:, state] = [one > 0 for one in weighed]
            weights.append(weighed)
        if self.table is not None:
            found, scores = place_fixed_in_class(self.table, self.emissions, sources, last, code)
        else:
            found, scores = place_all_in_class(
                self.pooled, self.emissions, sources, last, code, self.priors, self.surprise
            )
        return Placed(weights, found.tolist(), scores)

    def past_ranks(self, code: int) -> Ranked:
        """Rank a step to each state among the latest past steps to it, as "spaced" blocks do."""
        self._check_begun()
        placed, scores = place_in_past(
            self.pooled, self.emissions, self.steps, self.last, code, self.priors, self.surprise
        )
        greater, equal, total = placed.T[:, None]
        return Ranked(greater, equal, total, scores[None])

    def _check_begun(self) -> None:
        if self.last < 0:
            raise ValueError("the segment has no state yet that a step could follow")


class Placed(NamedTuple):
    """A step to each state, compared with the members of its class.

    Attributes
    ----------
    weights : by state, how many members come from each state before; none where a state is alone
    found : by state, as `place_in_class` returns it
    scores : the nonconformity score of each whole step
    """

    weights: list[list[int]]
    found: list[list[list[int]]]
    scores: FloatArray

    def wholes(self) -> list[Rank]:
        """Rank the steps to all states as a whole."""
        return [
            Rank(
                sum(map(mul, weights, found[2])),
                sum(map(mul, weights, found[3])),
                total * found[4][2],
            )
            if (total := sum(weights))
            else ALONE
            for weights, found in zip(self.weights, self.found, strict=True)
        ]

    def ranks(self, state: int) -> tuple[Rank, Rank, Rank]:
        """Rank the step to a state, part by part."""
        if not any(self.weights[state]):
            return ALONE, ALONE, ALONE
        return _ranks(self.weights[state], self.found[state])


def _ranks(weights: list[int], found: list[list[int]]) -> tuple[Rank, Rank, Rank]:
    total, (greater, equal, every, *_) = sum(weights), found[4]
    # Rows may be longer than there are states, by zeros.
    moved, as_moved, stepped, as_stepped = (sum(map(mul, weights, row)) for row in found[:4])
    return (
        Rank(moved, as_moved, total),
        Rank(greater, equal, every),
        Rank(stepped, as_stepped, total * every),
    )
