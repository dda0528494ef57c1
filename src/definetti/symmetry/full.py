"""The whole class: every sequence with the same first state, transitions and observations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from definetti._system.checks import checked_limit
from definetti._system.compiled import cut_pieces
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
        history, states = completion.history, completion.states
        horizon, last = len(states), int(states[-1])
        if _once(completion):
            # All members end in a state seen nowhere else: there is nothing to compare it with.
            return Reference.alone(completion)
        most = 10 * self.max_windows
        visited = int(np.count_nonzero(history.pool.shelves.sizes))
        if history.symbols and (visited ** min(horizon + 3, DEEP) <= most or horizon > DEEP):
            emissions, transitions = completion.emissions, completion.transitions
            first = history.first
            # How many states there are, and how many symbols the one of most has.
            n = int(np.count_nonzero(emissions.any(axis=1)))
            m = int(np.count_nonzero(emissions, axis=1).max())
            if horizon > DEEP and n == m == 1:  # all members have the same window
                return Reference.alone(completion)
            # The bound is for the determinants, one of n³ operations for each state path.
            if (n * m) ** horizon <= self.max_windows and n ** (horizon + 3) <= most:
                windows, weights = count_windows(transitions.T, first, last, horizon, emissions)
                return Reference(windows, weights, joins=False)
        exits = exits_of(completion)
        # A state's observations may be dealt to it in any stretch.
        times, begins, sizes = history.pool.dealt
        # In an order that all candidates of the class share: so are the draws.
        order = np.lexsort((completion.observations, completion.states))
        rng = generator()
        drawn = (
            draw_windows(
                rng,
                exits,
                history.first,
                last,
                horizon,
                times,
                begins,
                sizes,
                history.pool.observations,
                completion.states[order],
                completion.observations[order],
                part.stop - part.start,
            )
            for part in cut_pieces(n_resamples, horizon * (horizon + len(exits)))
        )
        return Reference.drawn(stacked(Windows(*windows) for windows in drawn))


def _once(completion: Completion) -> bool:
    """Tell whether the last state occurs nowhere else: the same for all members of the class."""
    last = int(completion.states[-1])
    if (completion.states[:-1] == last).any():
        return False
    return not len(completion.history.visits(last))
