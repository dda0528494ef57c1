"""Windows that departed from the present state in any of several series."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from definetti._system.arrays import IntArray
from definetti._system.compiled import kernel
from definetti.data.history import Completion, History
from definetti.data.sound import ANY
from definetti.symmetry.base import Chains, Generator, Reference, check_tokens
from definetti.symmetry.departures import Departures


@dataclass(frozen=True)
class TogetherDepartures(Departures):
    """Compare with what followed the present state in all series; exact where they have one law.

    The history is all series, one after the other, and the one that goes on comes last. No window
    leads from one into the next.

    With all windows, the promise is that of `Departures`, counted over all series: of the first
    ``M`` windows that depart from a state, in whatever series and in the order in which these come,
    at most ``α M`` are missed on average.

    With the first window of every *other* series alone, it holds at any time of the clock, given
    the present state: the first visit to it is known to come before the window is, and so the
    windows of different series, and the one to be predicted, are independent and have one law.

    Parameters
    ----------
    begins : where stretches begin in the history, the first at 0
    owners : the number of the series that each stretch belongs to
    first : whether the first window of each other series is taken alone
    """

    begins: tuple[int, ...] = (0,)
    owners: tuple[int, ...] = (0,)
    first: bool = False

    def __post_init__(self) -> None:
        words = "over all series, exact where these have one law"
        if self.first:
            words = "of the first window of each other series, at any time where all have one law"
        object.__setattr__(self, "spans", words)
        object.__setattr__(self, "by_clock", self.first)
        object.__setattr__(self, "shared_calibration", self.first)

    def reference(
        self, completion: Completion, n_resamples: int, generator: Generator
    ) -> Reference:
        history, horizon = completion.history, completion.horizon
        groups, _ = history.present.recall(
            "together", horizon, lambda: self._parents(history.states, horizon)
        )
        return Reference.past(np.flatnonzero(groups == history.last)[::-1].copy())

    def check(self, history: History) -> None:
        self._check_cuts(len(history))

    def _check_cuts(self, length: int) -> None:
        begins, owners = tuple(self.begins), tuple(self.owners)
        whole = all(isinstance(one, (int, np.integer)) for one in (*begins, *owners))
        rising = whole and begins[:1] == (0,) and all(a < b for a, b in pairwise(begins))
        if not (rising and len(owners) == len(begins) and begins[-1] <= length):
            raise ValueError(
                f"begins does not cut a history of {length:,} steps into stretches, each "
                "with its owner; give the place of each first step, 0 first"
            )
        if not all(0 <= one < ANY for one in owners):
            raise ValueError(f"owners must be whole numbers from 0 on, got {owners}")

    def lesson(self, completion: Completion) -> IntArray:
        raise ValueError(
            "TogetherDepartures needs a fixed model: what a refitted one may learn from all series "
            "is not known; give a trained model, or use series='all' with train_size"
        )

    def broken_off(self, length: int) -> TogetherDepartures:
        """Return the same for a last series that goes on, after a gap, at a time."""
        if self.begins[-1] == length:
            return self
        return replace(self, begins=(*self.begins, length), owners=(*self.owners, self.owners[-1]))

    def chains(self, tokens: IntArray, horizon: int) -> Chains:
        groups, parents = self._parents(tokens, horizon)
        return Chains(groups, parents, groups >= 0)

    def _parents(self, tokens: IntArray, horizon: int) -> tuple[IntArray, IntArray]:
        # Here, too: a history may be another than the one that was checked.
        check_tokens(tokens, horizon)
        self._check_cuts(len(tokens))
        begins, owners = np.array(self.begins), np.array(self.owners)
        return _departure_parents(tokens, horizon, begins, owners, self.first)


TogetherDepartures.known_as = Departures.known_as  # a name for people; there is one in the registry


@kernel
def _departure_parents(
    tokens: IntArray, horizon: int, begins: IntArray, owners: IntArray, first: bool
) -> tuple[IntArray, IntArray]:
    """Return which token the window departed from that ends at each time, and the one before it."""
    length, stretches = len(tokens), len(begins)
    number = tokens.max() + 1 if length else 0
    latest = np.full(number, -1, dtype=np.int64)
    met = np.full(number, -1, dtype=np.int64)  # the series in which each token was last departed
    groups = np.full(length, -1, dtype=np.int64)
    parents = np.full(length, -1, dtype=np.int64)
    for k in range(stretches):
        stop = begins[k + 1] if k + 1 < stretches else length
        if first and owners[k] == owners[-1]:
            continue
        for visit in range(begins[k], stop - horizon):
            token, end = tokens[visit], visit + horizon
            if first and met[token] == owners[k]:
                continue
            if visit >= latest[token]:
                groups[end], parents[end] = token, latest[token]
                latest[token] = end
                met[token] = owners[k]
    return groups, parents
