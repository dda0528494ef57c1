"""All labelled series together calibrate the next window of one."""

from __future__ import annotations

import numpy as np

from definetti._system.checks import is_auto
from definetti.conformal import ConformalHMM
from definetti.data.series import at_rows
from definetti.data.splitting import training_length
from definetti.memory import Order, resolve_memory
from definetti.models.base import Model
from definetti.series.base import Promise, fit_shared
from definetti.series.others import train_on
from definetti.symmetry import Departures, TogetherDepartures


class AllTogether(Promise, name="all"):
    """All windows that departed from the present state, in whatever series, calibrate the next.

    With `train_size`, the first series, a share or a number of them, train the model, and the
    others calibrate it.
    """

    says = (
        "exact where the series have one law, given the present state, counted by visits over all "
        "series in the order in which they come"
    )
    first = False

    def prepare(self) -> None:
        table, cp = self.table, self.table.predictor
        name = type(self).known_as
        departs = isinstance(cp.symmetry, Departures) or cp.symmetry == Departures.known_as
        if not (is_auto(cp.symmetry) or departs):
            raise ValueError(
                f"series={name!r} compares with what followed the present state, and symmetry is "
                f"{cp.symmetry!r}; use symmetry='departures', or leave it out"
            )
        if is_auto(cp.memory) or resolve_memory(cp.memory) != Order(1):
            raise ValueError(
                f"series={name!r} takes the future to depend on the present state alone, and "
                f"memory is {cp.memory!r}; use memory=1, or series='own' or 'others'"
            )
        number, self._model = len(table.series), self._fixed()
        cut = 0 if cp.train_size is None else training_length(cp.train_size, number, "series")
        self._calibrates = np.arange(number) >= cut

    def _fixed(self) -> Model | None:
        """Return the model that the first series train; None where it is trained already."""
        table, cp = self.table, self.table.predictor
        if cp.train_size is not None:
            if table.model.knows_states:
                raise ValueError(
                    f"train_size={cp.train_size!r}, but the model is trained already; leave it out"
                )
            cut = training_length(cp.train_size, len(table.series), "series")
            return train_on(table, list(range(cut)))
        if not table.model.knows_states:
            raise ValueError(
                f"series={type(self).known_as!r} needs a fixed model; set train_size=0.5 to train "
                "it on the first half of the series, or give one that is trained"
            )
        return None

    def fit(self, place: int, end: int | None = None) -> ConformalHMM:
        table, series = self.table, self.table.series
        places = [k for k in np.flatnonzero(self._calibrates).tolist() if k != place]
        begin, last = series.span(place)
        last = last if end is None else begin + end
        spans = [*map(series.span, places), (begin, last)]
        rows = np.concatenate([np.arange(*span) for span in spans])
        each = [*map(series.stretches, places), series.stretches(place, last - begin)]
        lengths = np.concatenate(each)
        begins = lengths.cumsum() - lengths
        owners = np.repeat([*places, place], list(map(len, each)))
        symmetry = TogetherDepartures(
            tuple(begins.tolist()), tuple(owners.tolist()), type(self).first
        )
        made = table.make(place, symmetry=symmetry, train_size=None, memory=1)
        made._together = True
        seen = None if table.observations is None else at_rows(table.observations, rows)
        labels = [table.labels[row] for row in rows.tolist()]
        return fit_shared(made, self._model, seen, labels, lengths)


class FirstOfEach(AllTogether, name="first"):
    """The first window that departed from the present state in each of the other series."""

    says = (
        "exact where the series have one law, given the present state, at any time; on average "
        "over the other series"
    )
    first = True
