"""The labelled rows of many series, and an estimator for the rows of one of them."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import IntArray
from definetti.conformal.estimator import ConformalHMM
from definetti.conformal.series_sums import SeriesTotals
from definetti.conformal.tasks import Origin
from definetti.data.labels import Alphabet, piece, read_declared
from definetti.data.series import SeriesRows
from definetti.models.base import Model
from definetti.models.resolve import resolve_model
from definetti.symmetry import find_symmetry
from definetti.symmetry.base import PRESENT


@dataclass(frozen=True, eq=False)
class SeriesTable:
    """Labelled rows of many series, in the order of these, and what is to be done with each.

    Attributes
    ----------
    predictor : its parameters are those of every series
    observations, labels : series after series; observations are None for plain chains
    series : whose rows they are
    entropy : where all random numbers come from
    totals : what these series and others add up to, where the others are not here
    """

    predictor: ConformalHMM
    observations: Any
    labels: list[Any]
    series: SeriesRows
    entropy: int
    totals: SeriesTotals | None = None

    @cached_property
    def alphabet(self) -> Alphabet:
        """The states that any of the series has."""
        if self.predictor.states is not None:
            return read_declared(self.predictor.states, self.model.states or ())
        known = () if self.totals is None else self.totals.states.labels
        return Alphabet((*(self.model.states or ()), *known)).extended(self.labels)

    @property
    def groups(self) -> list[Hashable]:
        """The series that each row belongs to."""
        places = np.repeat(np.arange(len(self.series)), self.series.lengths)
        return [self.series.names[place] for place in places.tolist()]

    @cached_property
    def codes(self) -> IntArray:
        return self.alphabet.encode(self.labels, "states")

    @cached_property
    def _counts(self) -> IntArray:
        """How many rows each state has, in these series and in those that are not here."""
        counts = np.bincount(self.codes, minlength=len(self.alphabet))
        if self.totals is not None:
            places = self.alphabet.encode(list(self.totals.states.labels), "states")
            counts = counts.copy()
            counts[places] = self.totals.rows
        return counts

    @property
    def by_visits(self) -> bool:
        """Whether the promise counts visits to the present state of a series."""
        return find_symmetry(self.predictor.symmetry).given == PRESENT

    def known(self, place: int, end: int | None = None) -> npt.NDArray[np.bool_]:
        """Tell which states are known when the first `end` rows of a series are.

        Those that are declared or named by a level, those of the other series, and those of
        the rows themselves: a state that only comes up in the later rows of this series is not.
        By visits to a state, the rows themselves are uninformative: how many there are up to some
        visit depends on the windows that calibrate.
        """
        if self.predictor.states is not None:
            return np.ones(len(self.alphabet), dtype=np.bool_)
        begin, last = self.series.span(place)
        own = np.bincount(self.codes[begin:last], minlength=len(self.alphabet))
        found = np.asarray(self._counts > own)
        if not self.by_visits:
            found[self.codes[begin : last if end is None else begin + end]] = True
        level = self.predictor.confidence_level
        named = {*(self.model.states or ()), *(level if isinstance(level, Mapping) else ())}
        found[[code for label, code in self.alphabet.codes.items() if label in named]] = True
        return found

    @cached_property
    def model(self) -> Model:
        """The model that the user means."""
        return resolve_model(self.predictor.model, self.observations)

    def seen(self, begin: int, end: int) -> Any:
        """Return the observations of some rows."""
        return None if self.observations is None else piece(self.observations, begin, end)

    def fit(self, place: int, end: int | None = None, share: Model | None = None) -> ConformalHMM:
        """Fit the estimator of a series on its rows, or the first `end` of them."""
        begin, last = self.series.span(place)
        last = last if end is None else begin + end
        lengths = self.series.segments(place, last - begin)
        seen, labels = self.seen(begin, last), self.labels[begin:last]
        return self.fit_rows(place, end, seen, labels, lengths, share)

    def fit_rows(
        self,
        place: int,
        end: int | None,
        observations: Any,
        labels: list[Any],
        lengths: IntArray,
        share: Model | None = None,
        together: bool = False,
        **changes: Any,
    ) -> ConformalHMM:
        """Fit the estimator of a series on rows that are given.

        Parameters
        ----------
        end : how many of its own rows are known; all if left out
        lengths : of the segments of the rows
        share : a fixed model, which is not copied
        together : whether all segments calibrate
        changes : parameters that are others than the predictor's
        """
        params = self.predictor.get_params(deep=False)
        seed = seed_of(self.entropy, self.series.names[place])
        made = type(self.predictor)(**{**params, "random_state": seed, **changes})
        known: tuple[Hashable, ...] = ()
        if made.states is None:
            known = self.alphabet.decode(np.flatnonzero(self.known(place, end)))
        each = lengths if len(lengths) > 1 else None
        made._fit_from(observations, labels, each, Origin(known, together), share)
        if share is not None:
            made.model = share
        made._data.clock = self.series.clock(place, end)
        return made


def seed_of(entropy: int, name: Hashable) -> int:
    """Return the seed of a series: its own, whoever works it out and among how many.

    >>> seed_of(0, "Ann") == seed_of(0, "Ann"), seed_of(0, "Ann") == seed_of(0, "Bob")
    (True, False)
    """
    place = hashlib.sha256(repr(name).encode()).digest()[:8]
    words = np.frombuffer(place, dtype="<u4").tolist()
    found = np.random.SeedSequence(entropy, spawn_key=words).generate_state(1, np.uint64)
    return int(found[0] >> 1)
