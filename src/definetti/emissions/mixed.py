"""Columns of several kinds, independent given the state."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti.data.labels import MISSING, NONE, is_missing, listed
from definetti.emissions.base import Emission, Labels
from definetti.emissions.classifier import Classifier
from definetti.emissions.gaussian import Gaussian
from definetti.emissions.rates import Bernoulli, Poisson
from definetti.emissions.symbols import Categorical
from definetti.emissions.tables import Chunks, new_codes

DATES = (date, time, timedelta, np.datetime64, np.timedelta64)
NUMBERS = ("flags", "counts", "integers", "numbers")  # each includes the one before
LAWS: dict[str, type[Emission]] = {
    "numbers": Gaussian, "integers": Gaussian, "counts": Poisson, "switches": Bernoulli,
    "flags": Bernoulli,
}  # fmt: skip


def kind(values: Any) -> str:
    """Return the kind of values in a series, an array or a list of single values.

    Values decide, not their type: 2.0 is a whole number, since many libraries turn whole numbers
    into floats where one is missing. "flags" are whole numbers that are all 0 or 1.
    """
    series = values
    if not isinstance(values, (nw.Series, list, tuple, np.ndarray)):
        series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        if series.dtype in (nw.Categorical, nw.Enum):
            return "symbols"
        values = series.drop_nulls() if series.null_count() else series  # ten times as fast
        values = values.cast(nw.Float64) if values.dtype == nw.Decimal else values
        values = values.to_numpy() if values.dtype.is_numeric() else values.to_list()
    if isinstance(values, np.ma.MaskedArray):
        values = values.compressed()
    array = values if isinstance(values, np.ndarray) else np.zeros(0, dtype=object)
    if array.size and array.dtype.kind in "biuf":
        return _array_kind(array)
    known = [value for value in values if not is_missing(value)]
    types = {type(value) for value in known}
    if not types:
        return "nothing"
    if all(issubclass(type_, (bool, np.bool_)) for type_ in types):
        return "switches"
    if all(issubclass(type_, str) for type_ in types):
        return "text"
    if all(issubclass(type_, DATES) for type_ in types):
        return "dates"
    if all(issubclass(type_, (int, float, np.number)) and type_ is not bool for type_ in types):
        try:
            return _array_kind(np.array(known, dtype=np.float64))
        except OverflowError:  # an integer too large for a machine number
            most = 2**1000
            known = [min(max(x, -most), most) if isinstance(x, int) else x for x in known]
            return _array_kind(np.array(known, dtype=np.float64))
    return "symbols"


def _array_kind(array: npt.NDArray[Any]) -> str:
    if array.dtype.kind == "b":
        return "switches"
    known = array[~np.isnan(array)] if array.dtype.kind == "f" else array
    if not known.size:
        return "nothing"
    # Infinity is not a whole number, so that `Gaussian` refuses it and names its row.
    if known.dtype.kind == "f" and (np.isinf(known) | (np.floor(known) != known)).any():
        return "numbers"
    if known.min() < 0:
        return "integers"
    return "flags" if known.max() <= 1 else "counts"


def emission_for(kind_: str) -> Emission:
    """Return the emission for a column of some kind."""
    return LAWS.get(kind_, Categorical)()


class Column(NamedTuple):
    """A column: its name, the emission of its values, and their table."""

    name: Hashable
    emission: Emission
    table: Any


@dataclass(frozen=True, eq=False)
class Columns:
    """Rows of codes, one code for each column; adding rows makes a new table."""

    columns: tuple[Column, ...] = ()
    chunks: Chunks = field(default_factory=Chunks)  # the code of each value in its column's table
    named: bool = True

    def __len__(self) -> int:
        return len(self.chunks)

    def take(self, codes: IntArray) -> IntArray:
        """Return the codes of each column, ``(number of columns,) + codes.shape``."""
        return np.moveaxis(self.chunks.take(codes, len(self.columns), MISSING), -1, 0)

    def encoded(self, given: Given, name: str) -> tuple[Columns, IntArray]:
        """Return a table that also holds new rows, and their codes."""
        columns, parts = [], []
        for column, emission, table in self.columns:
            values = given.values.get(column, [None] * given.length)
            table, part = emission.encode(values, table, f"{name}[{column!r}]")
            columns.append(Column(column, emission, table))
            parts.append(part)
        rows = np.stack(parts, axis=1) if parts else np.zeros((given.length, 0), dtype=np.int64)
        present = np.asarray((rows != MISSING).any(axis=1))
        chunks = self.chunks.extended(rows[present])
        return Columns(tuple(columns), chunks, self.named), new_codes(present, len(self))


class Given(NamedTuple):
    """Observations read column by column, before they are coded."""

    values: Mapping[Hashable, Any]  # of each column, ``length`` of them
    length: int
    named: bool  # whether columns have names, or only places
    sparse: bool  # whether a row may leave columns out


def read_columns(observations: Any, name: str) -> Given:
    """Read a data frame, or a list of dictionaries or tuples, column by column."""
    frame = nw.from_native(observations, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        values: dict[Hashable, Any] = {s.name: s.to_native() for s in frame.iter_columns()}
        return Given(values, len(frame), named=True, sparse=False)
    if isinstance(observations, np.ndarray) and observations.ndim == 2:
        rows: list[Any] = [tuple(row) for row in observations.tolist()]
    else:
        rows = listed(observations, name)
    known = [row for row in rows if not is_missing(row)]
    named = all(isinstance(row, Mapping) for row in known)
    width = 0 if named or not known else _width(known[0])
    for k, row in enumerate(rows):
        if not (is_missing(row) or (named or _width(row) == width > 0)):
            raise TypeError(
                f"{name}: row {k + 1} is {row!r}; give a data frame, or dictionaries, or tuples "
                "that are all of one length, None where a value is missing"
            )
    keys: Any = dict.fromkeys(key for row in known for key in row) if named else range(width)
    values = {key: [_value(row, key) for row in rows] for key in keys}
    return Given(values, len(rows), named, sparse=named)


def _width(row: Any) -> int:
    return len(row) if isinstance(row, (tuple, list, np.ndarray)) else 0


def _value(row: Any, key: Any) -> Any:
    if is_missing(row):
        return None
    return row.get(key) if isinstance(row, Mapping) else row[key]


@dataclass(frozen=True)
class Mixed(Emission, name="mixed"):
    """Columns of several kinds, independent given the state; each value may be missing.

    Observations are a data frame, or a list of dictionaries or of tuples.

    Parameters
    ----------
    columns : dict or "auto", default "auto"
        The emission of each column, by its name, or by its place where rows are tuples; columns
        that it does not name are left out. "auto" takes all columns, and chooses by the first
        data: `Gaussian` for numbers, `Poisson` for whole numbers from 0 on, `Bernoulli` for
        True and False or 0 and 1 alone, `Categorical` for text and categories. Later data might
        have led to another choice: ``ConformalHMM(model="auto")`` and a dictionary are exact.
    closed : bool, default False
        Whether columns that `columns` does not name are refused instead of left out.

    Examples
    --------
    >>> emission = Mixed()
    >>> observations = [("wet", 7.5), ("dry", 21.0), ("wet", 9.0), ("dry", None), ("dry", 19.5)]
    >>> table, codes = emission.encode(observations, None, "observations")
    >>> [type(column.emission).__name__ for column in table.columns]
    ['Categorical', 'Gaussian']
    >>> states = np.array([0, 1, 0, 1, 1])
    >>> statistics = emission.statistics(table, codes, states, n_states=2)
    >>> emission.log_likelihood(table, statistics, codes).argmax(axis=1)
    array([0, 1, 0, 1, 1])
    """

    columns: Any = "auto"
    closed: bool = False

    example = (("a", 0.5), ("b", None), None)

    def __post_init__(self) -> None:
        named = isinstance(self.columns, Mapping) and self.columns
        if self.columns != "auto" and not named:
            raise ValueError(
                f"columns must be 'auto' or a dictionary of emissions, got {self.columns!r}; "
                "try {'speed': Gaussian(), 'gear': Categorical()}"
            )
        for name, emission in self.columns.items() if named else ():
            if isinstance(emission, Classifier):
                raise TypeError(
                    f"columns[{name!r}] is a classifier, which takes whole rows; give it all "
                    "columns, with a ColumnTransformer in a pipeline if they differ in kind"
                )
            if not isinstance(emission, Emission):
                raise TypeError(
                    f"columns[{name!r}] must be an emission such as Gaussian(), got {emission!r}"
                )

    def encode(
        self, observations: Any, table: Columns | None, name: str
    ) -> tuple[Columns, IntArray]:
        given = read_columns(observations, name)
        table = Columns() if table is None else table
        if not table.columns and given.values:
            table = Columns(self._columns(given, name), named=given.named)
        if given.values:
            self._check(table, given, name)
        return table.encoded(given, name)

    def decode(self, table: Columns, codes: IntArray) -> npt.NDArray[Any]:
        """Return dictionaries or tuples, as given; whole numbers are returned as floats."""
        names = [column.name for column in table.columns]
        parts = zip(table.columns, table.take(codes.ravel()), strict=True)
        values = [column.emission.decode(column.table, part).tolist() for column, part in parts]
        rows = np.full(codes.size, None, dtype=object)
        for k in np.flatnonzero(codes.ravel() >= 0):
            row = [None if is_missing(column[k]) else column[k] for column in values]
            rows[k] = dict(zip(names, row, strict=True)) if table.named else tuple(row)
        return rows.reshape(codes.shape)

    def statistics(
        self, table: Columns, codes: IntArray, states: IntArray, n_states: int
    ) -> FloatArray:
        """Return statistics of the columns, ``(n_states, number of columns, largest width)``."""
        own = zip(self.laws(table), table.columns, table.take(codes), strict=False)
        parts = [law.statistics(column.table, part, states, n_states) for law, column, part in own]
        widest = max((part.shape[1] for part in parts), default=0)
        sums = np.zeros((n_states, len(parts), widest))
        for k, part in enumerate(parts):
            sums[:, k, : part.shape[1]] = part
        return sums

    def log_likelihood(self, table: Columns, statistics: FloatArray, codes: IntArray) -> FloatArray:
        logs = np.zeros((*codes.shape, len(statistics)))
        for part, law, own, k, width in self.parts(table, codes):
            logs += law.log_likelihood(own, statistics[:, k, :width], part)
        return logs

    def parts(
        self, table: Columns, codes: IntArray
    ) -> Iterator[tuple[IntArray, Emission, Any, int, int]]:
        """Yield, of each column that has a law: codes, law, table, place, width of statistics."""
        own = zip(self.laws(table), table.columns, table.take(codes), strict=False)
        for k, (law, column, part) in enumerate(own):
            yield part, law, column.table, k, law.statistics(column.table, NONE, NONE, 1).shape[1]

    def laws(self, table: Columns) -> tuple[Emission, ...]:
        """Return the law of each column that has one."""
        return tuple(column.emission for column in table.columns)

    def fix(self, table: Columns, codes: IntArray, states: IntArray, labels: Labels) -> FixedMixed:
        """Fix the law of each column on a labelled segment."""
        laws = [
            emission.fix(own, part, states, labels)
            for (_, emission, own), part in zip(table.columns, table.take(codes), strict=True)
        ]
        return FixedMixed(self.columns, self.closed, tuple(laws))

    def describe(self, columns: Sequence[str]) -> list[str]:
        if self.columns == "auto":
            return super().describe(columns)
        laws: dict[str, list[str]] = {}
        for column, emission in self.columns.items():
            laws.setdefault(emission.law or type(emission).__name__, []).append(str(column))
        return [f"{law} for {', '.join(names)}" for law, names in laws.items()]

    def _columns(self, given: Given, name: str) -> tuple[Column, ...]:
        """Return the columns, as given by the user or inferred from the data."""
        if self.columns != "auto":
            return tuple(Column(key, emission, None) for key, emission in self.columns.items())
        kinds = {key: kind(values) for key, values in given.values.items()}
        for key, kind_ in kinds.items():
            if kind_ == "dates":
                raise TypeError(
                    f"{name}[{key!r}] holds dates; leave the column out, or turn it into numbers"
                )
        return tuple(Column(key, emission_for(kind_), None) for key, kind_ in kinds.items())

    def _check(self, table: Columns, given: Given, name: str) -> None:
        """Refuse rows whose columns differ from those of the table."""
        known = [column.name for column in table.columns]
        lacking = [key for key in known if key not in given.values and not given.sparse]
        whole = self.closed or self.columns == "auto"
        excess = [key for key in given.values if key not in known and whole]
        if lacking or excess or given.named != table.named:
            raise ValueError(
                f"{name} has columns {', '.join(map(repr, given.values))}, but those to use are "
                f"{', '.join(map(repr, known))}; "
                + (f"leave out {excess[0]!r}" if excess else f"add {(lacking or known)[0]!r}")
            )


@dataclass(frozen=True)
class FixedMixed(Mixed):
    """Columns with fixed laws; a column absent from training has none."""

    fixed: tuple[Emission, ...] = ()

    def laws(self, table: Columns) -> tuple[Emission, ...]:
        return self.fixed
