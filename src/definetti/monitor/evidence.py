"""Evidence along a stream: capital bet on misses, capital bet on the law, and their alarms."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from definetti.martingales import Absence, Alarm, Martingale, Misses
from definetti.martingales.base import ZERO
from definetti.monitor.sources import Parts


class CoverageTest:
    """Tests "given the misses before, a set misses with probability at most alpha".

    Sets that are made before the label of an earlier one is known are not independent of it. So
    what is bet on are sets that were made when all sets that were bet on before had been judged:
    with labels that come at once every set, with labels ``d`` steps late every ``(d + 1)``-th.

    Parameters
    ----------
    alarm : when the capital is evidence
    after : the last step whose label must be known when a set is made that is bet on

    Attributes
    ----------
    martingale : the capital
    judged, missed : how many sets were bet on since the test began, and missed
    since : the first of them; None before there is one
    raised : whether the alarm was raised by the last set
    """

    def __init__(self, alarm: Alarm, after: int = -1) -> None:
        self.martingale = Misses()
        self.alarm = replace(alarm, parts=1)
        self.judged = self.missed = 0
        self.since: int | None = None
        self.raised = False
        self._after = after

    def takes(self, begin: int) -> bool:
        """Tell whether to bet on a set, by the first step whose label was unknown to it."""
        return begin > self._after

    def judge(self, time: int, missed: bool, alpha: float) -> bool:
        """Bet on the set of a step; return whether the alarm is newly raised."""
        log_capital = self.martingale.judge(missed, alpha)
        before, [self.raised] = self.raised, self.alarm.hear([log_capital])
        self.judged += 1
        self.missed += missed
        self.since = time if self.since is None else self.since
        self._after = time
        return self.raised and not before

    @property
    def state(self) -> dict[str, Any]:
        """All that goes into a file."""
        return {
            "capital": self.martingale.state.copy(),
            "alarm": [self.alarm.state, self.alarm.statistics],
            "counts": [self.judged, self.missed, self.since, self.raised, self._after],
        }

    def restore(self, kept: dict[str, Any]) -> None:
        """Go on from a `state` that was saved."""
        self.martingale.restore(kept["capital"])
        self.alarm.restore(*kept["alarm"])
        judged, missed, since, raised, after = kept["counts"]
        self.judged, self.missed, self._after = int(judged), int(missed), int(after)
        self.since, self.raised = None if since is None else int(since), bool(raised)


class LawTest:
    """Tests "the law has not changed, and is that of a hidden Markov model", part by part.

    Parameters
    ----------
    parts : what is bet on
    martingale : how; visits have a bet of their own
    alarm : when the capital is evidence

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
            "alarm": [self.alarm.state, self.alarm.statistics],
            "raised": self.raised,
        }

    def restore(self, kept: dict[str, Any]) -> None:
        """Go on from a `state` that was saved."""
        for one, state in zip(self._martingales.values(), kept["capitals"], strict=True):
            one.restore(state)
        self.alarm.restore(*kept["alarm"])
        raised = [bool(one) for one in kept["raised"]]
        if len(raised) != len(self.raised):
            raise ValueError("raised must tell of each part")
        self.raised = raised
        self._join()
