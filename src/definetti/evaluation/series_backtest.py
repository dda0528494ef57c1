"""Backtest and evaluate many series, each by itself, in threads."""

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


Judged = list[Evaluation] | str  # one a level; a note where a series has no window


def evaluate_series(
    each: SeriesEstimators,
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
    """Judge the sets of many series by what followed each, as `GroupedConformalHMM.evaluate` does.

    Where rows of other series calibrate, windows share calibration windows: there is no verdict.
    """
    if horizon is not None:
        checked_number(horizon, "horizon")
    checked_flag(verbose, "verbose")
    new, lengths = each.read_new(observations, states, groups, order, "new_observations")
    series, levels = new.series, several_levels(confidence_level)

    def judge(k: int) -> Judged:
        if horizon is not None and not count_windows(lengths[k], horizon):
            return SHORT
        cp, rows = each.current(series.names[k]), new.rows(*series.span(k))
        found: Any = cp._judge_windows(*rows, confidence_level, horizon, lag, verbose, lengths[k])
        return [found] if levels is None else list(found)

    shared = each.mode.calibrates_with_others
    return _judge_all(judge, series, each.mode, levels, n_jobs, verbose, shared)


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
    """Predict windows of every series from what came before them, and judge.

    A series whose rows trained the model is not evaluated, and neither is one whose first rows are
    to train a classifier, with ``series="own"``, and lack a state.

    Parameters
    ----------
    predictor : GroupedConformalHMM
        Its settings, fitted or not. Other series train or calibrate with all of their rows; with
        ``series="all"`` or ``"first"`` and a `train_size`, those that train are not evaluated.
    observations, states, groups, order, lengths :
        As in `GroupedConformalHMM.fit`. No window leads over a gap, and the first row after one is
        not predicted.
    horizon : int, default 1
        The steps of a window.
    start : float, default 0.5
        The share of the rows of a series before its first window.
    windows : int, optional
        The most windows of a series, as in `run_backtest`.
    n_jobs : int, optional
        How many threads, −1 for one a core; the result is the same.
    totals : `definetti.conformal.SeriesTotals`, optional
        What these series and others that are not here add up to, for a model that learns from them.
    confidence_level : float, dict or list of float, optional
        One level, or several that are judged in one pass; the predictor's own if left out.
    lag : int, default 0
        How many of the first steps of each window not to ask about.
    verbose : bool, default False
        Show a progress bar when it takes more than two seconds, on a terminal or in a notebook.

    Returns
    -------
    a `SeriesEvaluation`; a list of them, one a level, where several were asked for

    Notes
    -----
    A state that comes up in no other series is not known before it comes up, unless the predictor
    declares it, or a level names it.

    With ``series="first"`` all windows are compared with the first windows of the other series.
    Their errors are not independent, so that there is a coverage, but no interval and no verdict.

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
    each = SeriesEstimators(
        estimator, predictor.series, observations, states, groups, order, lengths,
        entropy_of(estimator.random_state), totals,
    )  # fmt: skip
    mode, levels = each.mode, [None] if several is None else rising_levels(several)
    asked = [0] if several is None else [levels.index(one) for one in several]

    def judge(place: int) -> Judged:
        if mode.has_trained(place):
            return TRAINED
        plan = plan_windows(mode.series.segments(place).tolist(), horizon, start, windows)
        if plan is None:
            return SHORT
        begin, end = mode.series.span(place)
        judged = roll_segments(
            each.fitted(place, plan.begin), *mode.table.rows(begin + plan.begin, end), plan.ahead,
            horizon, plan.places, plan.every, levels=levels, lag=lag,
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
    """Judge all series, in threads, and say how they fared together: by level, if several."""
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
    found = list(show_progress(results, number, "evaluating series", verbose))
    rows = dict(zip(series.names, np.split(series.rows, series.ends[:-1]), strict=True))
    joined = []
    for level in range(1 if levels is None else len(levels)):
        records, kept = [], {}
        for name, length, one in zip(series.names, series.lengths.tolist(), found, strict=True):
            if isinstance(one, str):
                records.append(SeriesRecord(name, length, note=one))
            else:
                kept[name] = one[level]
                records.append(SeriesRecord.of(name, length, one[level]))
        joined.append(
            SeriesEvaluation(records, kept, mode.words, rows, mode.source, shared_calibration)
        )
    return joined[0] if levels is None else joined


@dataclass(frozen=True)
class SeriesWork:
    """Backtest the series of a table: rows of whole series in, a row a series out.

    A function of its table alone, which may be Arrow's, polars' or pandas': mapped over parts of a
    table, on any machine and in any order, it gives the same numbers, as long as no series is in
    two parts.

    Parameters
    ----------
    predictor : GroupedConformalHMM
        Its settings, with a number for `random_state` of its estimator.
    group, state, order : the columns with the series, the states, and what rows are sorted by
    observed : the columns that are observed; none for plain chains
    horizon, start, windows, lag, totals : as in `backtest_series`
    levels : several levels, each with a row a series; the predictor's own if left out
    framed : whether one observed column is a frame, too, as a classifier takes its columns

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
        """Return how the series of a table fared, level by level."""
        order = None if self.order is None else frame[self.order]
        rows, lengths = drop_unlabelled(frame[self.state], frame[self.group], order)
        if rows is not None:
            frame, order = frame[rows.tolist(), :], None
        seen: Any = None
        if self.observed:
            some = frame.select(*self.observed)
            bare = len(self.observed) == 1 and not self.framed
            seen = (some[self.observed[0]] if bare else some).to_native()
        found = backtest_series(
            self.predictor, seen, frame[self.state].to_list(), frame[self.group].to_list(),
            None if order is None else order.to_native(), self.horizon, lengths=lengths,
            start=self.start, windows=self.windows, totals=self.totals, lag=self.lag,
            confidence_level=list(self.levels) or None,
        )  # fmt: skip
        found = found if self.levels else [found]
        if rows is not None:
            for one in found:
                one.rows = {name: rows[places] for name, places in one.rows.items()}
        return found
