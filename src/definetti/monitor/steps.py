"""What becomes of a step: observed, given a set, labelled, judged."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from definetti.monitor._present import AnySet


class Alert(NamedTuple):
    """An alarm that was raised.

    Attributes
    ----------
    time : the step whose label raised it, counted as `Monitor.observe` does
    part : what was found to have changed
    log_statistic, log_threshold : what was reached, and what had to be
    done : what was done about it
    """

    time: int
    part: str
    log_statistic: float
    log_threshold: float
    done: str


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


@dataclass(slots=True)
class Waiting:
    """A step that was observed and has no label yet.

    Attributes
    ----------
    time, observation, code : when, what, and what it is called
    set, steps : the set that was given, and how many of the last steps it is about
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
    issued: int | None = None
    label: Hashable = None
    labelled: bool = False
    skipped: bool = False

    @property
    def open(self) -> bool:
        """Whether its label may still come."""
        return not (self.labelled or self.skipped)
