"""Many series judged by the truth: each by itself, and all of them together."""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.progress import show_progress
from definetti.data.labels import checked_states, piece, readable
from definetti.data.series import SeriesRows, at_rows, read_series
from definetti.judging import START, WINDOWS
from definetti.judging.backtest import find_begin, spread_windows, stretches_after
from definetti.judging.intervals import exact_interval
from definetti.judging.rolling import count_windows, roll_stretches
from definetti.levels.by_state import several_levels
from definetti.ranks.pvalue import miscoverage
from definetti.sets import Evaluation
from definetti.sets.verdict import FULL, p_of_hits

if TYPE_CHECKING:
    from definetti.conformal import ConformalHMM
    from definetti.series import EachSeries, SeriesTotals

DOUBT = 0.05  # the chance that any series is named that keeps its level
SHORT = "too short for a window"
BARE = "no row has a state"
UNKNOWN = "no window has states that had come up before"
Judged = list[Evaluation] | None  # one a level; None where a series has no window


class SeriesRecord(NamedTuple):
    """How the sets of one series fared.

    Attributes
    ----------
    series, rows, windows : its name, its labelled rows, and how many windows of it were predicted
    covered : how many of these held the truth; a sum of shares where steps are promised
    promised : what was promised, on average over its windows
    mean_size, states_per_step : how many sequences, and states at a step, a set held on average
    states : how many states there were in the end
    filled : how many sets would have been empty
    unknown : how many windows had a state that was never seen before, and not declared, which no
        set can hold: the coverage is that of the others
    note : why there is none, where there is none
    by_steps : whether shares of steps were counted, as they are promised
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
    by_steps: bool = False

    @property
    def judged(self) -> int:
        """How many windows have states that had come up before."""
        return self.windows - self.unknown

    @property
    def coverage(self) -> float:
        return self.covered / self.judged if self.judged else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The exact 95 % interval of the coverage; NaN where shares of steps were counted."""
        if not self.judged or self.by_steps:
            return math.nan, math.nan
        return exact_interval(int(self.covered), self.judged)

    @property
    def p_value(self) -> float:
        """How probably so few are covered by chance, at most, if windows are independent."""
        if not self.judged:
            return math.nan
        return p_of_hits(self.covered, self.judged, self.promised, not self.by_steps)

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
            UNKNOWN if apart.all() else "", found.guarantee == "steps",
        )  # fmt: skip


class SeriesEvaluation(Sequence[SeriesRecord]):
    """How the sets of many series fared: a record for each, in the order in which they came.

    Attributes
    ----------
    records : of all series
    evaluations : by series, each `Evaluation`; empty where only numbers were kept
    rows : by series, which of the rows that were given are its own, in its order; likewise
    says : what was promised, in words

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
    ) -> None:
        self.records, self.says = list(records), says
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
        """The series that is least probably so badly covered by chance."""
        return min(self.judged, key=lambda one: (one.p_value, one.coverage), default=None)

    @property
    def spread(self) -> float:
        """The standard deviation of coverage over series."""
        return float(self.coverages.std()) if self.judged else math.nan

    @property
    def spread_by_chance(self) -> float:
        """What the spread would be if all series were covered alike, and windows independent."""
        p, numbers = self.coverage, np.array([one.judged for one in self.judged])
        return float(np.sqrt(p * (1 - p) * np.mean(1 / numbers))) if len(numbers) else math.nan

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
        if not self.judged:
            nothing = f"no series has a window: all {len(self):,} are too short"
            return f"cannot tell: {UNKNOWN}" if self.unknown else nothing
        number = self.windows - self.unknown
        said = (
            f"{self._kept()}: {self.coverage:.3f} of {number:,} windows in {len(self.judged):,} "
            f"series, promised {self.promised:g}"
        )
        worst = self.worst
        if worst is not None and len(self.judged) > 1:
            said += (
                f"; by series {self.coverages.min():.3f} to {self.coverages.max():.3f}, spread "
                f"{self.spread:.3f} (by chance {self.spread_by_chance:.3f}), worst {worst.series!r}"
                f" with {worst.coverage:.3f} of {worst.judged:,}"
            )
        if short := self.look_at:
            names = ", ".join(repr(one.series) for one in short[:5])
            said += f"; look at {names}{', …' if len(short) > 5 else ''} ({len(short):,} short)"
        if self.unknown:
            said += f"; counted apart: {self.unknown:,} with a state that had not come up before"
        for note, number in Counter(one.note for one in self.records if not one.windows).items():
            said += f"; {number:,} {note}" if note != BARE else f"; of {number:,} {note}"
        return said

    def _kept(self) -> str:
        """Say whether the promise was kept over all series, and whether that says anything."""
        if self.coverage < self.promised:
            covered, number = sum(one.covered for one in self.judged), self.windows - self.unknown
            exact = not any(one.by_steps for one in self.judged)
            by_chance = p_of_hits(covered, number, self.promised, exact) > DOUBT
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
        from definetti.judging.frames import make_frame

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
    each: EachSeries,
    observations: Any,
    states: Any,
    groups: Any,
    order: Any = None,
    *,
    settle: Callable[[ConformalHMM], ConformalHMM] = lambda cp: cp,
    n_jobs: int | None = None,
    **how: Any,
) -> Any:
    """Judge the sets of many series by what followed the history of each.

    Parameters
    ----------
    each : the estimators
    observations, states, groups, order : what followed, in any order of rows
    settle : what is done to each estimator before it is judged
    n_jobs : how many threads
    how : as in `ConformalHMM.evaluate`; of several levels, one `SeriesEvaluation` each
    """
    labels = checked_states(states)
    series = read_series(groups, len(labels), order)
    seen = readable(observations, "new_observations")
    seen = None if seen is None else at_rows(seen, series.rows)
    labels = [labels[row] for row in series.rows.tolist()]
    places = [each.table.series.place_of(name) for name in series.names]

    levels = several_levels(how.get("confidence_level"))

    def judge(k: int) -> Judged:
        begin, end = series.span(k)
        if (how.get("horizon") or 0) > end - begin:
            return None
        cp = settle(each.fitted(places[k]))
        new = None if seen is None else piece(seen, begin, end)
        found: Any = cp.evaluate(new, labels[begin:end], **how)
        return [found] if levels is None else list(found)

    found = _each(judge, len(series), n_jobs, bool(each.table.predictor.verbose))
    joined = _joined(series, found, 1 if levels is None else len(levels), each.promise.words)
    return joined[0] if levels is None else joined


def backtest_series(
    predictor: ConformalHMM,
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
) -> Any:
    """Predict windows of every series, each from all rows of it before, and judge.

    Parameters
    ----------
    predictor : ConformalHMM
        Its settings; ``series`` says what each series is predicted by. Where a model learns from
        other series, it does from all of their rows.
    observations, states, groups, order, lengths :
        As in `ConformalHMM.fit`. No window leads over a gap, and the first row after one is
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
    totals : `definetti.series.SeriesTotals`, optional
        What these series and others add up to, where the others are not here: for a model that
        learns from them.
    confidence_level : list of float, optional
        Several levels, from one pass; the predictor's own if left out.
    lag : int, default 0
        How many of the first steps of each window not to ask about, as in `predict_set`.

    Returns
    -------
    a `SeriesEvaluation`; a list of them, one a level, where several were asked for

    Examples
    --------
    >>> from definetti import ConformalHMM
    >>> from definetti.simulate import weather
    >>> y, x = weather(400, random_state=0)
    >>> towns = ["Rome"] * 200 + ["Oslo"] * 200
    >>> found = backtest_series(ConformalHMM(series="others", random_state=0), y, x, towns)
    >>> found.windows, [one.series for one in found], found.coverage > 0.85
    (200, ['Rome', 'Oslo'], True)
    """
    from definetti._system.checks import entropy_of
    from definetti.series import EachSeries

    predictor = copy.deepcopy(predictor)
    predictor._check_parameters()
    entropy = entropy_of(predictor.random_state)
    each = EachSeries(predictor, observations, states, groups, order, lengths, entropy, totals)
    table, several = each.table, several_levels(confidence_level)
    levels = [None] if several is None else sorted({*several}, key=lambda one: -miscoverage(one))
    asked = [0] if several is None else [levels.index(one) for one in several]

    def judge(place: int) -> Judged:
        begin, end = table.series.span(place)
        cut = find_begin(end - begin, horizon, start)
        ahead = [] if cut is None else stretches_after(cut, table.series.stretches(place).tolist())
        number = count_windows(ahead, horizon)
        if cut is None or not number:
            return None
        cp, rest = each.fitted(place, cut), table.seen(begin + cut, end)
        judged = roll_stretches(
            cp, rest, table.labels[begin + cut : end], ahead, horizon,
            spread_windows(number, windows or WINDOWS), windows is None, levels=levels, lag=lag,
        )  # fmt: skip
        judged = judged._replace(begins=judged.begins + cut)
        return [judged.evaluation(level) for level in asked]

    found = _each(judge, len(each), n_jobs, bool(predictor.verbose))
    joined = _joined(table.series, found, len(asked), each.promise.words)
    return joined[0] if several is None else joined


def _each(
    judge: Callable[[int], Judged], number: int, n_jobs: int | None, verbose: bool
) -> list[Judged]:
    """Judge all series, in threads; no number depends on how many."""
    if n_jobs in (None, 1):
        return list(show_progress(map(judge, range(number)), number, "judging series", verbose))
    from joblib import Parallel, delayed  # type: ignore[import-untyped,unused-ignore]

    parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    results: Iterator[Judged] = parallel(delayed(judge)(k) for k in range(number))
    return list(show_progress(results, number, "judging series", verbose))


def _joined(
    series: SeriesRows, found: Sequence[Judged], levels: int, says: str
) -> list[SeriesEvaluation]:
    """Return how all series fared, level by level."""
    names, lengths = series.names, series.lengths.tolist()
    rows = dict(zip(names, np.split(series.rows, series.ends[:-1]), strict=True))
    joined = []
    for level in range(levels):
        each = [None if one is None else one[level] for one in found]
        records = [
            SeriesRecord(name, number, note=SHORT)
            if one is None
            else SeriesRecord.of(name, number, one)
            for name, number, one in zip(names, lengths, each, strict=True)
        ]
        kept = {name: one for name, one in zip(names, each, strict=True) if one is not None}
        joined.append(SeriesEvaluation(records, kept, says, rows))
    return joined
