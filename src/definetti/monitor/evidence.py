"""Process labels: judge sets, bet capital against assumptions, and raise alarms."""

from __future__ import annotations

import copy
import math
from collections import deque
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.checks import warn_caller
from definetti._system.interrupts import hold_signals
from definetti._system.mixins import Locked
from definetti.exceptions import ChangeWarning
from definetti.levels import AdaptiveLevel, Levels
from definetti.martingales import (
    Absence,
    Alarm,
    Martingale,
    Misses,
    show_capital,
)
from definetti.martingales.base import ZERO
from definetti.monitor.past import Past, last_states, noted_p_value
from definetti.monitor.sources import Parts
from definetti.monitor.steps import COVERAGE, Alert, Coverage, Queue, Step, Waiting


class Log:
    """A growing table of numbers with constant cost per row; keeps the last `keep` rows."""

    def __init__(self, width: int, keep: int | None = None) -> None:
        self.keep = keep
        self._room = np.empty((16, width))
        self._begin = self._end = 0

    def __len__(self) -> int:
        return self._end - self._begin

    @property
    def rows(self) -> FloatArray:
        return self._room[self._begin : self._end]

    def append(self, row: list[float]) -> None:
        if self._end == len(self._room):
            # Allocate twice the room needed, so that this is rare.
            room = np.empty((2 * len(self) + 16, self._room.shape[1]))
            room[: len(self)] = self.rows
            self._begin, self._end, self._room = 0, len(self), room
        self._room[self._end] = row
        self._end += 1
        if self.keep is not None and len(self) > self.keep:
            self._begin += 1

    def restore(self, rows: FloatArray) -> None:
        self._room, self._begin, self._end = rows.copy(), 0, len(rows)


class CoverageTest:
    """Tests "given the misses before, a set misses with probability at most alpha".

    A set made before the label of an earlier set is known is not independent of it. So bets are
    placed only on sets made after the label of step `after` and of all sets bet on before: with
    labels ``d`` steps late, on every ``(d + 1)``-th set.
    """

    def __init__(self, alarm: Alarm, after: int = -1) -> None:
        self.martingale = Misses()
        self.alarm = replace(alarm, parts=1)
        self.judged = self.missed = 0
        self.since: int | None = None
        self.raised = False
        self._after = after

    def takes(self, begin: int) -> bool:
        """Return whether to bet on a set, given the first step whose label was unknown to it."""
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
        """The values to save."""
        return {
            "capital": self.martingale.state.copy(),
            "alarm": [self.alarm.state, self.alarm.statistics],
            "counts": [self.judged, self.missed, self.since, self.raised, self._after],
        }

    def restore(self, kept: dict[str, Any]) -> None:
        """Restore a saved `state`."""
        self.martingale.restore(kept["capital"])
        self.alarm.restore(*kept["alarm"])
        judged, missed, since, raised, after = kept["counts"]
        self.judged, self.missed, self._after = int(judged), int(missed), int(after)
        self.since, self.raised = None if since is None else int(since), bool(raised)


class LawTest:
    """Tests "the law has not changed, and is that of a hidden Markov model", part by part.

    Visits have separate bets; the alarm has thresholds for the number of all parts.
    """

    def __init__(self, parts: Parts, martingale: Martingale, alarm: Alarm) -> None:
        martingales = [copy.deepcopy(martingale) for _ in parts.judged]
        martingales += [Absence() for _ in parts.visited]
        for bet in martingales:
            bet.restart()
        self._martingales = dict(zip(parts.names, martingales, strict=True))
        self.alarm = replace(alarm, parts=len(martingales))
        self.raised = [False] * len(martingales)
        self._alike = [martingales[: len(parts.judged)], martingales[len(parts.judged) :]]
        self._join()

    def _join(self) -> None:
        """Put the states of martingales of one class into one table, to update them together."""
        self._tables = [
            (some, np.array([bet.state for bet in some])) for some in self._alike if some
        ]

    def take(self, p_values: list[float]) -> tuple[list[float], list[int]]:
        """Bet on the p-values of a step; return log capitals, and parts newly raised."""
        values, capitals, begin = [value or ZERO for value in p_values], [], 0
        for alike, table in self._tables:
            own = np.array(values[begin : begin + len(alike)])
            alike[0].bet_each(table, own, logs := np.empty(len(own)))
            capitals += logs.tolist()
            begin += len(alike)
        before, self.raised = self.raised, self.alarm.hear(capitals)
        if True not in self.raised:
            return capitals, []
        return capitals, [k for k, now in enumerate(self.raised) if now and not before[k]]

    @property
    def martingales(self) -> dict[str, Martingale]:
        """The martingale of each part, with its present capital."""
        for alike, table in self._tables:
            for bet, row in zip(alike, table, strict=True):
                bet.state = row  # a view of the table, which later bets change
        return self._martingales

    @property
    def state(self) -> dict[str, Any]:
        """The values to save."""
        return {
            "capitals": [bet.state.copy() for bet in self.martingales.values()],
            "alarm": [self.alarm.state, self.alarm.statistics],
            "raised": self.raised,
        }

    def restore(self, kept: dict[str, Any]) -> None:
        """Restore a saved `state`."""
        for bet, state in zip(self._martingales.values(), kept["capitals"], strict=True):
            bet.restore(state)
        self.alarm.restore(*kept["alarm"])
        raised = [bool(value) for value in kept["raised"]]
        if len(raised) != len(self.raised):
            raise ValueError("raised must tell of each part")
        self.raised = raised
        self._join()


class Evidence(Locked):
    """The tests of a monitor, their capital by step, and its reaction to alarms."""

    alarms: list[Alert]
    coverage: Coverage
    martingale: Martingale
    adaptive: AdaptiveLevel
    listen_to: str
    on_alarm: str
    restart_from: str
    adapt_from: str
    keep: int | None
    n_labels: int
    n_skipped: int
    recent: deque[tuple[int, Hashable, tuple[Hashable, ...] | None]]
    _adapting: bool
    _levels: Levels
    _one_miss: bool
    _parts: Parts
    _past: Past
    _queue: Queue
    _truths: deque[Hashable]

    def _begin_tests(self, alarm: Alarm) -> None:
        self.parts = self._parts.names
        self._coverage_test = CoverageTest(alarm)
        self._law_test = LawTest(self._parts, self.martingale, alarm)
        self._diagnosis: dict[str, int] = {}
        self._log = Log(2 * len(self.parts) + 4, self.keep)

    @property
    def martingales(self) -> Mapping[str, Martingale]:
        """The martingales, with their capital: for coverage, and for each part of the law."""
        return {COVERAGE: self._coverage_test.martingale, **self._law_test.martingales}

    @property
    def alarm(self) -> Alarm:
        """The alarm of the test that raises alarms, by `listen_to`."""
        test = self._coverage_test if self.listen_to == COVERAGE else self._law_test
        return test.alarm

    @property
    def log_thresholds(self) -> Mapping[str, float]:
        """The log thresholds of the alarms: of coverage, and of each part of the law."""
        law = dict.fromkeys(self.parts, self._law_test.alarm.log_threshold)
        return {COVERAGE: self._coverage_test.alarm.log_threshold, **law}

    @property
    def diagnosis(self) -> Mapping[str, int]:
        """The assumptions with evidence against them, with the step at which each was raised."""
        return dict(self._diagnosis)

    @property
    def adapting(self) -> bool:
        """Whether the level is adaptive now."""
        return self._adapting

    @property
    def confidence_level(self) -> Any:
        """The level of the estimator."""
        return self._levels.written

    @property
    def p_values(self) -> Mapping[str, FloatArray]:
        rows = self._log.rows
        return {part: rows[:, k].copy() for k, part in enumerate(self.parts)}

    @property
    def log_capitals(self) -> Mapping[str, FloatArray]:
        """The natural logarithm of each capital after each step in the log."""
        columns = enumerate((COVERAGE, *self.parts), len(self.parts))
        return {name: self._log.rows[:, k].copy() for k, name in columns}

    @property
    def history(self) -> FloatArray:
        """Time, whether the set held the truth (NaN if not judged), and its size, step by step."""
        return self._log.rows[:, -3:].copy()

    @property
    def promise(self) -> str:
        if not self._adapting:
            return self._past.promise
        bound = self.adaptive.bound
        since = "" if self.adapt_from == "beginning" else " since an alarm"
        return (
            f"the level adapts{since}: misses in the long run are those of the level, "
            f"whatever comes{'' if math.isinf(bound) else f', to within {bound:.3f} now'}; a "
            "single set promises nothing"
        )

    def __repr__(self) -> str:
        overall, limits = self.coverage.overall, self.log_thresholds
        alarms = ", ".join(f"{alert.part} at step {alert.time}" for alert in self.alarms[-3:])
        lines = [f"Monitor: {self.n_labels:,} labels, {len(self.alarms)} alarms"]
        lines[0] += f", the last ones: {alarms}" if alarms else ""
        lines += [f"{overall.share:.3f} of {overall.judged:,} sets held the truth at the level "
                  f"{self.confidence_level}"]  # fmt: skip
        lines += [
            f"  against {name}: capital {show_capital(bet.log_capital)}, "
            f"evidence from {show_capital(limits[name])} on"
            for name, bet in self.martingales.items()
        ]
        return "\n".join(lines)

    def _learn_all(self) -> list[Step]:
        """Learn waiting steps in order, up to the first without a label."""
        learned = []
        for step in self._queue.settled():
            if step.labelled:
                # Ctrl-C must not interrupt a step halfway.
                learned.append(hold_signals(self._learn, (step,)))
                continue
            self.n_skipped += 1
            self._past.end_segment()
            if step.issued is not None:
                self.adaptive.drop(step.issued)
        return learned

    def _learn(self, step: Waiting) -> Step:
        """Judge the set of a labelled step, update tests, learn the label, and raise alarms."""
        label, number = step.label, len(self.parts)
        if self._past.gap:
            self._truths.clear()
        values = self._past.p_values(step)
        logs, raised = self._law_test.take(values) if values else ([math.nan] * number, [])
        self._truths.append(label)
        members = None if step.set is None else last_states(step.set)
        covered, short = self._judge(step, members)
        self.recent.append((step.time, label, members))
        size = math.nan if members is None else float(len(members))
        held = math.nan if covered is None else float(covered)
        capital = self._coverage_test.martingale.log_capital
        row = [*(values or [math.nan] * number), capital, *logs, float(step.time), held, size]
        self._log.append(row)
        self._past.learn(step)
        self.n_labels += 1
        alerts = self._alert(step, short, raised) if short or raised else ()
        waiting = self._queue.steps
        longest = max([step.steps for step in waiting]) if waiting else 1
        while len(self._truths) > longest:
            self._truths.popleft()
        by_part = dict(zip(self.parts, values, strict=True)) if values else {}
        return Step(step.time, label, step.set, covered, by_part, alerts)

    def _judge(
        self, step: Waiting, members: tuple[Hashable, ...] | None
    ) -> tuple[bool | None, bool]:
        """Return whether the set of a step held the truth, and whether the coverage alarm is new.

        A filled set counts as empty.
        """
        if step.set is None or members is None or not step.steps or len(self._truths) < step.steps:
            if step.issued is not None:
                self.adaptive.drop(step.issued)
            return None, False
        truth = tuple(self._truths)[-step.steps :] if step.steps > 1 else (step.label,)
        if step.steps == 1:
            covered = step.label in members and not step.set.filled_steps[-1]
        else:
            covered = step.set.covers_unfilled(truth)
        self.coverage.add(step.label, covered)
        missed = not covered
        if step.issued is not None:
            p_value = noted_p_value(step.set, truth)
            self.adaptive.update(p_value, step.issued)
            missed = p_value <= self._alpha_of(step)
        if not (self._one_miss and self._coverage_test.takes(step.begin)):
            return covered, False
        known = step.set.states
        if not all(state in known for state in truth):
            return covered, self._coverage_test.judge(step.time, False, 0.5)
        return covered, self._coverage_test.judge(step.time, missed, self._alpha_of(step))

    def _alpha_of(self, step: Waiting) -> float:
        """Return the miscoverage allowed for the set of a labelled step."""
        return float(self._levels.alpha(step.label)) if step.alpha is None else step.alpha

    def _alert(self, step: Waiting, short: bool, raised: list[int]) -> tuple[Alert, ...]:
        """Record new evidence; if it is of the test in `listen_to`, raise alarms and react."""
        new = [COVERAGE] * short + [self.parts[k] for k in raised]
        for name in new:
            self._diagnosis.setdefault(name, step.time)
        heard = [name for name in new if (name == COVERAGE) == (self.listen_to == COVERAGE)]
        if not heard:
            return ()
        names = [COVERAGE] if self.listen_to == COVERAGE else self.parts
        statistics = dict(zip(names, self.alarm.statistics.tolist(), strict=True))
        threshold = self.alarm.log_threshold
        blamed = tuple(name for name in self._diagnosis if name != COVERAGE)
        alerts = [Alert(step.time, name, statistics[name], threshold, "", blamed) for name in heard]
        done = self._react(step, max(alerts, key=lambda alert: alert.log_statistic))
        alerts = [alert._replace(done=done) for alert in alerts]
        self.alarms += alerts
        return tuple(alerts)

    def _react(self, step: Waiting, alert: Alert) -> str:
        if self.on_alarm == "restart":
            return self._restart(step, alert.part)
        test = self._coverage_test
        if alert.part == COVERAGE:
            self._coverage_test = CoverageTest(self.alarm, after=step.time)
        if self.on_alarm == "adapt":
            self._adapting = True
            return "the level adapts from now on"
        counts = ""
        if alert.part == COVERAGE:
            level = self.confidence_level
            counts = f" ({test.missed} of {test.judged} from step {test.since} on, level {level})"
        warn_caller(
            f"at step {step.time} {alert.says}{counts}: what follows need not keep its level; "
            f"on_alarm='restart' begins anew ({self.alarm.promise})",
            ChangeWarning,
        )
        return "a warning was given"

    def _restart(self, step: Waiting, name: str) -> str:
        """Restart the history at the step that raised the alarm or at the estimated change."""
        after = 0
        if self.restart_from == "change":
            logs, times = self.log_capitals[name], self.history[:, 0]
            # Capitals before the last restart are of other martingales.
            last = self.alarms[-1].time if self.alarms else -1
            bet = np.flatnonzero((times > last) & ~np.isnan(logs))
            after = len(times) - 1 - int(bet[logs[bet].argmin()])
        self._past.restart(step, self._queue.steps, after, self.restart_from)
        if after:
            self._past.since = int(times[-after])
        self._coverage_test = CoverageTest(self.alarm, after=step.time)
        self._law_test = LawTest(self._parts, self.martingale, self.alarm)
        self._diagnosis = {}
        return f"restarted: {self.promise}"
