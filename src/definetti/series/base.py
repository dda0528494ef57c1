"""What a promise for many series has to offer, and the table that it is made for."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from definetti._system.arrays import IntArray
from definetti._system.checks import is_auto
from definetti._system.registry import Named
from definetti.conformal import ConformalHMM
from definetti.data.labels import Alphabet, piece, read_declared
from definetti.data.series import SeriesRows
from definetti.models.auto import resolve_model
from definetti.models.base import GivesModel, Model
from definetti.series.totals import SeriesTotals
from definetti.symmetry import find_symmetry


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

    @cached_property
    def codes(self) -> IntArray:
        return self.alphabet.encode(self.labels, "states")

    @cached_property
    def model(self) -> Model:
        """The model that the user means."""
        return resolve_model(self.predictor.model, self.observations)

    def seen(self, begin: int, end: int) -> Any:
        """Return the observations of some rows."""
        return None if self.observations is None else piece(self.observations, begin, end)

    def fit(
        self, place: int, end: int | None = None, share: Model | None = None, **changes: Any
    ) -> ConformalHMM:
        """Fit the estimator of a series on its rows, or the first of them.

        Parameters
        ----------
        end : how many rows are known; all if left out
        share : a fixed model, which is not copied
        changes : parameters that are others than the predictor's
        """
        begin, last = self.series.span(place)
        last = last if end is None else begin + end
        lengths = self.series.stretches(place, last - begin)
        made = self.make(place, **changes)
        return fit_shared(made, share, self.seen(begin, last), self.labels[begin:last], lengths)

    def make(self, place: int, **changes: Any) -> ConformalHMM:
        """Return an estimator for a series, not fitted yet."""
        params = self.predictor.get_params(deep=False)
        seed = seed_of(self.entropy, self.series.names[place])
        made = type(self.predictor)(**{**params, "series": "own", "random_state": seed, **changes})
        if made.states is None:
            made._known = self.alphabet.labels
        return made


class Promise(Named, ABC):
    """What is promised for the next window of each of many series.

    Attributes
    ----------
    says : the promise in words: what holds, given what, and on average over what, with the
        symmetry that there is if none is named
    """

    says: ClassVar[str]

    def __init__(self, table: SeriesTable) -> None:
        self.table = table
        self.prepare()

    @property
    def words(self) -> str:
        """The promise in words, with the symmetry that there is."""
        return say_promise(self.known_as, self.table.predictor.symmetry)

    def prepare(self) -> None:
        """Work out, or refuse, what all series share."""

    @abstractmethod
    def fit(self, place: int, end: int | None = None) -> ConformalHMM:
        """Return the estimator of a series, fitted on its rows or the first `end` of them."""


def say_promise(name: str, symmetry: Any = "auto") -> str:
    """Say what is promised by a promise of that name, where windows are compared by a symmetry.

    >>> say_promise("own", "departures")
    'exact for each series, given its present state, by its own history'
    >>> say_promise("own", "published")
    "nothing is guaranteed: symmetry='published' is not exact"
    """
    says: str = Promise.named[name].says
    if is_auto(symmetry):
        return says
    found = find_symmetry(symmetry)
    if not found.exact:
        return f"nothing is guaranteed: symmetry={found.known_as!r} is not exact"
    return says.replace("given its last state", f"given its {found.given}")


class SharedModel(GivesModel):
    """A fixed model that many estimators have, and none copies."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def fixed_model(self) -> Model:
        return self.model


def fit_shared(
    cp: ConformalHMM, model: Model | None, observations: Any, labels: list[Any], lengths: IntArray
) -> ConformalHMM:
    """Fit an estimator, with a model that is not copied if there is one."""
    if model is not None:
        cp.model = SharedModel(model)
    cp.fit(observations, labels, lengths if len(lengths) > 1 else None)
    if model is not None:
        cp.model = model
    return cp


def seed_of(entropy: int, name: Hashable) -> int:
    """Return the seed of a series: its own, whoever works it out and among how many.

    >>> seed_of(0, "Ann") == seed_of(0, "Ann"), seed_of(0, "Ann") == seed_of(0, "Bob")
    (True, False)
    """
    place = hashlib.sha256(repr(name).encode()).digest()[:8]
    words = np.frombuffer(place, dtype="<u4").tolist()
    found = np.random.SeedSequence(entropy, spawn_key=words).generate_state(1, np.uint64)
    return int(found[0] >> 1)
