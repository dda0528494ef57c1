"""Capital by part, and the alarm that listens to it."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from definetti.martingales import Absence, Alarm, Martingale
from definetti.martingales.base import ZERO
from definetti.monitor._parts import Parts


class Bets:
    """One bet for each part, and one alarm for all.

    Parameters
    ----------
    parts : what is bet on
    martingale : how; visits have a bet of their own
    alarm : when to say that something has changed

    Attributes
    ----------
    martingales : by part, with its capital
    alarm : with thresholds for so many parts
    raised : by part, whether it was above its threshold after the last step
    """

    def __init__(self, parts: Parts, martingale: Martingale, alarm: Alarm) -> None:
        made = [copy.deepcopy(martingale) for _ in parts.judged]
        made += [Absence() for _ in parts.visited]
        for one in made:
            one.restart()
        self.martingales = dict(zip(parts.names, made, strict=True))
        self.alarm = replace(alarm, parts=len(made))
        self.raised = [False] * len(made)
        self._alike = [made[: len(parts.judged)], made[len(parts.judged) :]]
        self._join()

    def _join(self) -> None:
        """Put the states of those who bet alike into one table, by which they bet together."""
        self._tables = [
            (some, np.array([one.state for one in some])) for some in self._alike if some
        ]

    def take(self, p_values: list[float]) -> tuple[list[float], list[int]]:
        """Take in the p-values of a step; return the logs of capital, and parts newly raised."""
        values, begin = np.array([value or ZERO for value in p_values]), 0
        logs = np.empty(len(values))
        for alike, table in self._tables:
            end = begin + len(alike)
            alike[0].bet_each(table, values[begin:end], logs[begin:end])
            for one, row in zip(alike, table, strict=True):
                one.state = row
            begin = end
        told = logs.tolist()
        before, self.raised = self.raised, self.alarm.hear(told)
        if True not in self.raised:
            return told, []
        return told, [k for k, now in enumerate(self.raised) if now and not before[k]]

    @property
    def state(self) -> dict[str, Any]:
        """All that goes into a file."""
        return {
            "capitals": [one.state.copy() for one in self.martingales.values()],
            "alarm_state": [self.alarm.state, self.alarm.statistics],
            "raised": self.raised,
        }

    def restore(self, kept: dict[str, Any]) -> None:
        """Go on from a `state` that was saved."""
        for one, state in zip(self.martingales.values(), kept["capitals"], strict=True):
            one.restore(state)
        self.alarm.restore(*kept["alarm_state"])
        raised = [bool(one) for one in kept["raised"]]
        if len(raised) != len(self.raised):
            raise ValueError("raised must tell of each part")
        self.raised = raised
        self._join()
