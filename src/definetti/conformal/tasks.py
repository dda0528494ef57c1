"""A labelled history that is fitted, goes on, and is made into prediction tasks."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from definetti._system.arrays import IntArray
from definetti._system.checks import (
    checked_limit,
    is_auto,
    warn_caller,
)
from definetti._system.mixins import Saved
from definetti.conformal.base import BaseHistoryConformal
from definetti.data.candidates import (
    check_listing,
    check_size,
    is_slow,
)
from definetti.data.encoded import EncodedHistory
from definetti.data.labels import readable, require
from definetti.emissions.choice import Kinds
from definetti.emissions.sharing import shares_laws
from definetti.engine.promise import promise_of, way_to_limits
from definetti.engine.task import PredictionTask
from definetti.exceptions import NotExactWarning
from definetti.levels import read_levels
from definetti.memory import Memory, Order
from definetti.models.base import Model
from definetti.scores import Score, StepScore
from definetti.symmetry import (
    Remembering,
    Symmetry,
    TogetherDepartures,
    find_symmetry,
    remember,
)
from definetti.symmetry.base import LAST

Fitted = TypeVar("Fitted", bound="HistoryTasks")


class Origin(NamedTuple):
    """Where a history comes from, where it is not all that there is.

    Attributes
    ----------
    known : states that are known beside those of the history, such as those of other series
    together : whether all its segments calibrate, and not the last alone
    omits_first : whether the first observation chose where the history begins
    """

    known: tuple[Hashable, ...] = ()
    together: bool = False
    omits_first: bool = False


NOWHERE = Origin()  # a history that came as it is


class HistoryTasks(BaseHistoryConformal, Saved):
    """An estimator for one history that turns new observations into prediction tasks.

    Attributes
    ----------
    symbols_ : the observations there are, where they are symbols
    symmetry_, memory_ : what is used
    n_steps_ : the length of the labelled history, without what the model was fixed on
    """

    symmetry: str | Symmetry
    memory: int | str | Memory
    train_size: float | None
    smoothing: bool
    symmetry_: Symmetry
    _remembering: Symmetry

    def _fit_from(
        self: Fitted,
        observations: Any,
        states: Any,
        lengths: Any,
        origin: Origin = NOWHERE,
        model: Model | None = None,
    ) -> Fitted:
        """Fit to a history that somebody else has cut or put together.

        Parameters
        ----------
        model : one that is used as it is, and not copied, in place of the parameter
        """
        self._fit_rows(observations, states, lengths, origin, model=model)
        if not self.symmetry_.exact:
            warn_caller(
                f"symmetry={self.symmetry!r} does not guarantee the confidence level; use "
                "'full', 'returns' or 'spaced' for sets that do",
                NotExactWarning,
            )
        return self

    def new_segment(self: Fitted) -> Fitted:
        """Say that there is a gap: what comes next follows a time of which nothing is known.

        As with `lengths` of `fit`: of what came before the model learns, but states are
        rearranged after the gap alone. The first label after it is needed before a prediction.
        """
        super().new_segment()
        if isinstance(self._remembering, TogetherDepartures):
            self._remembering = self._remembering.with_new_segment(len(self._data.history))
        return self

    def _saved(self) -> dict[str, Any]:
        return self._saved_with("conformity_score_", "symmetry_", "_remembering")

    @classmethod
    def _restored(cls: type[Fitted], kept: dict[str, Any]) -> Fitted:
        made = cls._restored_with(
            kept,
            _data=EncodedHistory,
            conformity_score_=Score,
            symmetry_=Symmetry,
            _remembering=Symmetry,
        )
        data = made._data
        data.narrowed(made._remembering.given != LAST)
        require(isinstance(data.rule, Model), "a model")
        seen = data.kinds
        known = isinstance(seen, Kinds) and isinstance(seen.kinds, dict)
        require(seen is None or known, "what is observed")
        if isinstance(made.conformity_score_, StepScore):
            require(
                type(made.conformity_score_.lag) is int and made.conformity_score_.lag >= 0, "a lag"
            )
        found = made._remembering
        (found.symmetry if isinstance(found, Remembering) else found).check(data.history)
        if len(data.history):
            made._remembering.check_more(data.history.observations, data.history.symbols)
        return made

    @property
    def symbols_(self) -> tuple[Hashable, ...]:
        self._check_fitted()
        return self.model_.emission_.symbols_of(self._data.table)

    @property
    def memory_(self) -> Memory:
        self._check_fitted()
        found = self._remembering
        return found.memory if isinstance(found, Remembering) else Order(1)

    @property
    def n_steps_(self) -> int:
        self._check_fitted()
        return len(self._data.history.pool)

    def _take_in(
        self,
        model: Model,
        observations: Any,
        states: Any,
        lengths: Any,
        origin: Origin,
        entropy: int,
    ) -> dict[str, Any]:
        symmetry = find_symmetry(self.symmetry)
        data = EncodedHistory(
            model, observations, states, self.states, self.train_size, lengths,
            known=origin.known, together=origin.together, omits_first=origin.omits_first,
            narrow=symmetry.given != LAST,
        )  # fmt: skip
        if data.training is not None:
            rows = len(data.training.states)
            promise_of(symmetry, data.model.fixed, train_size=self.train_size, rows=rows)
        found = {
            "_data": data, "symmetry_": symmetry,
            "_remembering": remember(symmetry, self.memory, data.history),
        }  # fmt: skip
        if isinstance(self.confidence_level, Mapping):
            read_levels(self.confidence_level).check(data.alphabet.labels)
        return found

    def _check_more(self, observations: IntArray, symbols: bool) -> None:
        self._remembering.check_more(observations, symbols)

    def partial_fit(self: Fitted, observations: Any, states: Any) -> Fitted:
        """Let the labelled sequence go on with labels that came in later.

        Parameters
        ----------
        observations : (L,) the observations that follow the labelled ones
        states : (L,) their labels
        """
        observations, states = readable(observations), readable(states, "states")
        super().partial_fit(observations, states)
        return self

    def _plan(self, data: EncodedHistory, horizon: Any, n_states: int = 0) -> EncodedHistory:
        """Return the data as they are, or with a fixed model where refitting would be slow.

        It goes by what all rearrangements of the completed sequence share, the number of its states
        for one, and not that of the history's.

        Parameters
        ----------
        data : what is labelled, under the law that the new observations choose, too
        n_states : how many there are with those that a candidate has of its own
        """
        if not isinstance(horizon, (int, np.integer)) or horizon < 1:
            return data  # which is refused later
        symmetry = self._remembering
        if not is_auto(self.model) or data.model.fixed or not symmetry.by_last_state:
            return data
        if symmetry.given != LAST:  # by visits, half of a length is no cut fixed in advance
            return data
        cost = max(data.history.n_states, n_states), int(horizon), data.begun
        if not is_slow(*cost, False, symmetry.recent):
            return data
        if data.begun < 2 or not data.history.length:
            return data
        shared = shares_laws(data.emission, data.table)
        return data.half() if is_slow(*cost, shared, symmetry.recent) else data

    def _task(
        self,
        new_observations: Any,
        horizon: int | None,
        lag: int = 0,
        *,
        listing: bool = True,
        ranking: bool = False,
        n_states: int = 0,
    ) -> PredictionTask:
        self._check_fitted()
        self._check_parameters()
        checked_limit(lag, "lag")
        new_observations = readable(new_observations, "new_observations")
        data = self._data.choose_again(new_observations)
        new = None if horizon is not None else data.read_new(new_observations, None)
        planned = self._plan(data, horizon if new is None else len(new.codes), n_states)
        settled = planned is not data
        if settled:
            data, new = planned, None
        symmetry = self._remembering
        if data is not self._data:  # taken in anew, under another law, or with a fixed model
            symmetry.check_more(data.history.observations, data.history.symbols)
        n, most, fixed = data.history.n_states, self.max_candidates, data.model.fixed
        way = lambda: way_to_limits(symmetry, fixed)  # noqa: E731
        if lag:  # before anything is read
            promise_of(symmetry, fixed, steps=lag + 1, lag=lag)
        check_size(n, horizon, fixed and symmetry.by_last_state, most, listing, way)
        if horizon is not None and ranking:
            check_listing(n, max(horizon - lag, 1), most, way)
        if new is None:  # what is so long is refused before it is made
            new = data.read_new(new_observations, horizon)
        ask = partial(
            PredictionTask.about,
            score=self.conformity_score_.with_lag(lag) if lag else self.conformity_score_,
            symmetry=symmetry,
            entropy=self._entropy,
            smoothing=bool(self.smoothing),
            lag=int(lag),
            settled=settled,
        )
        task = ask(data, new)
        task.promise()
        symmetry.check_more(task.observations[~task.unseen], task.history.symbols)
        if symmetry.given == LAST or fixed:
            return task
        common = data.choose_by(task.shared_rows(), new_observations)
        if common is data:
            return task
        symmetry.check_more(common.history.observations, common.history.symbols)
        return ask(common, common.read_new(new_observations, horizon))

    def _data_of(self, task: PredictionTask) -> EncodedHistory:
        """Return the data that a task is about, under the law of all observations so far."""
        return self._data.half() if task.settled else self._data
