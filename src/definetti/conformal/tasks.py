"""Turn a labelled history into prediction tasks, and these into sets."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Self

import narwhals as nw
import numpy as np

from definetti._system.arrays import FloatArray, IntArray, distinct_rows
from definetti._system.checks import (
    checked_flag,
    checked_limit,
    checked_number,
    is_auto,
    warn_caller,
)
from definetti._system.mixins import Saved
from definetti.conformal.base import BaseHistoryConformal
from definetti.data.encoded import EncodedHistory
from definetti.data.labels import check_length, checked_states, plain, readable, require
from definetti.emissions.choice import Kinds
from definetti.engine.algorithm import rank
from definetti.engine.past import rank_after
from definetti.engine.promise import promise_of, way_to_limits
from definetti.engine.pvalues import Ranked
from definetti.engine.task import (
    PredictionTask,
    all_candidates,
    check_listing,
    check_size,
    is_long,
    is_slow,
)
from definetti.exceptions import NotExactWarning
from definetti.levels import Levels, read_levels
from definetti.memory import Memory, Order
from definetti.models.base import Model
from definetti.models.estimates import shares_laws
from definetti.models.selection import ModelSelection, SelectedHMM
from definetti.scores import Score, StepScore
from definetti.sets import Errors, LatticeSet, PredictionSet, StepSets, read_guarantee
from definetti.sets.base import installed
from definetti.sets.batch import AllRanked, all_ranked, listed_set
from definetti.sets.lattice import lattice_set
from definetti.sets.steps import step_sets
from definetti.symmetry import Remembering, Symmetry, TogetherDepartures, find_symmetry, remember
from definetti.symmetry.base import LAST


class Origin(NamedTuple):
    """How a history was cut or assembled.

    Attributes
    ----------
    known : states known from elsewhere, such as those of other series
    together : whether all segments calibrate, instead of the last alone
    omits_first : whether the first observation decided where the history begins
    """

    known: tuple[Hashable, ...] = ()
    together: bool = False
    omits_first: bool = False


# Ranks, and the uniforms that break ties: None for no smoothing, NaN where ties stay.
Tied = tuple[Ranked, FloatArray | None]

NOWHERE = Origin()  # a history as given


class HistoryTasks(BaseHistoryConformal, Saved):
    """Base of the estimator of one history: make prediction tasks, and sets from them."""

    symmetry: str | Symmetry
    memory: int | str | Memory
    train_size: float | None
    smoothing: bool
    guarantee: str | Errors
    allow_empty: bool
    symmetry_: Symmetry
    _remembering: Symmetry

    def _fit_from(
        self,
        observations: Any,
        states: Any,
        lengths: Any,
        origin: Origin = NOWHERE,
        model: Model | None = None,
    ) -> Self:
        """Fit to a history that was cut or assembled; a `model` replaces the parameter."""
        self._fit_rows(observations, states, lengths, origin, model=model)
        if not self.symmetry_.exact:
            warn_caller(
                f"symmetry={self.symmetry!r} does not guarantee the confidence level; use "
                "'full', 'returns' or 'spaced' for sets that do",
                NotExactWarning,
            )
        return self

    def new_segment(self) -> Self:
        """Begin a new segment: the next row follows a gap of unknown length.

        The model still learns from earlier segments, but only rows after the gap are rearranged, as
        with `lengths` of `fit`. A prediction needs a label after the gap.
        """
        super().new_segment()
        if isinstance(self._remembering, TogetherDepartures):
            self._remembering = self._remembering.with_new_segment(len(self._data.history))
        return self

    def _saved(self) -> dict[str, Any]:
        return self._saved_with("conformity_score_", "symmetry_", "_remembering")

    @classmethod
    def _restored(cls, kept: dict[str, Any]) -> Self:
        restored = cls._restored_with(
            kept, _data=EncodedHistory, conformity_score_=Score, symmetry_=Symmetry,
            _remembering=Symmetry,
        )  # fmt: skip
        data = restored._data
        data.narrowed(restored._remembering.given != LAST)
        require(isinstance(data.rule, Model), "a model")
        seen = data.kinds
        known = isinstance(seen, Kinds) and isinstance(seen.kinds, dict)
        require(seen is None or known, "what is observed")
        if isinstance(restored.conformity_score_, StepScore):
            require(
                type(restored.conformity_score_.lag) is int and restored.conformity_score_.lag >= 0,
                "a lag",
            )
        symmetry = restored._remembering
        (symmetry.symmetry if isinstance(symmetry, Remembering) else symmetry).check(data.history)
        if len(data.history):
            restored._remembering.check_more(data.history.observations, data.history.symbols)
        return restored

    @property
    def symbols_(self) -> tuple[Hashable, ...]:
        self._check_fitted()
        return self.model_.emission_.symbols_of(self._data.table)

    @property
    def memory_(self) -> Memory:
        self._check_fitted()
        symmetry = self._remembering
        return symmetry.memory if isinstance(symmetry, Remembering) else Order(1)

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
        fitted = {
            "_data": data, "symmetry_": symmetry,
            "_remembering": remember(symmetry, self.memory, data.history),
        }  # fmt: skip
        if isinstance(self.confidence_level, Mapping):
            read_levels(self.confidence_level).check(data.alphabet.labels)
        return fitted

    def _check_more(self, observations: IntArray, symbols: bool) -> None:
        self._remembering.check_more(observations, symbols)

    def _plan(self, data: EncodedHistory, horizon: Any, n_states: int = 0) -> EncodedHistory:
        """Return the data, or a copy with a fixed model where refitting would be slow.

        The choice depends only on what all rearrangements of the completed sequence share, such as
        its number of states, a candidate's included.
        """
        if not isinstance(horizon, (int, np.integer)) or horizon < 1:
            return data  # refused later
        symmetry = self._remembering
        if not is_auto(self.model) or data.model.fixed or not symmetry.by_last_state:
            return data
        if symmetry.given != LAST:  # half of the length is no number fixed in advance
            return data
        cost = max(data.history.n_states, n_states), int(horizon), data.begun
        if not is_slow(*cost, False, symmetry.recent) or data.begun < 2 or not data.history.length:
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
        if data is not self._data:  # encoded again
            symmetry.check_more(data.history.observations, data.history.symbols)
        n, most, fixed = data.history.n_states, self.max_candidates, data.model.fixed
        way = lambda: way_to_limits(symmetry, fixed)  # noqa: E731
        if lag:  # before the observations are read
            promise_of(symmetry, fixed, steps=lag + 1, lag=lag)
        check_size(n, horizon, fixed and symmetry.by_last_state, most, listing, way)
        if horizon is not None and ranking:
            check_listing(n, max(horizon - lag, 1), most, way)
        if new is None:  # after long horizons are refused
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
        """Return the data of a task: those with a fixed model where the task has one."""
        return self._data.half() if task.settled else self._data

    @property
    def model_selection_(self) -> ModelSelection | None:
        self._check_fitted()
        model = self._data.fixed_model
        return model.selection if isinstance(model, SelectedHMM) else None

    def _check_parameters(self) -> None:
        """Check the parameters that predictions read; others take effect at `fit`."""
        read_levels(self.confidence_level)
        checked_flag(self.smoothing, "smoothing")
        checked_flag(self.allow_empty, "allow_empty")
        checked_number(self.max_candidates, "max_candidates")
        read_guarantee(self.guarantee)

    @property
    def _fills(self) -> bool:
        return not self.allow_empty

    def _answers(self, task: PredictionTask, levels: Sequence[Levels], verbose: bool) -> list[Any]:
        """Return a set for each of several levels; candidates are ranked once."""
        sets: list[Any] = []
        ranked = None
        for own in levels:
            if own.named:
                own.check(task.labels)
            if task.symmetry.given != LAST:
                own = own.at(task.labels[task.history.last])
            if self.guarantee != "all":
                sets.append(self._step_sets(task, own))
                continue
            if len(levels) > 1 and ranked is None and not self._is_long(task):
                ranked = all_ranked(task, self.max_candidates, verbose)
            sets.append(self._set(task, own, verbose, ranked))
        return sets

    def _step_sets(self, task: PredictionTask, levels: Levels) -> StepSets:
        return step_sets(task, levels, *read_guarantee(self.guarantee), bool(self.allow_empty))

    def _is_long(self, task: PredictionTask) -> bool:
        most = self.max_candidates
        return task.by_last_state and is_long(len(task.labels), task.steps, most)

    def _set(
        self, task: PredictionTask, levels: Levels | None, verbose: bool = False,
        ranked: AllRanked | None = None,
    ) -> PredictionSet | LatticeSet:  # fmt: skip
        """Return a listed set, or a lattice where there are too many candidates."""
        most, allow_empty = self.max_candidates, bool(self.allow_empty)
        if ranked is None and self._is_long(task):
            lattice = lattice_set(task, levels, most, allow_empty)
            if lattice is not None:
                return lattice
        return listed_set(task, levels, most, verbose, allow_empty, ranked)

    def _rank_windows(
        self, windows: Any, candidates: Any, lag: int
    ) -> tuple[PredictionTask, Tied, IntArray]:
        """Rank candidates of many windows; return a task for all, ranks and candidates."""
        if self.guarantee != "all":
            raise ValueError(
                f"guarantee={self.guarantee!r} has no p-values, and sets of one window at a time; "
                "use guarantee='all', or predict_set"
            )
        split, every = read_windows(windows)
        task = self._task(split[0], None, lag, ranking=True)
        one_law = self._data.settled(every)  # for all windows
        n_states, steps = len(task.labels), task.steps
        check_listing(n_states, steps, self.max_candidates, task.way_to_limits)
        codes = all_candidates(n_states, steps)
        if candidates is not None:
            codes = self._read_candidates(candidates, steps)
        seen = None
        usable = one_law or not task.settled
        if usable and (task.model.fixed or task.history.symbols):
            new = self._data_of(task).read_new(every, None)
            seen = new.codes.reshape(len(split), -1)
        if task.by_last_state and seen is not None:
            uniforms = np.full((1, 1), task.uniform()) if task.smoothing else None
            return task, (rank_after(replace(task, table=new.table), seen, codes), uniforms), codes
        if not (task.history.symbols and one_law):
            seen = None  # equal codes may stand for different observations

        def ask(window: int) -> PredictionTask:
            return self._task(split[window], None, lag, ranking=True)

        return task, rank_each(ask, len(split), seen, codes), codes

    def _read_candidates(self, candidates: Any, steps: int) -> IntArray:
        rows = [checked_states(candidate, "candidates") for candidate in candidates]
        if not rows:
            raise ValueError("candidates is empty; name some, or leave it out for all")
        for row in rows:
            check_length(row, steps)
        return np.array([self._data.alphabet.encode(row, "candidates") for row in rows])


def read_windows(windows: Any) -> tuple[list[Any], Any]:
    """Return the windows as a list, and the observations of all of them in succession."""
    windows = plain(windows)
    if isinstance(windows, np.ndarray) and windows.ndim >= 2 and len(windows):
        return list(windows), windows.reshape(-1, *windows.shape[2:])
    single = isinstance(windows, (str, bytes, dict)) or not np.iterable(windows)
    split = [] if single else list(windows)
    if not split or any(not isinstance(window, (list, tuple, np.ndarray)) for window in split):
        raise TypeError(
            "windows must be a list of windows, each a list or an array of observations, or an "
            f"array of shape (windows, steps), got {type(windows).__name__}; for one step each "
            "write [[first], [second]]"
        )
    if len(set(map(len, split))) > 1:
        raise ValueError("windows have different lengths; ask about those of each length at once")
    if isinstance(split[0], np.ndarray):
        return split, np.concatenate(split)
    return split, [observation for window in split for observation in window]


def rank_each(
    ask: Callable[[int], PredictionTask], number: int, codes: IntArray | None, candidates: IntArray
) -> Tied:
    """Rank candidates window by window, windows with equal codes once."""
    first, places = np.arange(number), np.arange(number)
    if codes is not None:
        first, places, _ = distinct_rows(codes)
    every, broken = [], []
    for window in first.tolist():
        task = ask(window)
        every.append(rank(task, candidates))
        ties = task.tie_breakers(every[-1])
        broken.append(np.full((1, 1), np.nan) if ties is None else ties)
    back, shape = places.reshape(-1), (1, len(candidates))
    uniforms = np.concatenate([np.broadcast_to(own, shape) for own in broken])
    parts = (np.concatenate([ranked[k] for ranked in every])[back] for k in range(4))
    return Ranked(*parts), uniforms[back]


def decode_observations(data: EncodedHistory, codes: IntArray) -> Any:
    """Return observations as they were given, with column names if they had any."""
    if data.plain:
        return None
    values, names = data.emission.decode(data.table, codes), data.emission.columns_of(data.table)
    if names is None or values.ndim != 2:
        return values
    try:
        backend = installed()
    except ImportError:
        return values  # then columns are known by position
    columns = {str(name): column for name, column in zip(names, values.T, strict=True)}
    return nw.from_dict(columns, backend=backend).to_native()
