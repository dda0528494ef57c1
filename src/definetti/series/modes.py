"""Which history calibrates each of many series, and which rows train its model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.conformal import ConformalHMM
from definetti.data.history import History
from definetti.data.labels import check_pairs, piece
from definetti.data.sequences import training_length
from definetti.data.series import at_rows
from definetti.emissions import Emission
from definetti.emissions.categorical import Counted, count_symbols
from definetti.emissions.sharing import adds_up
from definetti.models.base import Model
from definetti.models.estimates import spread
from definetti.models.hmm import HMM, TrainedHMM
from definetti.series.base import Promise, SeriesTable, fit_shared
from definetti.series.totals import SeriesTotals
from definetti.symmetry import Departures, TogetherDepartures


class OwnHistory(Promise, name="own"):
    """Each series is predicted from its own rows; of the others it learns the states there are."""

    says = "exact for each series, given its last state, by its own history"
    source = "the rows of its series before it"

    def prepare(self) -> None:
        self.check()

    def fit(self, place: int, end: int | None = None) -> ConformalHMM:
        return self.table.fit(place, end)


FOLDS = 10  # models that are trained where one cannot be had of sums


class OtherSeries(Promise, name="others"):
    """The model learns from the other series; what calibrates it is the series' own history.

    Counts and sums of all series are added up once, and what is left without a series' own is
    the model for it: no series pays for a fit. Of laws that do not add up, such as a classifier's,
    ten are trained, each on nine tenths of the series, and each series has one that did not see it.
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
        found = None if self._sums is None else self._sums.without(place, end)
        if found is not None:
            return found
        fold = place % min(FOLDS, len(self.table.series))
        if fold not in self._folds:
            self._folds[fold] = self._train(fold)
        return self._folds[fold]

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
    for place in places:
        for length in series.segments(place).tolist():
            at = slice(begin, begin + length)
            history.append(states[at], codes[at], gap=True)
            begin += length
    if table.by_visits and table.predictor.states is None:
        history.known = 0  # and no states but those that it has met
    return model.trained(history, encoded, labels)


class SummedSeries(ABC):
    """What all series add up to, from which the own part of each can be taken."""

    def __init__(self, table: SeriesTable, model: HMM, emission: Emission) -> None:
        self.table, self.model, self.emission = table, model, emission
        n, seen, known = len(table.alphabet), table.observations, model.table
        came = [None] * len(table.labels) if seen is None else seen
        if table.totals is not None:
            known, _ = emission.encode(list(table.totals.symbols.labels), known, "observations")
        self.encoded, self.codes = emission.encode(came, known, "observations")
        check_pairs(len(self.codes), len(table.labels))
        self.n_states = n
        self.moves = _count_moves(table.codes, table.series.begins, n)

    def without(self, place: int, known: int | None = None) -> Model:
        """Return the model of all other series, with the states of the `known` rows of this one."""
        begin, end = self.table.series.span(place)
        begins = self.table.series.begins[begin:end]
        own = _count_moves(self.table.codes[begin:end], begins, self.n_states)
        emission, statistics = self.laws(place, begin, end)
        there = np.flatnonzero(self.table.known(place, known))
        labels, prior = self.table.alphabet.decode(there), float(self.model.prior)
        counts = (self.moves - own)[np.ix_(there, there)].astype(np.float64)
        if self.table.by_visits and self.table.predictor.states is None:
            # However many states come up in the rows that calibrate, none is for them.
            counts, prior = spread(counts, prior, np.ones(len(there), dtype=np.bool_)), 0.0
        return TrainedHMM(counts, statistics[there], prior, emission, labels, self.encoded)

    @abstractmethod
    def laws(self, place: int, begin: int, end: int) -> tuple[Emission, FloatArray]:
        """Return the law of the observations, and its statistics, without a series' rows."""


class CountedSymbols(SummedSeries):
    """Whole numbers, of which a series' own are taken away."""

    emission: Counted

    def __init__(
        self,
        table: SeriesTable,
        model: HMM,
        emission: Counted,
        totals: SeriesTotals | None = None,
    ) -> None:
        super().__init__(table, model, emission)
        if totals is None:
            self.total = self._count(0, len(self.codes))
        else:
            # Its labels may have another order: that of states that were declared, say.
            rows = table.alphabet.encode(list(totals.states.labels), "states")
            _, columns = emission.encode(list(totals.symbols.labels), self.encoded, "observations")
            self.moves = np.zeros_like(self.moves)
            self.moves[np.ix_(rows, rows)] = totals.moves
            self.total = np.zeros((self.n_states, len(self.encoded)))
            self.total[np.ix_(rows, columns)] = totals.seen

    def laws(self, place: int, begin: int, end: int) -> tuple[Emission, FloatArray]:
        rest = self.total - self._count(begin, end)
        law = self.emission.fix_counts(self.encoded, rest)
        return law, law.gathered(self.encoded, rest)

    def _count(self, begin: int, end: int) -> FloatArray:
        codes, states = self.codes[begin:end], self.table.codes[begin:end]
        return count_symbols(codes, len(self.encoded), states, self.n_states)


class AddedNumbers(SummedSeries):
    """Sums of numbers, those before and those after a series: nothing of its own ever enters."""

    def __init__(self, table: SeriesTable, model: HMM, emission: Emission) -> None:
        super().__init__(table, model, emission)
        each = np.array([self._sum(*table.series.span(k)) for k in range(len(table.series))])
        nothing = np.zeros((1, *each.shape[1:]))
        self.before = np.concatenate([nothing, each[:-1].cumsum(axis=0)])
        self.after = np.concatenate([each[:0:-1].cumsum(axis=0)[::-1], nothing])

    def laws(self, place: int, begin: int, end: int) -> tuple[Emission, FloatArray]:
        return self.emission, self.before[place] + self.after[place]

    def _sum(self, begin: int, end: int) -> FloatArray:
        states = self.table.codes[begin:end]
        return self.emission.statistics(self.encoded, self.codes[begin:end], states, self.n_states)


def sums_of(table: SeriesTable) -> SummedSeries | None:
    """Return what the series add up to; None where their model is no function of sums."""
    kinds = None
    if table.observations is not None:
        kinds = table.model.infer_types(table.observations)
        if kinds is not None and not _alike(table, kinds):
            return None
    model = table.model.choose(kinds)
    if type(model) is not HMM:
        return None
    emission = model.emission_
    if isinstance(emission, Counted) and emission.fixed_by_counts:
        return CountedSymbols(table, model, emission)
    if adds_up(emission):
        return AddedNumbers(table, model, emission)
    return None


def totals_of(table: SeriesTable, totals: SeriesTotals) -> CountedSymbols:
    """Return what all series add up to, those that are not here included."""
    plain = table.observations is None
    kinds = None if plain else table.model.infer_types(list(totals.symbols.labels))
    model = table.model.choose(kinds)
    emission = model.emission_
    if type(model) is not HMM or not isinstance(emission, Counted) or not emission.fixed_by_counts:
        raise ValueError(
            "totals are counts of symbols, and the model is none of symbols; take model='auto' and "
            "one column of text or whole numbers, or give all series at once"
        )
    return CountedSymbols(table, model, emission, totals)


def _alike(table: SeriesTable, kinds: object) -> bool:
    """Tell whether no series decides by itself which law is chosen for all."""
    series = table.series
    if len(series) < 3:
        spans = [series.span(k) for k in range(len(series))]
    else:  # two thirds hold all that a choice goes by, so that one series more or less is nothing
        cuts = [0, *series.ends[[len(series) // 3 - 1, 2 * len(series) // 3 - 1]].tolist()]
        spans = list(zip(cuts, [*cuts[1:], len(table.labels)], strict=True))
    seen = [table.model.infer_types(piece(table.observations, *span)) for span in spans]
    return all(one == kinds for one in seen)


def _count_moves(codes: IntArray, begins: np.ndarray, n: int) -> IntArray:
    """Count transitions, none of which leads to where a segment begins."""
    pairs = codes[:-1] * n + codes[1:]
    return np.bincount(pairs[~begins[1:]], minlength=n * n).reshape(n, n)


class AllTogether(Promise, name="all"):
    """All windows that departed from the present state, in whatever series, calibrate the next.

    With `train_size`, the first series, a share or a number of them, train the model, and the
    others calibrate it. A series that trained the model is predicted from its last state: of its
    rows, only those that come after the fit calibrate.
    """

    says = (
        "exact where the series have one law, given the present state, counted by visits over all "
        "series in the order in which they come"
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
        made = table.make(place, end, symmetry=symmetry, train_size=None, memory=1)
        made._together = True
        seen = None if table.observations is None else at_rows(table.observations, rows)
        labels = [table.labels[row] for row in rows.tolist()]
        fit_shared(made, self._model, seen, labels, lengths)
        made._data.clock = series.clock(place, end)
        return made


class FirstOfEach(AllTogether, name="first"):
    """The first window that departed from the present state in each of the other series."""

    says = (
        "exact where the series have one law, given the present state, at any time; on average "
        "over the other series"
    )
    source = "the first window after the same state in each other series that did not train"
    first = True
