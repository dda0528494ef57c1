"""Which history calibrates each of many series, and which rows train its model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from definetti._system.checks import is_auto, shown
from definetti._system.mixins import Named
from definetti.conformal.estimator import ConformalHMM
from definetti.conformal.series_sums import sums_of, totals_of
from definetti.conformal.series_table import SeriesTable
from definetti.data.history import History
from definetti.data.labels import check_pairs
from definetti.data.sequences import training_length
from definetti.data.series import at_rows
from definetti.emissions.tempered import is_tabular
from definetti.engine.promise import BY_VISITS, promise_of
from definetti.memory import Order, resolve_memory
from definetti.models.base import Model
from definetti.models.hmm import TrainedHMM
from definetti.models.resolve import Auto
from definetti.models.selection import ROWS
from definetti.symmetry import Departures, Remembering, Symmetry, TogetherDepartures, find_symmetry


class SeriesMode(Named, ABC):
    """What each of many series is predicted by, and what is promised for its next window.

    Attributes
    ----------
    says : the promise in words: what holds, given what, and on average over what, with the
        symmetry that there is if none is named
    source : what each window of a backtest is predicted from, in words
    calibrates_with_others : whether windows of other series calibrate those of a series
    """

    says: ClassVar[str]
    source: ClassVar[str]
    calibrates_with_others: ClassVar[bool] = False

    def __init__(self, table: SeriesTable) -> None:
        self.table = table
        self.prepare()

    @property
    def words(self) -> str:
        """The promise in words, with the symmetry that there is."""
        return say_promise(self.known_as, self.table.predictor.symmetry)

    def check(self, auto: Symmetry | None = None) -> None:
        """Refuse settings by which series cannot be predicted so.

        Parameters
        ----------
        auto : the symmetry that there is if none is named
        """
        cp, name = self.table.predictor, type(self).known_as
        symmetry, memory = find_symmetry(cp.symmetry), resolve_memory(cp.memory)
        if auto is not None and is_auto(cp.symmetry):
            symmetry = auto
        if memory != Order(1):
            symmetry = Remembering(symmetry, memory)
        trained, size = self.table.model.knows_states, cp.train_size
        rows = int(self.table.series.lengths.min())
        if isinstance(size, (float, np.floating)) and 0 < size < 1:
            rows = max(1, int(size * rows))
        promise_of(symmetry, trained, series=name, train_size=size, rows=rows)

    def prepare(self) -> None:
        """Work out, or refuse, what all series share."""

    def has_trained(self, place: int) -> bool:
        """Tell whether all rows of a series trained the model."""
        return False

    def training_rows(self, place: int) -> int:
        """Return how many rows of a series, its first, train the model and calibrate nothing."""
        rows, size = int(self.table.series.lengths[place]), self.table.predictor.train_size
        if self.calibrates_with_others:
            return rows if self.has_trained(place) else 0
        return 0 if size is None else training_length(size, rows) if rows > 1 else rows

    @abstractmethod
    def fit(self, place: int, end: int | None = None) -> ConformalHMM:
        """Return the estimator of a series, fitted on its rows or the first `end` of them."""


def find_mode(name: Any) -> type[SeriesMode]:
    """Return the mode of a name."""
    if isinstance(name, str) and name in SeriesMode.named:
        return SeriesMode.named[name]
    names = ", ".join(map(repr, SeriesMode.named))
    raise ValueError(
        f"series must be one of {names}, got {shown(name)}; the series that rows belong to are "
        "fit(..., groups=)"
    )


def say_promise(name: str, symmetry: Any = "auto") -> str:
    """Say what is promised by a promise of that name, where windows are compared by a symmetry.

    >>> say_promise("own", "departures")
    'exact for each series, given its present state, averaged over its visits, by its own history'
    >>> say_promise("own", "published")
    "nothing is guaranteed: symmetry='published' is not exact"
    """
    says: str = SeriesMode.named[name].says
    if is_auto(symmetry):
        return says
    found = promise_of(find_symmetry(symmetry), fixed=False)
    if not found.exact:
        return found.says
    given = f"{found.given}, averaged over its visits" if found.when == BY_VISITS else found.given
    return says.replace("given its last state", f"given its {given}")


class OwnHistory(SeriesMode, name="own"):
    """Each series is predicted from its own rows; of the others it learns the states there are."""

    says = "exact for each series, given its last state, by its own history"
    source = "the rows of its series before it"

    def prepare(self) -> None:
        self.check()

    def fit(self, place: int, end: int | None = None) -> ConformalHMM:
        return self.table.fit(place, end)


FOLDS = 10  # models that are trained where one cannot be had of sums


class OtherSeries(SeriesMode, name="others"):
    """The model learns from the other series; what calibrates it is the series' own history.

    Counts and sums of all series are added up once, and what is left without a series' own is
    the model for it: no series pays for a fit. Of laws that do not add up, such as a classifier's,
    ten are trained, each on nine tenths of the series, and each series has one that did not see it.
    So it is with "auto" and tables of numbers, where these series also choose the model.
    """

    says = (
        "exact for each series, given its last state, by its own history, whatever the others are"
    )
    source = "the rows of its series before it, by a model of all rows of the others"

    def prepare(self) -> None:
        table = self.table
        self.check()
        if len(table.series) < 2 and table.totals is None:
            raise ValueError(
                "series='others' learns from other series, and there is one; use series='own'"
            )
        self._sums = sums_of(table) if table.totals is None else totals_of(table, table.totals)
        self._folds: dict[int, Model] = {}

    def fit(self, place: int, end: int | None = None) -> ConformalHMM:
        return self.table.fit(place, end, self.model_for(place, end))

    def model_for(self, place: int, end: int | None = None) -> Model:
        """Return a model that knows nothing of a series, but which states there are.

        Parameters
        ----------
        end : how many of its rows are known; all if left out
        """
        if self._sums is not None and not self._chooses(place):
            return self._sums.without(place, end)
        fold = place % min(FOLDS, len(self.table.series))
        if fold not in self._folds:
            self._folds[fold] = self._train(fold)
        return self._folds[fold]

    def _chooses(self, place: int) -> bool:
        """Tell whether the rows of the other series choose the model, by what these are alone."""
        begin, end = self.table.series.span(place)
        others = len(self.table.codes) - (end - begin)
        tabular = self._sums is not None and is_tabular(self._sums.emission)
        return isinstance(self.table.model, Auto) and tabular and others >= ROWS

    def _train(self, fold: int) -> Model:
        """Train the model on the series that are not in a fold."""
        series = self.table.series
        number = min(FOLDS, len(series))
        kept = [k for k in range(len(series)) if k % number != fold]
        return train_on(self.table, kept)


def train_on(table: SeriesTable, places: list[int]) -> Model:
    """Return the model, fixed on some of the series.

    It knows the states of these series, and those that are declared.
    """
    series = table.series
    rows = np.concatenate([np.arange(*series.span(k)) for k in places])
    states, labels = table.codes[rows], table.alphabet.labels
    if table.predictor.states is None:
        met, states = np.unique(states, return_inverse=True)
        labels = table.alphabet.decode(met)
    seen = [None] * len(rows) if table.observations is None else at_rows(table.observations, rows)
    model = table.model.choose(
        None if table.observations is None else table.model.infer_types(seen)
    )
    if model.ordered:
        model = model.with_states(labels)
    encoded, codes = model.emission_.encode(seen, model.table, "observations")
    check_pairs(len(codes), len(rows))
    history, begin = History(len(labels), model.emission_.symbols), 0
    lengths = [length for place in places for length in series.segments(place).tolist()]
    for length in lengths:
        at = slice(begin, begin + length)
        history.append(states[at], codes[at], gap=True)
        begin += length
    if table.by_visits and table.predictor.states is None:
        history.known = 0  # and no states but those that it has met
    return table.model.fixed_on(model, history, encoded, labels, lengths)


class AllTogether(SeriesMode, name="all"):
    """All windows that departed from the present state, in whatever series, calibrate the next.

    With `train_size`, the first series, a share or a number of them, train the model, and the
    others calibrate it. A series that trained the model is predicted from its last state: of its
    rows, only those that come after the fit calibrate.
    """

    says = (
        "exact where the series have one law, given the present state, averaged over its "
        "visits in all series in the order in which they come"
    )
    source = "the rows of its series before it and all rows of the others that did not train"
    calibrates_with_others = True
    first = False

    def prepare(self) -> None:
        table, cp = self.table, self.table.predictor
        self.check(Departures())
        number, self._model = len(table.series), self._fixed()
        cut = 0 if cp.train_size is None else training_length(cp.train_size, number, "series")
        self._calibrates = np.arange(number) >= cut

    def has_trained(self, place: int) -> bool:
        return not self._calibrates[place]

    def _fixed(self) -> Model | None:
        """Return the model that the first series train; None where it is trained already."""
        table, cp = self.table, self.table.predictor
        if cp.train_size is not None:
            cut = training_length(cp.train_size, len(table.series), "series")
            model = train_on(table, list(range(cut)))
            if isinstance(model, TrainedHMM) and cp.states is None:
                # States that only come up in series that calibrate are no business of the model:
                # its prior is for those that it was trained on, however many there are later.
                counts = model.transitions + model.prior
                return replace(model, transitions=counts, prior=0.0)
            return model
        return None

    def fit(self, place: int, end: int | None = None) -> ConformalHMM:
        table, series = self.table, self.table.series
        places = [k for k in np.flatnonzero(self._calibrates).tolist() if k != place]
        begin, last = series.span(place)
        last = last if end is None else begin + end
        own = series.segments(place, last - begin)
        if self.has_trained(place):  # what trained never calibrates: the present state is enough
            begin, own = last - 1, np.array([1])
        spans = [*map(series.span, places), (begin, last)]
        rows = np.concatenate([np.arange(*span) for span in spans])
        each = [*map(series.segments, places), own]
        lengths = np.concatenate(each)
        begins = lengths.cumsum() - lengths
        owners = np.repeat([*places, place], list(map(len, each)))
        asked = table.predictor.symmetry
        recent = asked.recent if isinstance(asked, Departures) else Departures().recent
        symmetry = TogetherDepartures(
            tuple(begins.tolist()), tuple(owners.tolist()), type(self).first, recent=recent
        )
        seen = None if table.observations is None else at_rows(table.observations, rows)
        labels = [table.labels[row] for row in rows.tolist()]
        return table.fit_rows(
            place, end, seen, labels, lengths, self._model, together=True,
            symmetry=symmetry, train_size=None, memory=1,
        )  # fmt: skip


class FirstOfEach(AllTogether, name="first"):
    """The first window that departed from the present state in each of the other series."""

    says = (
        "exact where the series have one law, given the present state, at any time; on average "
        "over the other series"
    )
    source = "the first window after the same state in each other series that did not train"
    first = True
