"""What a monitor reports: steps, alarms, coverage so far, and a log."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import NamedTuple

import numpy as np

from definetti._system.arrays import FloatArray
from definetti.martingales import ConfidenceSequence
from definetti.monitor.sets import AnySet

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
    set: AnySet | None
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


class Log:
    """Rows of numbers that grow at the end, at a constant cost; the last `keep` stay."""

    def __init__(self, width: int, keep: int | None = None) -> None:
        self.keep = keep
        self.dropped = 0
        self._room = np.empty((16, width))
        self._begin = self._end = 0

    def __len__(self) -> int:
        return self._end - self._begin

    @property
    def rows(self) -> FloatArray:
        return self._room[self._begin : self._end]

    def append(self, row: list[float]) -> None:
        if self._end == len(self._room):
            # Twice the room that is needed, so that this happens seldom.
            room = np.empty((2 * len(self) + 16, self._room.shape[1]))
            room[: len(self)] = self.rows
            self._begin, self._end, self._room = 0, len(self), room
        self._room[self._end] = row
        self._end += 1
        if self.keep is not None and len(self) > self.keep:
            self._begin += 1
            self.dropped += 1

    def restore(self, rows: FloatArray, dropped: int) -> None:
        self._room, self._begin, self._end = rows.copy(), 0, len(rows)
        self.dropped = dropped
