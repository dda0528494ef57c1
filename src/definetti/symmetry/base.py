"""What a symmetry has to offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import IntArray
from definetti._system.checks import checked_choice, checked_number, is_auto
from definetti._system.mixins import Named
from definetti.data.history import Completion, History, Windows
from definetti.data.labels import ANY, MISSING, check_indices, check_shape

Generator = Callable[[], np.random.Generator]
MOST_WINDOWS = 2**62  # where all windows of the past are compared with
PRESENT = "present state"  # given which departures promise: each time it is in this state


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


class Classes(NamedTuple):
    """Candidates by what they are compared with, and what that is, for all of them at once.

    Attributes
    ----------
    classes : (C,) the class of each candidate; those of one class have the same counts
    own : (C,) which window is the candidate's own
    moves, pairs : (G, n, n) and (G, n, m + 1) counts of transitions, and of states and symbols,
        the candidate included, missing symbols first
    begins : (G + 1,) where the windows of each class begin
    start, states, codes : (R,) and (R, h) the windows, class after class
    weights : (R, L) how often each occurs, in digits of 32 bits, lowest first
    """

    classes: IntArray
    own: IntArray
    moves: IntArray
    pairs: IntArray
    begins: IntArray
    start: IntArray
    states: IntArray
    codes: IntArray
    weights: IntArray

    @property
    def windows(self) -> Windows:
        return Windows(self.start, self.states, self.codes)

    def check(self, number: int, horizon: int, n_states: int, n_symbols: int) -> None:
        """Refuse what does not fit together, of so many candidates: kernels do not look."""
        classes, windows = len(self.moves), len(self.start)
        square, pairs = (classes, n_states, n_states), (classes, n_states, n_symbols + 1)
        for name, shape in {
            "classes": (number,), "own": (number,), "moves": square, "pairs": pairs,
            "begins": (classes + 1,), "start": (windows,), "states": (windows, horizon),
            "codes": (windows, horizon), "weights": (windows, *self.weights.shape[1:2]),
        }.items():  # fmt: skip
            check_shape(getattr(self, name), shape, f"{name} of classes")
        check_indices(self.classes, 0, classes, "classes of classes")
        check_indices(self.own, 0, windows, "own of classes")
        check_indices(self.begins, 0, windows + 1, "begins of classes")
        check_indices(np.diff(self.begins), 0, windows + 1, "sizes of classes")
        check_indices(self.start, 0, n_states, "start of classes")
        check_indices(self.states, 0, n_states, "states of classes")
        check_indices(self.codes, MISSING, n_symbols, "codes of classes")

    @property
    def each(self) -> IntArray:
        """The class of each window."""
        return np.repeat(np.arange(len(self.moves)), np.diff(self.begins))


class Chains(NamedTuple):
    """How the windows hang together that a sequence is compared with as it grows.

    Where a reference is made of windows of the history, that of one time is often that of an
    earlier one with a window more. Then a window and all it is compared with are a way from one
    end to the next, and one walk along all ways ranks all windows of a long sequence.

    Attributes
    ----------
    groups : (T,) the token whose reference has the window that ends at each time; −1 for none
    parents : (T,) the end of the next older window of the same reference; −1 where there is none
    counted : (T,) whether the window that ends there is in the reference, or only begins it
    shared : whether all windows are of one group, whatever token a candidate has
    recent : at most how many windows, the latest, are in a reference; None for all

    A sequence of ``T`` steps compares what has a token with the latest window of the token's group
    that ends before ``T``, with its parent, with the parent of that, and so on.
    """

    groups: IntArray
    parents: IntArray
    counted: npt.NDArray[np.bool_]
    shared: bool = False
    recent: int | None = None

    def check(self, length: int, horizon: int) -> None:
        """Refuse what is not of a sequence of so many steps: kernels do not look."""
        for name in ("groups", "parents", "counted"):
            check_shape(getattr(self, name), (length,), f"{name} of chains")
        check_indices(self.groups, -1, ANY, "groups of chains")
        check_indices(self.parents, -1, length, "parents of chains")
        # A parent is older than its child.
        check_indices(np.arange(length) - self.parents, 1, length + 1, "ages of chains")
        ends = np.flatnonzero(self.counted)
        check_indices(ends[:1], horizon, length, "the first window of chains")
        checked_recent(self.recent)


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
        the "present state", each time it is in this state
    by_clock : whether, given the present state, that holds at any time, and not by visits alone
    shared_calibration : whether all windows of a backtest are compared with the same calibration
        windows, so that their errors are not independent and allow no verdict
    pools : whether observations of earlier segments are dealt out as well
    spans : which segments it compares with, in words, where that is not the last alone
    reads_observations : whether what is rearranged depends on observations, and not on states
        alone; a step that is not observed yet might then be taken for one that is missing
    learns_all : whether a refitted model learns from the whole history, as it does where
        `training_subset` is not overridden
    needs_observations : whether a step that is not observed yet cannot be rearranged at all
    teaches_observed : whether what a refitted model learns depends on what is observed in the end
    recalls : what the future is taken to depend on where that is more than the present state
    recent : at most how many windows of the past, the latest, a candidate is compared with; None
        for all
    examples : parameters that act within a few steps, each a mapping from names to values;
        `definetti.testing.check_symmetry` tries them beside those it is given
    """

    by_last_state: bool = False
    given: str = "last state"
    by_clock: bool = False
    shared_calibration: bool = False
    pools: bool = False
    spans: str = ""
    reads_observations: bool = True
    needs_observations: bool = False
    teaches_observed: bool = False
    learns_all: bool = True
    recalls: str = ""
    recent: int | None = None
    examples: tuple[Mapping[str, Any], ...] = ()

    def __init_subclass__(cls, **others: Any) -> None:
        super().__init_subclass__(**others)
        cls.learns_all = cls.training_subset is Symmetry.training_subset
        if "reference" in cls.__dict__ and "chains" not in cls.__dict__:
            # What a derived class compares with is its own affair.
            cls.chains = Symmetry.chains  # type: ignore[method-assign]

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
        """Name what candidates share: equal names, equal reference.

        By default a candidate shares nothing.
        """
        return candidate_key(completion)

    def chains(self, tokens: IntArray, horizon: int) -> Chains | None:
        """Return how the references of all windows of a sequence hang together.

        None where that is not known, as by default: then each window is ranked by itself.

        Parameters
        ----------
        tokens : (T,) the codes of what the future depends on, the states or more
        """
        return None

    def check(self, history: History) -> None:
        """Refuse a history that it can do nothing with."""

    def check_more(self, observations: IntArray, symbols: bool) -> None:
        """Refuse codes of observations that a history is to go on with."""

    def training_key(self, completion: Completion) -> tuple[int, ...]:
        """Return a key for the `training_subset`: equal keys, equal subsets of one history."""
        return () if self.learns_all else candidate_key(completion)

    def training_subset(self, completion: Completion) -> IntArray | None:
        """Return the steps of the history that a refitted model learns from, in rising order.

        They are those that all rearrangements share; None for all there are.
        """
        return None


def checked_recent(recent: Any) -> int:
    """Return the largest number of windows to compare with; refuse what is no such number.

    >>> checked_recent(200)
    200
    """
    if recent is None:
        return MOST_WINDOWS
    try:
        return min(checked_number(recent, "recent"), MOST_WINDOWS)
    except ValueError as error:
        raise ValueError(f"{error}; use None to compare with all windows of the past") from None


def check_tokens(tokens: IntArray, horizon: int) -> None:
    """Refuse what is not a sequence of codes, or is no number of steps."""
    check_indices(tokens, 0, ANY, "tokens")
    check_shape(tokens, (len(tokens),), "tokens")
    checked_number(horizon, "horizon")


def candidate_key(completion: Completion) -> tuple[int, ...]:
    """Name a candidate by itself, for symmetries that share nothing between candidates."""
    return (*completion.states.tolist(), *(completion.observations + 1).tolist())


def find_symmetry(symmetry: Any) -> Symmetry:
    """Return the symmetry that is meant.

    What goes together stays together in whole blocks: of what is exact given the last state,
    "auto" is the one that was least often short on the recorded data of docs/real-data.md, which
    are no hidden Markov models. That is no promise for others.
    """
    meant = "spaced" if is_auto(symmetry) else symmetry
    found: Symmetry = checked_choice(meant, Symmetry, "symmetry", ", 'auto'")
    return found
