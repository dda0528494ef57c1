"""Steps that wait for their labels, which may come late, out of order, or never."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator

from definetti._system.checks import checked_limit
from definetti.monitor.steps import Waiting


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
