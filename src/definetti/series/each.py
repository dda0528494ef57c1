"""The estimators of many series, each made when it is asked for."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from definetti._system.checks import shown
from definetti.data.labels import checked_states
from definetti.data.series import read_series, sort_rows
from definetti.data.timing import check_aligned, read_clock, read_index
from definetti.exceptions import SaveError
from definetti.models.base import Model
from definetti.series.base import Promise, SeriesTable
from definetti.series.totals import SeriesTotals

if TYPE_CHECKING:
    from definetti.conformal import ConformalHMM


class EachSeries(Mapping[Hashable, "ConformalHMM"]):
    """The estimators of many series, by the names of these; each is made when it is asked for.

    Parameters
    ----------
    predictor : ConformalHMM
        Its parameters; ``series`` says which promise is made.
    observations, states : (T,) the rows of all series, in any order
    groups : (T,) the series that each row belongs to
    order : (T,) what the rows of a series are sorted by; as they come if left out
    lengths : the lengths of segments between which there are gaps, if there are any
    entropy : where random numbers come from
    totals : what these series and others add up to, where the others are not here
    clocks : the time at the end of each series, as a file has it

    Attributes
    ----------
    promise : what is promised, and for whom: a `Promise`
    grown : the estimators of series that have learned labels since the fit, by their names
    """

    def __init__(
        self,
        predictor: ConformalHMM,
        observations: Any,
        states: Any,
        groups: Any,
        order: Any,
        lengths: Any,
        entropy: int,
        totals: SeriesTotals | None = None,
        clocks: list[Any] | None = None,
    ) -> None:
        labels = checked_states(states)
        if not labels:
            raise ValueError("states is empty; a labelled history needs at least one step")
        named = {"observations": observations, "states": states, "groups": groups, "order": order}
        check_aligned(named)
        index = read_index(observations, states)
        series = read_series(groups, len(labels), order, lengths, index)
        if clocks is not None:
            series = replace(series, clocks=tuple(map(read_clock, clocks)))
        seen = sort_rows(observations, series.rows, len(labels))
        sorted_labels = [labels[row] for row in series.rows.tolist()]
        settings = type(predictor)(**predictor.get_params(deep=False))
        if settings.states is not None:
            settings.states = checked_states(settings.states)
        table = SeriesTable(settings, seen, sorted_labels, series, entropy, totals)
        self.promise: Promise = find_promise(predictor.series)(table)
        self.grown: dict[Hashable, ConformalHMM] = {}

    @property
    def table(self) -> SeriesTable:
        return self.promise.table

    def __getitem__(self, name: Hashable) -> ConformalHMM:
        found = self.current(self.table.series.place_of(name))
        found._home = Home(self, name)
        return found

    def current(self, place: int) -> ConformalHMM:
        """Return the estimator of a series, which may have learned labels since the fit."""
        grown = self.grown.get(self.table.series.names[place])
        return self.fitted(place) if grown is None else grown

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.table.series.names)

    def __len__(self) -> int:
        return len(self.table.series)

    def __contains__(self, name: object) -> bool:
        return name in self.table.series.places

    def __repr__(self) -> str:
        rows = len(self.table.labels)
        return f"EachSeries: {len(self):,} series of {rows:,} rows; {self.promise.words}"

    def fitted(self, place: int, end: int | None = None) -> ConformalHMM:
        """Return the estimator of a series, fitted on its rows or the first `end` of them."""
        try:
            return self.promise.fit(place, end)
        except (TypeError, ValueError) as error:
            raise type(error)(f"series {self.table.series.names[place]!r}: {error}") from error

    def kept(self) -> dict[str, Any]:
        """Return what it is made of, but the predictor, for a file to hold."""
        if self.grown:
            name = next(iter(self.grown))
            raise SaveError(
                f"series {name!r} has learned labels since the fit, and a file of all series has "
                f"those of the fit; fit again with all rows, or save series_[{name!r}] by itself"
            )
        table = self.table
        names = np.repeat(np.arange(len(self)), table.series.lengths).tolist()
        return {
            "observations": table.observations,
            "states": table.labels,
            "groups": [table.series.names[place] for place in names],
            "order": None,
            "lengths": table.series.all_segments,
            "entropy": table.entropy,
            "clocks": [None if one is None else tuple(one) for one in table.series.clocks] or None,
        }

    @staticmethod
    def memory(kept: dict[str, Any]) -> int:
        """Return how many bytes it takes at most to make it again of what was `kept`."""
        seen = kept["observations"]
        width = 0 if seen is None else 1
        shape: tuple[int, ...] = getattr(seen, "shape", ())
        if len(shape) > 1:
            width = shape[1]
        elif isinstance(seen, list) and seen and isinstance(seen[0], (list, tuple)):
            width = len(seen[0])
        return len(kept["states"]) * (96 + 48 * width)

    @property
    def model(self) -> Model:
        return self.table.model


class Home:
    """Where the estimator of a series is kept once it has learned more; a copy has no home."""

    def __init__(self, each: EachSeries, name: Hashable) -> None:
        self.each, self.name = each, name

    def check(self, cp: ConformalHMM) -> None:
        """Refuse to let an estimator learn that is no longer that of its series."""
        if self.each.grown.get(self.name, cp) is not cp:
            raise ValueError(
                f"series {self.name!r} has learned labels through another estimator since this one "
                f"was made; take series_[{self.name!r}] anew, or copy.deepcopy it to go its own way"
            )

    def check_fit(self, cp: ConformalHMM) -> None:
        """Refuse to fit anew what has the labels that a series has learned."""
        if self.each.grown.get(self.name) is cp:
            raise ValueError(
                f"this estimator has the labels that series {self.name!r} has learned since the "
                "fit; fit another, sklearn.base.clone(...), or all series anew"
            )

    def keep(self, cp: ConformalHMM) -> None:
        """Keep an estimator that has learned."""
        self.each.grown[self.name] = cp

    def __deepcopy__(self, memo: dict[int, Any]) -> None:
        return None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(None), ()


def find_promise(name: Any) -> type[Promise]:
    """Return the promise that is meant."""
    if isinstance(name, str) and name in Promise.named:
        return Promise.named[name]
    names = ", ".join(map(repr, Promise.named))
    raise ValueError(f"series must be one of {names}, got {shown(name)}")
