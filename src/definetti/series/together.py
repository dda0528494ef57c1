"""All labelled series together calibrate the next window of one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from definetti.conformal import ConformalHMM
from definetti.data.series import at_rows
from definetti.data.splitting import training_length
from definetti.models.base import Model
from definetti.models.hmm import TrainedHMM
from definetti.series.base import Promise, fit_shared
from definetti.series.others import train_on
from definetti.symmetry import Departures, TogetherDepartures


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
        own = series.stretches(place, last - begin)
        if self.has_trained(place):  # what trained never calibrates: the present state is enough
            begin, own = last - 1, np.array([1])
        spans = [*map(series.span, places), (begin, last)]
        rows = np.concatenate([np.arange(*span) for span in spans])
        each = [*map(series.stretches, places), own]
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
