"""What a promise for many series has to offer, and the table that it is made for."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import IntArray
from definetti._system.checks import is_auto
from definetti._system.mixins import Named
from definetti.conformal import ConformalHMM
from definetti.data.labels import Alphabet, piece, read_declared
from definetti.data.series import SeriesRows
from definetti.engine.promise import BY_VISITS, promise_of
from definetti.memory import Order, resolve_memory
from definetti.models.auto import resolve_model
from definetti.models.base import GivesModel, Model
from definetti.series.totals import SeriesTotals
from definetti.symmetry import Remembering, Symmetry, find_symmetry
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
        lengths = self.series.segments(place, last - begin)
        made = self.make(place, end, **changes)
        fit_shared(made, share, self.seen(begin, last), self.labels[begin:last], lengths)
        made._data.clock = self.series.clock(place, end)
        return made

    def make(self, place: int, end: int | None = None, **changes: Any) -> ConformalHMM:
        """Return an estimator for the first rows of a series, or all of them, not fitted yet."""
        params = self.predictor.get_params(deep=False)
        seed = seed_of(self.entropy, self.series.names[place])
        made = type(self.predictor)(**{**params, "series": "own", "random_state": seed, **changes})
        if made.states is None:
            made._known = self.alphabet.decode(np.flatnonzero(self.known(place, end)))
        return made


class Promise(Named, ABC):
    """What is promised for the next window of each of many series.

    Attributes
    ----------
    says : the promise in words: what holds, given what, and on average over what, with the
        symmetry that there is if none is named
    source : what each window of a backtest is predicted from, in words
    calibrates_with_others : whether windows of other series calibrate those of a series
    """

    says: ClassVar[str]
    source: ClassVar[str]
    calibrates_with_others: ClassVar[bool] = False

    def __init__(self, table: SeriesTable) -> None:
        self.table = table
        self.prepare()

    @property
    def words(self) -> str:
        """The promise in words, with the symmetry that there is."""
        return say_promise(self.known_as, self.table.predictor.symmetry)

    def check(self, auto: Symmetry | None = None) -> None:
        """Refuse settings by which series cannot be predicted so.

        Parameters
        ----------
        auto : the symmetry that there is if none is named
        """
        cp, name = self.table.predictor, type(self).known_as
        symmetry, memory = find_symmetry(cp.symmetry), resolve_memory(cp.memory)
        if auto is not None and is_auto(cp.symmetry):
            symmetry = auto
        if memory != Order(1):
            symmetry = Remembering(symmetry, memory)
        trained, size = self.table.model.knows_states, cp.train_size
        rows = int(self.table.series.lengths.min())
        if isinstance(size, (float, np.floating)) and 0 < size < 1:
            rows = max(1, int(size * rows))
        promise_of(symmetry, trained, series=name, train_size=size, rows=rows)

    def prepare(self) -> None:
        """Work out, or refuse, what all series share."""

    def has_trained(self, place: int) -> bool:
        """Tell whether all rows of a series trained the model."""
        return False

    @abstractmethod
    def fit(self, place: int, end: int | None = None) -> ConformalHMM:
        """Return the estimator of a series, fitted on its rows or the first `end` of them."""


def say_promise(name: str, symmetry: Any = "auto") -> str:
    """Say what is promised by a promise of that name, where windows are compared by a symmetry.

    >>> say_promise("own", "departures")
    'exact for each series, given its present state, counted by visits, by its own history'
    >>> say_promise("own", "published")
    "nothing is guaranteed: symmetry='published' is not exact"
    """
    says: str = Promise.named[name].says
    if is_auto(symmetry):
        return says
    found = promise_of(find_symmetry(symmetry), fixed=False)
    if not found.exact:
        return found.says
    given = f"{found.given}, counted {found.when}" if found.when == BY_VISITS else found.given
    return says.replace("given its last state", f"given its {given}")


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
