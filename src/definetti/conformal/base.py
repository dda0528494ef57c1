"""Base classes of the estimators: read labelled data, predict, evaluate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable
from copy import deepcopy
from dataclasses import replace
from typing import Any, Self, TypedDict

import numpy as np

from definetti._system.arrays import IntArray
from definetti._system.checks import checked_choice, checked_limit, checked_number, entropy_of
from definetti._system.mixins import Locked, Parametrized
from definetti.data.encoded import EncodedHistory
from definetti.data.labels import check_length, checked_states, piece, readable, require
from definetti.data.timing import check_aligned, read_rows
from definetti.engine.task import PredictionTask
from definetti.models.base import GivesModel, Model
from definetti.models.selection import resolve_model
from definetti.scores import OnWindows, Score


class WindowOptions(TypedDict, total=False):
    """The options shared by overloads of prediction methods."""

    horizon: int | None
    lag: int
    verbose: bool


class CheckOptions(TypedDict, total=False):
    """The options that an estimator passes to `definetti.check.check`."""

    n_resamples: int
    tests: Any
    smoothing: bool
    stop_after: int | None
    alpha: float
    n_jobs: int | None
    pictures: bool
    horizon: int | None
    verbose: bool


class BaseConformal(Locked, Parametrized):
    """Base of all estimators: validation, fitting and files.

    ``_data`` has a ``model``, an ``alphabet``, and is ``closed`` where states were declared.
    """

    n_features_in_: int
    model: Any
    states: Iterable[Hashable] | None
    random_state: Any
    model_: Model
    _data: Any
    _entropy: int
    _fitting = "fit(observations, states)"

    def _fit(self, observations: Any, states: Any, *extra: Any, model: Model | None = None) -> Self:
        """Fit to labelled data; an earlier fit is kept if the data are refused.

        `extra` goes to `_take_in`; a `model` replaces the parameter.
        """
        chosen = self._resolve()
        self._check_parameters()
        entropy = entropy_of(self.random_state, ahead=True)
        observations = readable(observations)
        model = self._resolve_model(observations) if model is None else model
        fitted = self._take_in(model, observations, states, *extra, entropy)
        columns = count_columns(observations)
        # Nothing can fail from here on: replace the earlier fit, and draw from the generator.
        used, _ = fitted["_data"].model, entropy_of(self.random_state)
        self.__dict__.update(chosen, **fitted, model_=used, _entropy=entropy)
        self._set_columns(columns)
        return self

    def _set_columns(self, number: int | None) -> None:
        self.__dict__.pop("n_features_in_", None)
        if number is not None:
            self.n_features_in_ = number

    @property
    def states_(self) -> tuple[Hashable, ...]:
        self._check_fitted()
        labels: tuple[Hashable, ...] = self._data.alphabet.labels
        return labels

    def _resolve(self) -> dict[str, Any]:
        """Return the fitted attributes that follow from the parameters alone."""
        return {}

    def _resolve_model(self, observations: Any) -> Model:
        return resolve_model(self.model, observations)

    @abstractmethod
    def _check_parameters(self) -> None:
        """Check the parameters that predictions read, which may have changed since `fit`."""

    @abstractmethod
    def _take_in(self, model: Model, observations: Any, states: Any, *extra: Any) -> dict[str, Any]:
        """Return the fitted attributes, ``_data`` among them; `extra` ends with the seed."""

    def _check_truth(self, states: Any) -> list[Any]:
        """Read the true states of an evaluation."""
        self._check_fitted()
        self._check_parameters()
        truth = checked_states(states)
        if self._data.closed:
            self._data.alphabet.encode(truth, "states")
        return truth

    def _saved_with(self, *fitted: str) -> dict[str, Any]:
        """Return the content of a file: parameters, data, and the named attributes."""
        self._check_fitted()
        params = self.get_params(deep=False)
        if self._data.closed:  # the parameter may be an iterator
            params["states"] = list(self._data.alphabet.labels)
        names = ("_data", "_entropy", *fitted)
        columns = self.__dict__.get("n_features_in_")
        return {
            "params": params, "columns": columns, **{name: getattr(self, name) for name in names}
        }  # fmt: skip

    @classmethod
    def _restored_with(cls, kept: dict[str, Any], **fitted: Any) -> Self:
        """Restore an estimator from a file, given the class of each fitted attribute."""
        estimator = cls(**kept["params"])
        for name, kind in {"_entropy": int, **fitted}.items():
            require(isinstance(kept[name], kind), name)
            setattr(estimator, name, kept[name])
        require(isinstance(estimator._data.model, Model) and estimator._entropy >= 0, "a model")
        estimator.model_, columns = estimator._data.model, kept["columns"]
        require(columns is None or (type(columns) is int and columns >= 0), "columns")
        estimator._set_columns(columns)
        estimator._check_parameters()
        return estimator

    def _is_fitted(self) -> bool:
        return "_data" in self.__dict__

    def _check_fitted(self) -> None:
        if not self._is_fitted():
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(
                f"This {type(self).__name__} is not fitted yet; call {self._fitting}"
            )


def count_columns(observations: Any) -> int | None:
    """Return the number of columns of observations; None for single values."""
    if isinstance(observations, (list, tuple)):
        first = next(iter(observations), None)
        return len(first) if isinstance(first, (list, tuple, np.ndarray)) else None
    shape = np.shape(observations)
    return shape[1] if len(shape) == 2 else None


class BaseHistoryConformal(BaseConformal, GivesModel):
    """Base of the estimators that continue one labelled history."""

    conformity_score: Any
    confidence_level: Any
    max_candidates: int
    conformity_score_: Score
    _data: EncodedHistory

    def fit(self, observations: Any, states: Any, lengths: Any = None) -> Self:
        """Fit to a labelled sequence, or to several in succession.

        Parameters
        ----------
        observations : (T,) symbols, None or NaN where missing; None for a plain Markov chain
        states : (T,) labels, any hashable values
        lengths : list of int, optional
            The lengths of the sequences, if there are several. Predictions continue the last.
        """
        return self._fit_rows(observations, states, lengths)

    def _fit_rows(
        self,
        observations: Any,
        states: Any,
        lengths: Any,
        *extra: Any,
        model: Model | None = None,
    ) -> Self:
        """Cut rows at holes in their times, then fit."""
        rows = read_rows(observations, states, lengths)
        segments = rows.lengths if len(rows.lengths) > 1 else lengths
        self._fit(rows.observations, rows.labels, segments, *extra, model=model)
        self._data.clock = rows.clock
        return self

    def partial_fit(self, observations: Any, states: Any) -> Self:
        """Append labelled rows to the history.

        Parameters
        ----------
        observations : (L,) the observations that follow the labelled ones
        states : (L,) their labels
        """
        if not self._is_fitted():
            return self.fit(observations, states)
        rows = read_rows(observations, states, clock=self._data.clock)
        if rows.after_hole or len(rows.lengths) > 1:
            learner, params = deepcopy(self), self.get_params(deep=False)
            lengths = [0] * rows.after_hole + rows.lengths.tolist()
            learner._go_on(rows.observations, rows.labels, lengths)
            # Keep all segments, or none if one is refused.
            self.__dict__.update((k, v) for k, v in learner.__dict__.items() if k not in params)
        else:
            data = self._data.choose_again(rows.observations, "observations")
            data.append(rows.observations, rows.labels, self._check_more)
            self._data, self.model_ = data, data.model
        self._data.clock = rows.clock
        return self

    def _go_on(self, observations: Any, labels: list[Any], lengths: list[int]) -> None:
        """Append segments with gaps between; an empty first one stands for a gap before."""
        begin = 0
        for place, length in enumerate(lengths):
            if place:
                self.new_segment()
            if length:
                end = begin + length
                seen = None if observations is None else piece(observations, begin, end)
                self.partial_fit(seen, labels[begin:end])
                begin = end

    def new_segment(self) -> Self:
        """Begin a new segment: the next row follows a gap of unknown length."""
        self._check_fitted()
        self._data.new_segment()
        return self

    @property
    def present_(self) -> Hashable:
        """The last labelled state, from which predictions start."""
        self._check_fitted()
        return self.states_[self._data.history.last]

    def fixed_model(self) -> Model:
        self._check_fitted()
        data = self._data
        if data.model.fixed:
            return deepcopy(data.model)
        return data.model.trained(data.history.pool, data.table, data.alphabet.labels)

    def _check_more(self, observations: IntArray, symbols: bool) -> None:
        """Refuse later observations that the symmetry cannot use."""

    @abstractmethod
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
        """Collect all that a prediction depends on.

        `listing`: all candidates are asked about, not one; `ranking`: all are ranked, without a
        lattice; `n_states`: the number of states, new ones of a candidate included.
        """

    @property
    def _ranks_windows(self) -> bool:
        """Whether many windows may be ranked in one pass."""
        return False

    def _data_of(self, task: PredictionTask) -> EncodedHistory:
        """Return the data of a task."""
        return self._data

    @property
    def _fills(self) -> bool:
        """Whether an empty set is filled with its most plausible member."""
        return False

    def _resolve(self) -> dict[str, Any]:
        return {"conformity_score_": self._resolve_score()}

    def _resolve_score(self) -> Score:
        if callable(self.conformity_score) and not isinstance(self.conformity_score, (type, Score)):
            return OnWindows(self.conformity_score)
        score: Score = checked_choice(
            self.conformity_score, Score, "conformity_score", ", a function of windows"
        )
        return score

    def _ask_about(
        self, new_observations: Any, states: Any, horizon: int | None = None, lag: int = 0
    ) -> tuple[PredictionTask, IntArray]:
        """Return the task for one state sequence, of any labels, and its codes."""
        self._check_fitted()
        check_aligned({"new_observations": new_observations, "states": states})
        labels = checked_states(states)
        if not labels:
            raise ValueError("states is empty; give one label per new observation")
        checked_limit(lag, "lag")
        if new_observations is None and horizon is None:
            horizon = len(labels) + lag
        if horizon is not None and checked_number(horizon, "horizon") > lag:
            check_length(labels, horizon - lag)  # before memory is taken
        alphabet = self._data.alphabet.extended(labels)
        task = self._task(new_observations, horizon, lag, listing=False, n_states=len(alphabet))
        check_length(labels, task.steps)
        return replace(task, labels=alphabet.labels), alphabet.encode(labels, "states")

    def _judge_windows(
        self,
        new_observations: Any,
        states: Any,
        confidence_level: Any,
        horizon: int | None,
        lag: int = 0,
        verbose: bool = False,
        lengths: Any = None,
    ) -> Any:
        """Evaluate the sets of successive windows, each predicted from all rows before it.

        `lengths` are those of segments between gaps; the first continues the history, and is empty
        where a gap follows the history.
        """
        from definetti.evaluation.window_loop import judge_windows

        states = readable(states, "states")
        truth = self._check_truth(states)
        after_gap = lengths is not None and lengths[0] == 0
        segments = None if lengths is None else [length for length in lengths if length]
        rows = read_rows(new_observations, states, segments, self._data.clock, "new_observations")
        new_observations, segments = rows.observations, rows.lengths.tolist()
        segments = [0, *segments] if after_gap or rows.after_hole else segments
        step = len(truth) if horizon is None else checked_number(horizon, "horizon")
        if not truth or len(truth) < step:
            raise ValueError(
                f"states has {len(truth)} labels, fewer than one window of {max(step, 1)}; "
                "give more, or shorten the horizon"
            )
        if horizon is None and len(segments) > 1:
            raise ValueError(
                "horizon is None, which predicts all rows in one window, and there is a hole "
                "between them, or before the first; set horizon=1, or more"
            )
        if new_observations is not None:
            data = self._data.choose_again(new_observations)
            check_length(truth, len(data.read_new(new_observations, None).codes))
        elif step < len(truth):
            self._data.check_plain(None, "new_observations")
        return judge_windows(
            self, new_observations, truth, confidence_level, step, lag, verbose, segments
        )
