"""The estimator for many series: one `ConformalHMM` for each of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from definetti._system.checks import entropy_of, warn_caller
from definetti._system.mixins import Locked, Parametrized, Saved
from definetti.conformal.estimator import ConformalHMM
from definetti.conformal.series_modes import SeriesMode, find_mode
from definetti.conformal.series_sums import SeriesTotals
from definetti.conformal.series_table import SeriesTable
from definetti.data.labels import checked_states, piece
from definetti.data.series import SeriesRows, read_series, sort_rows
from definetti.data.timing import CUT, check_aligned, read_clock, read_index
from definetti.exceptions import HoleWarning, SaveError
from definetti.levels import ConfidenceLevel
from definetti.sets import BasePredictionSet

if TYPE_CHECKING:
    from definetti.check import Diagnosis
    from definetti.evaluation.series import SeriesEvaluation


class NewRows(NamedTuple):
    """Rows that follow those of many series, series after series.

    Attributes
    ----------
    series : whose rows they are
    observations, labels : the rows; observations are None for plain chains
    lengths : for each series, those of its segments, the first of which goes on with the labelled
        rows: it has none where a gap comes before the others
    """

    series: SeriesRows
    observations: Any
    labels: list[Any]
    lengths: list[list[int]]

    def of(self, place: int) -> tuple[Any, list[Any]]:
        """Return the observations and the labels of a series."""
        begin, end = self.series.span(place)
        seen = None if self.observations is None else piece(self.observations, begin, end)
        return seen, self.labels[begin:end]


class SeriesEstimators(Mapping[Hashable, ConformalHMM]):
    """The estimators of many series, by the names of these; each is made when it is asked for.

    Parameters
    ----------
    predictor : ConformalHMM
        Its parameters are those of every series.
    mode : what each series is predicted by, a name of `SeriesMode`
    observations, states, groups, order, lengths : as `GroupedConformalHMM.fit` takes them
    entropy : where random numbers come from
    totals : what these series and others add up to, where the others are not here
    clocks : the time at the end of each series, as a file has it

    Attributes
    ----------
    mode : a `SeriesMode`
    grown : the estimators of series that have learned labels since the fit, by their names
    """

    def __init__(
        self,
        predictor: ConformalHMM,
        mode: str,
        observations: Any,
        states: Any,
        groups: Any,
        order: Any,
        lengths: Any,
        entropy: int,
        totals: SeriesTotals | None = None,
        clocks: list[Any] | None = None,
    ) -> None:
        found = find_mode(mode)
        labels = checked_states(states)
        if not labels:
            raise ValueError("states is empty; a labelled history needs at least one step")
        named = {"observations": observations, "states": states, "groups": groups, "order": order}
        check_aligned(named)
        index = read_index(observations, states)
        series = read_series(groups, len(labels), order, lengths, index)
        if clocks is not None:
            series = replace(series, clocks=tuple(map(read_clock, clocks)))
        seen = sort_rows(observations, series.rows, len(labels))
        sorted_labels = [labels[row] for row in series.rows.tolist()]
        settings = type(predictor)(**predictor.get_params(deep=False))
        if settings.states is not None:
            settings.states = checked_states(settings.states)
        table = SeriesTable(settings, seen, sorted_labels, series, entropy, totals)
        self.mode: SeriesMode = found(table)
        self.grown: dict[Hashable, ConformalHMM] = {}

    @property
    def table(self) -> SeriesTable:
        return self.mode.table

    def __getitem__(self, name: Hashable) -> ConformalHMM:
        return deepcopy(self.current(self.table.series.place_of(name)))

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.table.series.names)

    def __len__(self) -> int:
        return len(self.table.series)

    def __contains__(self, name: object) -> bool:
        return name in self.table.series.places

    def __repr__(self) -> str:
        rows = len(self.table.labels)
        return f"SeriesEstimators: {len(self):,} series of {rows:,} rows; {self.mode.words}"

    def current(self, place: int) -> ConformalHMM:
        """Return the estimator of a series, which may have learned labels since the fit."""
        grown = self.grown.get(self.table.series.names[place])
        return self.fitted(place) if grown is None else grown

    def fitted(self, place: int, end: int | None = None) -> ConformalHMM:
        """Return the estimator of a series, fitted on its rows or the first `end` of them."""
        try:
            return self.mode.fit(place, end)
        except (TypeError, ValueError) as error:
            raise type(error)(f"series {self.table.series.names[place]!r}: {error}") from error

    def read_new(
        self, observations: Any, states: Any, groups: Any, order: Any, name: str
    ) -> NewRows:
        """Read labelled rows that follow those of the series; `name` is that of the observations.

        A series whose rows begin after a hole in time is cut there, with a warning.
        """
        labels = checked_states(states)
        check_aligned({name: observations, "states": states, "groups": groups, "order": order})
        past = self.table.series
        clocks = {one: past.clock(place) for one, place in past.places.items()}
        clocks |= {one: grown._data.clock for one, grown in self.grown.items()}
        index = read_index(observations, states)
        series = read_series(groups, len(labels), order, index=index, clocks=clocks)
        seen = sort_rows(observations, series.rows, len(labels), name)
        labels = [labels[row] for row in series.rows.tolist()]
        lengths = [series.segments(k).tolist() for k in range(len(series))]
        for k, one in enumerate(series.names):
            past.place_of(one)
            clock = clocks[one]
            if clock is None or series.times is None:
                continue
            times = series.times._replace(values=series.times.values[slice(*series.span(k))])
            if clock.precedes_hole(times, f"series {one!r}"):
                lengths[k] = [0, *lengths[k]]
                warn_caller(f"series {one!r} begins {clock.describe(times)}: {CUT}", HoleWarning)
        return NewRows(series, seen, labels, lengths)

    def learn(self, new: NewRows) -> None:
        """Let series go on with rows that follow them: all of them, or none if any is wrong."""
        grown = {}
        for k, name in enumerate(new.series.names):
            estimator, begin = self[name], 0
            seen, labels = new.of(k)
            for place, length in enumerate(new.lengths[k]):
                if place:
                    estimator.new_segment()
                if length:
                    end = begin + length
                    some = None if seen is None else piece(seen, begin, end)
                    estimator.partial_fit(some, labels[begin:end])
                    begin = end
            if new.series.clocks:
                estimator._data.clock = new.series.clock(k)
            grown[name] = estimator
        self.grown.update(grown)

    def check_unchanged(self, what: str) -> None:
        """Refuse what takes the rows of the fit alone where a series has learned more."""
        if self.grown:
            name = next(iter(self.grown))
            raise SaveError(
                f"series {name!r} has learned labels since the fit, and {what} has those of the "
                f"fit; fit again with all rows, or take estimators_[{name!r}] by itself"
            )

    def kept(self) -> dict[str, Any]:
        """Return what it is made of, but the predictor and the mode, for a file to hold."""
        self.check_unchanged("a file of all series")
        table = self.table
        return {
            "observations": table.observations,
            "states": table.labels,
            "groups": table.groups,
            "order": None,
            "lengths": table.series.all_segments,
            "entropy": table.entropy,
            "clocks": [None if one is None else tuple(one) for one in table.series.clocks] or None,
        }


class GroupedConformalHMM(Locked, Parametrized, Saved):
    """Prediction sets for many series, such as patients or machines, each with its own history.

    Parameters
    ----------
    estimator : ConformalHMM, optional
        The settings of all series; ``ConformalHMM()`` if left out.
    series : {"own", "others", "all", "first"}, default "own"
        What each series is predicted by: its own history; its own history and a model that learns
        from the others; the windows of all; or the first of each other.
        ``definetti.conformal.SeriesMode.named[...].says`` what is promised. With "all" and "first",
        `train_size` of the estimator is a share or a number of series, the first, that train.

    Attributes
    ----------
    estimators_ : mapping from the name of each series to a fitted `ConformalHMM`
        Made when it is asked for; what it learns, it learns for itself. `partial_fit` lets the
        series themselves go on.
    states_ : the labels of the states that any series has

    Examples
    --------
    >>> from definetti.simulate import weather
    >>> towns = {name: weather(300, random_state=k) for k, name in enumerate(["Rome", "Oslo"])}
    >>> things = [thing for town in towns.values() for thing in town.observations]
    >>> skies = [sky for town in towns.values() for sky in town.states]
    >>> cp = GroupedConformalHMM(ConformalHMM(random_state=0), series="others")
    >>> cp = cp.fit(things, skies, groups=["Rome"] * 300 + ["Oslo"] * 300)
    >>> cp.predict_set(["hat", "umbrella"], group="Oslo").sequences
    [('sun', 'rain'), ('sun', 'sun')]
    """

    estimators_: SeriesEstimators

    def __init__(self, estimator: ConformalHMM | None = None, series: str = "own") -> None:
        self.estimator = estimator
        self.series = series

    def fit(
        self, observations: Any, states: Any, groups: Any, order: Any = None, lengths: Any = None
    ) -> GroupedConformalHMM:
        """Take in the labelled rows of many series, in any order.

        Parameters
        ----------
        observations : (T,) symbols, None or NaN where missing; None for plain Markov chains
        states : (T,) labels, any hashable values
        groups : (T,) the series that each row belongs to
        order : (T,) numbers or dates, optional
            What the rows of a series are sorted by; as they come if left out.
        lengths : list of int, optional
            The lengths of segments of the rows, where there are gaps between them.
        """
        estimator = self.settings()
        entropy = entropy_of(estimator.random_state, ahead=True)
        self.estimators_ = SeriesEstimators(
            estimator, self.series, observations, states, groups, order, lengths, entropy
        )
        entropy_of(estimator.random_state)
        return self

    def settings(self) -> ConformalHMM:
        """Return the estimator whose parameters are those of every series; refuse wrong ones."""
        estimator = ConformalHMM() if self.estimator is None else self.estimator
        if not isinstance(estimator, ConformalHMM):
            raise TypeError(
                f"estimator must be a ConformalHMM, got {type(estimator).__name__}; use "
                "GroupedConformalHMM(ConformalHMM(…))"
            )
        estimator._resolve()
        estimator._check_parameters()
        return estimator

    def partial_fit(
        self, observations: Any, states: Any, groups: Any, order: Any = None
    ) -> GroupedConformalHMM:
        """Let series go on with labels that came in later.

        Parameters
        ----------
        observations, states : (L,) the rows that follow the labelled ones, and their labels
        groups, order : (L,) the series that each row follows, and what rows are sorted by
        """
        if not self._is_fitted():
            return self.fit(observations, states, groups, order)
        each = self.estimators_
        each.learn(each.read_new(observations, states, groups, order, "observations"))
        return self

    def new_segment(self, group: Hashable) -> GroupedConformalHMM:
        """Say that there is a gap in a series, as `ConformalHMM.new_segment` does."""
        self._check_fitted()
        self.estimators_.grown[group] = self.estimators_[group].new_segment()
        return self

    @overload
    def predict_set(
        self,
        new_observations: Any = None,
        confidence_level: ConfidenceLevel | None = None,
        *,
        group: Hashable,
        horizon: int | None = None,
        lag: int = 0,
        verbose: bool = False,
    ) -> BasePredictionSet: ...

    @overload
    def predict_set(
        self,
        new_observations: Any = None,
        *,
        confidence_level: Sequence[ConfidenceLevel],
        group: Hashable,
        horizon: int | None = None,
        lag: int = 0,
        verbose: bool = False,
    ) -> list[BasePredictionSet]: ...

    def predict_set(
        self,
        new_observations: Any = None,
        confidence_level: Any = None,
        *,
        group: Hashable,
        horizon: int | None = None,
        lag: int = 0,
        verbose: bool = False,
    ) -> Any:
        """Return the set of state sequences for new observations of one series.

        Parameters
        ----------
        group : the name of the series
        new_observations, confidence_level, horizon, lag, verbose :
            As in `ConformalHMM.predict_set`.
        """
        self._check_fitted()
        each = self.estimators_
        estimator = each.current(each.table.series.place_of(group))
        return estimator.predict_set(
            new_observations, confidence_level, horizon=horizon, lag=lag, verbose=verbose
        )

    @overload
    def evaluate(
        self,
        new_observations: Any,
        states: Any,
        confidence_level: ConfidenceLevel | None = None,
        *,
        groups: Any,
        order: Any = None,
        horizon: int | None = None,
        lag: int = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> SeriesEvaluation: ...

    @overload
    def evaluate(
        self,
        new_observations: Any,
        states: Any,
        confidence_level: Sequence[float],
        *,
        groups: Any,
        order: Any = None,
        horizon: int | None = None,
        lag: int = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> list[SeriesEvaluation]: ...

    def evaluate(
        self,
        new_observations: Any,
        states: Any,
        confidence_level: Any = None,
        *,
        groups: Any,
        order: Any = None,
        horizon: int | None = None,
        lag: int = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> Any:
        """Judge prediction sets by the truth, each series by itself and all together.

        Parameters
        ----------
        groups, order : (L,) the series that each row follows, and what rows are sorted by
        n_jobs : int, optional
            How many threads judge series; no number depends on it.
        new_observations, states, confidence_level, horizon, lag, verbose :
            As in `ConformalHMM.evaluate`.
        """
        from definetti.evaluation.series_backtest import evaluate_series

        self._check_fitted()
        return evaluate_series(
            self.estimators_, new_observations, states, groups, order, confidence_level,
            horizon=horizon, lag=lag, n_jobs=n_jobs, verbose=verbose,
        )  # fmt: skip

    def check(
        self,
        *,
        n_resamples: int = 999,
        tests: Any = None,
        smoothing: bool = False,
        stop_after: int | None = None,
        alpha: float = 0.05,
        n_jobs: int | None = None,
        pictures: bool = True,
        verbose: bool = False,
    ) -> Diagnosis:
        """Test on the labelled rows whether the series are what `memory` takes them to be.

        Parameters
        ----------
        n_resamples, tests, smoothing, stop_after, alpha, n_jobs, pictures, verbose :
            As in `definetti.check.check`.

        Notes
        -----
        Rows that a model was fixed on, with `train_size`, are not tested: they calibrate nothing.
        """
        from definetti.check import check

        self._check_fitted()
        self.estimators_.check_unchanged("a check of all series")
        mode, table = self.estimators_.mode, self.estimators_.table
        labels: list[Any] = list(table.labels)
        for place in range(len(table.series)):
            begin, _ = table.series.span(place)
            trained = mode.training_rows(place)
            labels[begin : begin + trained] = [None] * trained
        return check(
            table.observations,
            labels,
            groups=table.groups,
            lengths=table.series.all_segments,
            n_resamples=n_resamples,
            memory=table.predictor.memory,
            tests=tests,
            smoothing=smoothing,
            stop_after=stop_after,
            alpha=alpha,
            random_state=table.entropy,
            n_jobs=n_jobs,
            pictures=pictures,
            verbose=verbose,
        )

    @property
    def states_(self) -> tuple[Hashable, ...]:
        self._check_fitted()
        return self.estimators_.table.alphabet.labels

    def _is_fitted(self) -> bool:
        return "estimators_" in self.__dict__

    def _check_fitted(self) -> None:
        if not self._is_fitted():
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(
                "This GroupedConformalHMM is not fitted yet; call fit(observations, states, groups)"
            )

    def _saved(self) -> dict[str, Any]:
        self._check_fitted()
        each = self.estimators_
        params = each.table.predictor.get_params(deep=False)
        return {"params": params, "series": each.mode.known_as, **each.kept()}

    @classmethod
    def _restored(cls, kept: dict[str, Any]) -> GroupedConformalHMM:
        made = cls(ConformalHMM(**kept.pop("params")), kept.pop("series"))
        made.estimators_ = SeriesEstimators(made.settings(), made.series, **kept)
        return made

    @classmethod
    def _memory(cls, kept: dict[str, Any]) -> int:
        seen = kept["observations"]
        width = 0 if seen is None else 1
        if isinstance(seen, list) and seen and isinstance(seen[0], (list, tuple)):
            width = len(seen[0])
        elif seen is not None and np.ndim(seen) > 1:
            width = np.shape(seen)[1]
        return len(kept["states"]) * (96 + 48 * width)
