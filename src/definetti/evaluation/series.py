"""Evaluation of the sets of many series: a record for each, and a verdict over all."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti.evaluation.intervals import interval_of, p_of_hits
from definetti.evaluation.results import Evaluation
from definetti.evaluation.verdict import FULL, SHARED_CALIBRATION, say_empty, say_full

FRAMES = ("polars", "pandas", "pyarrow")
DOUBT = 0.05  # the probability that any series is named although it keeps its level
SHORT = "too short for a window"
BARE = "no row has a state"
TRAINED = "trained the model, not evaluated"
UNKNOWN = "no window has states that had come up before"
UNTRAINED = "not evaluated, as a state is not among the rows that train its classifier"


class SeriesRecord(NamedTuple):
    """Evaluation of the sets of one series.

    Attributes
    ----------
    series, rows, windows : its name, its number of labelled rows, and of windows predicted
    covered : how many sets held the truth, before empty sets were filled; a sum of shares with
        guarantee "steps"
    promised : the level, on average over its windows
    mean_size, states_per_step : how many sequences, and states at a step, a set held on average
    states, filled : how many states were known in the end, and how many sets were filled
    unknown : how many windows had an undeclared state not seen before, which no set can hold;
        the coverage is that of the others
    note : why the series has no window, if it has none
    shares : the share of steps covered in each window, with guarantee "steps" and several steps
    empty : how many of the sets that could hold the truth were empty before filling; a sum of
        shares with guarantee "steps"
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
        """The number of windows whose states were all known before."""
        return self.windows - self.unknown

    @property
    def coverage(self) -> float:
        return self.covered / self.judged if self.judged else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the coverage: exact, or for the mean of shares of steps."""
        if not self.judged or self.shared_calibration:
            return math.nan, math.nan
        return interval_of(self.hits)

    @property
    def low(self) -> float:
        return self.interval[0]

    @property
    def high(self) -> float:
        return self.interval[1]

    @property
    def p_value(self) -> float:
        """The p-value of so few covered windows, if windows are independent."""
        if not self.judged or self.shared_calibration:
            return math.nan
        return p_of_hits(self.hits, self.promised)

    @property
    def hits(self) -> npt.NDArray[Any]:
        """Whether each judged window was covered, in no order; or the share of its steps."""
        return np.array(self.shares) if self.shares else np.arange(self.judged) < self.covered

    @classmethod
    def of(cls, name: Hashable, rows: int, evaluation: Evaluation) -> SeriesRecord:
        """Return the record of an evaluation."""
        held, levels = evaluation.kept_shares, evaluation.levels
        known = np.array([]) if levels is None else levels[~np.isnan(levels)]
        promised = math.nan
        if len(known):  # a mean of equal numbers may have a rounding error
            promised = known[0] if (known == known[0]).all() else known.mean()
        apart = evaluation.unseen
        return cls(
            name, rows, len(held), float(held[~apart].sum()), float(promised),
            float(evaluation.sizes.mean()), float(evaluation.widths.mean()), len(evaluation.states),
            0 if evaluation.filled is None else int(evaluation.filled.sum()), int(apart.sum()),
            UNKNOWN if apart.all() else "",
            () if held.dtype == np.bool_ else tuple(held[~apart].tolist()),
            float(evaluation.empty_shares[~apart].sum()), evaluation.shared_calibration,
        )  # fmt: skip


def rank_series(record: SeriesRecord) -> tuple[float, float]:
    """Return a key that sorts series, worst first, by p-value if any, then by coverage."""
    return (1.0 if math.isnan(record.p_value) else record.p_value), record.coverage


class SeriesEvaluation(Sequence[SeriesRecord]):
    """Evaluation of the sets of many series: a record for each, in their original order.

    Attributes
    ----------
    records : the records of all series
    evaluations : by series, each `Evaluation`; empty where only numbers were kept
    rows : by series, the places of its rows in the data, in its order; likewise
    says : the guarantee, in words
    source : the rows that each window was predicted from, in words; empty if unknown
    shared_calibration : whether windows of different series are compared with the same calibration
        windows: there is no interval and no verdict then, as both are for independent windows

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
            record.shared_calibration for record in records
        )
        self.evaluations, self.rows = dict(evaluations or {}), dict(rows or {})

    def __getitem__(self, place: Any) -> Any:
        return self.records[place]

    def __len__(self) -> int:
        return len(self.records)

    @property
    def judged(self) -> list[SeriesRecord]:
        """The records with at least one window whose states were all known before."""
        return [record for record in self.records if record.judged]

    @property
    def trained(self) -> int:
        """The number of series that trained the model and were not evaluated."""
        return sum(record.note == TRAINED for record in self.records)

    @property
    def windows(self) -> int:
        return sum(record.windows for record in self.records)

    @property
    def coverage(self) -> float:
        """The share of windows covered, among windows whose states were all known before."""
        return sum(record.covered for record in self.records) / max(self.windows - self.unknown, 1)

    @property
    def unknown(self) -> int:
        """The number of windows with a state that was not known before."""
        return sum(record.unknown for record in self.records)

    @property
    def promised(self) -> float:
        """The level, on average over all windows."""
        levels = {record.promised for record in self.judged}
        if len(levels) == 1:
            return levels.pop()
        promised = [record.promised * record.judged for record in self.judged]
        return math.fsum(promised) / max(self.windows - self.unknown, 1)

    @property
    def coverages(self) -> FloatArray:
        """The coverage of each series in `judged`."""
        return np.array([record.coverage for record in self.judged])

    @property
    def mean_size(self) -> float:
        """The mean number of sequences in a set, over all windows."""
        return self._mean([record.mean_size for record in self.judged])

    @property
    def states_per_step(self) -> float:
        """The mean number of states at a step, over all windows."""
        return self._mean([record.states_per_step for record in self.judged])

    @property
    def worst(self) -> SeriesRecord | None:
        """The series with the smallest p-value, or the least coverage without p-values."""
        return min(self.judged, key=rank_series, default=None)

    @property
    def spread(self) -> float:
        """The standard deviation of coverage over series."""
        return float(self.coverages.std()) if self.judged else math.nan

    @property
    def spread_by_chance(self) -> float:
        """The expected spread if all series had equal coverage and windows were independent."""
        if self.shared_calibration:
            return math.nan
        numbers = np.array([record.judged for record in self.judged])
        return float(np.sqrt(self.hits.var() * np.mean(1 / numbers))) if len(numbers) else math.nan

    @property
    def hits(self) -> npt.NDArray[Any]:
        """`SeriesRecord.hits` of all series, one after the other."""
        return np.concatenate([record.hits for record in self.judged])

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the coverage over all series."""
        if not self.judged or self.shared_calibration:
            return math.nan, math.nan
        return interval_of(self.hits)

    @property
    def look_at(self) -> list[SeriesRecord]:
        """The series with coverage short of the level, worst first.

        If windows are independent, the probability that any series is named wrongly is at most
        0.05.
        """
        limit = DOUBT / max(len(self.judged), 1)
        short = [record for record in self.judged if record.p_value <= limit]
        return sorted(short, key=lambda record: record.p_value)

    def verdict(self) -> str:
        """Return a summary of coverage in one or two sentences."""
        left = ""
        for note, number in Counter(
            record.note for record in self.records if not record.windows
        ).items():
            left += f"; {number:,} {note}" if note != BARE else f"; of {number:,} {note}"
            if note == UNTRAINED:
                skipped = [repr(record.series) for record in self.records if record.note == note]
                left += f" ({', '.join(skipped[:5])}{', …' if number > 5 else ''})"
        if not self.judged:
            return f"cannot tell: {UNKNOWN if self.unknown else 'no series has a window'}" + left
        number, kept = self.windows - self.unknown, self._kept()
        what = "steps" if any(record.shares for record in self.judged) else "sets"
        said = (
            f"{kept}: {self.coverage:.3f} of {number:,} windows in {len(self.judged):,} "
            f"series, promised {self.promised:g}"
        )
        if self.shared_calibration:
            said += f"; {SHARED_CALIBRATION.format('windows of different series')}"
            said += say_full(
                self.states_per_step, self._mean([record.states for record in self.judged])
            )
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
            names = ", ".join(repr(record.series) for record in short[:5])
            said += f"; look at {names}{', …' if len(short) > 5 else ''} ({len(short):,} short)"
        if self.unknown:
            said += f"; counted apart: {self.unknown:,} with a state that had not come up before"
        return said + left

    @property
    def empty(self) -> float:
        """The share of sets, or of steps with guarantee "steps", that were empty before filling."""
        return sum(record.empty for record in self.judged) / max(self.windows - self.unknown, 1)

    def _kept(self) -> str:
        """Return whether coverage was kept over all series, and whether sets are informative."""
        if self.shared_calibration:
            return "no verdict"
        if self.coverage < self.promised:
            by_chance = p_of_hits(self.hits, self.promised) > DOUBT
            return "kept within chance" if by_chance else "short"
        states = self._mean([float(record.states) for record in self.judged])
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
        """Return a frame with one row per series.

        Parameters
        ----------
        backend : str or module, optional
            "polars", "pandas" or "pyarrow"; the first of these that is installed if left out.
        """
        backend = backend or next((name for name in FRAMES if find_spec(name)), None)
        if backend is None:
            raise ImportError(f"a frame needs one of {', '.join(FRAMES)}; pip install polars")
        return nw.from_dict(self.to_dict(), backend=backend).to_native()

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns of `to_frame`."""
        names = (
            "series", "rows", "windows", "covered", "coverage", "low", "high", "promised",
            "mean_size", "states_per_step", "states", "filled", "unknown", "note", "p_value",
        )  # fmt: skip
        return {name: [getattr(record, name) for record in self.records] for name in names}

    def _mean(self, values: list[float]) -> float:
        """Return the mean over all windows of a value per judged series."""
        numbers = [record.windows for record in self.judged]
        return float(np.average(values, weights=numbers)) if values else math.nan


def join_levels(evaluations: Sequence[SeriesEvaluation]) -> dict[str, list[Any]]:
    """Return the columns of `SeriesEvaluation.to_frame` for several levels, concatenated."""
    tables = [evaluation.to_dict() for evaluation in evaluations]
    return {name: [value for table in tables for value in table[name]] for name in tables[0]}
