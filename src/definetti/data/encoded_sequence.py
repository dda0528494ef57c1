"""Encode a labelled sequence: check it, code it, count it, save it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray, narrowed, widened
from definetti._system.checks import checked_number, warn_caller
from definetti._system.mixins import Saved
from definetti.data.history import History, Windows, padded, stacked, windows_at
from definetti.data.labels import (
    MISSING,
    Alphabet,
    check_codes,
    check_encoded,
    check_pairs,
    check_statistics,
    check_table,
    checked_states,
    piece,
    read_declared,
    read_lengths,
    require,
    training_cut,
)
from definetti.data.timing import Clock, check_following, read_clock
from definetti.exceptions import GapWarning

if TYPE_CHECKING:
    from definetti.emissions.choice import Kinds
    from definetti.models.base import Model


class New(NamedTuple):
    """Unlabelled observations, encoded."""

    table: Any  # all observations, these included, by code
    codes: IntArray  # (h,)
    unseen: npt.NDArray[np.bool_]  # (h,) steps that are not observed yet; hidden in every window


class Trained(NamedTuple):
    """The encoded rows that a fixed model was trained on; they do not calibrate."""

    states: IntArray
    observations: IntArray
    begins: list[int]  # the first row of each segment

    def windows(self, horizon: int) -> Windows:
        """Return all windows of `horizon` steps, each with the state before it."""
        ends = [
            np.arange(begin + horizon, end)
            for begin, end in zip(self.begins, [*self.begins[1:], len(self.states)], strict=True)
        ]
        return stacked(windows_at(part, self.states, self.observations, horizon) for part in ends)


class Part(NamedTuple):
    """Labelled rows as they were given in one call."""

    observations: Any
    labels: list[Any]
    shape: str  # form of the observations, as in `definetti.emissions.choice.Kinds`


class EncodedSequence(Saved):
    """A labelled sequence, in codes, under one model.

    Attributes
    ----------
    rule : the model as given, which may depend on the types of the observations
    model, emission : the model in use; with `train_size` it is fixed on the first rows
    kinds : the types of the observations, where they decide the model
    alphabet, table : labels and observations by code
    known : states known from elsewhere, such as those of other series; there may be more
    together : whether all segments calibrate, instead of the last alone
    omits_first : whether the first observation is neither rearranged nor learned from, because it
        decided where the history begins
    narrow : whether the model gives probability only to states that are declared, known from
        elsewhere or among the rows it learns from; else to all states seen in any row
    history : the rows that calibrate
    training : the rows that a model was fixed on, if any
    statistics : the sums that the emission needs of the observations
    clock : the time of the last row, where rows have times
    """

    clock: Clock | None = None

    def __init__(
        self,
        model: Model,
        observations: Any,
        states: Any,
        declared: Iterable[Hashable] | None = None,
        train_size: float | None = None,
        lengths: Any = None,
        kinds: Kinds | None = None,
        known: tuple[Hashable, ...] = (),
        together: bool = False,
        omits_first: bool = False,
        narrow: bool = False,
    ) -> None:
        self.known, self.together, self.omits_first = known, together, omits_first
        self.narrow = narrow
        self._broken = False  # whether the next row follows a gap
        labels = checked_states(states)
        if not labels:
            raise ValueError("states is empty; a labelled history needs at least one step")
        self._lengths = segments = read_lengths(lengths, len(labels), "states")
        self.begun = len(labels)  # rows given to `fit`
        self.rule = model
        if kinds is None:
            seen = observations
            if train_size is not None and observations is not None:
                seen = piece(observations, 0, training_cut(train_size, segments))
            kinds = model.infer_types(seen)
        self.kinds = kinds
        model = model.choose(kinds)
        ordered, emission = model.ordered, model.emission_
        self.plain = observations is None
        self.closed = declared is not None
        first = (*(model.states or ()), *known)
        if declared is None:
            self.alphabet = Alphabet(first).extended(labels)
        else:
            self.alphabet = read_declared(declared, first)
        codes = self.alphabet.encode(labels, "states")
        if declared is None and ordered:
            # Rearrangements change the order in which labels are first seen.
            raise ValueError(
                "states is not declared, and the model's columns have no names; give "
                "ConformalHMM(…, states=[…]) the labels in the order of the columns"
            )
        if ordered:
            model = model.with_states(self.alphabet.labels)
            emission = model.emission_
        self.model, self.emission = model, emission
        self._parts: list[Part] = []  # the rows as given, where their types decide the model
        if kinds is not None:
            self._parts = [Part(copied(observations), labels, kinds.shape)]
        self.table, observed = self._encoded(observations, model.table, len(labels))
        begins = (segments.cumsum() - segments).tolist()
        self.training: Trained | None = None
        if train_size is not None:
            cut = training_cut(train_size, segments)
            if observations is not None:
                # Encode the training rows first: what a table derives from its first rows must
                # not depend on the rows that calibrate.
                first, rest = piece(observations, 0, cut), piece(observations, cut, len(labels))
                self.table, trained = self._encoded(first, model.table, cut)
                self.table, later = self._encoded(rest, self.table, len(labels) - cut)
                observed = np.concatenate([trained, later])
            segment = self._history(codes[:cut], observed[:cut], begins)
            inside = [begin for begin in begins if begin < cut]
            self.model = self.rule.fixed_on(
                model, segment.pool, self.table, self.alphabet.labels,
                np.diff([*inside, cut]).tolist(),
            )  # fmt: skip
            self.emission = self.model.emission_
            self.training = Trained(codes[:cut], observed[:cut], inside)
            codes, observed, begins = codes[cut:], observed[cut:], [0]
            self._lengths = np.array([len(codes)])
        elif model.fixed:  # trained elsewhere
            model.check_ready()
        self.history = self._history(codes, observed, begins)
        self.history.segments = len(segments)
        begin = int(omits_first)
        self.statistics = self._statistics(
            self.table, codes[begin:], observed[begin:], len(self.alphabet.codes)
        )

    def _saved(self) -> dict[str, Any]:
        pool = self.history.pool
        return {
            "rule": self.rule,
            "model": self.model,
            "kinds": self.kinds,
            "plain": self.plain,
            "closed": self.closed,
            "known": self.known,
            "together": self.together,
            "omits_first": self.omits_first,
            "alphabet": self.alphabet,
            "lengths": self._lengths,
            "segments": self.history.segments,
            "begun": self.begun,
            "clock": None if self.clock is None else tuple(self.clock),
            "parts": self._parts,
            "table": self.table,
            "training": self.training,
            "states": narrowed(pool.states),
            "observations": narrowed(pool.observations),
            "statistics": self.statistics,
        }

    @classmethod
    def _restored(cls, kept: dict[str, Any]) -> EncodedSequence:
        restored = cls.__new__(cls)
        restored.rule, restored.model, restored.kinds = kept["rule"], kept["model"], kept["kinds"]
        restored.plain, restored.closed = bool(kept["plain"]), bool(kept["closed"])
        require(isinstance(kept["known"], tuple), "states that are known")
        restored.known = kept["known"]
        restored.narrow = False  # set by the estimator, with `narrowed`
        restored.together = bool(kept["together"])
        restored.omits_first = bool(kept["omits_first"])
        restored.alphabet, restored.table = kept["alphabet"], kept["table"]
        restored.training, restored.statistics = kept["training"], kept["statistics"]
        restored._lengths, restored._parts = widened(kept["lengths"]), list(kept["parts"])
        restored.emission = restored.model.emission_
        states, observations = widened(kept["states"]), widened(kept["observations"])
        restored._check_restored(states, observations)
        begins = restored._lengths.cumsum() - restored._lengths
        restored.history = restored._history(states, observations, begins.tolist())
        restored._broken = restored.together and begins[-1] == len(states)
        if begins[-1] == len(states) and not restored.together:  # a new segment without rows
            past, restored.history = restored.history, restored._new_history()
            restored.history.pool = past.pool
        restored.history.segments = int(kept["segments"])
        restored.begun = int(kept["begun"])
        require(restored.begun > 0, "a length")
        restored.clock = read_clock(kept["clock"])
        return restored

    @classmethod
    def _memory(cls, kept: dict[str, Any]) -> int:
        n, symbols = len(kept["alphabet"]), int(np.max(kept["observations"], initial=-1)) + 2
        rows = len(kept["states"])
        return 24 * n * (n + symbols) + (72 if len(kept["lengths"]) == 1 else 96) * rows

    def _check_restored(self, states: IntArray, observations: IntArray) -> None:
        """Refuse inconsistent data from a file."""
        n, segments = len(self.alphabet), [(states, observations)]
        check_table(self.emission, self.table)
        if self.training is not None:
            segments.append((self.training.states, self.training.observations))
            begins = np.array(self.training.begins, dtype=np.int64)
            inside = (begins >= 0) & (begins < len(self.training.states))
            require(inside.all() and (np.diff(begins) > 0).all(), "where segments begin")
        for some, observed in segments:
            require(0 < len(some) == len(observed), "the length of a history")
            require(some.min() >= 0 and some.max() < n, "a code of states")
            check_codes(self.table, observed)
        lengths = self._lengths
        require(len(lengths) and (lengths[:-1] > 0).all() and lengths[-1] >= 0, "a length")
        require(0 < lengths.sum() <= len(states), "a length")
        require(all(isinstance(part, Part) for part in self._parts), "what came in")
        if self.model.fixed:
            require(np.shape(self.statistics) == (n, 0), "a sum")
        else:
            check_statistics(self.emission, self.table, self.statistics, n)

    def __deepcopy__(self, memo: dict[int, Any]) -> EncodedSequence:
        """Copy all but the rows as given, which never change."""
        memo.update({id(part): part for part in self._parts})
        again = memo[id(self)] = object.__new__(type(self))
        again.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return again

    @property
    def lengths(self) -> IntArray:
        """The lengths of the segments that calibrate."""
        return self._lengths_of(len(self.history.pool))

    def _lengths_of(self, steps: int) -> IntArray:
        """Return the lengths of the segments within the first `steps` rows."""
        lengths = self._lengths.copy()
        lengths[-1] += len(self.history.pool) - lengths.sum()  # later rows follow the last
        ends = np.minimum(lengths.cumsum(), steps)
        return np.asarray(np.diff(ends, prepend=0)[: 1 + np.searchsorted(ends, steps)])

    def new_segment(self) -> None:
        """Begin a new segment after a gap; earlier ones remain in the pool to learn from."""
        if not len(self.history):
            return  # the segment has no rows yet
        if self.together:  # the history continues after the gap
            if not self._broken:
                self._lengths, self._broken = np.append(self.lengths, 0), True
                self.history.segments += 1
            return
        self._lengths, past = np.append(self.lengths, 0), self.history
        self.history = self._new_history()
        self.history.pool, self.history.segments = past.pool, past.segments + 1

    def append(
        self,
        observations: Any,
        states: Any,
        check: Callable[[IntArray, bool], None] | None = None,
    ) -> None:
        """Append labelled rows; nothing changes if they are refused.

        `check` refuses codes of observations; its second argument is whether they are symbols.
        """
        self.check_plain(observations, "observations")
        labels = checked_states(states)
        alphabet = self.alphabet
        if not self.closed:
            met = list(dict.fromkeys(labels))
            alphabet.check_kind(labels, "states", met)
            alphabet = alphabet.extended(met)
        codes = alphabet.encode(labels, "states")
        table, observed = self._encoded(observations, self.table, len(labels))
        if check is not None:
            check(observed, self.emission.symbols)
        added = self._statistics(table, codes, observed, len(alphabet))
        self.alphabet, self.table = alphabet, table
        self.statistics = padded(self.statistics, *added.shape) + added
        begun = len(self.history) > 0 and not self._broken
        self.history.append(codes, observed, len(alphabet), gap=not begun)
        self._broken = self._broken and not len(codes)

    def read_new(self, observations: Any, horizon: int | None) -> New:
        """Encode unlabelled observations; steps from there to the horizon are unseen."""
        if not self.history.length or self._broken:
            raise ValueError(
                "nothing is labelled since the gap, so that there is no state to go on from; label "
                "a step first"
            )
        if horizon is not None:
            checked_number(horizon, "horizon")
        if observations is None:
            if horizon is None:
                raise ValueError(
                    "new_observations is None and horizon is None; give the new observations, or "
                    "horizon=3 to forecast three steps without any"
                )
            table, codes = self.table, np.zeros(0, dtype=np.int64)
        else:
            self.check_plain(observations, "new_observations")
            check_following(observations, self.clock, "new_observations")
            table, codes = self.emission.encode(observations, self.table, "new_observations")
            check_encoded(self.emission, table, codes)
            if not len(codes):
                raise ValueError("new_observations is empty; give at least one, or use horizon=")
            if horizon is not None and horizon < len(codes):
                raise ValueError(
                    f"horizon={horizon}, but new_observations has {len(codes)} elements; leave "
                    "horizon out, or let it reach beyond them"
                )
        if (codes == MISSING).any() and not self.history.gaps:
            warn_of_gaps()
        ahead = np.full((horizon or len(codes)) - len(codes), MISSING)
        unseen = np.arange(len(codes) + len(ahead)) >= len(codes)
        return New(table, np.concatenate([codes, ahead]), unseen)

    def _new_history(self) -> History:
        """Return a history without any steps."""
        history = History(len(self.alphabet), self.emission.symbols)
        history.known = self._n_known
        return history

    @property
    def _n_known(self) -> int | None:
        """How many states, in order of code, need not be seen to be known; None for all."""
        if self.closed or not self.narrow:
            return None
        return len(Alphabet((*(self.rule.states or ()), *self.known)))

    def narrowed(self, narrow: bool) -> None:
        """Set `narrow`, the states that a refitted model gives probability to."""
        self.narrow = narrow
        self.history.known = self.history.pool.known = self._n_known

    def _history(self, codes: IntArray, observed: IntArray, begins: list[int]) -> History:
        """Return the history of the last segment, with all segments as its pool."""

        def part(begins: list[int]) -> History:
            history = self._new_history()
            history.omits_first = self.omits_first and begins[:1] == [0]
            for begin, end in zip(begins, [*begins[1:], len(codes)], strict=True):
                history.append(codes[begin:end], observed[begin:end], gap=True)
            return history

        inside = [begin for begin in begins if begin < len(codes)]
        if self.together:
            return part(inside)
        last = part(inside[-1:])
        if len(inside) > 1:
            last.pool = part(inside)
        return last

    def _statistics(
        self, table: Any, codes: IntArray, observed: IntArray, n_states: int
    ) -> FloatArray:
        if self.model.fixed:  # later rows do not change the model
            return np.zeros((n_states, 0))
        return self.emission.statistics(table, observed, codes, n_states)

    def _encoded(self, observations: Any, table: Any, length: int) -> tuple[Any, IntArray]:
        """Encode observations; those of a plain chain are all missing."""
        if observations is None:
            observations = [None] * length
        table, codes = self.emission.encode(observations, table, "observations")
        check_encoded(self.emission, table, codes)
        check_pairs(len(codes), length)
        return table, codes

    def check_plain(self, observations: Any, name: str) -> None:
        """Refuse observations for a plain chain, and their absence for any other history."""
        if self.plain and observations is not None:
            raise ValueError(
                f"{name} were given, but the history was fitted with observations=None; "
                "fit again with observations, or give none"
            )
        if not self.plain and observations is None:
            raise ValueError(
                f"{name} is None, but the history was fitted with observations; give one "
                "per step (None inside the list where one is missing)"
            )


def warn_of_gaps() -> None:
    """Warn of missing new observations where the history has none."""
    warn_caller(
        "new_observations has gaps and the history has none: the sets are valid if gaps come at "
        "random; for steps that are not observed yet use horizon=",
        GapWarning,
    )


def copied(values: Any) -> Any:
    """Copy observations, so that later changes by the caller have no effect."""
    if isinstance(values, list):
        return [value.copy() if hasattr(value, "copy") else value for value in values]
    return values.copy() if hasattr(values, "copy") else values
