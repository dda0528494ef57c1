"""Choose an emission by the kinds of values observed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from definetti.data.labels import all_hashable, is_missing
from definetti.emissions.base import Emission
from definetti.emissions.gaussian import Gaussian
from definetti.emissions.mixed import NUMBERS, Mixed, emission_for, kind
from definetti.emissions.symbols import Categorical, Text


class Kinds(NamedTuple):
    """Kinds of values in observations, by which an emission is chosen."""

    shape: str  # "single", "tuples", "rows", "columns", "mappings", "nothing" if all are missing
    kinds: Mapping[Hashable, str]  # of each column, by its name or its place

    def join(self, other: Kinds) -> Kinds:
        """Return the kinds of two segments, concatenated."""
        if "nothing" in (self.shape, other.shape):
            return other if self.shape == "nothing" else self
        # Tuples among rows are rows. The emission refuses what cannot be combined.
        ranks = ("single", "tuples", "rows", "columns", "mappings")
        shape = max(self.shape, other.shape, key=ranks.index)
        same = self.shape == other.shape and len(self.kinds) == len(other.kinds)
        if shape == "tuples" and not same:
            return Kinds("single", {0: "symbols"})
        joined = dict(self.kinds)
        for key, kind_ in other.kinds.items():
            joined[key] = join_kinds(joined.get(key, "nothing"), kind_)
        return Kinds(shape, joined)

    def emission(self) -> Emission:
        """Return the emission for these kinds."""
        kinds = list(self.kinds.values())
        if self.shape == "single" and kinds[0] in ("numbers", "text"):
            return Gaussian() if kinds[0] == "numbers" else Text()
        tuples = self.shape == "tuples" and "numbers" not in kinds
        if tuples or self.shape in ("single", "nothing"):
            return Categorical()
        real = set(kinds) & {"numbers", "integers"} and set(kinds) <= {*NUMBERS, "nothing"}
        if real and self.shape in ("rows", "tuples"):
            # Columns without names share a type: one column of reals makes all real.
            return Gaussian()
        emissions = {key: emission_for(kind_) for key, kind_ in self.kinds.items()}
        first = next(iter(emissions.values()), Categorical())
        alike = all(emission == first for emission in emissions.values())
        if alike and not first.symbols and self.shape != "mappings":
            return first
        if not emissions or "dates" in kinds:
            return Mixed()  # its `encode` reports the error
        return Mixed(emissions, closed=True)


def kinds_of(observations: Any) -> Kinds:
    """Return the kinds of values in observations."""
    # `Categorical` reads or refuses what cannot be inspected, or only once.
    if not isinstance(observations, Iterable) or isinstance(observations, (str, Mapping, Iterator)):
        return Kinds("single", {0: "symbols"})
    native = observations
    if not isinstance(observations, (list, tuple, np.ndarray)):
        native = nw.from_native(observations, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        return Kinds("columns", {series.name: kind(series) for series in native.iter_columns()})
    if isinstance(native, nw.Series):
        # The type decides, whatever the length, unless all values are missing.
        text = native.dtype == nw.String and native.null_count() < len(native)
        return _single("text" if text else kind(observations))
    if isinstance(observations, np.ndarray) and observations.ndim != 1:
        if observations.ndim != 2:
            return Kinds("rows", {0: "numbers"})  # and `Gaussian` reports the shape it needs
        return Kinds("rows", {k: kind(column) for k, column in enumerate(observations.T)})
    if isinstance(observations, np.ndarray) and observations.dtype.kind in "biufU":
        return _single("text" if observations.dtype.kind == "U" else kind(observations))
    values = observations.tolist() if isinstance(observations, np.ndarray) else list(observations)
    if set(map(type, values)) in ({str}, {str, type(None)}):
        return _single("text")
    # Each distinct value is inspected once, if all values are hashable.
    if all_hashable(values):  # True equals 1, but is of another kind
        values = [value for _, value in dict.fromkeys((type(value), value) for value in values)]
    known = [value for value in values if not is_missing(value)]
    mappings = [value for value in known if isinstance(value, Mapping)]
    if mappings:
        keys = dict.fromkeys(key for row in mappings for key in row)
        return Kinds("mappings", {key: kind([row.get(key) for row in mappings]) for key in keys})
    lists = [value for value in known if _is_row(value)]
    tuples = [value for value in known if isinstance(value, tuple)]
    if lists or (known and len(tuples) == len(known)):
        widths = {len(value) for value in lists or tuples}
        if not lists and len(widths) > 1:
            return _single("symbols")
        places = zip(*(lists or tuples), strict=False)
        shape = "rows" if lists else "tuples"
        return Kinds(shape, {k: kind(list(column)) for k, column in enumerate(places)})
    return _single(kind(known))


def _is_row(value: object) -> bool:
    return isinstance(value, list) or (isinstance(value, np.ndarray) and value.ndim > 0)


def kinds_of_rows(observations: Any) -> Kinds | None:
    """Return the kinds in rows, columns or mappings; None for symbols, tuples included."""
    if isinstance(observations, np.ndarray):
        rows = observations.ndim > 1
    elif isinstance(observations, (list, tuple)):
        first = next((value for value in observations if not is_missing(value)), None)
        rows = isinstance(first, (list, np.ndarray, Mapping))
    else:
        native = nw.from_native(observations, eager_only=True, pass_through=True)
        rows = isinstance(native, nw.DataFrame)
    return kinds_of(observations) if rows else None


def choose(observations: Any) -> Emission:
    """Choose an emission by the kinds of values in observations."""
    return kinds_of(observations).emission()


def join_kinds(first: str, other: str) -> str:
    """Return the kind of two columns, concatenated."""
    if "nothing" in (first, other) or first == other:
        return other if first == "nothing" else first
    if first in NUMBERS and other in NUMBERS:
        return max(first, other, key=NUMBERS.index)
    return "symbols"


def _single(kind_: str) -> Kinds:
    return Kinds("nothing", {}) if kind_ == "nothing" else Kinds("single", {0: kind_})
