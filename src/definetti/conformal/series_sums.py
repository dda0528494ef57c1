"""Counts and sums over many series, from which those of one series can be subtracted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.checks import warn_caller
from definetti.data.history import padded
from definetti.data.labels import MISSING, Alphabet, check_pairs
from definetti.data.series import read_series
from definetti.data.timing import HOLE, are_many
from definetti.emissions import Emission
from definetti.emissions.symbols import Counted, count_symbols
from definetti.exceptions import HoleWarning
from definetti.models.base import Model
from definetti.models.estimates import adds_up
from definetti.models.hmm import HMM, TrainedHMM, spread

if TYPE_CHECKING:
    from definetti.conformal.series_modes import SeriesMode
    from definetti.emissions.choice import Kinds

BEFORE, NUMBER, STEP, USUAL, LONG = "_state_before", "_number", "_step", "_usual", "_long"


@dataclass(frozen=True, eq=False)
class SeriesTotals:
    """Counts over many series, from which those of one series can be subtracted.

    Attributes
    ----------
    states, symbols : the labels of states and of symbols
    moves : (n, n) how often each state follows each
    seen : (n, m) how often each symbol is seen in each state; m is 0 for plain chains
    rows : (n,) how many rows each state has
    """

    states: Alphabet
    symbols: Alphabet
    moves: IntArray
    seen: IntArray
    rows: IntArray

    def __add__(self, other: SeriesTotals) -> SeriesTotals:
        """Return the sum of counts made on separate tables."""
        states = self.states.extended(other.states.labels)
        symbols = self.symbols.extended(other.symbols.labels)
        n, m = len(states), len(symbols)
        rows = states.encode(list(other.states.labels), "states")
        columns = symbols.encode(list(other.symbols.labels), "symbols")
        moves, seen = padded(self.moves, n, n).copy(), padded(self.seen, n, m).copy()
        moves[np.ix_(rows, rows)] += other.moves
        seen[np.ix_(rows, columns)] += other.seen
        number = np.pad(self.rows, (0, n - len(self.rows)))
        number[rows] += other.rows
        return SeriesTotals(states, symbols, moves, seen, number)


def count_series(
    table: Any, state: str, group: str, order: str | None = None, symbol: str | None = None
) -> SeriesTotals:
    """Count transitions, and symbols by state, over all series of a table.

    The table's own engine (polars, DuckDB, pandas or pyarrow) runs the query, lazily where it
    can. The result is as large as the counts, however many rows there are.

    Parameters
    ----------
    table : a frame of one of these libraries, lazy or not
    state, group : the columns with the states and with the series; a row without a state is a gap
    order : the column that the rows of a series are sorted by; may be left out where rows are
        ordered, which rows of a database are not. With dates or numbers, no transition is counted
        over a hole, a step of more than 1.5 times the median of its series, with a warning.
    symbol : the column with the observations, symbols; none for plain chains

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.LazyFrame({"town": list("ababa"), "day": [1, 1, 2, 2, 3], "sky": list("ssrsr")})
    >>> found = count_series(table, "sky", "town", "day")
    >>> found.states.labels, found.moves.tolist()
    (('r', 's'), [[1, 0], [1, 1]])
    """
    frame = nw.from_native(table)
    known = frame.drop_nulls(subset=[state])
    there = _count_rows(known, state)
    states = Alphabet(sorted(there[state].to_list(), key=_key))
    n, symbols = len(states), Alphabet()
    rows = np.zeros(n, dtype=np.int64)
    rows[states.encode(there[state].to_list(), "states")] = there[NUMBER].to_list()
    steps = _steps(frame, state, group, order).drop_nulls(subset=[BEFORE, state])
    moves: IntArray = np.zeros((n, n), dtype=np.int64)
    counts = _count_rows(steps, BEFORE, state)
    places = tuple(states.encode(counts[name].to_list(), "states") for name in (BEFORE, state))
    moves[places] = counts[NUMBER].to_list()
    seen: IntArray = np.zeros((n, 0), dtype=np.int64)
    if symbol is not None:
        counts = _count_rows(known.drop_nulls(subset=[symbol]), state, symbol)
        met = counts[symbol].to_list()
        symbols = Alphabet(sorted(dict.fromkeys(met), key=_key))
        seen = np.zeros((n, len(symbols)), dtype=np.int64)
        places = states.encode(counts[state].to_list(), "states"), symbols.encode(met, "states")
        seen[places] = counts[NUMBER].to_list()
    return SeriesTotals(states, symbols, moves, seen, rows)


def _steps(frame: Any, state: str, group: str, order: str | None) -> Any:
    """Add the previous state of each row, within its series and not across a hole."""
    before = nw.col(state).shift(1)
    if isinstance(frame, nw.LazyFrame):
        if order is None:
            raise ValueError(
                "order is None, and rows of a lazy table have no order of their own; name the "
                "column that the rows of a series are sorted by"
            )
        rows = frame.with_columns(before.over(group, order_by=order).alias(BEFORE))
        return _leave_out_holes(rows, group, order)
    series = read_series(frame[group], len(frame), None if order is None else frame[order])
    rows = frame[series.rows.tolist(), :].with_columns(before.alias(BEFORE))
    return rows[np.flatnonzero(~series.begins).tolist(), :]


def _leave_out_holes(frame: Any, group: str, order: str) -> Any:
    """Drop rows after a hole, as `definetti.data.timing.find_holes` defines it, by a query."""
    kind = frame.collect_schema()[order]
    if not (kind.is_numeric() or kind.is_temporal()):
        return frame
    time = nw.col(order).cast(nw.Datetime()) if kind == nw.Date else nw.col(order)
    step = time - time.shift(1).over(group, order_by=order)
    step = step if kind.is_numeric() else step.dt.total_microseconds()
    frame = frame.with_columns(step.cast(nw.Float64).alias(STEP))
    frame = frame.with_columns(nw.col(STEP).median().over(group).alias(USUAL))
    frame = frame.filter(~nw.col(STEP).is_null())  # drops the first row of each series
    is_long = (nw.col(USUAL) > 0) & (nw.col(STEP) > HOLE * nw.col(USUAL))
    frame = frame.with_columns(is_long.cast(nw.Int64).alias(LONG))
    many = are_many(nw.col(LONG).sum().over(group), nw.col(STEP).count().over(group))
    frame = frame.with_columns((nw.col(LONG) * (1 - many.cast(nw.Int64))).alias(LONG))
    holes = _collected(frame.select(nw.col(LONG).sum()))[LONG].to_list()[0]
    if holes:
        warn_caller(
            f"column {order!r} has {holes:,} holes, steps of more than {HOLE} times the usual one "
            "of their series; no transition is counted there",
            HoleWarning,
        )
    return frame.filter(nw.col(LONG) == 0)


def _collected(frame: Any) -> Any:
    return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


def _count_rows(frame: Any, *columns: str) -> Any:
    """Return the number of rows for each value of some columns."""
    return _collected(frame.group_by(*columns).agg(nw.len().alias(NUMBER)))


def _key(label: Hashable) -> tuple[str, Any]:
    """Return a key that sorts labels independently of the table."""
    return (type(label).__name__, label) if not isinstance(label, str) else ("", label)


class SummedSeries(ABC):
    """Sums over all series, from which those of one series can be subtracted."""

    def __init__(
        self, rows: SeriesMode, model: HMM, emission: Emission, hidden: int | None = None
    ) -> None:
        self.rows, self.model, self.emission = rows, model, emission
        seen, known, self.n_states = rows.table.observations, model.table, len(rows.alphabet)
        if rows.totals is not None:
            known, _ = emission.encode(list(rows.totals.symbols.labels), known, "observations")
        shown = np.ones(len(rows.table.labels), dtype=np.bool_)
        if hidden is not None:
            shown[slice(*rows.series.span(hidden))] = False
            seen = rows.table.at(np.flatnonzero(shown))[0]
        came = [None] * int(shown.sum()) if seen is None else seen
        self.encoded, codes = emission.encode(came, known, "observations")
        check_pairs(len(codes), int(shown.sum()))
        self.codes = np.full(len(shown), MISSING)
        self.codes[shown] = codes
        self.moves = self._count_moves(0, len(self.codes))

    @staticmethod
    def of(rows: SeriesMode, kinds: Kinds | None, hidden: int | None = None) -> SummedSeries | None:
        """Return the sums over all series; None where the model is no function of sums.

        Parameters
        ----------
        kinds : the types of the observations of all series but the predicted one
        hidden : the number of the predicted series, if its observations may be of other types
        """
        model = rows.model.choose(kinds)
        emission = model.emission_
        counted = isinstance(emission, Counted) and emission.fixed_by_counts
        if rows.totals is not None and not (type(model) is HMM and counted):
            raise ValueError(
                "totals are counts of symbols, and the model is none of symbols; take model='auto' "
                "and one column of text or whole numbers, or give all series at once"
            )
        if type(model) is not HMM:
            return None
        if isinstance(emission, Counted) and counted:
            return CountedSymbols(rows, model, emission, hidden)
        return AddedNumbers(rows, model, emission, hidden) if adds_up(emission) else None

    def without(self, place: int, known: int | None = None) -> Model:
        """Return the model of all other series, with states known after `known` own rows."""
        begin, end = self.rows.series.span(place)
        emission, statistics = self.laws(place, begin, end)
        there = np.flatnonzero(self.rows.known(place, known))
        labels, prior = self.rows.alphabet.decode(there), float(self.model.prior)
        rest = self.moves - self._count_moves(begin, end)
        counts = rest[np.ix_(there, there)].astype(np.float64)
        if self.rows.narrow:  # independent of the number of states in the calibration rows
            counts, prior = spread(counts, prior, np.ones(len(there), dtype=np.bool_)), 0.0
        return TrainedHMM(counts, statistics[there], prior, emission, labels, self.encoded)

    def _count_moves(self, begin: int, end: int) -> IntArray:
        """Count transitions within segments."""
        codes, n = self.rows.codes[begin:end], self.n_states
        pairs = codes[:-1] * n + codes[1:]
        within = ~self.rows.series.begins[begin + 1 : end]
        return np.bincount(pairs[within], minlength=n * n).reshape(n, n)

    @abstractmethod
    def laws(self, place: int, begin: int, end: int) -> tuple[Emission, FloatArray]:
        """Return the emission law and its statistics without the rows of a series."""


class CountedSymbols(SummedSeries):
    """Counts of symbols, from which those of a series are subtracted."""

    emission: Counted

    def __init__(
        self, rows: SeriesMode, model: HMM, emission: Counted, hidden: int | None = None
    ) -> None:
        super().__init__(rows, model, emission, hidden)
        totals = rows.totals
        if totals is None:
            self.total = self._count(0, len(self.codes))
            return
        # The totals may have another order of labels, such as that of declared states.
        states = rows.alphabet.encode(list(totals.states.labels), "states")
        _, columns = emission.encode(list(totals.symbols.labels), self.encoded, "observations")
        self.moves = np.zeros_like(self.moves)
        self.moves[np.ix_(states, states)] = totals.moves
        self.total = np.zeros((self.n_states, len(self.encoded)))
        self.total[np.ix_(states, columns)] = totals.seen

    def laws(self, place: int, begin: int, end: int) -> tuple[Emission, FloatArray]:
        rest = self.total - self._count(begin, end)
        law = self.emission.fix_counts(self.encoded, rest)
        return law, law.gathered(self.encoded, rest)

    def _count(self, begin: int, end: int) -> FloatArray:
        codes, states = self.codes[begin:end], self.rows.codes[begin:end]
        return count_symbols(codes, len(self.encoded), states, self.n_states)


class AddedNumbers(SummedSeries):
    """Sums of numbers before and after each series, so that its own rows never enter."""

    def __init__(
        self, rows: SeriesMode, model: HMM, emission: Emission, hidden: int | None = None
    ) -> None:
        super().__init__(rows, model, emission, hidden)
        spans = [rows.series.span(k) for k in range(len(rows.series))]
        statistics = np.array([
            emission.statistics(
                self.encoded, self.codes[begin:end], rows.codes[begin:end], self.n_states
            )
            for begin, end in spans
        ])  # fmt: skip
        nothing = np.zeros((1, *statistics.shape[1:]))
        self.before = np.concatenate([nothing, statistics[:-1].cumsum(axis=0)])
        self.after = np.concatenate([statistics[:0:-1].cumsum(axis=0)[::-1], nothing])

    def laws(self, place: int, begin: int, end: int) -> tuple[Emission, FloatArray]:
        return self.emission, self.before[place] + self.after[place]
