"""The whole class: every sequence with the same first state, transitions and observations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from definetti._system.checks import checked_limit
from definetti._system.compiled import pieces
from definetti.data.history import Completion
from definetti.data.windows import Windows, stacked
from definetti.symmetry._euler import draw_windows
from definetti.symmetry._exits import exits_of
from definetti.symmetry._whittle import count_windows
from definetti.symmetry.base import Generator, Reference, Symmetry, candidate_key

DEEP = 100  # steps that counting, which goes into each step from the one before, may go


@dataclass(frozen=True)
class Full(Symmetry, name="full"):
    """All sequences of the same likelihood; exactly valid, and the smallest sets.

    A sequence's likelihood depends on its first state, its transition counts and, state by state,
    its observations, in whatever order they come. All sequences that agree in these are equally
    probable, whatever the model (de Finetti's theorem for Markov chains, in its finite form). A
    last state that occurs nowhere else has the p-value one: nothing speaks against it.

    Parameters
    ----------
    max_windows : int, default 2000
        Windows are counted exactly, by Whittle's formula, where there are at most so many, and
        drawn at random where there are more. Both are exactly valid.
    """

    max_windows: int = 2000

    exact = True
    pools = True  # observations of earlier stretches are dealt out, too
    reads_observations = False

    def __post_init__(self) -> None:
        checked_limit(self.max_windows, "max_windows")

    def orbit(self, completion: Completion) -> tuple[int, ...]:
        return candidate_key(completion) if _once(completion) else completion.counts_key

    def reference(
        self, completion: Completion, n_resamples: int, generator: Generator
    ) -> Reference:
        if _once(completion) or _alike(completion):
            # All members end in a state seen nowhere else, or have the same window: there is
            # nothing to compare it with.
            return Reference.alone(completion)
        history = completion.history
        if self._countable(completion):
            windows, weights = count_windows(
                completion.transitions.T,
                history.first,
                completion.last,
                completion.horizon,
                completion.emissions,
            )
            return Reference(windows, weights, joins=False)
        exits = exits_of(completion)
        # A state's observations may be dealt to it in any stretch.
        shelves = history.pool.shelves
        # In an order that all candidates of the class share: so are the draws.
        order = np.lexsort((completion.observations, completion.states))
        rng, horizon = generator(), completion.horizon
        drawn = (
            draw_windows(
                rng,
                exits,
                history.first,
                completion.last,
                horizon,
                shelves.times,
                shelves.begins,
                shelves.sizes,
                history.pool.observations,
                completion.states[order],
                completion.observations[order],
                part.stop - part.start,
            )
            for part in pieces(n_resamples, horizon * (horizon + len(exits)))
        )
        return Reference.drawn(stacked(Windows(*windows) for windows in drawn))

    def _countable(self, completion: Completion) -> bool:
        horizon = completion.horizon
        visited = int(np.count_nonzero(completion.history.pool.shelves.sizes))
        # The bound is for the determinants, one of n³ operations for each state path.
        if not completion.history.symbols or visited ** (horizon + 3) > 10 * self.max_windows:
            return False
        n, m = _kinds(completion)
        return bool((n * m) ** horizon <= self.max_windows) and bool(
            n ** (horizon + 3) <= 10 * self.max_windows
        )


def _kinds(completion: Completion) -> tuple[int, int]:
    """Return how many states there are, and how many symbols the one of most has."""
    emissions = completion.emissions
    states = np.count_nonzero(emissions.any(axis=1))
    return int(states), int(np.count_nonzero(emissions, axis=1).max())


def _alike(completion: Completion) -> bool:
    """Tell whether a window too long to be counted has one state and one symbol all over."""
    if completion.horizon <= DEEP or not completion.history.symbols:
        return False
    return _kinds(completion) == (1, 1)


def _once(completion: Completion) -> bool:
    """Tell whether the last state occurs nowhere else: the same for all members of the class."""
    elsewhere = completion.states[:-1] == completion.last
    return not len(completion.history.visits(completion.last)) and not elsewhere.any()
