"""Convert a monitor to values for a file, and restore it from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from definetti.conformal import ConformalHMM
from definetti.data.labels import is_array, require
from definetti.data.timing import read_clock
from definetti.engine.step_counts import Stream
from definetti.exceptions import SaveError
from definetti.monitor.sources import CountsSource, GeneralSource, Parts
from definetti.monitor.steps import Alert, Waiting
from definetti.sets import PredictionSet

if TYPE_CHECKING:
    from definetti.monitor.monitor import Monitor

COUNTS = ("transitions", "pooled", "emissions", "steps", "entered")
SETTINGS = ("martingale", "alarm", "listen_to", "on_alarm", "restart_from", "adaptive",
            "adapt_from", "keep")  # fmt: skip
PLAIN = {"n_labels": int, "n_skipped": int, "_adapting": bool}
PAST = {"since": int, "cut": str, "gap": bool, "begun": bool}
WAITING = ("time", "observation", "uniforms", "set", "steps", "begin", "alpha", "issued", "label",
           "labelled", "skipped")  # fmt: skip


def take_apart(monitor: Monitor) -> dict[str, Any]:
    """Return the whole state of a monitor as values for a file."""
    past, queue = monitor._past, monitor._queue
    source = past.source
    for step in queue.steps:
        if step.set is not None and not isinstance(step.set, PredictionSet):
            raise SaveError(
                f"step {step.time} waits for its label, and its set is too large to be listed; "
                "label it before saving"
            )
    kept: dict[str, Any] = {name: getattr(monitor, name) for name in (*SETTINGS, *PLAIN)}
    counted = None
    if isinstance(source, CountsSource):
        stream = source.stream
        counted = {
            "labels": list(source.alphabet.labels),
            "symbols": source.symbols,
            "ends": [stream.first, stream.last],
            **{name: getattr(stream, name) for name in (*COUNTS, "ring")},
        }
    kept |= {name: getattr(past, name) for name in PAST}
    return kept | {
        "cp": past.known if past.missed else past.cp,
        "missed": past.missed,
        "clock": None if monitor._clock is None else tuple(monitor._clock),
        "counted": counted,
        "asks": isinstance(source, GeneralSource),
        "sequence": monitor.coverage.sequence,
        "coverage": [[state, *held] for state, held in monitor.coverage.counts.items()],
        "generator": monitor._generator,
        "parts": [list(names) for names in monitor._parts],
        "law_test": monitor._law_test.state,
        "coverage_test": monitor._coverage_test.state,
        "diagnosis": [list(pair) for pair in monitor._diagnosis.items()],
        "adaptive_state": monitor.adaptive.state,
        "alarms": [list(alert) for alert in monitor.alarms],
        "log": [monitor._log.rows.copy()],
        "n_observed": queue.n_observed,
        "waiting": [[getattr(step, name) for name in WAITING] for step in queue.steps],
        "truths": list(monitor._truths),
        "recent": [list(entry) for entry in monitor.recent],
        "rows": [list(row) for row in past.rows],
    }


def measure_memory(kept: dict[str, Any]) -> int:
    """Return an upper bound of the memory in bytes for restoring a monitor."""
    size = 2 * kept["log"][0].nbytes
    if (counted := kept["counted"]) is not None:
        n, m = len(counted["labels"]), len(counted["symbols"])
        # For the estimator, the file, and a copy.
        size += 3 * (8 * n * (2 * n + (n + 1) * (m + 1)) + counted["ring"].nbytes)
    return int(size)


def put_together(monitor_class: type[Monitor], kept: dict[str, Any]) -> Monitor:
    """Return a monitor restored from saved values."""
    require(isinstance(kept["cp"], ConformalHMM), "an estimator")
    settings = {name: kept[name] for name in SETTINGS}
    monitor = monitor_class(kept["cp"], **settings, coverage=kept["sequence"])
    monitor._clock = read_clock(kept["clock"])
    judged, visited = kept["parts"]
    require(set(judged) <= set(monitor.parts) and len(set(judged)) == len(judged), "parts")
    require(set(visited) <= set(monitor.states), "states that are visited")
    monitor._parts = Parts(tuple(judged), tuple(visited))
    monitor._begin_tests(monitor.alarm)
    require(isinstance(kept["generator"], np.random.Generator), "a generator")
    monitor._generator = kept["generator"]
    monitor._begin_past(monitor._past.known)
    past = monitor._past
    for thing, kinds in ((monitor, PLAIN), (past, PAST)):
        for name, kind in kinds.items():
            require(type(kept[name]) is kind, name)
            setattr(thing, name, kept[name])
    require(not (past.gap and past.begun), "a gap")
    past.missed = int(kept["missed"])
    source, counted = past.source, kept["counted"]
    if kept["asks"]:
        past.outgrow()
    elif counted is not None:
        require(isinstance(source, CountsSource), "counts")
        assert isinstance(source, CountsSource)
        labels, symbols = list(counted["labels"]), list(counted["symbols"])
        source.restore(labels, symbols, _stream(counted, source, len(labels), len(symbols)))
    _restore_tests(monitor, kept)
    queue = monitor._queue
    for values in kept["waiting"]:
        fields = dict(zip(WAITING, values, strict=True))
        require(fields["set"] is None or isinstance(fields["set"], PredictionSet), "a set")
        fields["uniforms"] = tuple(map(float, fields["uniforms"]))
        require(len(fields["uniforms"]) == len(monitor.parts), "what breaks ties")
        require(type(fields["time"]) is int and type(fields["begin"]) is int, "a step")
        require(fields["alpha"] is None or 0 < fields["alpha"] < 1, "what a set may miss")
        queue.append(Waiting(code=past.code(fields["observation"]), **fields))
    queue.n_observed = int(kept["n_observed"])
    require(queue.n_observed >= len(queue), "a number of steps")
    monitor._truths.extend(kept["truths"])
    monitor.recent.extend((int(time), label, seen) for time, label, seen in kept["recent"])
    past.rows.extend((row[0], row[1], bool(row[2])) for row in kept["rows"])
    return monitor


def _stream(counted: dict[str, Any], source: CountsSource, n: int, m: int) -> Stream:
    """Return a stream with the saved counts of n states and m symbols."""
    stream = Stream(n, m, source.stream.priors, source.stream.surprise, source.stream.recent)
    for name in COUNTS:
        counts, own = counted[name], getattr(stream, name)
        require(is_array(counts, np.int64, own.ndim) and counts.shape == own.shape, "counts")
        require((counts >= 0).all(), "counts")
        setattr(stream, name, counts.copy())
    _restore_ring(stream, counted["ring"])
    stream.first, stream.last = (int(end) for end in counted["ends"])
    require(-1 <= stream.first < n and -1 <= stream.last < n, "a state")
    require((stream.first < 0) == (stream.last < 0), "a state")
    return stream


def _restore_ring(stream: Stream, ring: Any) -> None:
    """Restore the ring of latest steps; raise unless they match the counts."""
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


def _restore_tests(monitor: Monitor, kept: dict[str, Any]) -> None:
    monitor._law_test.restore(kept["law_test"])
    monitor._coverage_test.restore(kept["coverage_test"])
    monitor._diagnosis = {str(name): int(time) for name, time in kept["diagnosis"]}
    monitor.adaptive.restore(kept["adaptive_state"])
    for *fields, blamed in kept["alarms"]:
        require(len(fields) == 5, "an alarm")
        monitor.alarms.append(Alert(*fields)._replace(diagnosis=tuple(blamed)))
    for state, held, judged in kept["coverage"]:
        monitor.coverage.counts[state] = [int(held), int(judged)]
    rows, *_ = kept["log"]
    width = 2 * len(monitor.parts) + 4
    require(is_array(rows, np.float64, 2) and rows.shape[1] == width, "what was written down")
    monitor._log.restore(rows)
