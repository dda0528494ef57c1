"""The contract of a symmetry, and symmetries of tokens: what carries more than the state."""

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
MOST_WINDOWS = 2**62  # where all windows of the past are compared with
# The state that a promise is conditional on: whatever the window ends in, or what it departs from.
LAST, PRESENT = "last state", "present state"


class Reference(NamedTuple):
    """The windows that a candidate is compared with.

    Attributes
    ----------
    windows : the ``R`` windows of rearranged sequences; None where they are named by `ends`
    weights : (R,) how often each occurs, whole numbers (of any size, if need be)
    joins : whether the candidate joins them, with weight one; else it is among them already
    randomised : whether ties are broken at random even where no smoothing was asked for
    ends : where the windows are those of the history itself, the times at which they end
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
        """Refuse windows that are not of the completed sequence: kernels do not look."""
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

    Whoever writes `exact` and `reference` has a symmetry; all else has a default that is safe.
    Whatever it depends on must be the same for all its rearrangements of a sequence.

    Attributes
    ----------
    by_last_state : whether the reference is made of windows of the history and depends on the
        candidate through its last state alone, so that a fixed model needs one threshold for each
        last state and no list of candidates; or on the present state alone, and one for all
    given : given which state the promise holds: the "last state", whatever state it ends in, or
        the "present state", averaged over its visits
    reads_observations : whether what is rearranged depends on observations, and not on states
        alone; a step that is not observed yet might then be taken for one that is missing
    recent : at most how many windows of the past, the latest, a candidate is compared with; None
        for all
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
        """Name what candidates share: equal names, equal reference and `training_subset`.

        By default a candidate shares nothing.
        """
        return (*completion.states.tolist(), *(completion.observations + 1).tolist())

    def training_subset(self, completion: Completion) -> IntArray | None:
        """Return the steps of the history that a refitted model learns from, in rising order.

        They are those that all rearrangements share; None for all there are.
        """
        return None

    @property
    def learns_all(self) -> bool:
        """Whether a refitted model learns from the whole history, for every candidate."""
        return type(self).training_subset is Symmetry.training_subset

    def within(self, history: History) -> str:
        """Say which segments it compares with, where there are several; a set prints it."""
        number = history.segments
        return f" within the last of {number} segments" if number > 1 else ""

    def check(self, history: History) -> None:
        """Refuse a history that it can do nothing with."""

    def check_more(self, observations: IntArray, symbols: bool) -> None:
        """Refuse codes of observations that a history is to go on with."""


def checked_recent(recent: Any) -> int:
    """Return the largest number of windows to compare with; refuse what is no such number."""
    if recent is None:
        return MOST_WINDOWS
    try:
        return min(checked_number(recent, "recent"), MOST_WINDOWS)
    except ValueError as error:
        raise ValueError(f"{error}; use None to compare with all windows of the past") from None


def find_symmetry(symmetry: Any) -> Symmetry:
    """Return the symmetry that is meant.

    What goes together stays together in whole blocks: of what is exact given the last state,
    "auto" is the one that was least often short on the recorded data of docs/real-data.md, which
    are no hidden Markov models. That is no promise for others.
    """
    meant = "spaced" if is_auto(symmetry) else symmetry
    chosen: Symmetry = checked_choice(meant, Symmetry, "symmetry", ", 'auto'")
    return chosen


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
        """Whether a step that is not observed yet cannot be rearranged: its token is not known."""
        return self.memory.reads_observations and self.symmetry.given == LAST

    def check(self, history: History) -> None:
        """Refuse a history of which the tokens are not known, or are too many."""
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
    """Return a symmetry of tokens; of states, where these are all that the future depends on.

    Parameters
    ----------
    memory : as `definetti.memory.resolve_memory` reads it
    history : one that must have such tokens
    """
    if type(memory) is not int or memory != 1:
        resolved = resolve_memory(memory)
        symmetry = symmetry if resolved == Order(1) else Remembering(symmetry, resolved)
    symmetry.check(history)
    return symmetry
