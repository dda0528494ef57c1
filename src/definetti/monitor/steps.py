"""Steps of a stream: rows that come in, those that wait for labels, and how their sets fared."""

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

COVERAGE = "coverage"  # the name of what is tested first


class Alert(NamedTuple):
    """An alarm that was raised.

    Attributes
    ----------
    time : the step whose label raised it, counted as `Monitor.observe` does
    part : what the evidence is about: "coverage", or a part of the law
    log_statistic, log_threshold : what was reached, and what had to be
    done : what was done about it
    diagnosis : the parts of the law that there is evidence against by then
    """

    time: int
    part: str
    log_statistic: float
    log_threshold: float
    done: str
    diagnosis: tuple[str, ...] = ()

    @property
    def says(self) -> str:
        """What was found, in words."""
        if self.part != COVERAGE:
            return f"the law of the {self.part} has changed, or the chain is not Markov"
        if not self.diagnosis:
            return "sets miss too often; no test of the law says why"
        return f"sets miss too often; the law of the {' and of the '.join(self.diagnosis)} changed"


class Step(NamedTuple):
    """A step whose label has come in and was learned.

    Attributes
    ----------
    time : when it was observed, counted from 0
    state : its label
    set : the set that was given for it; None where none was asked for
    covered : whether that held the truth, before it was filled if it was empty; None where there
        was nothing to judge
    p_values : the smoothed p-value of each part; empty for the first step after a gap
    alerts : the alarms that it raised
    """

    time: int
    state: Hashable
    set: BasePredictionSet | None
    covered: bool | None
    p_values: Mapping[str, float]
    alerts: tuple[Alert, ...] = ()


class Share(NamedTuple):
    """How often, of how many sets, and between what bounds.

    Attributes
    ----------
    held, judged : sets that held the truth, and all that were judged
    low, high : the interval of a confidence sequence, which holds at all times together
    """

    held: int
    judged: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """The share of sets that held the truth; NaN before the first."""
        return self.held / self.judged if self.judged else float("nan")


class Coverage:
    """Sets judged by the truth, all together and by the true state.

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
        """Judge one more set."""
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
        found = self.overall
        return (
            f"Coverage: {found.share:.3f} of {found.judged} sets held the truth, "
            f"[{found.low:.3f}, {found.high:.3f}] at all times"
        )


@dataclass(slots=True)
class Waiting:
    """A step that was observed and has no label yet."""

    time: int
    observation: Any
    code: int
    uniforms: tuple[float, ...]  # which break ties, part by part
    set: BasePredictionSet | None = None
    steps: int = 0  # how many of the last steps the set is about
    begin: int = 0  # the first step whose label was not known then
    alpha: float | None = None  # of the set; None where the level is that of the step's own state
    issued: int | None = None  # what the adaptive level called the set, where one was in force
    label: Hashable = None
    labelled: bool = False  # its label may come before those of earlier steps
    skipped: bool = False  # its label never comes

    @property
    def open(self) -> bool:
        """Whether its label may still come."""
        return not (self.labelled or self.skipped)


class Queue:
    """Steps that wait, for their own label or for that of an earlier step, in their order."""

    def __init__(self) -> None:
        self.steps: deque[Waiting] = deque()
        self.n_observed = 0

    def __len__(self) -> int:
        return len(self.steps)

    def append(self, step: Waiting) -> None:
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

    def settled(self) -> Iterator[Waiting]:
        """Take out, in order, steps of which all is known, up to the first that waits."""
        while self.steps and not self.steps[0].open:
            yield self.steps.popleft()


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
    """Yield rows with their labels, one by one; None for observations of a plain chain."""
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
