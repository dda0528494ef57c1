"""Labelled sequences as codes: histories, completions, windows and training subsets."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from itertools import chain
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.data.labels import ANY, MISSING, check_indices, check_shape

Value = TypeVar("Value")
NOTHING: Any = object()
SETTINGS = 4  # each takes about 32 MB for a million steps under a fixed model


class LRUCache:
    """Results of the most recently used settings; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._stores: dict[Hashable, dict[Hashable, Any]] = {}

    def __len__(self) -> int:
        return len(self._stores)

    def recall(self, setting: Hashable, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of a key, computing and storing it where there is none."""
        store = self._store(setting)
        value: Value = store.get(key, NOTHING)
        if value is NOTHING:
            value = store[key] = make()
        return value

    def note(self, setting: Hashable, key: Hashable, value: object) -> None:
        """Store a value for `recall`."""
        self._store(setting)[key] = value

    def _store(self, setting: Hashable) -> dict[Hashable, Any]:
        """Return the values of a setting, and mark it as most recently used."""
        with self._lock:
            store = self._stores.pop(setting, None)
            store = self._stores[setting] = {} if store is None else store
            while len(self._stores) > SETTINGS:
                del self._stores[next(iter(self._stores))]
        return store


class Windows(NamedTuple):
    """A batch of ``B`` windows of ``h`` steps, as codes.

    Attributes
    ----------
    start : (B,) the state just before the window
    states : (B, h) the states in the window
    observations : (B, h) the codes of the observations in the window
    """

    start: IntArray
    states: IntArray
    observations: IntArray

    def __add__(self, other: Windows) -> Windows:  # type: ignore[override]
        """Stack two batches of the same horizon."""
        return stacked([self, other])


def stacked(batches: Iterable[Windows]) -> Windows:
    """Stack batches of the same horizon, of which there is at least one."""
    first, *others = batches
    if not others:
        return first
    return Windows(*(np.concatenate(parts) for parts in zip(first, *others, strict=True)))


def unseen(windows: Windows) -> Windows:
    """Return windows with all observations missing."""
    return windows._replace(observations=np.full_like(windows.observations, MISSING))


Array = TypeVar("Array", IntArray, FloatArray)


def padded(counts: Array, *shape: int) -> Array:
    """Pad the first axes of an array with zeros at the end, to at least a shape."""
    widths = [(0, max(0, new - old)) for new, old in zip(shape, counts.shape, strict=False)]
    widths += [(0, 0)] * (counts.ndim - len(widths))
    return np.pad(counts, widths) if any(after for _, after in widths) else counts


class History:
    """States and observation codes for ``t < T``, with the counts that the likelihood depends on.

    Parameters
    ----------
    n_states : int
        The number of states; it may grow.
    symbols : bool, default True
        Whether observations are symbols, which are counted.

    Examples
    --------
    >>> history = History(n_states=2)
    >>> history.append(np.array([0, 0, 1, 0]), np.array([1, 0, 1, MISSING]))
    >>> len(history), history.first, history.last
    (4, 0, 0)
    >>> history.transitions
    array([[1, 1],
           [1, 0]])
    >>> history.emissions  # the first column is for missing observations
    array([[1, 1, 1],
           [0, 0, 1]])
    >>> history.visits(0)
    array([0, 1, 3])
    """

    def __init__(self, n_states: int, symbols: bool = True) -> None:
        self.length = 0
        self.first = self.last = 0  # states; meaningless while there are no steps
        self.n_states = n_states
        self.symbols = symbols
        self.transitions: IntArray = np.zeros((n_states, n_states), dtype=np.int64)
        self.emissions: IntArray = np.zeros((n_states, 1), dtype=np.int64)
        self.gaps = False  # whether any observation is missing
        self._states: IntArray = np.zeros(16, dtype=np.int64)
        self._observations: IntArray = np.zeros(16, dtype=np.int64)
        self.shelves = Shelves(np.zeros(0, dtype=np.int64), n_states)
        # Whether the first observation is neither rearranged nor learned from, because it decided
        # where the history begins.
        self.omits_first = False
        self.pool = self  # all segments; the history is the last of them
        self.segments = 1  # their number, training segments included
        # How many states, in order of code, need not be seen to be known; None for all.
        self.known: int | None = None
        self.digest = 0, 0  # the number of rows digested, and their digest
        # States, prior and transition matrix of the last estimate from its counts alone.
        self.estimate: tuple[int, float, FloatArray] | None = None
        self._present: LRUCache | None = None
        self._lasting: LRUCache | None = None

    def __len__(self) -> int:
        return self.length

    def __getstate__(self) -> dict[str, Any]:
        """Leave caches out of pickles and copies."""
        return {**self.__dict__, "estimate": None, "_present": None, "_lasting": None}

    @property
    def states(self) -> IntArray:
        return self._states[: self.length]

    @property
    def observations(self) -> IntArray:
        return self._observations[: self.length]

    @property
    def present(self) -> LRUCache:
        """Cached results that appending steps invalidates."""
        if self._present is None:
            self._present = LRUCache()
        return self._present

    @property
    def lasting(self) -> LRUCache:
        """Cached results that appending steps leaves valid."""
        if self._lasting is None:
            self._lasting = LRUCache()
        return self._lasting

    def append(
        self, states: IntArray, observations: IntArray, n_states: int = 0, gap: bool = False
    ) -> None:
        """Append steps; `n_states` grows with new states.

        After a gap, no transition is counted from the last step to the first new one.
        """
        check_indices(states, 0, max(self.n_states, n_states), "states")
        check_indices(observations, MISSING, ANY, "observations")
        check_shape(observations, states.shape, "observations")
        if self.pool is not self:
            self.pool.append(states, observations, n_states, gap)
        joined = states if gap else np.concatenate([self.states[-1:], states])
        end = self.length + len(states)
        if end > len(self._states):  # double the room: constant amortised cost of a step
            room = max(end, 2 * len(self._states))
            self._states = np.resize(self._states, room)
            self._observations = np.resize(self._observations, room)
        if len(states):
            self.first = self.first if self.length else int(states[0])
            self.last = int(states[-1])
        self._states[self.length : end] = states
        self._observations[self.length : end] = observations
        self.n_states = n = max(self.n_states, n_states)
        self.transitions = padded(self.transitions, n, n)
        np.add.at(self.transitions, (joined[:-1], joined[1:]), 1)
        self.gaps = self.gaps or bool((observations == MISSING).any())
        if self.symbols:
            self.emissions = padded(self.emissions, n, observations.max(initial=MISSING) + 2)
            begin = int(self.omits_first and not self.length)
            np.add.at(self.emissions, (states[begin:], observations[begin:] + 1), 1)
        times = np.arange(self.length, end)
        self.length = end
        if not self.shelves.add(states, times, n):
            self.shelves = Shelves(self.states, n)
        self.estimate = None
        self._present = None

    @property
    def met(self) -> npt.NDArray[np.bool_]:
        """Which states a model of this history gives probability to: ``(n_states,)``."""
        if self.known is None:
            return np.ones(self.n_states, dtype=np.bool_)
        met = np.bincount(self.states, minlength=self.n_states) > 0
        met[: self.known] = met[self.first] = True
        return met

    def visits(self, state: int) -> IntArray:
        """Times at which the chain was in a state, in order."""
        return self.shelves.of(state)

    @property
    def dealt(self) -> tuple[IntArray, IntArray, IntArray]:
        """The times whose observations may be rearranged, by state: as in `Shelves`."""
        shelves = self.shelves
        if not (self.omits_first and self.length):
            return shelves.times, shelves.begins, shelves.sizes
        own = np.arange(len(shelves.sizes)) == self.first  # its first time is 0
        return shelves.times, shelves.begins + own, shelves.sizes - own


class Shelves:
    """The visit times of each state, in one array with spare room for each state.

    Attributes
    ----------
    times : the times of state 0 with spare room, those of state 1, and so on
    begins, sizes : (n,) where the times of each state begin, and how many there are
    """

    def __init__(self, states: IntArray, n_states: int) -> None:
        self.sizes = np.bincount(states, minlength=n_states).astype(np.int64)
        self.room = 2 * self.sizes + 8
        self.begins = np.concatenate([[0], self.room.cumsum()])[:-1]
        self.times = np.zeros(self.room.sum(), dtype=np.int64)
        order, ends = np.argsort(states, kind="stable"), self.sizes.cumsum()
        for state in np.flatnonzero(self.sizes).tolist():
            begin, size, end = self.begins[state], self.sizes[state], ends[state]
            self.times[begin : begin + size] = order[end - size : end]

    def add(self, states: IntArray, times: IntArray, n_states: int) -> bool:
        """Add new times; return False, and add none, where there is no room."""
        if n_states > len(self.sizes):
            return False
        new = np.bincount(states, minlength=n_states)
        if (self.sizes + new > self.room).any():
            return False
        for state, time in zip(states.tolist(), times.tolist(), strict=True):
            self.times[self.begins[state] + self.sizes[state]] = time
            self.sizes[state] += 1
        return True

    def of(self, state: int) -> IntArray:
        """Return the times of one state."""
        if state >= len(self.sizes):
            return self.times[:0]
        begin = self.begins[state]
        return self.times[begin : begin + self.sizes[state]]


def windows_at(ends: IntArray, states: IntArray, observations: IntArray, horizon: int) -> Windows:
    """Return the windows of a sequence that end at given times."""
    times = ends[:, None] + np.arange(1 - horizon, 1)
    return Windows(states[ends - horizon], states[times], observations[times])


@kernel
def _left(
    counts: IntArray, last: int, states: IntArray, n_states: int
) -> tuple[IntArray, FloatArray]:
    """Return the distinct states that a candidate leaves, and their transition counts."""
    place = np.full(n_states, -1, dtype=np.int64)
    left = np.empty(min(len(states), n_states), dtype=np.int64)
    number = 0
    for k in range(len(states)):
        state = states[k - 1] if k else last
        if place[state] < 0:
            place[state] = number
            left[number] = state
            number += 1
    rows = np.zeros((number, n_states))
    for k in range(number):
        if left[k] < len(counts):
            for j in range(len(counts)):
                rows[k, j] = counts[left[k], j]
    for k in range(len(states)):
        rows[place[states[k - 1] if k else last], states[k]] += 1
    return left[:number], rows


class Completion(NamedTuple):
    """A history completed with a candidate: the sequence ``z`` of Step 1."""

    history: History
    states: IntArray
    observations: IntArray
    n_states: int

    @property
    def horizon(self) -> int:
        return len(self.states)

    @property
    def last(self) -> int:
        return int(self.states[-1])

    @property
    def moves(self) -> tuple[IntArray, IntArray]:
        """The states before and after each of the candidate's steps."""
        return np.concatenate([[self.history.last], self.states[:-1]]), self.states

    @property
    def transitions(self) -> IntArray:
        """Transition counts ``F`` of the completed sequence, earlier segments left out."""
        counts = padded(self.history.transitions, self.n_states, self.n_states).copy()
        check_indices(self.states, 0, len(counts), "states")
        np.add.at(counts, self.moves, 1)
        return counts

    @property
    def pooled_transitions(self) -> IntArray:
        """Transition counts of all segments, those of the candidate included."""
        past = self.history
        earlier = past.pool.transitions - padded(past.transitions, *past.pool.transitions.shape)
        return self.transitions + padded(earlier, self.n_states, self.n_states)

    @property
    def left(self) -> tuple[IntArray, FloatArray]:
        """The states that the candidate leaves, and their transition counts in all segments.

        The counts of other states are those of the history.
        """
        counts = self.history.pool.transitions
        check_indices(self.states, 0, self.n_states, "states")
        if len(counts) > self.n_states:
            raise ValueError(f"n_states={self.n_states}, and the history has {len(counts)}")
        return _left(counts, self.history.last, self.states, self.n_states)

    @property
    def emissions(self) -> IntArray:
        """Counts of state and symbol, missing ones in column 0, earlier segments included."""
        width = int(self.observations.max()) + 2
        counts = padded(self.history.pool.emissions, self.n_states, width).copy()
        np.add.at(counts, (self.states, self.observations + 1), 1)
        return counts

    @property
    def counts_key(self) -> tuple[int, ...]:
        """What the candidate adds to the counts; equal keys give equal estimates."""
        states = self.states.tolist()
        moves = sorted(zip([self.history.last, *states], states, strict=False))
        pairs = sorted(zip(states, (self.observations + 1).tolist(), strict=True))
        return (states[-1], *chain.from_iterable(moves), *chain.from_iterable(pairs))

    @property
    def window(self) -> Windows:
        """The candidate as a window."""
        start = np.array([self.history.last])
        return Windows(start, self.states[None], self.observations[None])

    def element(self, time: int) -> tuple[int, int]:
        """State and observation at a time of the completed sequence."""
        past = self.history
        if time < past.length:
            return int(past._states[time]), int(past._observations[time])
        return int(self.states[time - past.length]), int(self.observations[time - past.length])


def restrict_history(completion: Completion, times: IntArray) -> History:
    """Return the candidate, some steps of its history and all earlier segments, to learn from.

    Each step counts with the transition that led to it.
    """
    past, n = completion.history, completion.n_states
    check_indices(times, 0, len(past), "steps to learn from")
    check_indices(completion.states, 0, n, "states")
    before = len(past.pool) - len(past)  # where earlier segments end
    begin = int(past.pool.omits_first)
    if begin and not before:
        times = times[times > 0]
    restricted = History(n)
    restricted._states, restricted._observations = (
        np.concatenate([old[begin:before], here[times], new])
        for old, here, new in (
            (past.pool.states, past.states, completion.states),
            (past.pool.observations, past.observations, completion.observations),
        )
    )
    restricted.length, later = len(restricted._states), times[times > 0]
    restricted.transitions = padded(past.pool.transitions - past.transitions, n, n).copy()
    np.add.at(restricted.transitions, (past.states[later - 1], past.states[later]), 1)
    np.add.at(restricted.transitions, completion.moves, 1)
    restricted.known, restricted.first = past.known, past.pool.first
    return restricted
