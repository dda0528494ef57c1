"""Which history calibrates each of many series, and which rows train its model."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import IntArray
from definetti._system.checks import is_auto, shown
from definetti._system.mixins import Named
from definetti.conformal.estimator import ConformalHMM
from definetti.conformal.series_sums import SeriesTotals, SummedSeries
from definetti.conformal.tasks import Origin
from definetti.data.history import History
from definetti.data.labels import (
    Alphabet,
    check_pairs,
    checked_states,
    piece,
    read_declared,
    training_length,
)
from definetti.data.series import SeriesRows, at_rows, read_series, sort_rows
from definetti.data.timing import Clock, check_aligned, read_index
from definetti.emissions.choice import Kinds
from definetti.emissions.tempered import is_tabular
from definetti.engine.promise import BY_VISITS, promise_of
from definetti.memory import Order, resolve_memory
from definetti.models.base import Model
from definetti.models.hmm import TrainedHMM
from definetti.models.selection import ROWS, Auto, resolve_model
from definetti.symmetry import Departures, Remembering, Symmetry, TogetherDepartures, find_symmetry
from definetti.symmetry.base import PRESENT

FOLDS = 10  # models trained where no model can be derived from sums


@dataclass(frozen=True, eq=False)
class SeriesTable:
    """The rows of many series, one series after the other."""

    series: SeriesRows
    observations: Any  # None for plain chains
    labels: list[Any]

    @classmethod
    def read(
        cls,
        observations: Any,
        states: Any,
        groups: Any,
        order: Any,
        lengths: Any = None,
        clocks: Mapping[Hashable, Clock | None] | None = None,
        name: str = "observations",
    ) -> SeriesTable:
        """Read labelled rows in any order; errors call the observations `name`."""
        labels = checked_states(states)
        check_aligned({name: observations, "states": states, "groups": groups, "order": order})
        index = read_index(observations, states)
        series = read_series(groups, len(labels), order, lengths, index, clocks=clocks)
        seen = sort_rows(observations, series.rows, len(labels), name)
        return cls(series, seen, [labels[row] for row in series.rows.tolist()])

    def rows(self, begin: int, end: int) -> tuple[Any, list[Any]]:
        """Return the observations and labels of a range of rows."""
        seen = None if self.observations is None else piece(self.observations, begin, end)
        return seen, self.labels[begin:end]

    def at(self, rows: IntArray) -> tuple[Any, list[Any]]:
        """Return the observations and labels of the given rows."""
        seen = None if self.observations is None else at_rows(self.observations, rows)
        return seen, [self.labels[row] for row in rows.tolist()]


class SeriesMode(Named, ABC):
    """Rows that train and calibrate each of many series, and the guarantee for its next window.

    An instance holds the labelled rows of all series and fits the estimator of each.

    Attributes
    ----------
    says : the guarantee in words: what holds, conditional on what, and averaged over what, with
        the symmetry used if none is named
    source : the rows that each window of a backtest is predicted from, in words
    calibrates_with_others : whether windows of other series calibrate those of a series
    """

    says: ClassVar[str]
    source: ClassVar[str]
    calibrates_with_others: ClassVar[bool] = False

    def __init__(
        self,
        predictor: ConformalHMM,
        table: SeriesTable,
        entropy: int,
        totals: SeriesTotals | None = None,
    ) -> None:
        self.predictor, self.table, self.series = predictor, table, table.series
        self.entropy, self.totals = entropy, totals
        self.prepare()

    def prepare(self) -> None:
        """Check the settings and compute values that all series share."""
        self.check()

    @abstractmethod
    def fit(self, place: int, end: int | None = None) -> ConformalHMM:
        """Return the estimator of a series, fitted on its rows or the first `end` of them."""

    @property
    def words(self) -> str:
        """The guarantee in words, with the symmetry of the predictor."""
        return say_promise(self.known_as, self.predictor.symmetry)

    @cached_property
    def model(self) -> Model:
        """The model resolved from the `model` parameter."""
        return resolve_model(self.predictor.model, self.table.observations)

    @cached_property
    def alphabet(self) -> Alphabet:
        """The states of all series."""
        if self.predictor.states is not None:
            return read_declared(self.predictor.states, self.model.states or ())
        known = () if self.totals is None else self.totals.states.labels
        return Alphabet((*(self.model.states or ()), *known)).extended(self.table.labels)

    @cached_property
    def codes(self) -> IntArray:
        """The code of the state of each row."""
        return self.alphabet.encode(self.table.labels, "states")

    @cached_property
    def _counts(self) -> IntArray:
        """How many rows each state has, in these series and in the totals."""
        counts = np.bincount(self.codes, minlength=len(self.alphabet))
        if self.totals is not None:
            places = self.alphabet.encode(list(self.totals.states.labels), "states")
            counts = counts.copy()
            counts[places] = self.totals.rows
        return counts

    @property
    def narrow(self) -> bool:
        """Whether a model knows only the states in its rows: by visits, and states undeclared."""
        by_visits = find_symmetry(self.predictor.symmetry).given == PRESENT
        return by_visits and self.predictor.states is None

    def known(self, place: int, end: int | None = None) -> npt.NDArray[np.bool_]:
        """Return which states are known when the first `end` rows of a series are.

        Known are states that are declared or named by a level, states of the other series, and
        states in the rows; a state that first occurs in later rows of this series is unknown. By
        visits to a state, the rows are not used: their number up to some visit depends on the
        windows that calibrate.
        """
        if self.predictor.states is not None:
            return np.ones(len(self.alphabet), dtype=np.bool_)
        begin, last = self.series.span(place)
        own = np.bincount(self.codes[begin:last], minlength=len(self.alphabet))
        is_known = np.asarray(self._counts > own)
        if not self.narrow:
            is_known[self.codes[begin : last if end is None else begin + end]] = True
        level = self.predictor.confidence_level
        named = {*(self.model.states or ()), *(level if isinstance(level, Mapping) else ())}
        is_known[[code for label, code in self.alphabet.codes.items() if label in named]] = True
        return is_known

    def check(self, auto: Symmetry | None = None) -> None:
        """Raise for settings that the mode excludes; `auto` is the symmetry if none is named."""
        cp = self.predictor
        symmetry, memory = find_symmetry(cp.symmetry), resolve_memory(cp.memory)
        if auto is not None and is_auto(cp.symmetry):
            symmetry = auto
        if memory != Order(1):
            symmetry = Remembering(symmetry, memory)
        size, rows = cp.train_size, int(self.series.lengths.min())
        if isinstance(size, (float, np.floating)) and 0 < size < 1:
            rows = max(1, int(size * rows))
        trained, name = self.model.knows_states, type(self).known_as
        promise_of(symmetry, trained, series=name, train_size=size, rows=rows)

    def has_trained(self, place: int) -> bool:
        """Return whether all rows of a series trained the model."""
        return False

    def training_rows(self, place: int) -> int:
        """Return how many first rows of a series train the model and calibrate nothing."""
        rows, size = int(self.series.lengths[place]), self.predictor.train_size
        if self.calibrates_with_others:
            return rows if self.has_trained(place) else 0
        return 0 if size is None else training_length(size, rows) if rows > 1 else rows

    def fit_own(
        self, place: int, end: int | None = None, share: Model | None = None
    ) -> ConformalHMM:
        """Fit the estimator of a series on its own rows, or the first `end` of them."""
        begin, last = self.series.span(place)
        last = last if end is None else begin + end
        lengths = self.series.segments(place, last - begin)
        return self.fit_rows(place, end, *self.table.rows(begin, last), lengths, share)

    def fit_rows(
        self,
        place: int,
        end: int | None,
        observations: Any,
        labels: list[Any],
        lengths: IntArray,
        share: Model | None = None,
        together: bool = False,
        **changes: Any,
    ) -> ConformalHMM:
        """Fit the estimator of a series on given rows, with `changes` of its parameters.

        The first `end` of its own rows are known; the fixed model `share` is not copied; with
        `together`, all segments calibrate.
        """
        params = self.predictor.get_params(deep=False)
        seed = seed_of(self.entropy, self.series.names[place])
        fitted = type(self.predictor)(**{**params, "random_state": seed, **changes})
        known: tuple[Hashable, ...] = ()
        if fitted.states is None:
            known = self.alphabet.decode(np.flatnonzero(self.known(place, end)))
        segments = lengths if len(lengths) > 1 else None
        fitted._fit_from(observations, labels, segments, Origin(known, together), share)
        if share is not None:
            fitted.model = share
        fitted._data.clock = self.series.clock(place, end)
        return fitted

    def train_on(self, places: list[int]) -> Model:
        """Return the model fixed on some series, with their states and the declared ones."""
        series, model = self.series, self.model
        rows = np.concatenate([np.arange(*series.span(k)) for k in places])
        states, labels = self.codes[rows], self.alphabet.labels
        if self.predictor.states is None:
            met, states = np.unique(states, return_inverse=True)
            labels = self.alphabet.decode(met)
        seen, _ = self.table.at(rows)
        model = model.choose(None if seen is None else model.infer_types(seen))
        seen = [None] * len(rows) if seen is None else seen
        if model.ordered:
            model = model.with_states(labels)
        encoded, codes = model.emission_.encode(seen, model.table, "observations")
        check_pairs(len(codes), len(rows))
        history = History(len(labels), model.emission_.symbols)
        lengths = [length for place in places for length in series.segments(place).tolist()]
        cuts = np.cumsum(lengths)[:-1]
        for own, seen_own in zip(np.split(states, cuts), np.split(codes, cuts), strict=True):
            history.append(own, seen_own, gap=True)
        if self.narrow:
            history.known = 0
        return self.model.fixed_on(model, history, encoded, labels, lengths)


def seed_of(entropy: int, name: Hashable) -> int:
    """Return the seed of a series, which depends on its name and not on the other series."""
    place = hashlib.sha256(repr(name).encode()).digest()[:8]
    words = np.frombuffer(place, dtype="<u4").tolist()
    seed = np.random.SeedSequence(entropy, spawn_key=words).generate_state(1, np.uint64)
    return int(seed[0] >> 1)


def find_mode(name: Any) -> type[SeriesMode]:
    """Return the mode with a name."""
    if isinstance(name, str) and name in SeriesMode.named:
        return SeriesMode.named[name]
    names = ", ".join(map(repr, SeriesMode.named))
    raise ValueError(
        f"series must be one of {names}, got {shown(name)}; the series that rows belong to are "
        "fit(..., groups=)"
    )


def say_promise(name: str, symmetry: Any = "auto") -> str:
    """Return the guarantee of a mode under a symmetry, in words.

    >>> say_promise("own", "departures")
    'exact for each series, given its present state, averaged over its visits, by its own history'
    >>> say_promise("own", "published")
    "nothing is guaranteed: symmetry='published' is not exact"
    """
    says: str = SeriesMode.named[name].says
    if is_auto(symmetry):
        return says
    promise = promise_of(find_symmetry(symmetry), fixed=False)
    if not promise.exact:
        return promise.says
    given = (
        f"{promise.given}, averaged over its visits" if promise.when == BY_VISITS else promise.given
    )
    return says.replace("given its last state", f"given its {given}")


class OwnHistory(SeriesMode, name="own"):
    """Predict each series from its own rows; other series only contribute known states."""

    says = "exact for each series, given its last state, by its own history"
    source = "the rows of its series before it"

    def fit(self, place: int, end: int | None = None) -> ConformalHMM:
        return self.fit_own(place, end)


class OtherSeries(SeriesMode, name="others"):
    """Train the model on the other series; calibrate it on the series' own history.

    Counts and sums of all series are added up once, and those of a series are subtracted for its
    model. Where laws are no sums, as a classifier's, ten models are trained, each on nine tenths
    of the series. The same holds for "auto" and tables of numbers, where these series also choose
    the model.
    """

    says = (
        "exact for each series, given its last state, by its own history, whatever the others are"
    )
    source = "the rows of its series before it, by a model of all rows of the others"

    def prepare(self) -> None:
        self.check()
        if len(self.series) < 2 and self.totals is None:
            raise ValueError(
                "series='others' learns from other series, and there is one; use series='own'"
            )
        self._folds: dict[int, Model] = {}
        self._hidden: dict[int, SummedSeries | None] = {}
        self._kinds: Kinds | None = None
        if self.totals is not None:
            self._kinds = self.model.infer_types(list(self.totals.symbols.labels))
        elif self.table.observations is not None:
            self._kinds = self.model.infer_types(self.table.observations)

    def fit(self, place: int, end: int | None = None) -> ConformalHMM:
        return self.fit_own(place, end, self.model_for(place, end))

    def model_for(self, place: int, end: int | None = None) -> Model:
        """Return a model that uses the states alone of the first `end` rows of a series."""
        sums = self._sums_for(place)
        if sums is not None and not self._chooses(place, sums):
            return sums.without(place, end)
        number = min(FOLDS, len(self.series))
        fold = place % number
        if fold not in self._folds:
            kept = [k for k in range(len(self.series)) if k % number != fold]
            self._folds[fold] = self.train_on(kept)
        return self._folds[fold]

    @cached_property
    def _sums(self) -> SummedSeries | None:
        return SummedSeries.of(self, self._kinds)

    def _sums_for(self, place: int) -> SummedSeries | None:
        """Return sums whose law is chosen by the other series alone.

        A law that depends on whether a value is in the labelled rows of the series or after them
        would not be invariant under rearrangements.
        """
        if self._kinds is None or self.totals is not None:
            return self._sums
        kinds = self._other_kinds[place]
        if kinds == self._kinds:
            return self._sums
        if place not in self._hidden:
            self._hidden[place] = SummedSeries.of(self, kinds, place)
        return self._hidden[place]

    @cached_property
    def _other_kinds(self) -> list[Kinds]:
        """The types of the observations of all other series, for each series."""
        spans = map(self.series.span, range(len(self.series)))
        nothing = Kinds("nothing", {})
        own = [self.model.infer_types(self.table.rows(*span)[0]) or nothing for span in spans]
        before = accumulate([nothing, *own[:-1]], Kinds.join)
        after = [*accumulate([nothing, *own[:0:-1]], Kinds.join)][::-1]
        return [early.join(late) for early, late in zip(before, after, strict=True)]

    def _chooses(self, place: int, sums: SummedSeries) -> bool:
        """Return whether the rows of the other series choose the model."""
        others = len(self.codes) - int(self.series.lengths[place])
        return isinstance(self.model, Auto) and is_tabular(sums.emission) and others >= ROWS


class AllTogether(SeriesMode, name="all"):
    """Calibrate by all windows that departed from the present state, in any series.

    With `train_size`, a share or number of first series train the model, and the others calibrate
    it. A series that trained the model is predicted from its last state: of its rows, only rows
    learned after the fit calibrate.
    """

    says = (
        "exact where the series have one law, given the present state, averaged over its "
        "visits in all series in the order in which they come"
    )
    source = "the rows of its series before it and all rows of the others that did not train"
    calibrates_with_others = True
    first = False

    def prepare(self) -> None:
        self.check(Departures())
        size, number = self.predictor.train_size, len(self.series)
        self._cut = 0 if size is None else training_length(size, number, "series")
        self._model = self._fixed() if self._cut else None

    def has_trained(self, place: int) -> bool:
        return place < self._cut

    def _fixed(self) -> Model:
        """Return the model trained on the first series."""
        model = self.train_on(list(range(self._cut)))
        if isinstance(model, TrainedHMM) and self.predictor.states is None:
            # States that only occur in calibration series must not change the model:
            # its prior is for the states of the training series.
            return replace(model, transitions=model.transitions + model.prior, prior=0.0)
        return model

    def fit(self, place: int, end: int | None = None) -> ConformalHMM:
        series = self.series
        places = [k for k in range(self._cut, len(series)) if k != place]
        begin, last = series.span(place)
        last = last if end is None else begin + end
        own = series.segments(place, last - begin)
        if self.has_trained(place):  # training rows never calibrate: the last state is enough
            begin, own = last - 1, np.array([1])
        spans = [*map(series.span, places), (begin, last)]
        rows = np.concatenate([np.arange(*span) for span in spans])
        segments = [*map(series.segments, places), own]
        lengths = np.concatenate(segments)
        begins = lengths.cumsum() - lengths
        owners = np.repeat([*places, place], list(map(len, segments)))
        asked = self.predictor.symmetry
        # Other series do not drift towards this one: all of their windows calibrate it.
        recent = asked.recent if isinstance(asked, Departures) else None
        symmetry = TogetherDepartures(
            tuple(begins.tolist()), tuple(owners.tolist()), type(self).first, recent=recent
        )
        return self.fit_rows(
            place, end, *self.table.at(rows), lengths, self._model, together=True,
            symmetry=symmetry, train_size=None, memory=1,
        )  # fmt: skip


class FirstOfEach(AllTogether, name="first"):
    """Calibrate by the first window that departed from the present state in each other series."""

    says = (
        "exact where the series have one law, given the present state, at any time; on average "
        "over the other series"
    )
    source = "the first window after the same state in each other series that did not train"
    first = True
