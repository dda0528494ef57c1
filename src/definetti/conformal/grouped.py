"""The estimator for many series: one `ConformalHMM` for each of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from definetti._system.checks import entropy_of, warn_caller
from definetti._system.mixins import Locked, Parametrized, Saved
from definetti.conformal.base import CheckOptions, WindowOptions, count_columns
from definetti.conformal.estimator import ConformalHMM
from definetti.conformal.series_modes import SeriesMode, SeriesTable, find_mode
from definetti.conformal.series_sums import SeriesTotals
from definetti.data.labels import checked_states
from definetti.data.timing import CUT, read_clock
from definetti.exceptions import HoleWarning, SaveError

if TYPE_CHECKING:
    from definetti.check import Diagnosis


class SeriesEstimators(Mapping[Hashable, ConformalHMM]):
    """Map names of series to their fitted estimators; each is fitted when it is looked up."""

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
        mode_class = find_mode(mode)
        table = SeriesTable.read(observations, states, groups, order, lengths)
        if not table.labels:
            raise ValueError("states is empty; a labelled history needs at least one step")
        if clocks is not None:
            series = replace(table.series, clocks=tuple(map(read_clock, clocks)))
            table = replace(table, series=series)
        settings = type(predictor)(**predictor.get_params(deep=False))
        if settings.states is not None:
            settings.states = checked_states(settings.states)
        self.mode: SeriesMode = mode_class(settings, table, entropy, totals)
        self.grown: dict[
            Hashable, ConformalHMM
        ] = {}  # estimators that learned labels since the fit

    def __getitem__(self, name: Hashable) -> ConformalHMM:
        return deepcopy(self.current(name))

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.mode.series.names)

    def __len__(self) -> int:
        return len(self.mode.series)

    def __contains__(self, name: object) -> bool:
        return name in self.mode.series.places

    def __repr__(self) -> str:
        rows = len(self.mode.table.labels)
        return f"SeriesEstimators: {len(self):,} series of {rows:,} rows; {self.mode.words}"

    def current(self, name: Hashable) -> ConformalHMM:
        """Return the estimator of a series, which may have learned labels since the fit."""
        place = self.mode.series.place_of(name)
        return self.grown.get(name) or self.fitted(place)

    def fitted(self, place: int, end: int | None = None) -> ConformalHMM:
        """Return the estimator of a series, fitted on its rows or the first `end` of them."""
        try:
            return self.mode.fit(place, end)
        except (TypeError, ValueError) as error:
            raise type(error)(f"series {self.mode.series.names[place]!r}: {error}") from error

    def read_new(
        self, observations: Any, states: Any, groups: Any, order: Any, name: str
    ) -> tuple[SeriesTable, list[list[int]]]:
        """Read rows that follow those of the series; return them and the lengths of segments.

        The first segment continues the labelled rows; it is empty where a hole in time precedes
        the new rows, which is reported by a warning.
        """
        past = self.mode.series
        clocks = {name: past.clock(place) for name, place in past.places.items()}
        clocks |= {name: grown._data.clock for name, grown in self.grown.items()}
        table = SeriesTable.read(observations, states, groups, order, clocks=clocks, name=name)
        series = table.series
        lengths = [series.segments(k).tolist() for k in range(len(series))]
        for k, series_name in enumerate(series.names):
            past.place_of(series_name)
            clock = clocks[series_name]
            if clock is None or series.times is None:
                continue
            times = series.times._replace(values=series.times.values[slice(*series.span(k))])
            if clock.precedes_hole(times, f"series {series_name!r}"):
                lengths[k] = [0, *lengths[k]]
                warn_caller(
                    f"series {series_name!r} begins {clock.describe(times)}: {CUT}", HoleWarning
                )
        return table, lengths

    def learn(self, table: SeriesTable, lengths: list[list[int]]) -> None:
        """Extend series by new rows; change none of them if any row is invalid."""
        grown, series = {}, table.series
        for k, name in enumerate(series.names):
            grown[name] = estimator = self[name]
            estimator._go_on(*table.rows(*series.span(k)), lengths[k])
            if series.clocks:
                estimator._data.clock = series.clock(k)
        self.grown.update(grown)

    def check_unchanged(self, what: str) -> None:
        """Raise SaveError if a series learned labels since the fit; `what` needs the fit alone."""
        if self.grown:
            name = next(iter(self.grown))
            raise SaveError(
                f"series {name!r} has learned labels since the fit, and {what} has those of the "
                f"fit; fit again with all rows, or take estimators_[{name!r}] by itself"
            )

    def kept(self) -> dict[str, Any]:
        """Return the saved values other than the predictor and the mode."""
        self.check_unchanged("a file of all series")
        clocks = [None if clock is None else tuple(clock) for clock in self.mode.series.clocks]
        rows = {"observations": self.mode.table.observations, "states": self.mode.table.labels}
        return {
            **rows, **self.named_rows, "order": None, "entropy": self.mode.entropy,
            "clocks": clocks or None,
        }  # fmt: skip

    @property
    def named_rows(self) -> dict[str, Any]:
        """The series of each row, and the lengths of all segments."""
        series = self.mode.series
        named_lengths = zip(series.names, series.lengths.tolist(), strict=True)
        groups = [name for name, length in named_lengths for _ in range(length)]
        return {"groups": groups, "lengths": series.all_segments}


class GroupedConformalHMM(Locked, Parametrized, Saved):
    """Prediction sets for many series, such as patients or machines, each with its own history.

    Parameters
    ----------
    estimator : ConformalHMM, optional
        The settings of all series; ``ConformalHMM()`` if left out.
    series : {"own", "others", "all", "first"}, default "own"
        What calibrates each series: its own history; its own history, with a model trained on the
        other series; the windows of all series; or the first window of each other series.
        ``definetti.conformal.SeriesMode.named[...].says`` states the guarantee. With "all" and
        "first", `train_size` of the estimator is the share or number of first series that train.

    Attributes
    ----------
    estimators_ : mapping from the name of each series to a fitted `ConformalHMM`
        Each lookup returns a copy; labels that a copy learns stay with it. `partial_fit` extends
        the series themselves.
    states_ : the labels of the states of all series

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
        """Fit the estimators on labelled rows of many series, in any order.

        Parameters
        ----------
        observations : (T,) symbols, None or NaN where missing; None for plain Markov chains
        states : (T,) labels, any hashable values
        groups : (T,) the series that each row belongs to
        order : (T,) numbers or dates, optional
            The key that sorts the rows of a series; rows keep their order if left out.
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
        """Return the estimator with the parameters of all series, checked."""
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
        """Extend series by labels that came in later.

        Parameters
        ----------
        observations, states : (L,) the rows that follow the labelled ones, and their labels
        groups, order : (L,) the series that each row follows, and the key that sorts rows
        """
        if not self._is_fitted():
            return self.fit(observations, states, groups, order)
        estimators = self.estimators_
        estimators.learn(*estimators.read_new(observations, states, groups, order, "observations"))
        return self

    def new_segment(self, group: Hashable) -> GroupedConformalHMM:
        """Start a new segment after a gap in a series, as `ConformalHMM.new_segment` does."""
        self._check_fitted()
        self.estimators_.grown[group] = self.estimators_[group].new_segment()
        return self

    def predict_set(
        self, new_observations: Any = None, confidence_level: Any = None, *, group: Hashable,
        **options: Unpack[WindowOptions],
    ) -> Any:  # fmt: skip
        """Return the set of state sequences for new observations of one series.

        Parameters
        ----------
        group : the name of the series
        new_observations, confidence_level : as in `ConformalHMM.predict_set`
        options : horizon, lag and verbose, as there
        """
        self._check_fitted()
        return self.estimators_.current(group).predict_set(
            new_observations, confidence_level, **options
        )

    def evaluate(
        self, new_observations: Any, states: Any, confidence_level: Any = None, *, groups: Any,
        order: Any = None, n_jobs: int | None = None, **options: Unpack[WindowOptions],
    ) -> Any:  # fmt: skip
        """Evaluate prediction sets against true states, by series and overall.

        Parameters
        ----------
        groups, order : (L,) the series that each row follows, and the key that sorts rows
        n_jobs : int, optional
            How many threads evaluate series; results do not depend on it.
        new_observations, states, confidence_level : as in `ConformalHMM.evaluate`
        options : horizon, lag and verbose, as there
        """
        from definetti.evaluation.series_backtest import evaluate_series

        self._check_fitted()
        return evaluate_series(
            self.estimators_, new_observations, states, groups, order, confidence_level,
            n_jobs=n_jobs, **options,
        )  # fmt: skip

    def check(self, **options: Unpack[CheckOptions]) -> Diagnosis:
        """Test the assumption of `memory` on the labelled rows of all series.

        Parameters
        ----------
        options : as in `ConformalHMM.check`

        Notes
        -----
        Rows that trained the model, with `train_size`, are not tested: they calibrate nothing.
        """
        from definetti.check import check

        self._check_fitted()
        self.estimators_.check_unchanged("a check of all series")
        mode = self.estimators_.mode
        labels: list[Any] = list(mode.table.labels)
        for place in range(len(mode.series)):
            begin, _ = mode.series.span(place)
            trained = mode.training_rows(place)
            labels[begin : begin + trained] = [None] * trained
        return check(
            mode.table.observations, labels, **self.estimators_.named_rows,
            memory=mode.predictor.memory, random_state=mode.entropy, **options,
        )  # fmt: skip

    @property
    def states_(self) -> tuple[Hashable, ...]:
        self._check_fitted()
        return self.estimators_.mode.alphabet.labels

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
        estimators = self.estimators_
        params = estimators.mode.predictor.get_params(deep=False)
        return {"params": params, "series": estimators.mode.known_as, **estimators.kept()}

    @classmethod
    def _restored(cls, kept: dict[str, Any]) -> GroupedConformalHMM:
        grouped = cls(ConformalHMM(**kept.pop("params")), kept.pop("series"))
        grouped.estimators_ = SeriesEstimators(grouped.settings(), grouped.series, **kept)
        return grouped

    @classmethod
    def _memory(cls, kept: dict[str, Any]) -> int:
        seen = kept["observations"]
        width = 0 if seen is None else count_columns(seen) or 1
        return len(kept["states"]) * (96 + 48 * width)
