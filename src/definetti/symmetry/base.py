"""The contract of a symmetry, and symmetries of tokens, which carry more than the state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import IntArray
from definetti._system.checks import checked_choice, checked_number, is_auto
from definetti._system.mixins import Named
from definetti.data.history import Completion, History, Windows
from definetti.data.labels import ANY, MISSING, check_indices, check_shape
from definetti.memory import Memory, Order, resolve_memory
from definetti.memory.base import Coded, Tokens

Generator = Callable[[], np.random.Generator]
MOST_WINDOWS = 2**62  # stands for all windows of the past
# The state that coverage is conditional on: the one a window ends in, or departs from.
LAST, PRESENT = "last state", "present state"


class Reference(NamedTuple):
    """The windows that a candidate is compared with.

    Attributes
    ----------
    windows : the ``R`` windows of rearranged sequences; None where `ends` is given
    weights : (R,) how often each occurs, whole numbers (of any size, if need be)
    joins : whether the candidate is added, with weight one; else the windows contain it already
    randomised : whether ties are broken at random even without smoothing
    ends : the times at which the windows end, where they are windows of the history itself
    """

    windows: Windows | None
    weights: npt.NDArray[Any]
    joins: bool
    randomised: bool = False
    ends: IntArray | None = None

    @classmethod
    def alone(cls, completion: Completion) -> Reference:
        """Return the reference when nothing can be rearranged: the p-value is one."""
        return cls(completion.window, np.ones(1, dtype=np.int64), joins=False)

    @classmethod
    def past(cls, ends: IntArray) -> Reference:
        """Return the reference made of windows of the history, each counted once."""
        return cls(None, np.ones(len(ends), dtype=np.int64), joins=True, ends=ends)

    @classmethod
    def drawn(cls, windows: Windows) -> Reference:
        """Return the reference made of independent draws."""
        return cls(windows, np.ones(len(windows.start), dtype=np.int64), joins=True)

    def check(self, completion: Completion, n_symbols: int = ANY) -> None:
        """Refuse windows that do not fit the completed sequence: kernels do not check."""
        horizon = completion.horizon
        if self.windows is None:
            check_indices(self.ends, horizon, len(completion.history), "ends of a reference")
            size = len(np.atleast_1d(np.asarray(self.ends)))
            check_shape(self.ends, (size,), "ends of a reference")
        else:
            start, states, observations = self.windows
            size = len(states)
            check_shape(start, (size,), "start of a reference")
            check_shape(states, (size, horizon), "states of a reference")
            check_shape(observations, (size, horizon), "observations of a reference")
            check_indices(start, 0, completion.n_states, "start of a reference")
            check_indices(states, 0, completion.n_states, "states of a reference")
            check_indices(observations, MISSING, n_symbols, "observations of a reference")
        check_shape(self.weights, (size,), "weights of a reference")


class Symmetry(Named, ABC):
    """A set of rearrangements of the completed sequence, Steps 3 and 4.

    A subclass must define `exact` and `reference`; all other methods have safe defaults. Whatever
    a symmetry depends on must be the same for all its rearrangements of a sequence.

    Attributes
    ----------
    by_last_state : whether the reference is made of windows of the history and depends on the
        candidate through its last state alone, so that a fixed model needs one threshold for each
        last state and no list of candidates; or on the present state alone, and one for all
    given : the state that coverage is conditional on: the "last state" of the window, or the
        "present state", averaged over its visits
    reads_observations : whether rearrangements depend on observations, not on states alone; a step
        that is not observed yet might then be taken for a missing one
    recent : the largest number of windows of the past, the latest ones, to compare with; None for
        all
    examples : parameters that act within a few steps, each a mapping from names to values;
        `definetti.testing.check_symmetry` tries them beside those it is given
    """

    by_last_state: bool = False
    given: str = LAST
    reads_observations: bool = True
    recent: int | None = None
    examples: tuple[Mapping[str, Any], ...] = ()

    @property
    @abstractmethod
    def exact(self) -> bool:
        """Whether all rearrangements have the likelihood of the sequence itself.

        For every hidden Markov model, so that the p-values are valid in finite samples.
        """

    @abstractmethod
    def reference(self, completion: Completion, generator: Generator) -> Reference:
        """Return the windows of the rearranged sequences, counted where feasible, else drawn."""

    def orbit(self, completion: Completion) -> tuple[int, ...]:
        """Return a key: candidates of equal keys have equal `reference` and `training_subset`.

        By default every candidate has a key of its own.
        """
        return (*completion.states.tolist(), *(completion.observations + 1).tolist())

    def training_subset(self, completion: Completion) -> IntArray | None:
        """Return the steps of the history that a refitted model learns from, in rising order.

        All rearrangements share these steps. None stands for all steps.
        """
        return None

    @property
    def learns_all(self) -> bool:
        """Whether a refitted model learns from the whole history, for every candidate."""
        return type(self).training_subset is Symmetry.training_subset

    def within(self, history: History) -> str:
        """Describe the segments to compare with, if there are several; printed with a set."""
        number = history.segments
        return f" within the last of {number} segments" if number > 1 else ""

    def check(self, history: History) -> None:
        """Raise an error if a history is unsuitable."""

    def check_more(self, observations: IntArray, symbols: bool) -> None:
        """Raise an error if coded observations cannot extend a history."""


def checked_recent(recent: Any) -> int:
    """Return `recent` as the largest number of windows to compare with; refuse other values."""
    if recent is None:
        return MOST_WINDOWS
    try:
        return min(checked_number(recent, "recent"), MOST_WINDOWS)
    except ValueError as error:
        raise ValueError(f"{error}; use None to compare with all windows of the past") from None


def find_symmetry(symmetry: Any) -> Symmetry:
    """Return the symmetry of the given name, or the given instance.

    "auto" is "spaced", whose whole blocks keep dependent steps together: of the symmetries that are
    exact given the last state, it fell short of the level least often on the recorded data of
    docs/real-data.md, which are not from hidden Markov models. Other data may differ.
    """
    meant = "spaced" if is_auto(symmetry) else symmetry
    chosen: Symmetry = checked_choice(meant, Symmetry, "symmetry", ", 'auto'")
    return chosen


@dataclass(frozen=True)
class Remembering(Symmetry):
    """Rearrange tokens as another symmetry rearranges states.

    Exact where that symmetry is, with "chain of states" read as "chain of tokens". What all
    rearrangements share is the same for states, so that a refitted model learns as before.

    Parameters
    ----------
    symmetry : the symmetry applied to tokens
    memory : the definition of a token
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
        reference = self.symmetry.reference(coded.completion, generator)
        reference.check(coded.completion)
        if reference.windows is None:
            return reference
        states = coded.rows[:, 0]
        start, tokens, _ = reference.windows
        windows = reference.windows._replace(start=states[start], states=states[tokens])
        return reference._replace(windows=windows)

    def training_subset(self, completion: Completion) -> IntArray | None:
        return self.symmetry.training_subset(self._code(completion).completion)

    @property
    def learns_all(self) -> bool:
        return self.symmetry.learns_all

    @property
    def needs_observations(self) -> bool:
        """Whether steps not observed yet cannot be rearranged: their tokens are unknown."""
        return self.memory.reads_observations and self.symmetry.given == LAST

    def check(self, history: History) -> None:
        """Refuse a history whose tokens are unknown or too many."""
        self.symmetry.check(history)
        self.memory.check(history)
        self._tokens(history).follow(history)

    def check_more(self, observations: IntArray, symbols: bool) -> None:
        self.memory.check_more(observations, symbols)

    def _code(self, completion: Completion) -> Coded:
        return self._tokens(completion.history).code(completion)

    def _tokens(self, history: History) -> Tokens:
        return history.lasting.recall("tokens", self.memory, lambda: Tokens(self.memory))


def remember(symmetry: Symmetry, memory: Any, history: History) -> Symmetry:
    """Return the symmetry of the tokens of `memory`; of states, where memory has order one.

    Parameters
    ----------
    memory : as `definetti.memory.resolve_memory` reads it
    history : the history, which must have such tokens
    """
    if type(memory) is not int or memory != 1:
        resolved = resolve_memory(memory)
        symmetry = symmetry if resolved == Order(1) else Remembering(symmetry, resolved)
    symmetry.check(history)
    return symmetry
