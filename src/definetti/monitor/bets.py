"""Capital by part, and the alarm that listens to it."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from definetti.martingales import Absence, Alarm, Martingale
from definetti.martingales.base import ZERO
from definetti.monitor.sources import Parts


class Bets:
    """One bet for each part, and one alarm for all.

    Parameters
    ----------
    parts : what is bet on
    martingale : how; visits have a bet of their own
    alarm : when to say that something has changed

    Attributes
    ----------
    alarm : with thresholds for so many parts
    raised : by part, whether it was above its threshold after the last step
    """

    def __init__(self, parts: Parts, martingale: Martingale, alarm: Alarm) -> None:
        made = [copy.deepcopy(martingale) for _ in parts.judged]
        made += [Absence() for _ in parts.visited]
        for one in made:
            one.restart()
        self._martingales = dict(zip(parts.names, made, strict=True))
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
        values, told, begin = [value or ZERO for value in p_values], [], 0
        for alike, table in self._tables:
            own = np.array(values[begin : begin + len(alike)])
            alike[0].bet_each(table, own, logs := np.empty(len(own)))
            told += logs.tolist()
            begin += len(alike)
        before, self.raised = self.raised, self.alarm.hear(told)
        if True not in self.raised:
            return told, []
        return told, [k for k, now in enumerate(self.raised) if now and not before[k]]

    @property
    def martingales(self) -> dict[str, Martingale]:
        """By part, with its capital as it stands."""
        for alike, table in self._tables:
            for one, row in zip(alike, table, strict=True):
                one.state = row  # which follows the table from now on
        return self._martingales

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
        for one, state in zip(self._martingales.values(), kept["capitals"], strict=True):
            one.restore(state)
        self.alarm.restore(*kept["alarm_state"])
        raised = [bool(one) for one in kept["raised"]]
        if len(raised) != len(self.raised):
            raise ValueError("raised must tell of each part")
        self.raised = raised
        self._join()
