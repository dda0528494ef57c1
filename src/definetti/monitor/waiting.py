"""Rows that come in, and the steps among them that wait for their labels."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sized
from dataclasses import dataclass
from itertools import repeat, zip_longest
from typing import Any

import narwhals as nw
import numpy as np

from definetti._system.checks import checked_limit
from definetti.monitor.sets import AnySet


@dataclass(slots=True)
class Waiting:
    """A step that was observed and has no label yet."""

    time: int
    observation: Any
    code: int
    uniforms: tuple[float, ...]  # which break ties, part by part
    set: AnySet | None = None
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
