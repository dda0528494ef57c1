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
    """The estimators of many series, by the names of these; each is made when it is asked for."""

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
        table = SeriesTable.read(observations, states, groups, order, lengths)
        if not table.labels:
            raise ValueError("states is empty; a labelled history needs at least one step")
        if clocks is not None:
            series = replace(table.series, clocks=tuple(map(read_clock, clocks)))
            table = replace(table, series=series)
        settings = type(predictor)(**predictor.get_params(deep=False))
        if settings.states is not None:
            settings.states = checked_states(settings.states)
        self.mode: SeriesMode = found(settings, table, entropy, totals)
        self.grown: dict[Hashable, ConformalHMM] = {}  # that have learned labels since the fit

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
        """Read labelled rows that follow those of the series, and return the segments of each.

        The first segment goes on with the labelled rows; it has none where there is a hole in time
        before the others, of which there is a warning.
        """
        past = self.mode.series
        clocks = {one: past.clock(place) for one, place in past.places.items()}
        clocks |= {one: grown._data.clock for one, grown in self.grown.items()}
        table = SeriesTable.read(observations, states, groups, order, clocks=clocks, name=name)
        series = table.series
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
        return table, lengths

    def learn(self, table: SeriesTable, lengths: list[list[int]]) -> None:
        """Let series go on with rows that follow them: all of them, or none if any is wrong."""
        grown, series = {}, table.series
        for k, name in enumerate(series.names):
            grown[name] = estimator = self[name]
            estimator._go_on(*table.rows(*series.span(k)), lengths[k])
            if series.clocks:
                estimator._data.clock = series.clock(k)
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
        """Return what a file holds beside the predictor and the mode."""
        self.check_unchanged("a file of all series")
        clocks = [None if one is None else tuple(one) for one in self.mode.series.clocks]
        rows = {"observations": self.mode.table.observations, "states": self.mode.table.labels}
        return {
            **rows, **self.named_rows, "order": None, "entropy": self.mode.entropy,
            "clocks": clocks or None,
        }  # fmt: skip

    @property
    def named_rows(self) -> dict[str, Any]:
        """The series of each row, and how long all segments are."""
        series = self.mode.series
        each = zip(series.names, series.lengths.tolist(), strict=True)
        groups = [name for name, length in each for _ in range(length)]
        return {"groups": groups, "lengths": series.all_segments}


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
        each.learn(*each.read_new(observations, states, groups, order, "observations"))
        return self

    def new_segment(self, group: Hashable) -> GroupedConformalHMM:
        """Say that there is a gap in a series, as `ConformalHMM.new_segment` does."""
        self._check_fitted()
        self.estimators_.grown[group] = self.estimators_[group].new_segment()
        return self

    def predict_set(
        self, new_observations: Any = None, confidence_level: Any = None, *, group: Hashable,
        **how: Unpack[WindowOptions],
    ) -> Any:  # fmt: skip
        """Return the set of state sequences for new observations of one series.

        Parameters
        ----------
        group : the name of the series
        new_observations, confidence_level : as in `ConformalHMM.predict_set`
        how : horizon, lag and verbose, as there
        """
        self._check_fitted()
        return self.estimators_.current(group).predict_set(
            new_observations, confidence_level, **how
        )

    def evaluate(
        self, new_observations: Any, states: Any, confidence_level: Any = None,
        *, groups: Any, order: Any = None, n_jobs: int | None = None, **how: Unpack[WindowOptions],
    ) -> Any:  # fmt: skip
        """Judge prediction sets by the truth, each series by itself and all together.

        Parameters
        ----------
        groups, order : (L,) the series that each row follows, and what rows are sorted by
        n_jobs : int, optional
            How many threads judge series; no number depends on it.
        new_observations, states, confidence_level : as in `ConformalHMM.evaluate`
        how : horizon, lag and verbose, as there
        """
        from definetti.evaluation.series_backtest import evaluate_series

        self._check_fitted()
        return evaluate_series(
            self.estimators_, new_observations, states, groups, order, confidence_level,
            n_jobs=n_jobs, **how,
        )  # fmt: skip

    def check(self, **options: Unpack[CheckOptions]) -> Diagnosis:
        """Test on the labelled rows whether the series are what `memory` takes them to be.

        Parameters
        ----------
        options : as in `ConformalHMM.check`

        Notes
        -----
        Rows that a model was fixed on, with `train_size`, are not tested: they calibrate nothing.
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
        each = self.estimators_
        params = each.mode.predictor.get_params(deep=False)
        return {"params": params, "series": each.mode.known_as, **each.kept()}

    @classmethod
    def _restored(cls, kept: dict[str, Any]) -> GroupedConformalHMM:
        made = cls(ConformalHMM(**kept.pop("params")), kept.pop("series"))
        made.estimators_ = SeriesEstimators(made.settings(), made.series, **kept)
        return made

    @classmethod
    def _memory(cls, kept: dict[str, Any]) -> int:
        seen = kept["observations"]
        width = 0 if seen is None else count_columns(seen) or 1
        return len(kept["states"]) * (96 + 48 * width)
