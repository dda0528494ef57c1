"""Read the times of rows: compare indices, and find holes at which to cut a history."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.checks import warn_caller
from definetti.data.labels import (
    check_pairs,
    checked_states,
    count_rows,
    read_lengths,
    readable,
    require,
)
from definetti.exceptions import HoleWarning

HOLE = 1.5  # a step longer than HOLE times the median step is a hole
MOST, SHARE = 2, 0.1  # with more holes than both, times are irregular
SECOND = 10**6  # in microseconds
UNITS = {"days": 86_400 * SECOND, "h": 3_600 * SECOND, "min": 60 * SECOND, "s": SECOND}
CUT = "the history is cut there"
BY_INDEX = "drop the index with reset_index(drop=True) if rows follow each other all the same"
BY_ORDER = "number the rows of each series if they follow each other all the same"

BoolArray = npt.NDArray[np.bool_]


class Times(NamedTuple):
    """The times of rows; only times of one kind are compared."""

    kind: str  # "dates", "dates with a time zone", "durations" or "numbers"
    values: npt.NDArray[Any]  # (T,) microseconds as whole numbers, or numbers


class Clock(NamedTuple):
    """The time at the end of a history."""

    kind: str  # as in `Times`
    last: Any  # the time of the last row; None where the last rows had no times
    usual: float  # the median step; 0 where unknown or irregular

    def precedes_hole(self, times: Times, name: str) -> bool:
        """Tell whether a hole precedes the first row; refuse rows before the end."""
        if self.last is None or self.kind != times.kind or not len(times.values):
            return False
        first = times.values[0]
        if first < self.last or (first == self.last and self.usual > 0):
            raise ValueError(
                f"{name} begins at {write_time(self.kind, first)}, and the labelled history ends "
                f"at {write_time(self.kind, self.last)}; give rows that follow it, or "
                "drop the index with reset_index(drop=True)"
            )
        return bool(0 < HOLE * self.usual < first - self.last)

    def describe(self, times: Times) -> str:
        """Describe how far rows are from the end of the history."""
        first = times.values[0]
        return (
            f"{write_step(self.kind, first - self.last)} after the last label, where a step "
            f"is {write_step(self.kind, self.usual)}"
        )


class Holes(NamedTuple):
    """The holes in the times of rows."""

    after: BoolArray  # (T,) whether a hole precedes each row
    usual: FloatArray  # by series, the median step; 0 where unknown or irregular
    note: str  # a warning, or empty


class Rows(NamedTuple):
    """Labelled rows, cut at the holes of their times."""

    observations: Any  # without their index of times
    labels: list[Any]
    lengths: IntArray  # of the segments
    clock: Clock | None = None  # the time at their end; None where no rows had times
    after_hole: bool = False  # whether a hole precedes the first row
    note: str = ""  # the warnings given, or empty


def read_rows(
    observations: Any,
    states: Any,
    lengths: Any = None,
    clock: Clock | None = None,
    name: str = "observations",
) -> Rows:
    """Read labelled rows; cut them at holes in their time index, with a warning."""
    seen, labels = readable(observations, name), checked_states(states)
    check_aligned({name: seen, "states": states})
    segments = read_lengths(lengths, len(labels), "states")
    times = read_index(seen, states)
    if times is None or not labels:
        return Rows(seen, labels, segments, None if clock is None else clock._replace(last=None))
    if seen is not None:
        check_pairs(count_rows(seen, name), len(labels), name)
    begins = np.zeros(len(labels), dtype=np.bool_)
    begins[segments.cumsum() - segments] = True
    check_forward(times, begins, "give lengths= where several sequences follow each other")
    usual, jumps, notes = 0.0, False, []
    if clock is not None and clock.kind == times.kind:
        _check_later(times, clock, name)
        usual, jumps = clock.usual, clock.precedes_hole(times, name)
        if jumps:
            notes.append(f"{name} begins {clock.describe(times)}: {CUT}; {BY_INDEX}")
    holes = find_holes(times, begins, BY_INDEX, usual=usual)
    notes += [holes.note] * bool(holes.note)
    for note in notes:
        warn_caller(note, HoleWarning)
    segments = np.diff(np.flatnonzero(begins | holes.after), append=len(labels))
    end = Clock(times.kind, times.values[-1].item(), float(holes.usual[0]))
    return Rows(without_index(seen), labels, segments, end, jumps, "; ".join(notes))


def read_clock(kept: Any) -> Clock | None:
    """Read the time of the last row from a file."""
    if kept is None:
        return None
    require(isinstance(kept, tuple) and len(kept) == 3, "a time")
    kind, last, usual = kept
    require(isinstance(kind, str) and isinstance(usual, float) and usual >= 0, "a time")
    require(last is None or isinstance(last, (int, float)), "a time")
    return Clock(kind, last, usual)


def check_following(observations: Any, clock: Clock | None, name: str) -> None:
    """Refuse unlabelled rows whose times do not follow the history step by step."""
    times = read_index(observations)
    if times is None or not len(times.values):
        return
    check_forward(times, np.arange(len(times.values)) == 0, "give those of one sequence")
    if clock is not None and clock.kind == times.kind:
        _check_later(times, clock, name)
    _, message = rows_until_hole(times, clock, name)
    if message:
        raise ValueError(f"{message}, or {BY_INDEX}")


def rows_until_hole(times: Times, clock: Clock | None, name: str) -> tuple[int, str]:
    """Return how many rows follow the history before a hole, and a message about the hole."""
    known = clock if clock is not None and clock.kind == times.kind else None
    if known is not None and known.precedes_hole(times, name):
        return 0, (
            f"{name} begins {known.describe(times)}: there is no state to go on from; label a row "
            "after the hole first"
        )
    begins = np.arange(len(times.values)) == 0
    usual = 0.0 if known is None else known.usual
    if known is not None and not usual:  # irregular or unknown
        return len(begins), ""
    holes = find_holes(times, begins, "", usual=usual)
    if not holes.after.any():
        return len(begins), ""
    row = int(holes.after.argmax())
    step = write_step(times.kind, times.values[row] - times.values[row - 1])
    return row, (
        f"{name} has a hole of {step} after {row:,} row{'s' if row > 1 else ''}, where a step is "
        f"{write_step(times.kind, holes.usual[0])}; give the rows before it"
    )


def find_holes(
    times: Times,
    begins: BoolArray,
    remedy: str,
    *,
    owners: IntArray | None = None,
    names: Any = (),
    usual: float | FloatArray = 0.0,
) -> Holes:
    """Find the steps that are more than 1.5 times the median one.

    Where more than two steps of a series and more than a tenth of them are so long, its times are
    irregular and have no holes, unless earlier rows were regular.
    """
    owners = np.zeros(len(begins), dtype=np.int64) if owners is None else owners
    number = int(owners.max(initial=0)) + 1
    inside = np.flatnonzero(~begins[1:])
    steps, whose = times.values[inside + 1] - times.values[inside], owners[inside + 1]
    earlier = np.broadcast_to(np.asarray(usual, dtype=np.float64), number)
    medians = np.where(earlier > 0, earlier, _medians(steps, whose, number))
    long = (steps > HOLE * medians[whose]) & (medians[whose] > 0)
    counts, lengthy = (np.bincount(of_step, minlength=number) for of_step in (whose, whose[long]))
    irregular = are_many(lengthy, counts) & (earlier == 0)
    holes = inside[long & ~irregular[whose]] + 1
    after, notes = np.zeros(len(begins), dtype=np.bool_), []
    after[holes] = True

    def name(owner: int) -> str:
        return f" of series {names[owner]!r}" if len(names) else ""

    if len(holes):
        owner = int(owners[holes[0]])
        first, then = (write_time(times.kind, times.values[holes[0] - k]) for k in (1, 0))
        last = len(begins) - int(np.flatnonzero(begins | after)[-1])
        compared = f"what is predicted is compared with the last {last:,} rows; "
        notes.append(
            f"times have holes, the first{name(owner)} from {first} to {then}, where a step is "
            f"{write_step(times.kind, medians[owner])} ({len(holes):,} of {len(steps):,} steps are "
            f"more than {HOLE} times the usual one): {CUT}; "
            f"{'' if len(names) else compared}{remedy}"
        )
    if irregular.any() and times.kind != "numbers":
        owner = int(irregular.argmax())
        more = f" (and of {irregular.sum() - 1:,} others)" if irregular.sum() > 1 else ""
        notes.append(
            f"times{name(owner)} are irregular: {lengthy[owner]:,} of {counts[owner]:,} steps are "
            f"more than {HOLE} times the usual {write_step(times.kind, medians[owner])}{more}; "
            "rows are taken as consecutive steps; cut the history where they are not"
        )
    return Holes(after, np.where(irregular, 0.0, medians), "; ".join(notes))


def are_many(holes: Any, steps: Any) -> Any:
    """Tell whether a series has so many long steps that its times are irregular."""
    return (holes > MOST) & (holes > SHARE * steps)


def _medians(steps: npt.NDArray[Any], owners: IntArray, number: int) -> FloatArray:
    """Return the median step of each series; 0 without steps."""
    medians = np.zeros(number)
    counts = np.bincount(owners, minlength=number)
    some, first = counts > 0, counts.cumsum() - counts
    ordered = steps[np.lexsort((steps, owners))]
    lower, upper = (first + (counts - 1) // 2)[some], (first + counts // 2)[some]
    medians[some] = (ordered[lower] + ordered[upper]) / 2
    return medians


def check_forward(times: Times, begins: BoolArray, remedy: str, repeats: bool = False) -> None:
    """Refuse times that decrease or repeat within a segment."""
    steps = np.diff(times.values)
    back = (steps < 0) & ~begins[1:]
    if back.any():
        row = int(back.argmax()) + 1
        first, then = (write_time(times.kind, times.values[k]) for k in (row - 1, row))
        raise ValueError(
            f"the index goes back in time: row {row + 1} is at {then}, after {first}; sort the "
            f"rows by time, or {remedy}"
        )
    still = (steps == 0) & ~begins[1:]
    if still.any() and not repeats:
        row = int(still.argmax()) + 1
        raise ValueError(
            f"the index has the time {write_time(times.kind, times.values[row])} in row {row + 1} "
            f"and in the row before it; drop one of them, or {BY_INDEX}; or {remedy}"
        )


def _check_later(times: Times, clock: Clock, name: str) -> None:
    """Refuse rows that begin at the time of the last labelled row."""
    if clock.last is not None and times.values[0] == clock.last:
        raise ValueError(
            f"{name} begins at {write_time(times.kind, clock.last)}, the time of the last labelled "
            f"row; give rows that follow it, or {BY_INDEX}"
        )


def index_of(values: Any) -> Any:
    """Return the index of a pandas object; None for any other object."""
    index = getattr(values, "index", None)
    return index if hasattr(index, "equals") and hasattr(index, "sort_values") else None


def read_index(*values: Any) -> Times | None:
    """Return the times in the first index of dates or durations, if there is one."""
    for value in values:
        index = index_of(value)
        kind = type(index).__name__
        if kind == "PeriodIndex":
            index, kind = index.to_timestamp(), "DatetimeIndex"
        if kind not in ("DatetimeIndex", "TimedeltaIndex"):
            continue
        if index.hasnans:
            row = int(np.flatnonzero(index.isna())[0])
            raise ValueError(
                f"the index has no time in row {row + 1} (NaT); fill it in, or drop the row"
            )
        if kind == "TimedeltaIndex":
            times = Times("durations", index.to_numpy().astype("m8[us]").astype(np.int64))
        else:
            zone = " with a time zone" if index.tz is not None else ""
            index = index if index.tz is None else index.tz_convert(None)
            times = Times(f"dates{zone}", index.to_numpy().astype("M8[us]").astype(np.int64))
        same = np.asarray(index[1:] == index[:-1])
        # Steps below a microsecond cannot be compared.
        return times if np.array_equal(np.diff(times.values) == 0, same) else None
    return None


def read_times(values: list[Any]) -> Times | None:
    """Return values as times, if all are dates, all durations or all numbers."""
    kinds = set(map(type, values))
    if all(issubclass(kind, Real) and not issubclass(kind, bool) for kind in kinds):
        try:
            numbers = np.array(values, dtype=np.float64)
        except OverflowError:
            return None
        return Times("numbers", numbers) if np.isfinite(numbers).all() else None
    if all(issubclass(kind, timedelta) for kind in kinds):
        return Times("durations", np.array(values, dtype="m8[us]").astype(np.int64))
    if all(isinstance(time, datetime) and time.tzinfo is not None for time in values):
        zoned = [time.astimezone(UTC).replace(tzinfo=None) for time in values]
        return Times("dates with a time zone", np.array(zoned, dtype="M8[us]").astype(np.int64))
    if all(issubclass(kind, (date, np.datetime64)) for kind in kinds):
        return Times("dates", np.array(values, dtype="M8[us]").astype(np.int64))
    return None


def without_index(values: Any) -> Any:
    """Reset the index of a pandas object; leave other objects."""
    return values if index_of(values) is None else values.reset_index(drop=True)


def check_aligned(named: dict[str, Any]) -> None:
    """Refuse pandas objects whose indices contradict each other.

    A default index contradicts only a permutation of itself; times and numbers are not compared.
    """
    indices = {name: index_of(values) for name, values in named.items()}
    pairs = [(name, index) for name, index in indices.items() if index is not None]
    for place, (name, index) in enumerate(pairs):
        for first, other in pairs[:place]:
            row = _find_difference(other, index)
            if row is not None:
                raise ValueError(
                    f"{first} and {name} have different indices: row {row + 1} is {other[row]} in "
                    f"{first} and {index[row]} in {name}; join them on their index, or drop both "
                    "with reset_index(drop=True) if rows belong together as they stand"
                )


def _find_difference(index: Any, other: Any) -> int | None:
    """Return the first row in which two comparable indices differ, if any."""
    if len(index) != len(other) or index.equals(other):  # other lengths are refused elsewhere
        return None
    kinds = [type(index).__name__ for index in (index, other)]
    timed = [kind in ("DatetimeIndex", "TimedeltaIndex", "PeriodIndex") for kind in kinds]
    if timed[0] != timed[1]:
        return None
    if any(
        kind == "RangeIndex" and index.start == 0 and index.step == 1
        for kind, index in zip(kinds, (index, other), strict=True)
    ):
        try:
            if not index.sort_values().equals(other.sort_values()):
                return None
        except TypeError:
            return None
    pairs = enumerate(zip(index, other, strict=True))
    return next((row for row, (a, b) in pairs if not (a == b or (a != a and b != b))), None)


def write_time(kind: str, value: Any) -> str:
    """Write a time for a message."""
    if kind.startswith("dates"):
        return str(np.datetime64(int(value), "us").astype("M8[s]")).replace("T", " ")
    return write_step(kind, value)


def write_step(kind: str, step: Any) -> str:
    """Write the time between two rows for a message."""
    if kind == "numbers":
        return f"{float(step):g}"
    name, unit = next(((n, u) for n, u in UNITS.items() if abs(step) >= u), ("s", SECOND))
    return f"{float(step) / unit:.4g} {name if step != unit else name.removesuffix('s') or name}"
