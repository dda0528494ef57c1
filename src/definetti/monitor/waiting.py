"""Rows that come in, and the steps among them that wait for their labels."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sized
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import narwhals as nw
import numpy as np

from definetti._system.checks import checked_limit
from definetti.monitor.sets import AnySet


@dataclass(slots=True)
class Waiting:
    """A step that was observed and has no label yet.

    Attributes
    ----------
    time, observation, code : when, what, and what it is called
    set, steps : the set that was given, and how many of the last steps it is about
    begin : the first step whose label was not known then
    alpha : what the set may miss; None where the level is that of the step's own state
    uniforms : what breaks ties, part by part
    issued : what the adaptive level called the set; None where none was in force
    label, labelled : its label, once it has come before those of earlier steps
    skipped : whether its label never comes
    """

    time: int
    observation: Any
    code: int
    uniforms: tuple[float, ...]
    set: AnySet | None = None
    steps: int = 0
    begin: int = 0
    alpha: float | None = None
    issued: int | None = None
    label: Hashable = None
    labelled: bool = False
    skipped: bool = False

    @property
    def open(self) -> bool:
        """Whether its label may still come."""
        return not (self.labelled or self.skipped)


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
