"""The state of a monitor: its arguments, labels that are awaited, and its file."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sized
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from definetti._system.checks import checked_choice, checked_limit
from definetti.adaptive import AdaptiveLevel
from definetti.conformal import ConformalHMM
from definetti.data.labels import is_array, require
from definetti.data.timing import read_clock
from definetti.engine.stream import Stream
from definetti.exceptions import SaveError
from definetti.levels import read_levels
from definetti.monitor.records import Alert, Waiting
from definetti.monitor.sources import CountsSource, Parts
from definetti.sets import PredictionSet
from definetti.symmetry import TogetherDepartures

if TYPE_CHECKING:
    from definetti.monitor.monitor import Monitor


def each_row(values: Any) -> Iterable[Any]:
    """Return the rows of anything, one by one; those of a frame are frames.

    >>> list(each_row(np.array([1, 2])))
    [1, 2]
    """
    native = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        return (native[k : k + 1].to_native() for k in range(len(native)))
    if isinstance(native, nw.Series):
        return native.to_list()
    rows: Iterable[Any] = values
    return rows.tolist() if isinstance(rows, np.ndarray) and rows.ndim == 1 else rows


def in_pairs(observations: Any, states: Any) -> Iterator[tuple[Any, Any]]:
    """Return rows with their labels, one by one; None for observations that there are not.

    >>> list(in_pairs(None, ["sun", "rain"]))
    [(None, 'sun'), (None, 'rain')]
    """
    labels = each_row(states)
    if observations is None:
        return ((None, label) for label in labels)
    rows = each_row(observations)
    if isinstance(rows, Sized) and isinstance(labels, Sized) and len(rows) != len(labels):
        raise ValueError(
            f"observations has {len(rows)} rows, and states has {len(labels)}; give a state for "
            "each row, None where it is missing"
        )
    return _pair(iter(rows), iter(labels))


def _pair(rows: Iterator[Any], labels: Iterator[Any]) -> Iterator[tuple[Any, Any]]:
    nothing = object()
    for row, label in zip_longest(rows, labels, fillvalue=nothing):
        if row is nothing or label is nothing:
            short, long = ("observations", "states")[:: 1 if row is nothing else -1]
            raise ValueError(
                f"{short} ended, and {long} goes on; give a state for each row, None where it is "
                "missing; the rows before were learned"
            )
        yield row, label


def checked_word(value: Any, words: tuple[str, ...], name: str) -> str:
    """Refuse anything but one of some words."""
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, words))}, got {value!r}")
    return value


def check_one_history(cp: ConformalHMM) -> None:
    """Refuse an estimator whose history is several series, one after the other."""
    if cp._data.together or isinstance(cp._remembering, TogetherDepartures):
        raise ValueError(
            "cp is calibrated by the rows of several series (series='all' or 'first'), which are "
            "not one chain: p-values of its steps would not be uniform, and alarms false; fit with "
            "series='own' or 'others', and monitor one of its series_"
        )


def find_adaptive(adaptive: Any, cp: ConformalHMM) -> AdaptiveLevel:
    """Find an adaptive level; one by name has the estimator's level, if that is one for all."""
    levels = read_levels(cp.confidence_level)
    if isinstance(adaptive, str) and adaptive in AdaptiveLevel.named and not levels.named:
        made: AdaptiveLevel = AdaptiveLevel.named[adaptive](levels.written)
        return made
    return copy.deepcopy(checked_choice(adaptive, AdaptiveLevel, "adaptive"))  # type: ignore[no-any-return]


class Queue:
    """Steps in the order in which they were observed, up to the last that has no label.

    Attributes
    ----------
    steps : those that wait, for their own label or for that of an earlier step
    n_observed : how many there were, those that are gone included
    """

    def __init__(self) -> None:
        self.steps: deque[Waiting] = deque()
        self.n_observed = 0

    def __len__(self) -> int:
        return len(self.steps)

    def append(self, step: Waiting) -> None:
        """Let a step wait."""
        self.steps.append(step)
        self.n_observed += 1

    def find(self, time: int | None, number: int) -> list[Waiting]:
        """Return so many steps that labels are for: from a time on, or the earliest without one."""
        plural = "s" * (number != 1)
        if time is None:
            free = [one for one in self.steps if one.open]
            if len(free) < number:
                raise ValueError(
                    f"state has {number} label{plural}, and {len(free)} steps wait for one; call "
                    "observe first"
                )
            return free[:number]
        checked_limit(time, "time")
        if time + number > self.n_observed:
            raise ValueError(
                f"time={time} and {number} label{plural} reach beyond the {self.n_observed} steps "
                "observed; call observe first"
            )
        begin = time - (self.n_observed - len(self.steps))
        for place in range(begin, begin + number):
            if place < 0 or not self.steps[place].open:
                raise ValueError(
                    f"time={time + place - begin} has its label already, or was skipped; what was "
                    "said of a step cannot be taken back"
                )
        return [self.steps[place] for place in range(begin, begin + number)]

    def give(self, steps: list[Waiting], labels: list[Hashable]) -> None:
        """Give steps their labels."""
        for step, label in zip(steps, labels, strict=True):
            step.label, step.labelled = label, True

    def settled(self) -> Iterator[Waiting]:
        """Take out, in order, steps of which all is known, up to the first that waits."""
        while self.steps and not self.steps[0].open:
            yield self.steps.popleft()


COUNTS = ("transitions", "pooled", "emissions", "steps", "entered")
SETTINGS = ("martingale", "alarm", "on_alarm", "restart_from", "adaptive", "adapt_from", "keep")
PLAIN = {"n_labels": int, "n_skipped": int, "_since": int, "_cut": str, "_adapting": bool,
         "_gap": bool, "_begun": bool}  # fmt: skip
WAITING = ("time", "observation", "uniforms", "set", "steps", "issued", "label", "labelled",
           "skipped")  # fmt: skip


def take_apart(monitor: Monitor) -> dict[str, Any]:
    """Return all that a monitor is, in values that a file can hold."""
    follower, way, queue = monitor._follower, monitor._way, monitor._queue
    for step in queue.steps:
        if step.set is not None and not isinstance(step.set, PredictionSet):
            raise SaveError(
                f"step {step.time} waits for its label, and its set is too large to be listed; "
                "label it before saving"
            )
    kept: dict[str, Any] = {name: getattr(monitor, name) for name in (*SETTINGS, *PLAIN)}
    counted = None
    if isinstance(way, CountsSource):
        stream = way.stream
        counted = {
            "labels": list(way.alphabet.labels),
            "symbols": way.symbols,
            "ends": [stream.first, stream.last],
            **{name: getattr(stream, name) for name in (*COUNTS, "ring")},
        }
    return kept | {
        "cp": follower.known if follower.missed else follower.cp,
        "missed": follower.missed,
        "clock": None if monitor._clock is None else tuple(monitor._clock),
        "counted": counted,
        "sequence": monitor.coverage.sequence,
        "coverage": [[state, *held] for state, held in monitor.coverage.counts.items()],
        "generator": monitor._generator,
        "parts": [list(one) for one in monitor._parts],
        **monitor._bets.state,
        "adaptive_state": monitor.adaptive.state,
        "alarms": [list(one) for one in monitor.alarms],
        "log": [monitor._log.rows.copy(), monitor._log.dropped],
        "n_observed": queue.n_observed,
        "waiting": [[getattr(step, name) for name in WAITING] for step in queue.steps],
        "truths": list(monitor._truths),
        "recent": [list(one) for one in monitor.recent],
        "rows": [list(row) for row in monitor._rows],
    }


def measure_memory(kept: dict[str, Any]) -> int:
    """Return how many bytes making a monitor of what was kept takes, at most."""
    size = 2 * kept["log"][0].nbytes
    if (counted := kept["counted"]) is not None:
        n, m = len(counted["labels"]), len(counted["symbols"])
        # Of the estimator, of a file, and a copy.
        size += 3 * (8 * n * (2 * n + (n + 1) * (m + 1)) + counted["ring"].nbytes)
    return int(size)


def put_together(made: type[Monitor], kept: dict[str, Any]) -> Monitor:
    """Make a monitor of what was kept."""
    require(isinstance(kept["cp"], ConformalHMM), "an estimator")
    settings = {name: kept[name] for name in SETTINGS if name in kept}  # later ones may lack
    monitor = made(kept["cp"], **settings, coverage=kept["sequence"])
    monitor._clock = read_clock(kept.get("clock"))
    judged, visited = kept["parts"]
    require(set(judged) <= set(monitor.parts) and len(set(judged)) == len(judged), "parts")
    require(set(visited) <= set(monitor.states), "states that are visited")
    monitor._parts = Parts(tuple(judged), tuple(visited))
    monitor._begin_bets(monitor.alarm)
    require(isinstance(kept["generator"], np.random.Generator), "a generator")
    monitor._generator = kept["generator"]
    monitor._follow(monitor._settings)
    for name, kind in PLAIN.items():
        require(type(kept[name]) is kind, name)
        setattr(monitor, name, kept[name])
    require(not (monitor._gap and monitor._begun), "a gap")
    monitor._follower.missed = int(kept["missed"])
    way, counted = monitor._way, kept["counted"]
    if counted is None:
        monitor._outgrow()
    else:
        require(isinstance(way, CountsSource), "counts")
        assert isinstance(way, CountsSource)
        labels, symbols = list(counted["labels"]), list(counted["symbols"])
        way.restore(labels, symbols, _stream(counted, way, len(labels), len(symbols)))
    _restore_bets(monitor, kept)
    queue = monitor._queue
    for values in kept["waiting"]:
        one = dict(zip(WAITING, values, strict=True))
        require(one["set"] is None or isinstance(one["set"], PredictionSet), "a set")
        one["uniforms"] = tuple(map(float, one["uniforms"]))
        require(len(one["uniforms"]) == len(monitor.parts), "what breaks ties")
        require(type(one["time"]) is int, "a step")
        queue.append(Waiting(code=monitor._code(one["observation"]), **one))
    queue.n_observed = int(kept["n_observed"])
    require(queue.n_observed >= len(queue), "a number of steps")
    monitor._truths.extend(kept["truths"])
    monitor.recent.extend((int(time), label, seen) for time, label, seen in kept["recent"])
    monitor._rows.extend((row[0], row[1], bool(row[2])) for row in kept["rows"])
    return monitor


def _stream(counted: dict[str, Any], way: CountsSource, n: int, m: int) -> Stream:
    """Return counts, of the states and symbols that there are."""
    stream = Stream(n, m, way.stream.priors, way.stream.surprise, way.stream.recent)
    for name in COUNTS:
        found, own = counted[name], getattr(stream, name)
        require(is_array(found, np.int64, own.ndim) and found.shape == own.shape, "counts")
        require((found >= 0).all(), "counts")
        setattr(stream, name, found.copy())
    _restore_ring(stream, counted["ring"])
    stream.first, stream.last = (int(one) for one in counted["ends"])
    require(-1 <= stream.first < n and -1 <= stream.last < n, "a state")
    require((stream.first < 0) == (stream.last < 0), "a state")
    return stream


def _restore_ring(stream: Stream, ring: Any) -> None:
    """Take over the latest steps, if they are those that were counted."""
    n, width = stream.emissions.shape
    require(is_array(ring, np.int64, 3) and ring.shape[::2] == (n, 2), "the latest steps")
    if stream.recent is None:
        require(ring.size == 0, "the latest steps")
        return
    room = ring.shape[1]
    within = room == stream.recent or stream.entered.max(initial=0) <= room < stream.recent
    require(within and (ring >= 0).all() and (ring < [n, width]).all(), "the latest steps")
    held = np.arange(room) < stream.entered[:, None]
    counts = np.zeros_like(stream.steps)
    before, columns = ring[held].T
    np.add.at(counts, (before, np.nonzero(held)[0], columns), 1)
    require(np.array_equal(counts, stream.steps), "the latest steps")
    stream.ring = ring.copy()


def _restore_bets(monitor: Monitor, kept: dict[str, Any]) -> None:
    monitor._bets.restore(kept)
    monitor.adaptive.restore(kept["adaptive_state"])
    monitor.alarms = [Alert(*one) for one in kept["alarms"]]
    for state, held, judged in kept["coverage"]:
        monitor.coverage.counts[state] = [int(held), int(judged)]
    rows, dropped = kept["log"]
    width = 2 * len(monitor.parts) + 3
    require(is_array(rows, np.float64, 2) and rows.shape[1] == width, "what was written down")
    monitor._log.restore(rows, int(dropped))
