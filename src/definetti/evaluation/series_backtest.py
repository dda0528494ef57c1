"""Backtest and evaluate many series separately, in threads."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from definetti._system.checks import START, checked_flag, checked_jobs, checked_number, entropy_of
from definetti._system.terminal import show_progress
from definetti.data.series import SeriesRows, drop_unlabelled
from definetti.evaluation.backtest import check_plan, plan_windows
from definetti.evaluation.results import Evaluation
from definetti.evaluation.series import (
    SHORT,
    TRAINED,
    UNTRAINED,
    SeriesEvaluation,
    SeriesRecord,
    join_levels,
)
from definetti.evaluation.window_loop import count_windows, rising_levels, roll_segments
from definetti.exceptions import UntrainedStateError
from definetti.levels.by_state import several_levels

if TYPE_CHECKING:
    from definetti.conformal import GroupedConformalHMM, SeriesMode, SeriesTotals
    from definetti.conformal.grouped import SeriesEstimators


Judged = list[Evaluation] | str  # one per level; a note where a series has no window


def evaluate_series(
    estimators: SeriesEstimators,
    observations: Any,
    states: Any,
    groups: Any,
    order: Any = None,
    confidence_level: Any = None,
    *,
    horizon: int | None = None,
    lag: int = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Any:
    """Evaluate the sets of many series on rows after the fit, for `GroupedConformalHMM.evaluate`.

    Where rows of other series calibrate, windows share calibration windows: there is no verdict.
    """
    if horizon is not None:
        checked_number(horizon, "horizon")
    checked_flag(verbose, "verbose")
    new, lengths = estimators.read_new(observations, states, groups, order, "new_observations")
    series, levels = new.series, several_levels(confidence_level)

    def judge(k: int) -> Judged:
        if horizon is not None and not count_windows(lengths[k], horizon):
            return SHORT
        cp, rows = estimators.current(series.names[k]), new.rows(*series.span(k))
        evaluations: Any = cp._judge_windows(
            *rows, confidence_level, horizon, lag, verbose, lengths[k]
        )
        return [evaluations] if levels is None else list(evaluations)

    shared = estimators.mode.calibrates_with_others
    return _judge_all(judge, series, estimators.mode, levels, n_jobs, verbose, shared)


def backtest_series(
    predictor: GroupedConformalHMM,
    observations: Any,
    states: Any,
    groups: Any,
    order: Any = None,
    horizon: int = 1,
    *,
    lengths: Any = None,
    start: float = START,
    windows: int | None = None,
    n_jobs: int | None = None,
    totals: SeriesTotals | None = None,
    confidence_level: Any = None,
    lag: int = 0,
    verbose: bool = False,
) -> Any:
    """Predict windows of every series from the rows before them, and evaluate.

    Series whose rows trained the model are not evaluated, nor, with ``series="own"``, series whose
    first rows are to train a classifier and lack a state.

    Parameters
    ----------
    predictor : GroupedConformalHMM
        The settings, fitted or not. Other series train or calibrate with all of their rows; with
        ``series="all"`` or ``"first"`` and a `train_size`, training series are not evaluated.
    observations, states, groups, order, lengths :
        As in `GroupedConformalHMM.fit`. No window crosses a gap, and the first row after a gap is
        not predicted.
    horizon : int, default 1
        The steps of a window.
    start : float, default 0.5
        The share of the rows of a series before its first window.
    windows : int, optional
        The most windows of a series, as in `run_backtest`.
    n_jobs : int, optional
        The number of threads, −1 for one per core; results do not depend on it.
    totals : `definetti.conformal.SeriesTotals`, optional
        Counts over these and further series, for a model that learns from them.
    confidence_level : float, dict or list of float, optional
        One level, or several to evaluate in one pass; the predictor's own if left out.
    lag : int, default 0
        The label delay: how many first steps of each window are left out.
    verbose : bool, default False
        Show a progress bar when it takes more than two seconds, on a terminal or in a notebook.

    Returns
    -------
    a `SeriesEvaluation`; a list with one per level if several levels are given

    Notes
    -----
    A state that occurs in no other series is unknown before its first row, unless the predictor
    declares it or a level names it.

    With ``series="first"`` all windows are compared with the first windows of the other series.
    Their errors are not independent, so coverage has no interval and no verdict.

    Examples
    --------
    >>> from definetti import ConformalHMM, GroupedConformalHMM
    >>> from definetti.simulate import weather
    >>> y, x = weather(400, random_state=0)
    >>> towns = ["Rome"] * 200 + ["Oslo"] * 200
    >>> cp = GroupedConformalHMM(ConformalHMM(random_state=0), series="others")
    >>> found = backtest_series(cp, y, x, towns)
    >>> found.windows, [one.series for one in found], found.coverage > 0.85
    (200, ['Rome', 'Oslo'], True)
    """
    from definetti.conformal.grouped import GroupedConformalHMM, SeriesEstimators

    check_plan(horizon, start, windows, lag)
    if not isinstance(predictor, GroupedConformalHMM):
        raise TypeError(
            f"predictor must be a GroupedConformalHMM, got {type(predictor).__name__}; use "
            "GroupedConformalHMM(ConformalHMM(…))"
        )
    estimator, several = copy.deepcopy(predictor.settings()), several_levels(confidence_level)
    if several is None and confidence_level is not None:
        estimator.confidence_level = confidence_level
    estimator._check_parameters()
    estimators = SeriesEstimators(
        estimator, predictor.series, observations, states, groups, order, lengths,
        entropy_of(estimator.random_state), totals,
    )  # fmt: skip
    mode, levels = estimators.mode, [None] if several is None else rising_levels(several)
    asked = [0] if several is None else [levels.index(level) for level in several]

    def judge(place: int) -> Judged:
        if mode.has_trained(place):
            return TRAINED
        plan = plan_windows(mode.series.segments(place).tolist(), horizon, start, windows)
        if plan is None:
            return SHORT
        begin, end = mode.series.span(place)
        judged = roll_segments(
            estimators.fitted(place, plan.begin), *mode.table.rows(begin + plan.begin, end),
            plan.ahead, horizon, plan.places, plan.every, levels=levels, lag=lag,
        )  # fmt: skip
        judged = judged._replace(begins=judged.begins + plan.begin)
        return [judged.evaluation(level) for level in asked]

    return _judge_all(judge, mode.series, mode, several, n_jobs, verbose)


def _judge_all(
    judge: Callable[[int], Judged],
    series: SeriesRows,
    mode: SeriesMode,
    levels: Sequence[Any] | None,
    n_jobs: int | None,
    verbose: bool,
    shared_calibration: bool = False,
) -> Any:
    """Judge all series, in threads, and return their joint evaluation, a list if several levels."""
    number = len(series)

    def try_to_judge(place: int) -> Judged:
        try:
            return judge(place)
        except UntrainedStateError:
            return UNTRAINED

    n_jobs = checked_jobs(n_jobs, number)
    results: Iterator[Judged] = map(try_to_judge, range(number))
    if n_jobs not in (None, 1):
        from joblib import Parallel, delayed  # type: ignore[import-untyped,unused-ignore]

        parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
        results = parallel(delayed(try_to_judge)(place) for place in range(number))
    judged = list(show_progress(results, number, "evaluating series", verbose))
    rows = dict(zip(series.names, np.split(series.rows, series.ends[:-1]), strict=True))
    joined = []
    for level in range(1 if levels is None else len(levels)):
        records, kept = [], {}
        for name, length, result in zip(series.names, series.lengths.tolist(), judged, strict=True):
            if isinstance(result, str):
                records.append(SeriesRecord(name, length, note=result))
            else:
                kept[name] = result[level]
                records.append(SeriesRecord.of(name, length, result[level]))
        joined.append(
            SeriesEvaluation(records, kept, mode.words, rows, mode.source, shared_calibration)
        )
    return joined[0] if levels is None else joined


@dataclass(frozen=True)
class SeriesWork:
    """Backtest the series of a table; return a table with one row per series.

    The result depends on the table alone, which may be Arrow's, polars' or pandas'. Mapped over
    parts of a table, on any machine and in any order, it gives the same numbers, if no series is
    in two parts.

    Parameters
    ----------
    predictor : GroupedConformalHMM
        The settings, with a number for `random_state` of its estimator.
    group, state, order : the columns with the series, the states, and the sort key of rows
    observed : the columns of observations; none for plain chains
    horizon, start, windows, lag, totals : as in `backtest_series`
    levels : several levels, each with a row per series; the predictor's own if left out
    framed : whether a single observed column is passed as a frame, as for a classifier

    Examples
    --------
    >>> import polars as pl
    >>> from definetti import ConformalHMM, GroupedConformalHMM
    >>> from definetti.simulate import weather
    >>> y, x = weather(200, random_state=0)
    >>> rows = pl.DataFrame({"town": ["Rome"] * 100 + ["Oslo"] * 100, "sky": x, "thing": y})
    >>> cp = GroupedConformalHMM(ConformalHMM(random_state=0))
    >>> work = SeriesWork(cp, "town", "sky", observed=("thing",))
    >>> work(rows).select("series", "windows").rows()
    [('Rome', 50), ('Oslo', 50)]
    """

    predictor: GroupedConformalHMM
    group: str
    state: str
    order: str | None = None
    observed: tuple[str, ...] = ()
    horizon: int = 1
    start: float = START
    windows: int | None = None
    totals: SeriesTotals | None = None
    lag: int = 0
    levels: tuple[float, ...] = ()
    framed: bool = False

    def __call__(self, table: Any) -> Any:
        frame = nw.from_native(table, eager_only=True)
        columns = join_levels(self.judge(frame))
        return nw.from_dict(columns, backend=frame.implementation).to_native()

    def judge(self, frame: nw.DataFrame[Any]) -> list[SeriesEvaluation]:
        """Return the evaluation of the series of a table, level by level."""
        order = None if self.order is None else frame[self.order]
        rows, lengths = drop_unlabelled(frame[self.state], frame[self.group], order)
        if rows is not None:
            frame, order = frame[rows.tolist(), :], None
        seen: Any = None
        if self.observed:
            some = frame.select(*self.observed)
            bare = len(self.observed) == 1 and not self.framed
            seen = (some[self.observed[0]] if bare else some).to_native()
        evaluations = backtest_series(
            self.predictor, seen, frame[self.state].to_list(), frame[self.group].to_list(),
            None if order is None else order.to_native(), self.horizon, lengths=lengths,
            start=self.start, windows=self.windows, totals=self.totals, lag=self.lag,
            confidence_level=list(self.levels) or None,
        )  # fmt: skip
        evaluations = evaluations if self.levels else [evaluations]
        if rows is not None:
            for evaluation in evaluations:
                evaluation.rows = {name: rows[places] for name, places in evaluation.rows.items()}
        return evaluations
