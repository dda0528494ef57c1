"""Symmetries conditional on the current state: windows that depart from its visits."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import IntArray
from definetti._system.compiled import kernel
from definetti.data.history import Completion, History
from definetti.data.labels import ANY, NONE
from definetti.symmetry.base import PRESENT, Generator, Reference, Symmetry, checked_recent


@dataclass(frozen=True)
class Departures(Symmetry, name="departures"):
    """Compare with windows after earlier visits to the present state; exactly valid given it.

    With ``i`` the present state, ``σ_1`` is the first visit to it and ``σ_{k+1}`` the first one at
    or after ``σ_k + h``. The windows that follow are independent and have one law, whatever the
    state that they end in: sets can leave out states never seen after ``i``.

    The guarantee is about the ``m``-th window that departs from a state: for every chain, every
    state and every ``m``, that window occurs and is missed with probability at most ``α``;
    smoothed, exactly ``α`` where it is sure to occur. One step ahead, it is the ``m``-th visit. At
    a fixed time, the number of windows is random and depends on their contents: smoothed, a chain
    that stays with probability 0.9 has, at level 0.8, coverage 0.762 at T = 8, 0.784 at 20, 0.798
    at 50 and 0.7997 at 200.

    A refitted model learns from all windows, the candidate's included, and from those steps between
    them that occur in every order of the windows. It has no other states, unless they are declared.
    A model fixed on a first segment must be fixed on a number of rows set in advance, and has the
    states of that segment.

    With `recent`, the windows are still chosen forwards from the first visit, and the candidate is
    compared with the last `recent` of them: all steps before stay in place and train the model.
    Windows chosen backwards from the present would not be valid.

    Parameters
    ----------
    recent : int or None, default 200
        Compare with at most so many windows, the latest that departed from the present state; None
        for all of them.
    """

    recent: int | None = field(default=200, kw_only=True)

    exact = True
    by_last_state = True
    reads_observations = False
    given = PRESENT
    examples = ({"recent": 1}, {"recent": 2})

    def __post_init__(self) -> None:
        checked_recent(self.recent)

    def orbit(self, completion: Completion) -> tuple[int, ...]:
        # One reference for all candidates; the training subset depends on the last state.
        return completion.history.last, completion.last

    def reference(self, completion: Completion, generator: Generator) -> Reference:
        return Reference.past(self._ends(completion.history, completion.horizon))

    def _ends(self, history: History, horizon: int) -> IntArray:
        """Return the ends of earlier windows that departed from the present state, latest first."""
        cuts = self._cuts(len(history))
        chain = history.lasting.recall(
            ("departures", horizon, *cuts), "chain", lambda: ForwardChain(horizon, *cuts)
        )
        return chain.latest_ends(history.states, history.last, checked_recent(self.recent))

    def _cuts(self, length: int) -> tuple[Any, ...]:
        """Return the arguments of `ForwardChain` that cut a history into series."""
        return ()

    def forward_chain(self, tokens: IntArray, horizon: int) -> ForwardChain:
        """Return the windows that departed from each token of a whole sequence."""
        chain = ForwardChain(horizon, *self._cuts(len(tokens)))
        chain.follow(tokens)
        return chain

    def training_subset(self, completion: Completion) -> IntArray:
        past, horizon = completion.history, completion.horizon
        ends = self._ends(past, horizon)
        begin = int(ends[-1]) - horizon if len(ends) else 0  # up to there all stays in place
        kept = _in_any_order(past.states[begin:], past.last, horizon, completion.last)
        return np.concatenate([np.arange(begin), begin + np.flatnonzero(kept)])


class ForwardChain:
    """Windows that departed from each token, chosen forwards; extended as the tokens grow.

    Extending takes constant time for each new step. Listing the latest windows of a token takes
    time proportional to their number, however long the past is.
    """

    def __init__(
        self,
        horizon: int,
        begins: tuple[int, ...] = (0,),
        owners: tuple[int, ...] = (0,),
        first: bool = False,
    ) -> None:
        self.horizon, self.first = horizon, first
        # By the end of a window, −1 where none ends: the token that the window departed from, and
        # the end of the previous window of that token.
        self.groups, self.parents = NONE, NONE
        self._begins, self._owners = np.array(begins), np.array(owners)
        # By token: the end of its latest window, and the series of that window.
        self._latest, self._met = NONE, NONE
        self._done = 0  # times already considered as departures
        self._lock = Lock()

    def latest_ends(self, tokens: IntArray, token: int, most: int) -> IntArray:
        """Process new tokens; return the ends of the latest windows of a token, latest first."""
        with self._lock:
            self.follow(tokens)
            if token >= len(self._latest):
                return NONE
            return _walk(self.parents, int(self._latest[token]), most)

    def follow(self, tokens: IntArray) -> None:
        """Process the tokens added to the sequence; one thread at a time."""
        done, length = self._done, len(tokens)
        if length - self.horizon <= done:
            return
        number = int(tokens[done:].max()) + 1
        self._latest, self._met = (grown(array, number) for array in (self._latest, self._met))
        self.groups, self.parents = (grown(array, length) for array in (self.groups, self.parents))
        _depart(
            tokens, self.horizon, self._begins, self._owners, self.first, done, self._latest,
            self._met, self.groups, self.parents,
        )  # fmt: skip
        self._done = length - self.horizon


def grown(values: IntArray, size: int) -> IntArray:
    """Return values extended by −1 to at least `size`; the length at least doubles, if it grows."""
    if size <= len(values):
        return values
    more = max(size, 2 * len(values)) - len(values)
    return np.concatenate([values, np.full(more, -1)])


@kernel
def _walk(parents: IntArray, node: int, most: int) -> IntArray:
    size, place = 0, node
    while place >= 0 and size < most:
        size += 1
        place = parents[place]
    ends = np.empty(size, dtype=np.int64)
    for k in range(size):
        ends[k] = node
        node = parents[node]
    return ends


@kernel
def _depart(
    tokens: IntArray,
    horizon: int,
    begins: IntArray,
    owners: IntArray,
    first: bool,
    done: int,
    latest: IntArray,
    met: IntArray,
    groups: IntArray,
    parents: IntArray,
) -> None:
    """Choose windows forwards, from a time on: a window begins where the one before has ended."""
    segment, segments = 0, len(begins)
    for visit in range(done, len(tokens) - horizon):
        while segment + 1 < segments and begins[segment + 1] <= visit:
            segment += 1
        token, end, owner = tokens[visit], visit + horizon, owners[segment]
        if segment + 1 < segments and begins[segment + 1] <= end:
            continue  # it would lead into the next segment
        if first and (owner == owners[-1] or met[token] == owner):
            continue
        if visit >= latest[token]:
            groups[end], parents[end] = token, latest[token]
            latest[token], met[token] = end, owner


@kernel
def _in_any_order(states: IntArray, present: int, horizon: int, last: int) -> npt.NDArray[np.bool_]:
    """Return which steps of the history occur in every order of its windows.

    Each state has a stack of cards: where the chain went when it left the state outside of any
    window. The ways back from the windows' ends to the present state use up the same cards in
    whatever order they are walked (Diaconis & Fulton 1991), and fewer ways use no other cards. The
    window that comes last has no way back; so those ways are walked that are left when each end,
    the candidate's included, has been last once. They are the same for all orders.
    """
    length = len(states)
    kept = np.zeros(length, dtype=np.bool_)
    following = np.full(length, -1, dtype=np.int64)  # the next card of the same stack
    n_states = max(states.max(), last) + 1
    top = np.full(n_states, -1, dtype=np.int64)
    bottom = np.full(n_states, -1, dtype=np.int64)
    ways = np.zeros(n_states, dtype=np.int64)
    ended = np.zeros(n_states, dtype=np.bool_)
    kept[0] = True
    ended[last] = True
    ways[last] += 1
    t = 0
    while t < length:
        if states[t] == present:
            end = t + horizon
            if end >= length:
                break
            for step in range(t + 1, end + 1):
                kept[step] = True
            ended[states[end]] = True
            ways[states[end]] += 1
            t = end
        else:
            t += 1
            if t < length:
                stack = states[t - 1]
                if top[stack] < 0:
                    top[stack] = t
                else:
                    following[bottom[stack]] = t
                bottom[stack] = t
    ways -= ended
    ways[states[0]] += 1  # the way to the first visit
    for end in range(n_states):
        for _ in range(ways[end]):
            state = end
            while state != present:
                card = top[state]
                kept[card] = True
                top[state] = following[card]
                state = states[card]
    return kept


@dataclass(frozen=True)
class TogetherDepartures(Departures):
    """Compare with windows after the present state in all series; exact where they have one law.

    The history holds all series, one after the other, the one to be continued last. No window leads
    from one series into the next.

    With all windows, the guarantee is that of `Departures`, over all series: of the first ``M``
    windows that depart from a state, in the order of the series, at most ``α M`` are missed on
    average.

    With only the first window of every *other* series, the guarantee holds at any fixed time, given
    the present state: the first visit to a state is known before its window, so that the windows of
    different series, and the one to be predicted, are independent and have one law.

    The latest `recent` windows are those of the series to be continued first, then those of the
    others, from the last series to the first.

    Parameters
    ----------
    begins : where segments begin in the history, the first at 0
    owners : the number of the series that each segment belongs to
    first : whether only the first window of each other series is used
    """

    begins: tuple[int, ...] = (0,)
    owners: tuple[int, ...] = (0,)
    first: bool = False

    def within(self, history: History) -> str:
        if self.first:
            return " of the first window of each other series, at any time where all have one law"
        return " over all series, exact where these have one law"

    def check(self, history: History) -> None:
        self._cuts(len(history))

    def _cuts(self, length: int) -> tuple[Any, ...]:
        begins, owners = tuple(self.begins), tuple(self.owners)
        whole = all(isinstance(number, (int, np.integer)) for number in (*begins, *owners))
        rising = whole and begins[:1] == (0,) and all(a < b for a, b in pairwise(begins))
        if not (rising and len(owners) == len(begins) and begins[-1] <= length):
            raise ValueError(
                f"begins does not cut a history of {length:,} steps into segments, each "
                "with its owner; give the place of each first step, 0 first"
            )
        if not all(0 <= number < ANY for number in owners):
            raise ValueError(f"owners must be whole numbers from 0 on, got {owners}")
        return begins, owners, bool(self.first)

    def training_subset(self, completion: Completion) -> IntArray:
        raise ValueError(
            "TogetherDepartures needs a fixed model: what a refitted one may learn from all series "
            "is not known; give a trained model, or use series='all' with train_size"
        )

    def with_new_segment(self, length: int) -> TogetherDepartures:
        """Return the symmetry whose last series continues, after a gap, at step `length`."""
        if self.begins[-1] == length:
            return self
        return replace(self, begins=(*self.begins, length), owners=(*self.owners, self.owners[-1]))


TogetherDepartures.known_as = Departures.known_as  # for display; the name is registered once
