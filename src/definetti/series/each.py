"""The estimators of many series, each made when it is asked for."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from definetti.data.labels import checked_states, readable
from definetti.data.series import at_rows, read_series
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
    lengths : the lengths of stretches between which there are gaps, if there are any
    entropy : where random numbers come from
    totals : what these series and others add up to, where the others are not here

    Attributes
    ----------
    promise : what is promised, and for whom: a `Promise`
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
    ) -> None:
        labels = checked_states(states)
        if not labels:
            raise ValueError("states is empty; a labelled history needs at least one step")
        series = read_series(groups, len(labels), order, lengths)
        seen = readable(observations)
        if seen is not None:
            seen = at_rows(seen, series.rows)
        sorted_labels = [labels[row] for row in series.rows.tolist()]
        settings = type(predictor)(**predictor.get_params(deep=False))
        if settings.states is not None:
            settings.states = checked_states(settings.states)
        table = SeriesTable(settings, seen, sorted_labels, series, entropy, totals)
        self.promise: Promise = find_promise(predictor.series)(table)

    @property
    def table(self) -> SeriesTable:
        return self.promise.table

    def __getitem__(self, name: Hashable) -> ConformalHMM:
        return self.fitted(self.table.series.place_of(name))

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
        table = self.table
        names = np.repeat(np.arange(len(self)), table.series.lengths).tolist()
        return {
            "observations": table.observations,
            "states": table.labels,
            "groups": [table.series.names[place] for place in names],
            "order": None,
            "lengths": table.series.all_stretches,
            "entropy": table.entropy,
        }

    @property
    def model(self) -> Model:
        return self.table.model


def find_promise(name: Any) -> type[Promise]:
    """Return the promise that is meant."""
    if isinstance(name, str) and name in Promise.named:
        return Promise.named[name]
    raise ValueError(f"series must be one of {', '.join(map(repr, Promise.named))}, got {name!r}")
