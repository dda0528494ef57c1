"""Sources of a monitor's p-values: counts of symbols, or the estimator itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from definetti._system.arrays import FloatArray
from definetti.conformal import ConformalHMM
from definetti.data.history import Windows
from definetti.data.labels import Alphabet, checked_states, is_missing, require
from definetti.engine.algorithm import rank_by_scores
from definetti.engine.pvalues import Rank, Ranked
from definetti.engine.step_counts import (
    PARTS,
    Stream,
    find_priors,
    find_step_reference,
    find_step_score,
)
from definetti.memory import Order
from definetti.models.base import Estimate
from definetti.scores import Emission, Score, Transition
from definetti.symmetry import Full, Remembering

if TYPE_CHECKING:
    from definetti.monitor.past import Past

VISITS = "visits"
MOST_STATES = 64  # trees are updated by a square matrix of them
MOST_CELLS = 2**22  # of previous state, state and symbol


class Parts(NamedTuple):
    """The tested parts of a step: some of `PARTS`, and visits to some states."""

    judged: tuple[str, ...]
    visited: tuple[Hashable, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return *self.judged, *(f"{VISITS} to {state!r}" for state in self.visited)


def read_parts(parts: Any, cp: ConformalHMM) -> Parts:
    """Read names of parts, or "all"; None is for all but visits."""
    plain = cp._data.plain
    known = PARTS[:1] if plain else PARTS
    if parts is None:
        return Parts(known)
    parts = (*known, VISITS) if isinstance(parts, str) and parts == "all" else parts
    several = isinstance(parts, Iterable) and not isinstance(parts, str)
    asked = tuple(parts) if several else (parts,)
    wrong = [part for part in asked if part not in (*known, VISITS)]
    if wrong or not asked or len(set(asked)) != len(asked):
        of_chain = " of a plain chain" if plain else ""
        raise ValueError(
            f"parts must be some of {', '.join(map(repr, (*known, VISITS)))}{of_chain}, got "
            f"{parts!r}; leave it out for all but {VISITS!r}, or give 'all'"
        )
    visited = tuple(cp.states_) if VISITS in asked else ()
    return Parts(tuple(part for part in known if part in asked), visited)


class CountsInsufficient(Exception):
    """Counts and sums no longer determine the ranks."""


class Source(ABC):
    """Ranks of the next step, part by part, each among the members of its class.

    Attributes
    ----------
    sets : how the source ranks sets one step ahead; empty if the estimator predicts them
    """

    sets = ""

    def __init__(self, cp: ConformalHMM, parts: Parts) -> None:
        self.parts = parts
        smoothed = ", smoothed" if cp.smoothing else ""
        self.method = (
            f"{cp.conformity_score_.name} score, {cp.symmetry_.known_as} symmetry{smoothed}"
        )

    @property
    @abstractmethod
    def labels(self) -> tuple[Hashable, ...]:
        """The labels of all states."""

    @property
    @abstractmethod
    def present(self) -> Hashable:
        """The label of the last step learned."""

    def step_ranks(self, code: int) -> Ranked:
        """Rank a step to each state as the estimator does; available if `sets` is not empty."""
        raise NotImplementedError

    @abstractmethod
    def code(self, observation: Any) -> int:
        """Return the code of an observation; raise for an invalid one."""

    @abstractmethod
    def check_label(self, label: Hashable) -> None:
        """Raise for an invalid label."""

    @abstractmethod
    def ranks(self, observation: Any, code: int, label: Hashable) -> tuple[Rank, ...]:
        """Rank the step to a state, part by part."""

    def learn(self, label: Hashable, code: int) -> None:
        """Append a step; by default only the estimator learns."""

    def new_segment(self) -> None:
        """Begin a new segment; by default only the estimator does."""


def check_state(label: Hashable, alphabet: Alphabet, closed: bool) -> None:
    """Raise for a label that is not a valid state, or not declared."""
    labels = checked_states([label], "state")
    if closed:
        alphabet.encode(labels, "state")
    alphabet.check_kind(labels, "state")


def check_plain(observation: Any) -> int:
    """Raise for an observation of a plain chain; return the code of a missing one."""
    if observation is not None:
        raise ValueError(
            "observation was given, but the estimator was fitted with observations=None; "
            "fit again with observations, or give none"
        )
    return -1


class ChainSource(Source):
    """Ranks of parts from counts of the labelled chain."""

    def __init__(self, cp: ConformalHMM, parts: Parts, stream: Stream) -> None:
        super().__init__(cp, parts)
        self.alphabet, self.closed, self.stream = cp._data.alphabet, cp._data.closed, stream
        self._judged = [PARTS.index(name) for name in parts.judged]

    @property
    def labels(self) -> tuple[Hashable, ...]:
        return self.alphabet.labels

    @property
    def present(self) -> Hashable:
        return self.labels[self.stream.last]

    def check_label(self, label: Hashable) -> None:
        if label in self.alphabet.codes:
            return
        check_state(label, self.alphabet, self.closed)
        self._grow(self.alphabet.joined([label]))

    @abstractmethod
    def _grow(self, alphabet: Alphabet) -> None:
        """Make room for a new state."""

    def ranks(self, observation: Any, code: int, label: Hashable) -> tuple[Rank, ...]:
        codes = self.alphabet.codes
        state = codes[label]
        every = self.part_ranks(state, code)
        judged = tuple([every[k] for k in self._judged])
        if self.parts.visited:
            visits = self.stream.visits(state)
            judged += tuple([visits[codes[visited]] for visited in self.parts.visited])
        return judged

    @abstractmethod
    def part_ranks(self, state: int, code: int) -> tuple[Rank, Rank, Rank]:
        """Rank the move, the observation and the whole step to a state, as in `PARTS`."""

    def new_segment(self) -> None:
        self.stream.new_segment()


def counts_tell(cp: ConformalHMM) -> bool:
    """Return whether counts determine the ranks of the estimator's score."""
    data = cp._data
    if (
        cp.memory_ != Order(1)
        or not data.emission.symbols
        or not find_step_score(cp.conformity_score_)
    ):
        return False
    n, m = len(data.alphabet), len(data.table)
    counted = find_priors(cp.model_, data.table) is not None
    return counted and n <= MOST_STATES and n * n * (m + 1) <= MOST_CELLS


class CountsSource(ChainSource):
    """Ranks of symbols by a model refitted on counts.

    `sets` is "class" or "past", what candidates are compared with one step ahead, or empty.
    """

    def __init__(self, cp: ConformalHMM, parts: Parts) -> None:
        data, self._model = cp._data, cp.model_
        self.plain, self._rule, self._kinds = data.plain, data.rule, data.kinds
        self._emission, self._table = data.emission, data.table
        self._codes = {symbol: k for k, symbol in enumerate(data.emission.symbols_of(data.table))}
        self._symmetry = cp.symmetry_ if cp.guarantee == "all" else None
        priors = find_priors(cp.model_, data.table)
        assert priors is not None
        surprise = find_step_score(cp.conformity_score_) == "surprise"
        recent = None if self._symmetry is None else self._symmetry.recent
        stream = Stream.of(data.history, len(self._codes), priors, surprise, recent)
        super().__init__(cp, parts, stream)
        self._see_sets()

    def _see_sets(self) -> None:
        """Set `sets` to what counts can rank sets by, if anything."""
        size = self.stream.n_states, self.stream.n_symbols
        self.sets = find_step_reference(self._symmetry, *size) if self._symmetry else ""

    def code(self, observation: Any) -> int:
        if self.plain:
            return check_plain(observation)
        try:
            code = self._codes.get(observation)
        except TypeError:  # unhashable: not one of the symbols
            code = None
        if code is not None:
            return code
        return -1 if is_missing(observation) else self._new_symbol(observation)

    def _new_symbol(self, observation: Any) -> int:
        """Add a new symbol; raise `CountsInsufficient` if counts are no longer enough."""
        if self._kinds is not None:
            types = self._rule.infer_types([observation])
            assert types is not None  # types were inferred from observations before
            kinds = self._kinds.join(types)
            if self._rule.choose(kinds).emission_ != self._emission:
                raise CountsInsufficient
            self._kinds = kinds
        table, codes = self._emission.encode([observation], self._table, "observation")
        n, m = self.stream.n_states, len(table)
        if find_priors(self._model, table) is None or n * n * (m + 1) > MOST_CELLS:
            raise CountsInsufficient
        self._table = table
        self._codes[observation] = int(codes[0])
        self.stream.grow(n, m)
        self._see_sets()
        return int(codes[0])

    def _grow(self, alphabet: Alphabet) -> None:
        if len(alphabet) > MOST_STATES:
            raise CountsInsufficient
        self.alphabet = alphabet
        self.stream.grow(len(alphabet), self.stream.n_symbols)
        self._see_sets()

    def step_ranks(self, code: int) -> Ranked:
        in_class = self.sets == "class"
        return self.stream.class_ranks(code) if in_class else self.stream.past_ranks(code)

    def part_ranks(self, state: int, code: int) -> tuple[Rank, Rank, Rank]:
        return self.stream.ranks(state, code)

    def learn(self, label: Hashable, code: int) -> None:
        self.stream.learn(self.alphabet.codes[label], code)

    @property
    def symbols(self) -> list[Hashable]:
        """All symbols seen, in the order of their codes."""
        return list(self._codes)

    def restore(self, labels: list[Hashable], symbols: list[Hashable], stream: Stream) -> None:
        """Restore saved counts with their states and symbols."""
        require(set(self.parts.visited) <= set(labels), "states whose visits are judged")
        self.alphabet, self.stream = Alphabet(labels), stream
        self._see_sets()
        if self.plain:
            return
        # Encode symbols one by one in their order of occurrence: the estimator, which knows only
        # labelled ones, may have another order.
        table, codes = None, []
        for symbol in symbols:
            table, code = self._emission.encode([symbol], table, "symbols")
            codes += code.tolist()
        require(codes == list(range(len(symbols))), "symbols")
        require(set(self._emission.symbols_of(self._table)) <= set(symbols), "symbols")
        self._table = self._table if table is None else table
        self._codes = dict(zip(symbols, codes, strict=True))


@dataclass(frozen=True)
class PreviousStateScore(Score):
    """Score one for steps that come from a certain state, else zero."""

    state: int

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        return np.asarray(windows.start == self.state, dtype=np.float64)


class GeneralSource(Source):
    """Ranks for any observations by the estimator, among the whole class."""

    def __init__(self, past: Past, generator: np.random.Generator, parts: Parts) -> None:
        cp = past.cp
        super().__init__(cp, parts)
        self._past, self._generator = past, generator
        every = dict(zip(PARTS, (Transition(), Emission(), cp.conformity_score_), strict=True))
        self._scores: list[Score] = [every[name] for name in parts.judged]
        codes = cp._data.alphabet.codes
        self._scores += [PreviousStateScore(codes[state]) for state in parts.visited]

    @property
    def labels(self) -> tuple[Hashable, ...]:
        return self._past.cp.states_

    @property
    def present(self) -> Hashable:
        return self._past.cp.present_

    def code(self, observation: Any) -> int:
        data = self._past.cp._data
        if data.plain:
            return check_plain(observation)
        new = self._past.stacked([observation])
        data = data.choose_again(new, "observation")
        data.emission.encode(new, data.table, "observation")  # raises if invalid
        return 0

    def check_label(self, label: Hashable) -> None:
        data = self._past.cp._data
        check_state(label, data.alphabet, data.closed)

    def ranks(self, observation: Any, code: int, label: Hashable) -> tuple[Rank, ...]:
        cp, symmetry = copy(self._past.cp), Full()
        inner = cp._remembering
        cp._remembering = (
            replace(inner, symmetry=symmetry) if isinstance(inner, Remembering) else symmetry
        )
        task, codes = cp._ask_about(self._past.stacked([observation]), [label])
        asked = replace(task, smoothing=True, entropy=int(self._generator.integers(2**63)))
        # All scores share one set of draws: each p-value is exact separately.
        reference = rank_by_scores(asked, codes[None], self._scores)
        return tuple(ranked.ranks()[0] for ranked in reference)
