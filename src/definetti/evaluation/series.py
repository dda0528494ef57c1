"""Backtest and evaluate many series: results of each, and of all together."""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.checks import (
    checked_flag,
    checked_jobs,
    checked_limit,
    checked_number,
    checked_share,
)
from definetti._system.terminal import show_progress
from definetti.data.series import SeriesRows, drop_unlabelled
from definetti.evaluation import START, WINDOWS
from definetti.evaluation.backtest import find_begin, segments_after, spread_windows
from definetti.evaluation.results import Evaluation
from definetti.evaluation.rolling import count_windows, rising_levels, roll_segments
from definetti.evaluation.summarize import exact_interval
from definetti.evaluation.verdict import (
    FULL,
    SHARED_CALIBRATION,
    mean_interval,
    p_of_hits,
    say_empty,
    say_full,
)
from definetti.exceptions import UntrainedStateError
from definetti.levels.by_state import several_levels

if TYPE_CHECKING:
    from definetti.conformal import GroupedConformalHMM, SeriesTotals
    from definetti.conformal.grouped import SeriesEstimators


DOUBT = 0.05  # the chance that any series is named that keeps its level
SHORT = "too short for a window"
BARE = "no row has a state"
TRAINED = "trained the model, not evaluated"
UNKNOWN = "no window has states that had come up before"
UNTRAINED = "not evaluated, as a state is not among the rows that train its classifier"
Judged = list[Evaluation] | None  # one a level; None where a series has no window


class SeriesRecord(NamedTuple):
    """How the sets of one series fared.

    Attributes
    ----------
    series, rows, windows : its name, its labelled rows, and how many windows of it were predicted
    covered : how many of these held the truth, before empty sets were filled; a sum of shares
        where steps are promised
    promised : what was promised, on average over its windows
    mean_size, states_per_step : how many sequences, and states at a step, a set held on average
    states : how many states there were in the end
    filled : how many sets would have been empty
    unknown : how many windows had a state that was never seen before, and not declared, which no
        set can hold: the coverage is that of the others
    note : why there is none, where there is none
    shares : the share of steps covered in each window, where that is promised of windows of
        several steps
    empty : how many sets were empty before filling, of those that could hold the truth; a sum of
        shares where steps are promised
    shared_calibration : whether all windows are compared with the same calibration windows; there
        is no interval and no p-value then, as both are for independent windows
    """

    series: Hashable
    rows: int
    windows: int = 0
    covered: float = 0.0
    promised: float = math.nan
    mean_size: float = math.nan
    states_per_step: float = math.nan
    states: int = 0
    filled: int = 0
    unknown: int = 0
    note: str = ""
    shares: tuple[float, ...] = ()
    empty: float = 0.0
    shared_calibration: bool = False

    @property
    def judged(self) -> int:
        """How many windows have states that had come up before."""
        return self.windows - self.unknown

    @property
    def coverage(self) -> float:
        return self.covered / self.judged if self.judged else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the coverage: exact, or of shares of steps that of their mean."""
        if not self.judged or self.shared_calibration:
            return math.nan, math.nan
        if self.shares:
            return mean_interval(self.shares)
        return exact_interval(int(self.covered), self.judged)

    @property
    def p_value(self) -> float:
        """How probably so few are covered by chance, at most, if windows are independent."""
        if not self.judged or self.shared_calibration:
            return math.nan
        return p_of_hits(self.hits, self.promised)

    @property
    def hits(self) -> npt.NDArray[Any]:
        """Whether each of so many windows was covered, in no order; or the share of its steps."""
        return np.array(self.shares) if self.shares else np.arange(self.judged) < self.covered

    @classmethod
    def of(cls, name: Hashable, rows: int, found: Evaluation) -> SeriesRecord:
        """Sum up an evaluation."""
        held, levels = found.kept_shares, found.levels
        known = np.array([]) if levels is None else levels[~np.isnan(levels)]
        promised = math.nan
        if len(known):  # a mean of equal numbers may be off by a rounding
            promised = known[0] if (known == known[0]).all() else known.mean()
        apart = found.unseen
        return cls(
            name, rows, len(held), float(held[~apart].sum()), float(promised),
            float(found.sizes.mean()), float(found.widths.mean()), len(found.states),
            0 if found.filled is None else int(found.filled.sum()), int(apart.sum()),
            UNKNOWN if apart.all() else "",
            () if held.dtype == np.bool_ else tuple(held[~apart].tolist()),
            float(found.empty_shares[~apart].sum()), found.shared_calibration,
        )  # fmt: skip


def rank_series(record: SeriesRecord) -> tuple[float, float]:
    """Return a key that sorts series, the worst first: by p-value, where there is one."""
    return (1.0 if math.isnan(record.p_value) else record.p_value), record.coverage


class SeriesEvaluation(Sequence[SeriesRecord]):
    """How the sets of many series fared: a record for each, in the order in which they came.

    Attributes
    ----------
    records : of all series
    evaluations : by series, each `Evaluation`; empty where only numbers were kept
    rows : by series, which of the rows that were given are its own, in its order; likewise
    says : what was promised, in words
    source : what each window was predicted from, in words; empty where that is not known
    shared_calibration : whether windows of different series are compared with the same calibration
        windows: no interval and no verdict is given then, as both are for independent windows

    Examples
    --------
    >>> found = SeriesEvaluation(
    ...     [SeriesRecord("Ann", 100, 50, 46.0, 0.9), SeriesRecord("Bob", 100, 50, 30.0, 0.9)]
    ... )
    >>> found.coverage, found.worst.series, [one.series for one in found.look_at]
    (0.76, 'Bob', ['Bob'])
    """

    def __init__(
        self,
        records: Sequence[SeriesRecord],
        evaluations: Mapping[Hashable, Evaluation] | None = None,
        says: str = "",
        rows: Mapping[Hashable, IntArray] | None = None,
        source: str = "",
        shared_calibration: bool = False,
    ) -> None:
        self.records, self.says, self.source = list(records), says, source
        self.shared_calibration = shared_calibration or any(
            one.shared_calibration for one in records
        )
        self.evaluations, self.rows = dict(evaluations or {}), dict(rows or {})

    def __getitem__(self, place: Any) -> Any:
        return self.records[place]

    def __len__(self) -> int:
        return len(self.records)

    @property
    def judged(self) -> list[SeriesRecord]:
        """The series of which some window was predicted that a set could hold."""
        return [one for one in self.records if one.judged]

    @property
    def trained(self) -> int:
        """How many series trained the model, and were not evaluated."""
        return sum(one.note == TRAINED for one in self.records)

    @property
    def windows(self) -> int:
        return sum(one.windows for one in self.records)

    @property
    def coverage(self) -> float:
        """The share of windows that were covered, of those that a set could hold."""
        return sum(one.covered for one in self.records) / max(self.windows - self.unknown, 1)

    @property
    def unknown(self) -> int:
        """How many windows had a state that had not come up before, in their series."""
        return sum(one.unknown for one in self.records)

    @property
    def promised(self) -> float:
        """What was promised, on average over all windows."""
        levels = {one.promised for one in self.judged}
        if len(levels) == 1:
            return levels.pop()
        each = [one.promised * one.judged for one in self.judged]
        return math.fsum(each) / max(self.windows - self.unknown, 1)

    @property
    def coverages(self) -> FloatArray:
        """The coverage of each series that was judged."""
        return np.array([one.coverage for one in self.judged])

    @property
    def mean_size(self) -> float:
        """How many sequences a set held, on average over all windows."""
        return self._mean([one.mean_size for one in self.judged])

    @property
    def states_per_step(self) -> float:
        """How many states a set held at a step, on average over all windows."""
        return self._mean([one.states_per_step for one in self.judged])

    @property
    def worst(self) -> SeriesRecord | None:
        """The series that is least probably so badly covered by chance.

        The one with the least coverage where there are no p-values.
        """
        return min(self.judged, key=rank_series, default=None)

    @property
    def spread(self) -> float:
        """The standard deviation of coverage over series."""
        return float(self.coverages.std()) if self.judged else math.nan

    @property
    def spread_by_chance(self) -> float:
        """What the spread would be if all series were covered alike, and windows independent."""
        if self.shared_calibration:
            return math.nan
        numbers = np.array([one.judged for one in self.judged])
        return float(np.sqrt(self.hits.var() * np.mean(1 / numbers))) if len(numbers) else math.nan

    @property
    def hits(self) -> npt.NDArray[Any]:
        """`SeriesRecord.hits` of all series, one after the other."""
        return np.concatenate([one.hits for one in self.judged])

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the coverage of all series, as that of one."""
        if not self.judged or self.shared_calibration:
            return math.nan, math.nan
        hits = self.hits
        if hits.dtype != np.bool_:
            return mean_interval(hits)
        return exact_interval(int(hits.sum()), len(hits))

    @property
    def look_at(self) -> list[SeriesRecord]:
        """The series that are short of what was promised, worst first.

        With windows that are independent, any series is named wrongly with a probability of at
        most 0.05.
        """
        limit = DOUBT / max(len(self.judged), 1)
        short = [one for one in self.judged if one.p_value <= limit]
        return sorted(short, key=lambda one: one.p_value)

    def verdict(self) -> str:
        """Say in a sentence or two what came of it."""
        left = ""
        for note, number in Counter(one.note for one in self.records if not one.windows).items():
            left += f"; {number:,} {note}" if note != BARE else f"; of {number:,} {note}"
            if note == UNTRAINED:
                skipped = [repr(one.series) for one in self.records if one.note == note]
                left += f" ({', '.join(skipped[:5])}{', …' if number > 5 else ''})"
        if not self.judged:
            return f"cannot tell: {UNKNOWN if self.unknown else 'no series has a window'}" + left
        number, kept = self.windows - self.unknown, self._kept()
        what = "steps" if any(one.shares for one in self.judged) else "sets"
        said = (
            f"{kept}: {self.coverage:.3f} of {number:,} windows in {len(self.judged):,} "
            f"series, promised {self.promised:g}"
        )
        if self.shared_calibration:
            said += f"; {SHARED_CALIBRATION.format('windows of different series')}"
            said += say_full(self.states_per_step, self._mean([one.states for one in self.judged]))
        said += say_empty(self.empty, 1 - self.promised, kept != "short", what)
        worst = self.worst
        if worst is not None and len(self.judged) > 1:
            by_chance = self.spread_by_chance
            chance = "" if math.isnan(by_chance) else f" (by chance {by_chance:.3f})"
            said += (
                f"; by series {self.coverages.min():.3f} to {self.coverages.max():.3f}, spread "
                f"{self.spread:.3f}{chance}, worst {worst.series!r} with {worst.coverage:.3f} of "
                f"{worst.judged:,}"
            )
        if short := self.look_at:
            names = ", ".join(repr(one.series) for one in short[:5])
            said += f"; look at {names}{', …' if len(short) > 5 else ''} ({len(short):,} short)"
        if self.unknown:
            said += f"; counted apart: {self.unknown:,} with a state that had not come up before"
        return said + left

    @property
    def empty(self) -> float:
        """The share of sets, or of steps where these are promised, empty before filling."""
        return sum(one.empty for one in self.judged) / max(self.windows - self.unknown, 1)

    def _kept(self) -> str:
        """Say whether the promise was kept over all series, and whether that says anything."""
        if self.shared_calibration:
            return "no verdict"
        if self.coverage < self.promised:
            by_chance = p_of_hits(self.hits, self.promised) > DOUBT
            return "kept within chance" if by_chance else "short"
        states = self._mean([float(one.states) for one in self.judged])
        if states > 1 and self.states_per_step >= FULL * states:
            width = f"{self.states_per_step:.3g} of {states:.3g} states a step"
            return f"kept, but the sets say nothing: {width}"
        return "kept"

    def __repr__(self) -> str:
        return (
            f"SeriesEvaluation: {self.verdict()}\n"
            f"  mean size {self.mean_size:.2f}, states per step {self.states_per_step:.2f}"
        )

    def to_frame(self, backend: Any = None) -> Any:
        """Return a row a series, as a frame.

        Parameters
        ----------
        backend : str or module, optional
            "polars", "pandas" or "pyarrow"; the first of these that is installed if left out.
        """
        from definetti.evaluation.summarize import make_frame

        return make_frame(self.to_dict(), backend)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns of `to_frame`."""
        intervals = [one.interval for one in self.records]
        p_values = [one.p_value for one in self.records]
        columns: dict[str, list[Any]] = {
            name: [getattr(one, name) for one in self.records]
            for name in ("series", "rows", "windows", "covered", "coverage")
        }
        columns["low"], columns["high"] = [low for low, _ in intervals], [up for _, up in intervals]
        for name in (
            "promised", "mean_size", "states_per_step", "states", "filled", "unknown", "note",
        ):  # fmt: skip
            columns[name] = [getattr(one, name) for one in self.records]
        columns["p_value"] = p_values
        return columns

    def _mean(self, values: list[float]) -> float:
        """Return a mean over windows of what is known of each series that was judged."""
        numbers = [one.windows for one in self.judged]
        return float(np.average(values, weights=numbers)) if values else math.nan


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
    """Judge the sets of many series by what followed the history of each.

    As `GroupedConformalHMM.evaluate`, whose estimators `each` are. Where other series calibrate,
    ``series="all"`` or ``"first"``, their rows are those of the fit, so that windows of different
    series share calibration windows: there is no verdict over all.
    """
    if horizon is not None:
        checked_number(horizon, "horizon")
    checked_flag(verbose, "verbose")
    new = each.read_new(observations, states, groups, order, "new_observations")
    levels = several_levels(confidence_level)
    notes = [SHORT] * len(new.series)

    def judge(k: int) -> Judged:
        lengths = new.lengths[k]
        if horizon is not None and not count_windows(lengths, horizon):
            return None
        try:
            cp = each.current(each.table.series.place_of(new.series.names[k]))
        except UntrainedStateError:
            notes[k] = UNTRAINED
            return None
        found: Any = cp._judge_windows(*new.of(k), confidence_level, horizon, lag, verbose, lengths)
        return [found] if levels is None else list(found)

    found = _each(judge, len(new.series), n_jobs, verbose)
    joined = _joined(
        new.series, found, 1 if levels is None else len(levels), each.mode.words,
        each.mode.source, notes, shared_calibration=each.mode.calibrates_with_others,
    )  # fmt: skip
    return joined[0] if levels is None else joined


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
        Its settings, fitted or not; ``series`` says what each is predicted by. Where other series
        train or calibrate, they do with all of their rows. With ``series="all"`` or ``"first"``
        and a `train_size`, the series that train are not evaluated.
    observations, states, groups, order, lengths :
        As in `GroupedConformalHMM.fit`. No window leads over a gap, and the first row after one is
        not predicted.
    horizon : int, default 1
        The steps of a window.
    start : float, default 0.5
        The share of the rows of a series before its first window.
    windows : int, optional
        The most windows of a series, spread evenly over the rows after that share. If left out,
        all there are where they can be predicted in one pass, and else 500.
    n_jobs : int, optional
        How many threads, −1 for one a core; the result is the same.
    totals : `definetti.conformal.SeriesTotals`, optional
        What these series and others add up to, where the others are not here: for a model that
        learns from them.
    confidence_level : float, dict or list of float, optional
        As in `ConformalHMM.evaluate`; several levels, in any order, are judged in one pass. The
        predictor's own if left out.
    lag : int, default 0
        How many of the first steps of each window not to ask about, as in `predict_set`.
    verbose : bool, default False
        Show a progress bar when it takes more than two seconds; on a terminal or in a notebook
        only.

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
    from definetti._system.checks import entropy_of
    from definetti.conformal.grouped import GroupedConformalHMM, SeriesEstimators

    checked_number(horizon, "horizon")
    checked_share(start, "start")
    checked_limit(lag, "lag")
    if windows is not None:
        checked_number(windows, "windows")
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
    table, levels = each.table, [None] if several is None else rising_levels(several)
    asked = [0] if several is None else [levels.index(one) for one in several]

    notes = [TRAINED if each.mode.has_trained(place) else SHORT for place in range(len(each))]

    def judge(place: int) -> Judged:
        if each.mode.has_trained(place):
            return None
        begin, end = table.series.span(place)
        cut = find_begin(end - begin, horizon, start)
        ahead = [] if cut is None else segments_after(cut, table.series.segments(place).tolist())
        number = count_windows(ahead, horizon)
        if cut is None or not number:
            return None
        try:
            cp, rest = each.fitted(place, cut), table.seen(begin + cut, end)
        except UntrainedStateError:
            notes[place] = UNTRAINED
            return None
        judged = roll_segments(
            cp, rest, table.labels[begin + cut : end], ahead, horizon,
            spread_windows(number, windows or WINDOWS), windows is None, levels=levels, lag=lag,
        )  # fmt: skip
        judged = judged._replace(begins=judged.begins + cut)
        return [judged.evaluation(level) for level in asked]

    found = _each(judge, len(each), n_jobs, verbose)
    joined = _joined(
        table.series, found, len(asked), each.mode.words, each.mode.source,
        notes,
    )  # fmt: skip
    return joined[0] if several is None else joined


def _each(
    judge: Callable[[int], Judged], number: int, n_jobs: int | None, verbose: bool
) -> list[Judged]:
    """Judge all series, in threads; no number depends on how many."""
    n_jobs = checked_jobs(n_jobs, number)
    if n_jobs in (None, 1):
        return list(show_progress(map(judge, range(number)), number, "evaluating series", verbose))
    from joblib import Parallel, delayed  # type: ignore[import-untyped,unused-ignore]

    parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    results: Iterator[Judged] = parallel(delayed(judge)(k) for k in range(number))
    return list(show_progress(results, number, "evaluating series", verbose))


def _joined(
    series: SeriesRows,
    found: Sequence[Judged],
    levels: int,
    says: str,
    source: str,
    notes: Sequence[str] | None = None,
    shared_calibration: bool = False,
) -> list[SeriesEvaluation]:
    """Return how all series fared, level by level.

    Parameters
    ----------
    notes : why a series has no window, where it has none; too short if left out
    shared_calibration : whether windows of different series share calibration windows
    """
    names, lengths = series.names, series.lengths.tolist()
    rows = dict(zip(names, np.split(series.rows, series.ends[:-1]), strict=True))
    joined, notes = [], notes or [SHORT] * len(names)
    for level in range(levels):
        each = [None if one is None else one[level] for one in found]
        records = [
            SeriesRecord(name, number, note=note)
            if one is None
            else SeriesRecord.of(name, number, one)
            for name, number, one, note in zip(names, lengths, each, notes, strict=True)
        ]
        kept = {name: one for name, one in zip(names, each, strict=True) if one is not None}
        joined.append(SeriesEvaluation(records, kept, says, rows, source, shared_calibration))
    return joined


@dataclass(frozen=True)
class SeriesWork:
    """Backtest the series of a table: rows of whole series in, a row a series out.

    A function of its table alone, which may be Arrow's, polars' or pandas': whoever maps it over
    parts of a table, on whichever machine and in whatever order, has the same numbers, as long as
    no series is in two parts.

    Parameters
    ----------
    predictor : GroupedConformalHMM
        Its settings, with a number for `random_state` of its estimator.
    group, state, order : the columns with the series, the states, and what rows are sorted by
    observed : the columns that are observed; none for plain chains
    horizon, start, windows : as in `backtest_series`
    totals : what all series add up to, for a model that learns from the others
    lag : as in `backtest_series`
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


def join_levels(found: Sequence[SeriesEvaluation]) -> dict[str, list[Any]]:
    """Return the columns of `SeriesEvaluation.to_frame` for several levels, one below the other."""
    each = [one.to_dict() for one in found]
    return {name: [value for one in each for value in one[name]] for name in each[0]}
