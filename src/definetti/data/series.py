"""Rows of many series or sequences: read, sorted, split and joined."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from definetti._system.arrays import IntArray
from definetti._system.checks import warn_caller
from definetti.data.labels import (
    Alphabet,
    check_pairs,
    checked_states,
    count_rows,
    hashable,
    is_missing,
    kind_name,
    listed,
    plain_label,
    read_lengths,
    readable,
)
from definetti.data.timing import (
    BY_INDEX,
    BY_ORDER,
    Clock,
    Times,
    check_aligned,
    check_forward,
    find_holes,
    read_index,
    read_times,
    without_index,
)
from definetti.exceptions import HoleWarning


@dataclass(frozen=True, eq=False)
class SeriesRows:
    """Which rows of a table belong to which series."""

    names: tuple[Hashable, ...]  # of the series, in the order in which they first appear
    rows: IntArray  # (T,) rows of the table, series after series, each in its own order
    lengths: IntArray  # (S,) how many rows each series has
    begins: npt.NDArray[np.bool_]  # (T,) whether a row begins a series or follows a gap
    clocks: tuple[Clock | None, ...] = ()  # (S,) the time at each series' end
    times: Times | None = None  # (T,) the times of `rows`, if they have any

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def places(self) -> dict[Hashable, int]:
        """The number of each series, by its name."""
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def ends(self) -> IntArray:
        """Where each series ends, in the order of `rows`."""
        return np.asarray(self.lengths.cumsum())

    def place_of(self, name: Hashable) -> int:
        """Return the number of a series; refuse an unknown one."""
        if name in self.places:
            return self.places[name]
        known = ", ".join(map(repr, self.names[:6])) + (", …" if len(self) > 6 else "")
        raise ValueError(
            f"group {plain_label(name)!r} is not among the {len(self):,} series ({known}); for a "
            "series without labels see ConformalSequences"
        )

    def clock(self, place: int, length: int | None = None) -> Clock | None:
        """Return the time at the end of a series, or of its first `length` rows."""
        if not self.clocks:
            return None
        clock = self.clocks[place]
        if clock is None or length is None or self.times is None:
            return clock
        return clock._replace(last=self.times.values[self.span(place)[0] + length - 1].item())

    def span(self, place: int) -> tuple[int, int]:
        """Return where a series begins and ends, in the order of `rows`."""
        end = int(self.ends[place])
        return end - int(self.lengths[place]), end

    def segments(self, place: int, length: int | None = None) -> IntArray:
        """Return the lengths of the segments of a series, or of its first `length` rows."""
        begin, end = self.span(place)
        size = end - begin if length is None else length
        begins = np.flatnonzero(self.begins[begin : begin + size])
        return np.asarray(np.diff(begins, append=size))

    @cached_property
    def all_segments(self) -> IntArray:
        """The lengths of all segments, series after series."""
        return np.asarray(np.diff(np.flatnonzero(self.begins), append=len(self.rows)))


def read_series(
    groups: Any,
    rows: int,
    order: Any = None,
    lengths: Any = None,
    index: Times | None = None,
    cut: bool = True,
    clocks: Mapping[Hashable, Clock | None] | None = None,
) -> SeriesRows:
    """Assign rows to series, and cut each series at the holes in its times."""
    labels = listed(groups, "groups")
    if len(labels) != rows:
        raise ValueError(
            f"groups has {len(labels):,} labels for {rows:,} rows; give one per row, that of the "
            "series it belongs to"
        )
    names = Alphabet(_checked_names(labels))
    codes = names.encode(labels, "groups")
    segments = read_lengths(lengths, rows, "states")
    segment = np.repeat(np.arange(len(segments)), segments)
    times, remedy = index, BY_INDEX
    if order is None:
        ordered = np.argsort(codes, kind="stable")
    else:
        entries = listed(order, "order")
        ranks = _ranks(order, entries, rows)
        times, remedy = read_times(entries), BY_ORDER
        ordered = np.lexsort((ranks, codes))
        tied = (np.diff(codes[ordered]) == 0) & (np.diff(ranks[ordered]) == 0)
        if tied.any():
            first, other = sorted(ordered[int(tied.argmax()) :][:2].tolist())
            raise ValueError(
                f"order is the same in rows {first + 1} and {other + 1} of the series "
                f"{labels[first]!r}; it must tell which came first: drop one, or give a finer order"
            )
    series, parts = codes[ordered], segment[ordered]
    begins = np.ones(rows, dtype=np.bool_)
    begins[1:] = (np.diff(series) != 0) | (np.diff(parts) != 0)
    sizes = np.bincount(codes, minlength=len(names))
    if times is None or not cut or not rows:
        return SeriesRows(names.labels, ordered, sizes, begins)
    times = times._replace(values=times.values[ordered])
    check_forward(times, begins, "name what sorts them in order=", repeats=order is not None)
    before = [None if clocks is None else clocks.get(name) for name in names.labels]
    usual = [
        clock.usual if clock is not None and clock.kind == times.kind else 0.0 for clock in before
    ]
    holes = find_holes(
        times, begins, remedy, owners=series, names=names.labels, usual=np.array(usual)
    )
    if holes.note:
        warn_caller(holes.note, HoleWarning)
    last = times.values[sizes.cumsum() - 1].tolist()
    after = tuple(map(Clock, [times.kind] * len(names), last, holes.usual.tolist()))
    return SeriesRows(names.labels, ordered, sizes, begins | holes.after, after, times)


def take_series(
    observations: Any, states: Any, groups: Any, order: Any = None, lengths: Any = None
) -> tuple[Any, list[Any], IntArray]:
    """Return observations and states series after series, and the segment lengths."""
    labels = checked_states(states)
    check_aligned(
        {"observations": observations, "states": states, "groups": groups, "order": order}
    )
    series = read_series(groups, len(labels), order, lengths, cut=False)
    seen = sort_rows(observations, series.rows, len(labels))
    return seen, [labels[row] for row in series.rows.tolist()], series.all_segments


def take_labelled(
    observations: Any, states: Any, groups: Any, order: Any = None, lengths: Any = None
) -> tuple[Any, list[Any], IntArray, IntArray]:
    """Apply `take_series` to the labelled rows; return these rows as well."""
    labels = listed(states, "states")
    check_aligned(
        {"observations": observations, "states": states, "groups": groups, "order": order}
    )
    series = read_series(groups, len(labels), order, lengths, read_index(observations, states))
    rows, sizes = _labelled_rows(series, np.array([is_missing(label) for label in labels], bool))
    seen = sort_rows(observations, rows, len(labels))
    return seen, [labels[row] for row in rows.tolist()], sizes, rows


def drop_unlabelled(
    states: Any, groups: Any, order: Any = None
) -> tuple[IntArray | None, IntArray | None]:
    """Return the labelled rows, series after series, and their segment lengths.

    (None, None) where all rows are labelled.
    """
    missing = np.array([is_missing(label) for label in listed(states, "states")], bool)
    if not missing.any():
        return None, None
    check_aligned({"states": states, "groups": groups, "order": order})
    return _labelled_rows(read_series(groups, len(missing), order), missing)


def _labelled_rows(series: SeriesRows, missing: npt.NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
    """Return the labelled rows and the segment lengths; an unlabelled row is a gap."""
    known = ~missing[series.rows]
    segment = (series.begins | ~known).cumsum()[known]
    return series.rows[known], np.unique(segment, return_counts=True)[1]


def sort_rows(observations: Any, rows: IntArray, total: int, name: str = "observations") -> Any:
    """Return the observations of some rows; None for plain chains."""
    seen = readable(observations, name)
    if seen is None:
        return None
    check_pairs(count_rows(seen, name), total, name)
    return at_rows(without_index(seen), rows)


def at_rows(values: Any, rows: IntArray) -> Any:
    """Return some rows of a sequence or frame, keeping its type."""
    native = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        return native[rows.tolist(), :].to_native()
    if isinstance(native, nw.Series):
        return native[rows.tolist()].to_native()
    if isinstance(values, np.ndarray):
        return values[rows]
    values = values if hasattr(values, "__getitem__") else list(values)
    return [values[row] for row in rows.tolist()]


def _checked_names(labels: list[Any]) -> list[Any]:
    """Refuse labels that cannot name a series, and mixed kinds of labels."""
    try:
        distinct = list(dict.fromkeys(labels))
    except TypeError:
        distinct = labels
    for label in distinct:
        if is_missing(label) or not hashable(label):
            row = next(k for k, other in enumerate(labels) if other is label)
            raise ValueError(
                f"groups[{row}] is {label!r}, which names no series; fill it in, or drop the row"
            )
    kinds = {kind_name(label): label for label in distinct}
    if len(kinds) > 1:
        (kind, first), (other, second) = list(kinds.items())[:2]
        raise TypeError(
            f"groups has {kind} and {other}, {first!r} and {second!r}; make them of one kind, so "
            "that no series is taken for two"
        )
    return distinct


def _ranks(order: Any, times: list[Any], rows: int) -> IntArray:
    """Return the rank of each entry of `order`, equal ranks for equal entries."""
    if len(times) != rows:
        raise ValueError(f"order has {len(times):,} entries for {rows:,} rows; give one per row")
    for row, time in enumerate(times):
        if is_missing(time):
            raise ValueError(
                f"order[{row}] is missing ({time!r}); every row needs a place: fill it in, or drop "
                "the row"
            )
    series = nw.from_native(order, allow_series=True, pass_through=True)
    try:
        if isinstance(series, nw.Series) and series.dtype.is_numeric():
            return np.unique(series.to_numpy(), return_inverse=True)[1].astype(np.int64)
        place = {time: k for k, time in enumerate(sorted(set(times)))}
    except TypeError:
        raise TypeError(
            "order has entries that cannot be compared with each other; make them all numbers, "
            "all dates or all text"
        ) from None
    return np.fromiter(map(place.__getitem__, times), np.int64, rows)


def is_nested(states: Any) -> bool:
    """Tell whether states are a list of sequences; a tuple is a label."""
    if not isinstance(states, (list, tuple)) or not states:
        return False
    first = nw.from_native(states[0], allow_series=True, pass_through=True)
    return isinstance(first, (list, np.ndarray, nw.Series))


def join_states(states: Sequence[Any]) -> tuple[list[Any], list[int]]:
    """Concatenate the labels of all sequences; return them and the lengths."""
    sequences = [listed(labels, f"states[{k}]") for k, labels in enumerate(states)]
    return [label for labels in sequences for label in labels], list(map(len, sequences))


def join_observations(sequences: Any, name: str = "observations") -> tuple[Any, list[int]]:
    """Concatenate the observations of all sequences; return them and the lengths."""
    if not isinstance(sequences, (list, tuple)) or not sequences:
        raise TypeError(f"{name} must be a list of sequences, got {type(sequences).__name__}")
    read = [readable(sequence, f"{name}[{k}]") for k, sequence in enumerate(sequences)]
    native = [nw.from_native(sequence, allow_series=True, pass_through=True) for sequence in read]
    lengths = list(map(len, read))
    if all(isinstance(sequence, nw.DataFrame) for sequence in native):
        return nw.concat(native).to_native(), lengths
    if all(isinstance(sequence, np.ndarray) for sequence in read):
        return np.concatenate(read), lengths
    if any(isinstance(sequence, np.ndarray) and sequence.ndim > 1 for sequence in read):
        return [row for sequence in read for row in np.asarray(sequence).tolist()], lengths
    return [value for sequence in read for value in listed(sequence, name)], lengths
