"""Windows that departed from the present state, chosen forwards so that they do not overlap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import IntArray
from definetti._system.compiled import kernel
from definetti.data.history import Completion
from definetti.symmetry.base import (
    PRESENT,
    Chains,
    Generator,
    Reference,
    Symmetry,
    check_tokens,
)


@dataclass(frozen=True)
class Departures(Symmetry, name="departures"):
    """Compare with what followed the present state before; exactly valid given that state.

    With ``i`` the present state, ``σ_1`` is the first visit to it and ``σ_{k+1}`` the first one at
    or after ``σ_k + h``. The windows that follow are independent and have one law, whatever the
    state that they end in: what is never seen after ``i`` can be left out.

    What is promised is about the ``m``-th window that departs from a state: for every chain, every
    state and every ``m``, it is asked about and missed with probability at most ``α``; smoothed,
    exactly ``α`` where it is sure to come. One step ahead that is the ``m``-th visit. At a time
    that the clock fixes, the number of windows is random and tells of what they hold: smoothed, a
    chain that stays with probability 0.9 has, for 0.8, 0.762 at T = 8, 0.784 at 20, 0.798 at 50
    and 0.7997 at 200.

    A refitted model learns from all windows, the candidate's included, and of what happened
    between them from that which would have happened in whatever order they had come. It knows no
    other states, if these are not declared. A model that is fixed on a first stretch must be so
    on a number of rows that is fixed in advance, and knows the states of that stretch.
    """

    exact = True
    by_last_state = True
    reads_observations = False
    given = PRESENT

    def orbit(self, completion: Completion) -> tuple[int, ...]:
        # The same for all candidates; but what the past is kept under changes with the present.
        return (completion.history.last,)

    def reference(
        self, completion: Completion, n_resamples: int, generator: Generator
    ) -> Reference:
        history = completion.history
        visits = history.visits(history.last)
        return Reference.past(departure_ends(visits, len(history), completion.horizon))

    def chains(self, tokens: IntArray, horizon: int) -> Chains:
        check_tokens(tokens, horizon)
        groups, parents = _departure_parents(tokens, horizon)
        return Chains(groups, parents, groups >= 0)

    def lesson_key(self, completion: Completion) -> tuple[int, ...]:
        return (completion.last,)

    def lesson(self, completion: Completion) -> IntArray:
        past = completion.history
        return np.flatnonzero(
            _in_any_order(past.states, past.last, completion.horizon, completion.last)
        )


@kernel
def departure_ends(visits: IntArray, length: int, horizon: int) -> IntArray:
    """Return the ends of the windows that departed from a state, latest first.

    Parameters
    ----------
    visits : times of the visits to the state in the history, in order
    length : T, the length of the history, by which windows are complete
    """
    ends = np.empty(len(visits), dtype=np.int64)
    found, free = 0, 0
    for visit in visits:
        if visit + horizon >= length:
            break
        if visit >= free:
            free = visit + horizon
            ends[found] = free
            found += 1
    return ends[:found][::-1].copy()


@kernel
def _departure_parents(tokens: IntArray, horizon: int) -> tuple[IntArray, IntArray]:
    """Return which token the window departed from that ends at each time, and the one before it."""
    length = len(tokens)
    number = tokens.max() + 1 if length else 0
    latest = np.full(number, -1, dtype=np.int64)
    groups = np.full(length, -1, dtype=np.int64)
    parents = np.full(length, -1, dtype=np.int64)
    for visit in range(length - horizon):
        token, end = tokens[visit], visit + horizon
        if visit >= latest[token]:  # which ends the window before it
            groups[end], parents[end] = token, latest[token]
            latest[token] = end
    return groups, parents


@kernel
def _in_any_order(states: IntArray, present: int, horizon: int, last: int) -> npt.NDArray[np.bool_]:
    """Tell which steps of the history happen in whatever order its windows come.

    Each state has a stack of cards: where the chain went when it left the state outside of any
    window. The ways back from the windows' ends to the present state use up the same cards in
    whatever order they are walked (Diaconis & Fulton 1991), and fewer ways use no other cards. The
    window that comes last has no way back; so those ways are walked that are left when each end,
    the candidate's included, has been last once. They are the same for all orders.

    Parameters
    ----------
    states : (T,) the history
    last : the last state of the candidate
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
