"""A symmetry of tokens: what the future depends on is more than the state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from definetti._system.arrays import IntArray
from definetti.data.history import Completion, History
from definetti.memory import Memory, Order, resolve_memory
from definetti.memory.base import Coded, Tokens
from definetti.symmetry.base import LAST, PRESENT, Generator, Reference, Symmetry
from definetti.symmetry.departures import TogetherDepartures


@dataclass(frozen=True)
class Remembering(Symmetry):
    """Rearrange tokens as another symmetry rearranges states.

    Exact where that one is, with "chain of states" read as "chain of tokens"; what all its
    rearrangements share is the same for states, so that a refitted model learns as before.

    Parameters
    ----------
    symmetry : what is done to tokens
    memory : what a token is
    """

    symmetry: Symmetry
    memory: Memory

    def __post_init__(self) -> None:
        inner = self.symmetry
        for name, value in {
            "known_as": inner.known_as,
            "given": inner.given,
            # The last token depends on more than the last state, and the present one is known.
            "by_last_state": inner.by_last_state and inner.given == PRESENT,
            "reads_observations": inner.reads_observations or self.needs_observations,
            "recent": inner.recent,
        }.items():
            object.__setattr__(self, name, value)

    @property
    def exact(self) -> bool:
        return self.symmetry.exact

    def orbit(self, completion: Completion) -> tuple[int, ...]:
        coded = self._code(completion)
        return (*self.symmetry.orbit(coded.completion), *coded.new)

    def reference(self, completion: Completion, generator: Generator) -> Reference:
        coded = self._code(completion)
        found = self.symmetry.reference(coded.completion, generator)
        found.check(coded.completion)
        if found.windows is None:
            return found
        states = coded.rows[:, 0]
        start, tokens, _ = found.windows
        windows = found.windows._replace(start=states[start], states=states[tokens])
        return found._replace(windows=windows)

    def training_subset(self, completion: Completion) -> IntArray | None:
        return self.symmetry.training_subset(self._code(completion).completion)

    @property
    def learns_all(self) -> bool:
        return self.symmetry.learns_all

    @property
    def needs_observations(self) -> bool:
        """Whether a step that is not observed yet cannot be rearranged: its token is not known."""
        return self.memory.reads_observations and self.symmetry.given == LAST

    def check(self, history: History) -> None:
        """Refuse a history of which the tokens are not known, or are too many."""
        self.symmetry.check(history)
        if isinstance(self.symmetry, TogetherDepartures):  # tokens would lead from one to the next
            raise ValueError(
                f"{type(self.symmetry).__name__} takes the future to depend on the present state "
                "alone; use memory=1, or series='own' or 'others'"
            )
        self.memory.check(history)
        self._tokens(history).follow(history)

    def check_more(self, observations: IntArray, symbols: bool) -> None:
        self.memory.check_more(observations, symbols)

    def _code(self, completion: Completion) -> Coded:
        return self._tokens(completion.history).code(completion)

    def _tokens(self, history: History) -> Tokens:
        return history.lasting.recall("tokens", self.memory, lambda: Tokens(self.memory))


def remember(symmetry: Symmetry, memory: Any, history: History) -> Symmetry:
    """Return a symmetry of tokens; of states, where these are all that the future depends on.

    Parameters
    ----------
    memory : as `definetti.memory.resolve_memory` reads it
    history : one that must have such tokens
    """
    resolved = resolve_memory(memory)
    if resolved == Order(1):
        symmetry.check(history)
        return symmetry
    found = Remembering(symmetry, resolved)
    found.check(history)
    return found
