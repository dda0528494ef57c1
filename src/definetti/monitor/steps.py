"""Steps of a stream: incoming rows, rows that wait for labels, and coverage of their sets."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass
from itertools import repeat, zip_longest
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from definetti._system.checks import checked_limit
from definetti.martingales import ConfidenceSequence
from definetti.sets import BasePredictionSet

COVERAGE = "coverage"  # name of the test of coverage


class Alert(NamedTuple):
    """An alarm.

    Attributes
    ----------
    time : the step whose label raised it, counted as `Monitor.observe` does
    part : the assumption with evidence against it: "coverage", or a part of the law
    log_statistic, log_threshold : the log of the statistic and of the threshold
    done : the reaction to the alarm
    diagnosis : the parts of the law with evidence against them by then
    """

    time: int
    part: str
    log_statistic: float
    log_threshold: float
    done: str
    diagnosis: tuple[str, ...] = ()

    @property
    def says(self) -> str:
        """The finding, in words."""
        if self.part != COVERAGE:
            return f"the law of the {self.part} has changed, or the chain is not Markov"
        if not self.diagnosis:
            return "sets miss too often; no test of the law says why"
        return f"sets miss too often; the law of the {' and of the '.join(self.diagnosis)} changed"


class Step(NamedTuple):
    """A step whose label was learned.

    Attributes
    ----------
    time : when it was observed, counted from 0
    state : its label
    set : the set returned for it; None if none was predicted
    covered : whether the set held the truth, before filling if it was empty; None if there was
        nothing to judge
    p_values : the smoothed p-value of each part; empty for the first step after a gap
    alerts : the alarms raised by the step
    """

    time: int
    state: Hashable
    set: BasePredictionSet | None
    covered: bool | None
    p_values: Mapping[str, float]
    alerts: tuple[Alert, ...] = ()


class Share(NamedTuple):
    """A share of covered sets with its interval.

    Attributes
    ----------
    held, judged : the number of sets that held the truth, and of all sets judged
    low, high : the interval of a confidence sequence, which holds at all times together
    """

    held: int
    judged: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """The share of sets that held the truth; NaN before the first set."""
        return self.held / self.judged if self.judged else float("nan")


class Coverage:
    """Coverage of sets, overall and by true state.

    Examples
    --------
    >>> from definetti.martingales import NormalMixture
    >>> coverage = Coverage(NormalMixture())
    >>> for held in [True, True, False, True]:
    ...     coverage.add("rain", held)
    >>> coverage.overall.share, coverage.by_state["rain"].judged
    (0.75, 4)
    >>> coverage
    Coverage: 0.750 of 4 sets held the truth, [0.000, 1.000] at all times
    """

    def __init__(self, sequence: ConfidenceSequence) -> None:
        self.sequence = sequence
        self.counts: dict[Hashable, list[int]] = {}  # held and judged, by state

    def add(self, state: Hashable, held: bool) -> None:
        """Count one more set."""
        counts = self.counts.setdefault(state, [0, 0])
        counts[0] += held
        counts[1] += 1

    @property
    def overall(self) -> Share:
        held = sum(counts[0] for counts in self.counts.values())
        return self._share(held, sum(counts[1] for counts in self.counts.values()))

    @property
    def by_state(self) -> Mapping[Hashable, Share]:
        return {state: self._share(*counts) for state, counts in self.counts.items()}

    def _share(self, held: int, judged: int) -> Share:
        low, high = self.sequence.interval(held, judged)
        return Share(held, judged, float(low), float(high))

    def __repr__(self) -> str:
        overall = self.overall
        return (
            f"Coverage: {overall.share:.3f} of {overall.judged} sets held the truth, "
            f"[{overall.low:.3f}, {overall.high:.3f}] at all times"
        )


@dataclass(slots=True)
class Waiting:
    """A step that was observed and has no label yet."""

    time: int
    observation: Any
    code: int
    uniforms: tuple[float, ...]  # which break ties, part by part
    set: BasePredictionSet | None = None
    steps: int = 0  # how many last steps the set is for
    begin: int = 0  # the first step whose label was unknown then
    alpha: float | None = None  # of the set; None if it depends on the state of the step
    issued: int | None = None  # number of the set from the adaptive level, if in use
    label: Hashable = None
    labelled: bool = False  # labels may come before those of earlier steps
    skipped: bool = False  # its label never comes

    @property
    def open(self) -> bool:
        """Whether its label may still come."""
        return not (self.labelled or self.skipped)


class Queue:
    """Steps that wait for their own label or for that of an earlier step, in order."""

    def __init__(self) -> None:
        self.steps: deque[Waiting] = deque()
        self.n_observed = 0

    def __len__(self) -> int:
        return len(self.steps)

    def append(self, step: Waiting) -> None:
        self.steps.append(step)
        self.n_observed += 1

    def find(self, time: int | None, number: int) -> list[Waiting]:
        """Return the `number` steps to label: from a time on, or the earliest without a label."""
        plural = "s" * (number != 1)
        if time is None:
            free = [step for step in self.steps if step.open]
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

    def settled(self) -> Iterator[Waiting]:
        """Remove and yield steps labelled or skipped, up to the first that waits."""
        while self.steps and not self.steps[0].open:
            yield self.steps.popleft()


def each_row(values: Any) -> Iterable[Any]:
    """Return the rows of a list, array, series or frame; rows of a frame are frames.

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
    """Yield rows with their labels; rows are None for a plain chain."""
    labels = each_row(states)
    rows = repeat(None) if observations is None else each_row(observations)
    if isinstance(rows, Sized) and isinstance(labels, Sized) and len(rows) != len(labels):
        raise ValueError(
            f"observations has {len(rows)} rows, and states has {len(labels)}; give a state for "
            "each row, None where it is missing"
        )
    if observations is None:
        yield from zip(rows, labels, strict=False)
        return
    nothing = object()
    for row, label in zip_longest(rows, labels, fillvalue=nothing):
        if row is nothing or label is nothing:
            short, long = ("observations", "states")[:: 1 if row is nothing else -1]
            raise ValueError(
                f"{short} ended, and {long} goes on; give a state for each row, None where it is "
                "missing; the rows before were learned"
            )
        yield row, label
