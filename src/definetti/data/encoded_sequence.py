"""A labelled sequence taken in: checked, coded, counted, and saved."""

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
    """Observations that came without labels."""

    table: Any  # the observations known, these included
    codes: IntArray  # (h,)
    unseen: npt.NDArray[np.bool_]  # (h,) not there yet, and to be left out of every window


class Trained(NamedTuple):
    """The steps that a model was fixed on, which calibrate nothing, as codes."""

    states: IntArray
    observations: IntArray
    begins: list[int]  # where the segments begin between which there are gaps

    def windows(self, horizon: int) -> Windows:
        """Return all windows of so many steps, each with the state before it."""
        ends = [
            np.arange(begin + horizon, end)
            for begin, end in zip(self.begins, [*self.begins[1:], len(self.states)], strict=True)
        ]
        return stacked(windows_at(part, self.states, self.observations, horizon) for part in ends)


class Part(NamedTuple):
    """Labelled data that came in together, as they came."""

    observations: Any
    labels: list[Any]
    shape: str  # of the observations, in the words of `definetti.emissions.choice.Kinds`


class EncodedSequence(Saved):
    """A labelled sequence, in codes, under one model.

    Attributes
    ----------
    rule : the model as it was given, which may choose by what is observed
    model, emission : what is used, fixed on the first segment where the sequence is split
    kinds : what is observed, where the model was chosen by it
    alphabet, table : labels and observations, in the order of their codes
    known : states that are known from elsewhere, though there may be others
    together : whether all segments are the history, and not the last alone
    omits_first : whether the first observation is neither dealt out nor learned from, because it
        chose the step that the history begins with
    narrow : whether a model is to know no states but those that are declared, known from elsewhere
        or met in what it learns from; else it knows all that were met anywhere
    history : the sequence, without the segment that the model was fixed on
    training : that segment, if there is one
    statistics : what the model needs to know of its observations
    clock : the time of the last row, where rows had times
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
        self._broken = False  # whether a gap comes before what goes on with all segments
        labels = checked_states(states)
        if not labels:
            raise ValueError("states is empty; a labelled history needs at least one step")
        self._lengths = segments = read_lengths(lengths, len(labels), "states")
        self.begun = len(labels)  # how many steps it began with
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
            # The order in which labels are first met is not what a rearrangement keeps.
            raise ValueError(
                "states is not declared, and the model's columns have no names; give "
                "ConformalHMM(…, states=[…]) the labels in the order of the columns"
            )
        if ordered:
            model = model.with_states(self.alphabet.labels)
            emission = model.emission_
        self.model, self.emission = model, emission
        self._parts: list[Part] = []  # what came in, where the model was chosen by it
        if kinds is not None:
            self._parts = [Part(copied(observations), labels, kinds.shape)]
        self.table, observed = self._encoded(observations, model.table, len(labels))
        begins = (segments.cumsum() - segments).tolist()
        self.training: Trained | None = None
        if train_size is not None:
            cut = training_cut(train_size, segments)
            if observations is not None:
                # Again, the first segment first: what a table notes of its first data is then
                # no business of the others.
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
        elif model.fixed:  # elsewhere, and not on the first segment
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
        restored.narrow = False  # for whoever knows what it is for to say
        restored.together = bool(kept.get("together", False))
        restored.omits_first = bool(kept.get("omits_first", False))
        restored.alphabet, restored.table = kept["alphabet"], kept["table"]
        restored.training, restored.statistics = kept["training"], kept["statistics"]
        restored._lengths, restored._parts = widened(kept["lengths"]), list(kept["parts"])
        restored.emission = restored.model.emission_
        states, observations = widened(kept["states"]), widened(kept["observations"])
        restored._check_restored(states, observations)
        begins = restored._lengths.cumsum() - restored._lengths
        restored.history = restored._history(states, observations, begins.tolist())
        restored._broken = restored.together and begins[-1] == len(states)
        if begins[-1] == len(states) and not restored.together:  # broken off, and nothing since
            past, restored.history = restored.history, restored._new_history()
            restored.history.pool = past.pool
        restored.history.segments = int(kept["segments"])
        restored.begun = int(kept.get("begun", len(states)))  # files from before it was kept
        require(restored.begun > 0, "a length")
        restored.clock = read_clock(kept.get("clock"))
        return restored

    @classmethod
    def _memory(cls, kept: dict[str, Any]) -> int:
        n, symbols = len(kept["alphabet"]), int(np.max(kept["observations"], initial=-1)) + 2
        rows = len(kept["states"])
        return 24 * n * (n + symbols) + (72 if len(kept["lengths"]) == 1 else 96) * rows

    def _check_restored(self, states: IntArray, observations: IntArray) -> None:
        """Refuse what was read from a file and is no labelled sequence."""
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
        """Copy all but what came in, which is never changed, and may be a million labels."""
        memo.update({id(part): part for part in self._parts})
        again = memo[id(self)] = object.__new__(type(self))
        again.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return again

    @property
    def lengths(self) -> IntArray:
        """How long each segment of the history is, without what a model was fixed on."""
        return self._lengths_of(len(self.history.pool))

    def _lengths_of(self, steps: int) -> IntArray:
        """Return how long each segment is in the first so many steps."""
        lengths = self._lengths.copy()
        lengths[-1] += len(self.history.pool) - lengths.sum()  # later rows follow the last
        ends = np.minimum(lengths.cumsum(), steps)
        return np.asarray(np.diff(ends, prepend=0)[: 1 + np.searchsorted(ends, steps)])

    def new_segment(self) -> None:
        """Begin a new segment, after a gap; what earlier ones observed stays in the pool."""
        if not len(self.history):
            return  # it has just begun
        if self.together:  # the same history goes on, after a gap
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
        """Let the sequence go on; nothing changes if anything is wrong.

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
        """Take in observations without labels; those up to the horizon are not there yet."""
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
        """How many states, the first, a model knows without having met them; None for all."""
        if self.closed or not self.narrow:
            return None
        return len(Alphabet((*(self.rule.states or ()), *self.known)))

    def narrowed(self, narrow: bool) -> None:
        """Set which states a model is to know, where it is refitted."""
        self.narrow = narrow
        self.history.known = self.history.pool.known = self._n_known

    def _history(self, codes: IntArray, observed: IntArray, begins: list[int]) -> History:
        """Return the last segment, with all segments for its pool."""

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
        if self.model.fixed:  # nothing that comes later changes the model
            return np.zeros((n_states, 0))
        return self.emission.statistics(table, observed, codes, n_states)

    def _encoded(self, observations: Any, table: Any, length: int) -> tuple[Any, IntArray]:
        """Code observations; a plain chain has none, and all are missing."""
        if observations is None:
            observations = [None] * length
        table, codes = self.emission.encode(observations, table, "observations")
        check_encoded(self.emission, table, codes)
        check_pairs(len(codes), length)
        return table, codes

    def check_plain(self, observations: Any, name: str) -> None:
        """Refuse observations where there were none, and none where there were some."""
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
    """Warn of gaps in what is new where the history has none."""
    warn_caller(
        "new_observations has gaps and the history has none: the sets are valid if gaps come at "
        "random; for steps that are not observed yet use horizon=",
        GapWarning,
    )


def copied(values: Any) -> Any:
    """Copy observations, so that what becomes of the user's own later is of no concern."""
    if isinstance(values, list):
        return [value.copy() if hasattr(value, "copy") else value for value in values]
    return values.copy() if hasattr(values, "copy") else values
