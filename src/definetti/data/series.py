"""Rows of many series: read, sorted, split and joined."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

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
    piece,
    plain_label,
    readable,
)
from definetti.data.sequences import read_lengths
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


class Part(NamedTuple):
    """Labelled data that came in together.

    Attributes
    ----------
    observations, labels : as they came
    shape : how the observations came, in the words of `definetti.emissions.choice.Kinds`
    """

    observations: Any
    labels: list[Any]
    shape: str


def joined(parts: Iterable[Part]) -> list[Part]:
    """Put together what came one after the other in the same form.

    >>> joined([Part([1, 2], ["a", "b"], "single"), Part(np.array([3]), ["a"], "single")])
    [Part(observations=[1, 2, 3], labels=['a', 'b', 'a'], shape='single')]
    """
    runs: list[list[Part]] = []
    form: Hashable = None
    for part in parts:
        own = _form(part)
        # A list in which all is missing goes with any other.
        empty = "nothing" in (form, own) and isinstance(form, str) and isinstance(own, str)
        if not runs or not (own == form or empty):
            runs.append([])
        form = form if runs[-1] and own == "nothing" else own
        runs[-1].append(part)
    return [run[0] if len(run) == 1 else _joined(run) for run in runs]


def split(part: Part, at: int) -> list[Part]:
    """Cut what came in together in two; one of the two may be all of it.

    >>> [part.labels for part in split(Part(None, ["a", "b", "a"], ""), 2)]
    [['a', 'b'], ['a']]
    """
    seen, labels, shape = part
    if not 0 < at < len(labels):
        return [part]
    ends = (0, at), (at, len(labels))
    cut = [None if seen is None else piece(seen, begin, end) for begin, end in ends]
    return [Part(cut[k], labels[begin:end], shape) for k, (begin, end) in enumerate(ends)]


def _form(part: Part) -> Hashable:
    """Tell what can be put together: columns of the same names and types, else lists alike."""
    if part.shape != "columns":
        return part.shape
    frame = nw.from_native(part.observations, eager_only=True)
    return frame.implementation, *frame.schema.items()


def _joined(run: list[Part]) -> Part:
    labels = [label for part in run for label in part.labels]
    if run[0].observations is None:  # a plain chain
        return Part(None, labels, run[0].shape)
    shape = next((part.shape for part in run if part.shape != "nothing"), "nothing")
    if shape == "columns":
        frames = [nw.from_native(part.observations, eager_only=True) for part in run]
        return Part(nw.concat(frames).to_native(), labels, shape)
    return Part([value for part in run for value in _listed(part)], labels, shape)


def _listed(part: Part) -> list[Any]:
    values = part.observations
    if isinstance(values, list):
        return values
    if isinstance(values, np.ndarray) and values.ndim > 1:
        return list(values.tolist())
    return listed(values, "observations")


@dataclass(frozen=True, eq=False)
class SeriesRows:
    """Which rows of a table belong to which series.

    Attributes
    ----------
    names : the labels of the series, in the order in which they first appear
    rows : (T,) the rows of the table, series after series, each in its own order
    lengths : (S,) how many rows each series has
    begins : (T,) of `rows`, whether a row begins a segment: that of a series, or one after a gap
    clocks : (S,) the time at the end of each series, where rows have times
    times : (T,) the times of `rows`, where they have any
    """

    names: tuple[Hashable, ...]
    rows: IntArray
    lengths: IntArray
    begins: npt.NDArray[np.bool_]
    clocks: tuple[Clock | None, ...] = ()
    times: Times | None = None

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
        """Return the number of a series; refuse one that is not there."""
        if name in self.places:
            return self.places[name]
        known = ", ".join(map(repr, self.names[:6])) + (", …" if len(self) > 6 else "")
        raise ValueError(
            f"group {plain_label(name)!r} is not among the {len(self):,} series ({known}); for a "
            "series without labels see ConformalSequences"
        )

    def clock(self, place: int, length: int | None = None) -> Clock | None:
        """Return the time at the end of a series, or of its first so many rows."""
        if not self.clocks:
            return None
        found = self.clocks[place]
        if found is None or length is None or self.times is None:
            return found
        return found._replace(last=self.times.values[self.span(place)[0] + length - 1].item())

    def span(self, place: int) -> tuple[int, int]:
        """Return where a series begins and ends, in the order of `rows`."""
        end = int(self.ends[place])
        return end - int(self.lengths[place]), end

    def segments(self, place: int, length: int | None = None) -> IntArray:
        """Return how long the segments of a series are, or those of its first so many rows."""
        begin, end = self.span(place)
        size = end - begin if length is None else length
        begins = np.flatnonzero(self.begins[begin : begin + size])
        return np.asarray(np.diff(begins, append=size))

    @cached_property
    def all_segments(self) -> IntArray:
        """How long all segments are, series after series."""
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
    """Read which series each row belongs to, and cut each where its times have a hole.

    Parameters
    ----------
    groups : (T,) a label for each row; the rows of a series need not stand together
    rows : T, how many there must be
    order : (T,) what the rows of each series are sorted by, a time say; as they come if left out
    lengths : how long the segments are, one after the other, between which there are gaps
    index : the times of rows, if there is an index of them; those of `order` come first
    cut : whether series are cut at holes, with a warning
    clocks : the time at the end of the rows that each series follows, where there are such rows

    Examples
    --------
    >>> found = read_series(["Ann", "Bob", "Ann"], 3, order=[5, 1, 2])
    >>> found.names, found.rows, found.lengths
    (('Ann', 'Bob'), array([2, 0, 1]), array([2, 1]))
    """
    labels = listed(groups, "groups")
    if len(labels) != rows:
        raise ValueError(
            f"groups has {len(labels):,} labels for {rows:,} rows; give one per row, that of the "
            "series it belongs to"
        )
    names = Alphabet(_checked_names(labels))
    codes = np.fromiter(map(names.codes.__getitem__, labels), np.int64, len(labels))
    each = read_lengths(lengths, rows, "states")
    segment = np.repeat(np.arange(len(each)), each)
    times, remedy = index, BY_INDEX
    if order is None:
        found = np.argsort(codes, kind="stable")
    else:
        entries = listed(order, "order")
        ranks = _ranks(order, entries, rows)
        times, remedy = read_times(entries), BY_ORDER
        found = np.lexsort((ranks, codes))
        tied = (np.diff(codes[found]) == 0) & (np.diff(ranks[found]) == 0)
        if tied.any():
            one, other = sorted(found[int(tied.argmax()) :][:2].tolist())
            raise ValueError(
                f"order is the same in rows {one + 1} and {other + 1} of the series "
                f"{labels[one]!r}; it must tell which came first: drop one, or give a finer order"
            )
    series, parts = codes[found], segment[found]
    begins = np.ones(rows, dtype=np.bool_)
    begins[1:] = (np.diff(series) != 0) | (np.diff(parts) != 0)
    sizes = np.bincount(codes, minlength=len(names))
    if times is None or not cut or not rows:
        return SeriesRows(names.labels, found, sizes, begins)
    times = times._replace(values=times.values[found])
    check_forward(times, begins, "name what sorts them in order=", repeats=order is not None)
    before = [None if clocks is None else clocks.get(name) for name in names.labels]
    usual = [one.usual if one is not None and one.kind == times.kind else 0.0 for one in before]
    holes = find_holes(
        times, begins, remedy, owners=series, names=names.labels, usual=np.array(usual)
    )
    if holes.note:
        warn_caller(holes.note, HoleWarning)
    last = times.values[sizes.cumsum() - 1].tolist()
    after = tuple(map(Clock, [times.kind] * len(names), last, holes.usual.tolist()))
    return SeriesRows(names.labels, found, sizes, begins | holes.after, after, times)


def take_series(
    observations: Any, states: Any, groups: Any, order: Any = None, lengths: Any = None
) -> tuple[Any, list[Any], IntArray]:
    """Return observations and states series after series, and how long all segments are.

    >>> take_series(["a", "b", "c"], ["x", "y", "z"], ["Ann", "Bob", "Ann"])
    (['a', 'c', 'b'], ['x', 'z', 'y'], array([2, 1]))
    """
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
    """Return what `take_series` does of the rows that have a state, and which rows these are.

    A row without a state, None, is a gap: what comes after it is a segment of its own.

    >>> take_labelled(list("abcd"), ["x", None, "y", "z"], ["Ann", "Ann", "Bob", "Ann"])
    (['a', 'd', 'c'], ['x', 'z', 'y'], array([1, 1, 1]), array([0, 3, 2]))
    """
    labels = listed(states, "states")
    check_aligned(
        {"observations": observations, "states": states, "groups": groups, "order": order}
    )
    series = read_series(groups, len(labels), order, lengths, read_index(observations, states))
    known = ~np.array([is_missing(label) for label in labels], dtype=np.bool_)[series.rows]
    segment, rows = (series.begins | ~known).cumsum()[known], series.rows[known]
    seen = sort_rows(observations, rows, len(labels))
    sizes = np.unique(segment, return_counts=True)[1]
    return seen, [labels[row] for row in rows.tolist()], sizes, rows


def drop_unlabelled(
    states: Any, groups: Any, order: Any = None
) -> tuple[IntArray | None, IntArray | None]:
    """Return the rows that have a state, series after series, and how long segments of them are.

    A row without a state is a gap: what comes after it is a segment of its own. None, twice, where
    there is no such row.

    >>> drop_unlabelled(["x", None, "y", "z"], ["Ann", "Ann", "Bob", "Ann"])
    (array([0, 3, 2]), array([1, 1, 1]))
    """
    missing = np.array([is_missing(label) for label in listed(states, "states")], dtype=np.bool_)
    if not missing.any():
        return None, None
    check_aligned({"states": states, "groups": groups, "order": order})
    series = read_series(groups, len(missing), order)
    known = ~missing[series.rows]
    segment = (series.begins | ~known).cumsum()[known]
    begins = np.flatnonzero(np.diff(segment, prepend=-1))
    return series.rows[known], np.asarray(np.diff(begins, append=len(segment)))


def sort_rows(observations: Any, rows: IntArray, total: int, name: str = "observations") -> Any:
    """Return the observations of some rows, in their order; None for plain chains.

    Parameters
    ----------
    total : how many observations there must be: one for each state
    name : what the observations are called in an error

    Examples
    --------
    >>> sort_rows(["a", "b", "c"], np.array([2, 0]), 3)
    ['c', 'a']
    """
    seen = readable(observations, name)
    if seen is None:
        return None
    check_pairs(count_rows(seen, name), total, name)
    return at_rows(without_index(seen), rows)


def at_rows(values: Any, rows: IntArray) -> Any:
    """Return some rows of a sequence or of a frame, of the type that it has.

    >>> at_rows(["a", "b", "c"], np.array([0, 2]))
    ['a', 'c']
    """
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
    """Refuse what cannot name a series, and what looks like one name written in two ways."""
    try:
        distinct = list(dict.fromkeys(labels))
    except TypeError:
        distinct = labels
    for label in distinct:
        if is_missing(label) or not hashable(label):
            row = next(k for k, one in enumerate(labels) if one is label)
            raise ValueError(
                f"groups[{row}] is {label!r}, which names no series; fill it in, or drop the row"
            )
    kinds = {kind_name(label): label for label in distinct}
    if len(kinds) > 1:
        (one, first), (other, second) = list(kinds.items())[:2]
        raise TypeError(
            f"groups has {one} and {other}, {first!r} and {second!r}; make them of one kind, so "
            "that no series is taken for two"
        )
    return distinct


def _ranks(order: Any, times: list[Any], rows: int) -> IntArray:
    """Return the place of each row in its order, equal ones with equal places."""
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
