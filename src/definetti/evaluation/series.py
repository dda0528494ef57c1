"""How the sets of many series fared: a record of each, and a verdict over all together."""

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
DOUBT = 0.05  # the chance that any series is named that keeps its level
SHORT = "too short for a window"
BARE = "no row has a state"
TRAINED = "trained the model, not evaluated"
UNKNOWN = "no window has states that had come up before"
UNTRAINED = "not evaluated, as a state is not among the rows that train its classifier"


class SeriesRecord(NamedTuple):
    """How the sets of one series fared.

    Attributes
    ----------
    series, rows, windows : its name, its labelled rows, and how many windows of it were predicted
    covered : how many of these held the truth, before empty sets were filled; a sum of shares
        where steps are promised
    promised : what was promised, on average over its windows
    mean_size, states_per_step : how many sequences, and states at a step, a set held on average
    states, filled : how many states there were in the end, and sets that would have been empty
    unknown : how many windows had a state that was never seen before, and not declared, which no
        set can hold: the coverage is that of the others
    note : why there is no window, where there is none
    shares : the share of steps covered in each window, where that is promised of several steps
    empty : how many of the sets that could hold the truth were empty before filling; a sum of
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
        return interval_of(self.hits)

    @property
    def low(self) -> float:
        return self.interval[0]

    @property
    def high(self) -> float:
        return self.interval[1]

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
        return interval_of(self.hits)

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
        return {name: [getattr(one, name) for one in self.records] for name in names}

    def _mean(self, values: list[float]) -> float:
        """Return a mean over windows of what is known of each series that was judged."""
        numbers = [one.windows for one in self.judged]
        return float(np.average(values, weights=numbers)) if values else math.nan


def join_levels(found: Sequence[SeriesEvaluation]) -> dict[str, list[Any]]:
    """Return the columns of `SeriesEvaluation.to_frame` for several levels, one below the other."""
    each = [one.to_dict() for one in found]
    return {name: [value for one in each for value in one[name]] for name in each[0]}
