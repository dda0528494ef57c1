"""Ranks one step ahead from counts, step after step, at a constant cost.

Given the class of a sequence that ends in ``i``, the previous state has the weights of Whittle's
formula, and the last observation is uniform over the observations of ``i``, independently. With a
model refitted on the counts, the smoothed ranks of successive steps among the members of their
classes are independent and uniform for every hidden Markov model; martingales bet on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from operator import mul
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.data.history import History, Windows, padded
from definetti.emissions import Categorical, Text
from definetti.engine.pvalues import Rank, Ranked
from definetti.engine.segment import Segment
from definetti.engine.step_kernels import count_step, place_parts_in_class, place_step, rank_steps
from definetti.models.base import Model
from definetti.models.hmm import HMM
from definetti.scores import Filter, Joint, Path, Score, Smoother
from definetti.symmetry import Full, Returns, Spaced, Symmetry


class Trees:
    """The number of trees directed to a root, with the cofactors that update it.

    The cofactor of the states `u` and `i` is the change of the number by edges from `i` to `u`; it
    is zero for states not met, and for the root.

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
        """Return the trees of a past sequence from its first state and its transition counts."""
        # First one step to each state from a state already met; then all others.
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
        """Update for a step from a state already met."""
        if later == earlier or later == self.root:
            return  # a loop is in no tree, and no edge leaves the root
        cofactors = self.cofactors
        if not self.met[later]:
            # The only edge of a new state is in every tree, and no edge leads to the state.
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
                cofactors[u] = [(new * cofactor - own * other) // old for cofactor, other in pairs]
            elif new != old and any(row):
                cofactors[u] = [new * cofactor // old for cofactor in row]

    def ends(self, entries: list[int], last: int, state: int) -> list[int]:
        """Return how many members end in a step to `state` from each state, up to a factor."""
        if state == self.root:
            return entries
        base = self.number - self.cofactors[last][state]
        return [
            count and count * (base + row[state])
            for count, row in zip(entries, self.cofactors, strict=True)
        ]


LEAST = 1e-9  # with a smaller prior a probability may be zero, or not distinguishable from it


def find_priors(model: Model, table: Any) -> tuple[float, float] | None:
    """Return the priors added to counts of moves and symbols; None if counts are not the model."""
    if not isinstance(model, HMM) or type(model).estimate is not HMM.estimate:
        return None
    emission = model.emission_
    few = type(emission) is Text and len(table) <= emission.few  # labels, and not words
    if type(emission) is not Categorical and not few:
        return None
    return float(model.prior), float(emission.prior)  # type: ignore[attr-defined]


def find_step_score(score: Score) -> str:
    """Return how a score rates one step, as in `Stream`: "surprise", "rest", or "" if unknown."""
    if type(score) is Path and not score.lag:
        return "surprise"
    known = isinstance(score, (Filter, Smoother, Joint)) and not score.lag
    return "rest" if known and type(score) in (Filter, Smoother, Joint) else ""


def find_step_reference(symmetry: Symmetry, n_states: int, n_symbols: int) -> str:
    """Return what one step is compared with, where counts of steps suffice; else "".

    "past" is for the latest steps to the same state, except the first step; "class" for the last
    steps of all sequences with the same counts.
    """
    if type(symmetry) in (Spaced, Returns):
        return "past"
    if type(symmetry) is not Full:
        return ""
    most = symmetry.max_windows
    counted = n_states * (n_symbols + 1) <= most and n_states**4 <= 10 * most
    return "class" if counted else ""


PARTS = ("transitions", "observations", "whole window")
NOTHING = np.zeros((0, 0, 0), dtype=np.int64)
ALONE = Rank(0, 1, 1)  # for a state not met before in its segment: no evidence against it


class Stream:
    """Counts of a growing labelled sequence of symbols, which ranks depend on.

    Attributes
    ----------
    priors, surprise : for the refitted model and its score, as in `step_kernels`
    recent : how many latest steps to each state `past_ranks` compares with; None for all
    transitions : (n, n) steps within the present segment
    pooled, emissions : (n, n), (n, m + 1) steps, and observations of each state with missing ones
        first, in all segments
    steps : (n, n, m + 1) the latest steps of the segment to each state, except the first
    entered : (n,) how many steps to each state there were, except the first
    ring : (n, r, 2) the steps in `steps`, by state, as the previous state and the column of the
        observation; step ``k`` to a state is at place ``k % r``. Empty where all are counted.
    first, last : states of the present segment; -1 before its first state
    table : (n, n, m + 1) scores of steps under a fixed model, by previous state, state and
        observation, a missing one first; empty where the model is refitted on the counts

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
        self.table: FloatArray = np.empty((0, 0, 0))
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
        """Return the counts of a history and of the segments before it."""
        n, pool = history.n_states, history.pool
        stream = cls(n, n_symbols, priors, surprise, recent)
        stream.transitions[:] = padded(history.transitions, n, n)
        stream.pooled[:] = padded(pool.transitions, n, n)
        dealt = slice(int(pool.omits_first), None)
        np.add.at(stream.emissions, (pool.states[dealt], pool.observations[dealt] + 1), 1)
        if len(history):
            stream.first, stream.last = history.first, history.last
            stream._count_latest(history)
        return stream

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
        """The trees of the present segment, computed from its counts."""
        if self._trees is None:
            self._trees = Trees.of(self.first, self.transitions)
        return self._trees

    def grow(self, n_states: int, n_symbols: int) -> None:
        """Make room for new states and symbols; counts never shrink."""
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
        """Make room in the ring for the latest past steps and for `more` steps."""
        if self.recent is None:
            return
        room, needed = self.ring.shape[1], int(self.entered.max(initial=0)) + more
        if room < min(needed, self.recent):  # doubles, up to `recent`
            room = min(max(needed, 2 * room), self.recent)
            self.ring = padded(self.ring, self.n_states, room)

    def learn(self, state: int, code: int) -> None:
        """Append a step to the sequence; the first step of a segment adds no transition."""
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
        """Begin a new segment after a gap."""
        self.transitions[:] = 0
        self.steps[:] = self.entered[:] = 0
        self.first = self.last = -1
        self._trees = None

    def ranks(self, state: int, code: int) -> tuple[Rank, Rank, Rank]:
        """Rank the move, the observation and the whole of a step among the members of its class."""
        self._check_begun()
        if not self.trees.met[state]:
            return ALONE, ALONE, ALONE
        weights = self.ends(state)
        placed = place_parts_in_class(
            self.pooled, self.emissions, self.last, state, code, self.priors, self.surprise
        ).tolist()
        members, (greater, equal, every, *_) = sum(weights), placed[4]
        # Rows may be padded with zeros beyond the states.
        moved, as_moved, stepped, as_stepped = (sum(map(mul, weights, row)) for row in placed[:4])
        return (
            Rank(moved, as_moved, members),
            Rank(greater, equal, every),
            Rank(stepped, as_stepped, members * every),
        )

    def visits(self, state: int) -> list[Rank]:
        """Rank a step by whether it comes from each state; coming from it is more nonconforming."""
        self._check_begun()
        if not self.trees.met[state]:
            return [ALONE] * self.n_states
        weights = self.ends(state)
        total = sum(weights)
        return [
            Rank(0, own, total) if u == self.last else Rank(own, total - own, total)
            for u, own in enumerate(weights)
        ]

    def ends(self, state: int) -> list[int]:
        """Return the weights of the previous states of a last step to a state already met."""
        entries = self.transitions[:, state].tolist()
        entries[self.last] += 1
        return self.trees.ends(entries, self.last, state)

    def class_ranks(self, code: int) -> Ranked:
        """Rank a step to each state among the members of its class."""
        counted, scores = self._placed(code, NOTHING)
        ranks = []
        for state, counts in enumerate(counted.transpose(0, 2, 1).tolist()):
            if not self.trees.met[state]:
                ranks.append(ALONE[:3])
                continue
            weights = self.ends(state)
            ranks.append(tuple(sum(map(mul, weights, part)) for part in counts))
        return Ranked.of_window(list(zip(*ranks, strict=True)), scores)

    def past_ranks(self, code: int) -> Ranked:
        """Rank a step to each state among the latest past steps to it, as "spaced" blocks do."""
        counted, scores = self._placed(code, self.steps)
        greater, equal, total = counted.sum(axis=1).T[:, None]
        return Ranked(greater, equal + 1, total + 1, scores[None])

    def _placed(self, code: int, steps: IntArray) -> tuple[IntArray, FloatArray]:
        self._check_begun()
        return place_step(
            self.pooled, self.emissions, steps, self.table, self.last, code, self.priors,
            self.surprise,
        )  # fmt: skip

    def _check_begun(self) -> None:
        if self.last < 0:
            raise ValueError("the segment has no state yet that a step could follow")


STEPS = 2**16  # windows ranked in one call; Python handles Ctrl-C between calls
CELLS = 2**22  # most scores in a table of steps


def find_way(segment: Segment) -> str:
    """Return what steps are ranked among from counts, "past" or "class"; "" if not from counts."""
    task, n, symbols = segment.task, len(segment.names), len(segment.table)
    if segment.horizon > 1 or (task.unseen.any() and not segment.data.plain):
        return ""  # past steps then leave out unseen observations, too
    way = find_step_reference(task.symmetry, n, symbols)
    if task.model.fixed:
        tabled = task.history.symbols and not task.lag and n * n * (symbols + 1) <= CELLS
        return way if tabled and way == "class" else ""
    priors = find_priors(task.model, segment.table)
    if priors is None or min(priors) < LEAST or not find_step_score(task.score):
        return ""
    return way


def rank_counted_windows(segment: Segment, way: str) -> Iterator[tuple[slice, Ranked]]:
    """Yield slices of windows with the ranks of all states there."""
    task, fixed = segment.task, segment.task.model.fixed
    symbols = np.full(len(segment.begins), len(segment.table)) if fixed else _symbols(segment)
    surprise = find_step_score(task.score) == "surprise"
    recent = task.symmetry.recent if way == "past" else None
    priors = (0.0, 0.0) if fixed else find_priors(task.model, segment.table)
    assert priors is not None
    stream = Stream.of(task.history, int(symbols[0]), priors, surprise, recent)
    learned = segment.known
    rank = _rank_past if way == "past" else _rank_class
    for first, last in _pieces(segment, symbols):
        size = int(segment.sizes[first])
        stream.grow(size, int(symbols[first]))
        if fixed:
            stream.table = _score_steps(segment, size)
        yield slice(first, last), rank(stream, segment, learned, first, last)
        learned = int(segment.lengths[last - 1])


def _symbols(segment: Segment) -> IntArray:
    """Return how many symbols are known at each window, its own included."""
    known = len(segment.data.table)
    met = np.maximum.accumulate(np.append(known - 1, segment.codes[segment.known :]))
    return np.asarray(met[segment.begins + 1] + 1)


def _pieces(segment: Segment, symbols: IntArray) -> Iterator[tuple[int, int]]:
    """Yield ranges of at most `STEPS` windows in which no state or symbol is new."""
    fresh = (np.diff(segment.sizes) > 0) | (np.diff(symbols) > 0)
    edges = [0, *(np.flatnonzero(fresh) + 1).tolist(), len(symbols)]
    for begin, end in pairwise(edges):
        for first in range(begin, end, STEPS):
            yield first, min(first + STEPS, end)


def _rank_past(stream: Stream, segment: Segment, learned: int, first: int, last: int) -> Ranked:
    met = np.zeros(stream.n_states, dtype=np.bool_)
    met[np.unique(segment.states[:learned])] = True
    end = int(segment.lengths[last - 1]) + 1
    states, codes = segment.states[learned - 1 : end], segment.codes[learned - 1 : end]
    lengths = segment.lengths[first:last] - learned
    stream.make_room(len(states))
    ranks, scores = rank_steps(
        stream.pooled, stream.emissions, stream.steps, stream.ring, stream.entered, met, states,
        codes, lengths, stream.priors, stream.surprise,
    )  # fmt: skip
    greater, equal, total = ranks.transpose(2, 0, 1)
    return Ranked(greater, equal, total, scores)


def _rank_class(stream: Stream, segment: Segment, learned: int, first: int, last: int) -> Ranked:
    ranks = []
    for length in segment.lengths[first:last].tolist():
        for time in range(learned, length):
            stream.learn(int(segment.states[time]), int(segment.codes[time]))
        learned = length
        ranks.append(stream.class_ranks(int(segment.codes[length])))
    return Ranked(*(np.concatenate([rank[part] for rank in ranks]) for part in range(4)))


def _score_steps(segment: Segment, size: int) -> FloatArray:
    """Score each step by previous state, state and symbol, a missing one first."""
    shape = size, size, len(segment.table) + 1
    start, states, codes = np.indices(shape).reshape(3, -1)
    windows = Windows(start, states[:, None], codes[:, None] - 1)
    return segment.task.score_windows(segment.estimate(size), windows).reshape(shape)
