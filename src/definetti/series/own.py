"""Each series by its own history."""

from __future__ import annotations

from definetti.conformal import ConformalHMM
from definetti.series.base import Promise


class OwnHistory(Promise, name="own"):
    """Each series is predicted from its own rows; of the others it learns the states there are."""

    says = "exact for each series, given its last state, by its own history"
    source = "the rows of its series before it"

    def prepare(self) -> None:
        self.check()

    def fit(self, place: int, end: int | None = None) -> ConformalHMM:
        return self.table.fit(place, end)
