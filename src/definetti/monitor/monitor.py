"""A monitor: predict, learn the label when it comes, and say when the law has changed."""

from __future__ import annotations

import copy
import math
import sys
from collections import deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.base import clone

from definetti._system.arrays import FloatArray
from definetti._system.checks import checked_choice, checked_number, entropy_of, warn_caller
from definetti._system.interrupts import hold_signals
from definetti._system.mixins import Locked, Saved
from definetti.adaptive import AdaptiveLevel
from definetti.conformal import ConformalHMM
from definetti.data.labels import hashable, is_missing, listed, plain_label
from definetti.data.timing import (
    CUT,
    Times,
    check_aligned,
    read_index,
    without_index,
)
from definetti.engine.promise import BY_VISITS, promise_of
from definetti.exceptions import ChangeWarning, HoleWarning
from definetti.levels import Levels, read_levels
from definetti.martingales import Alarm, ConfidenceSequence, Martingale
from definetti.monitor.bets import Bets
from definetti.monitor.records import Alert, Coverage, Log, Step, Waiting
from definetti.monitor.sets import (
    AnySet,
    ask_set,
    count_set,
    last_states,
    noted_p_value,
    unknown_set,
)
from definetti.monitor.sources import (
    CountsInsufficient,
    CountsSource,
    Follower,
    GeneralSource,
    Source,
    counts_tell,
    read_parts,
)
from definetti.monitor.state import (
    Queue,
    check_one_history,
    checked_word,
    find_adaptive,
    in_pairs,
    measure_memory,
    put_together,
    take_apart,
)
from definetti.symmetry import Remembering

ON_ALARM = ("warn", "restart", "adapt")
RESTART_FROM = ("alarm", "change")
ADAPT_FROM = ("alarm", "beginning")
RECENT = 300  # steps of which the members of the set are remembered, to be drawn


class Monitor(Locked, Saved):
    """Follow a stream: sets for the present, coverage so far, an alarm when the law changes.

    `observe` gives the set for the present; `label` learns the label of a step, judges the set that
    was given for it *then*, and bets on its p-value. The p-values are those of ``symmetry="full"``
    one step ahead with fresh numbers for ties: independent and uniform for every hidden Markov
    model. So capital that is bet on them is a martingale as long as the law does not change and
    the model is Markov, and an alarm is false, ever, with a probability of at most what `Ville`
    was told. There are three bets: on transitions, on observations, and on whole windows, so that
    an alarm says what broke; the union bound joins them.

    Parameters
    ----------
    cp : fitted ConformalHMM
        What predicts; the monitor has a copy of its own.
    parts : list of {"transitions", "observations", "whole window", "visits"}, optional
        What is bet on; all but "visits" if left out. "visits" has a bet for each state of `cp`, an
        `Absence`, that it comes no more, which no other part sees. The more parts, the later each
        alarm: the threshold of `Ville` is their number over alpha.
    martingale : name in `definetti.martingales.Martingale.named`, or Martingale
        How capital is bet; each part has its own.
    alarm : name in `definetti.martingales.Alarm.named`, or Alarm
        When to raise an alarm.
    on_alarm : {"warn", "restart", "adapt"}, default "warn"
        What to do then. "warn" gives a `ChangeWarning`. "restart" forgets the past, bets anew, and
        predicts from what comes. "adapt" lets the level follow the misses from then on.
    restart_from : {"alarm", "change"}, default "alarm"
        Where a restart begins. At the alarm, with the state of that step and without its
        observation, the sets are exact again if the law stays as it is from there on. At the
        estimated change, where the capital was lowest, more is known and sets are smaller, but
        data that chose the cut are used: only approximately valid.
    adaptive : name in `definetti.adaptive.AdaptiveLevel.named`, or AdaptiveLevel
        The level that adapts; one by name has the estimator's level.
    adapt_from : {"alarm", "beginning"}, default "alarm"
        Since when it does: since an alarm with ``on_alarm="adapt"``, or from the beginning,
        whatever is done on an alarm. A slow drift has no time from which on the law stays as it is,
        so that a restart alone does not keep its level there.
    coverage : name in `definetti.martingales.ConfidenceSequence.named`, or object
        What the intervals of `coverage` are made by.
    keep : int, optional
        How many steps are remembered one by one, all if left out. With it the memory is bounded:
        the past is counts alone, for symbols and a refitted model. Labels must not be late then.
    random_state : int, numpy Generator or None
        Where the numbers that break ties come from: never what made the data.

    Attributes
    ----------
    n_observed, n_labels, n_skipped : steps so far, those learned, those that never had a label
    n_waiting : steps that wait for a label
    parts : what is bet on
    martingales : by part, the `Martingale` with its capital
    p_values, log_capitals : by part, the steps that are remembered
    alarms : the alarms that were raised, each an `Alert`
    recent : time, label and members of the set for the last few hundred steps
    coverage : how often sets held the truth, overall and by state, with intervals for all times
    promise : what holds now, in words

    Notes
    -----
    Several threads may use one monitor: calls are taken one after the other.

    Examples
    --------
    >>> from definetti import ConformalHMM
    >>> from definetti.simulate import weather
    >>> y, x = weather(400, random_state=0)
    >>> cp = ConformalHMM(symmetry="full", random_state=0).fit(y[:100], x[:100])
    >>> monitor = Monitor(cp, random_state=1)
    >>> for observation, state in zip(y[100:], x[100:], strict=True):
    ...     s = monitor.observe(observation)
    ...     steps = monitor.label(state)
    >>> monitor.n_labels, len(monitor.alarms), monitor.coverage.overall.share > 0.85
    (300, 0, True)
    """

    def __init__(
        self,
        cp: ConformalHMM,
        *,
        parts: Sequence[str] | None = None,
        martingale: str | Martingale = "sleeper_stayer",
        alarm: str | Alarm = "ville",
        on_alarm: str = "warn",
        restart_from: str = "alarm",
        adaptive: str | AdaptiveLevel = "quantile_pid",
        adapt_from: str = "alarm",
        coverage: str | ConfidenceSequence = "normal_mixture",
        keep: int | None = None,
        random_state: Any = None,
    ) -> None:
        if not isinstance(cp, ConformalHMM):
            raise TypeError(
                f"cp must be a fitted ConformalHMM, got {type(cp).__name__}; its predictions are "
                "what is monitored"
            )
        cp._check_fitted()
        cp._check_parameters()
        check_one_history(cp)
        self.martingale: Martingale = checked_choice(martingale, Martingale, "martingale")
        listening: Alarm = checked_choice(alarm, Alarm, "alarm")
        self.on_alarm = checked_word(on_alarm, ON_ALARM, "on_alarm")
        self.restart_from = checked_word(restart_from, RESTART_FROM, "restart_from")
        self.adapt_from = checked_word(adapt_from, ADAPT_FROM, "adapt_from")
        self.adaptive = find_adaptive(adaptive, cp)
        sequence = checked_choice(coverage, ConfidenceSequence, "coverage")
        self.keep = None if keep is None else min(checked_number(keep, "keep"), sys.maxsize)
        self._generator = np.random.default_rng(entropy_of(random_state))
        self.n_labels = self.n_skipped = 0
        self.alarms: list[Alert] = []
        self.coverage = Coverage(sequence)
        self._levels = read_levels(cp.confidence_level)
        self._adapting = self.adapt_from == "beginning"
        self._queue = Queue()
        self._truths: deque[Hashable] = deque()  # the last labels, for sets of several steps
        self.recent: deque[tuple[int, Hashable, tuple[Hashable, ...] | None]] = deque(maxlen=RECENT)
        self._rows: deque[tuple[Any, Hashable, bool]] = deque(maxlen=self.keep)
        self._since = 0  # the step that the present history begins with
        self._cut = ""  # how it was chosen
        self._gap = False  # whether a new segment begins with the next label
        self._parts = read_parts(parts, cp)
        self._clock = cp._data.clock  # the time of the last row, where rows have times
        self._follow(copy.deepcopy(cp))
        self._begin_bets(listening)

    def _begin_bets(self, alarm: Alarm) -> None:
        self.parts = self._parts.names
        self._bets = Bets(self._parts, self.martingale, alarm)
        self._log = Log(2 * len(self.parts) + 3, self.keep)

    def _follow(self, cp: ConformalHMM) -> None:
        """Follow a fitted estimator, by its counts where these tell."""
        counted = CountsSource(cp, self._parts) if counts_tell(cp) else None
        if self.keep is not None and (counted is None or not counted.sets):
            raise ValueError(
                "keep= bounds the memory where sets come from counts: symbols or a plain chain, a "
                "refitted HMM, symmetry='spaced', 'returns' or 'full', memory=1, guarantee='all', "
                "conformity_score='path', 'filter' or 'smoother'; leave it out"
            )
        self._follower = Follower(cp, self.keep is not None)
        self._settings = cp
        self._way: Source = counted or self._asked()
        self._begun = len(cp._data.history) > 0

    def _asked(self) -> GeneralSource:
        return GeneralSource(self._follower, self._generator, self._parts)

    @property
    def martingales(self) -> Mapping[str, Martingale]:
        """By part, the bet with its capital."""
        return self._bets.martingales

    @property
    def alarm(self) -> Alarm:
        """The alarm, with the threshold for all parts."""
        return self._bets.alarm

    @property
    def states(self) -> tuple[Hashable, ...]:
        """The labels of the states, in the order in which they were declared or first met."""
        if isinstance(self._way, CountsSource):
            return self._way.alphabet.labels
        return self._follower.cp.states_

    @property
    def confidence_level(self) -> Any:
        """The level of the estimator."""
        return self._levels.written

    @property
    def n_observed(self) -> int:
        return self._queue.n_observed

    @property
    def n_waiting(self) -> int:
        return len(self._queue)

    @property
    def p_values(self) -> Mapping[str, FloatArray]:
        rows = self._log.rows
        return {part: rows[:, k].copy() for k, part in enumerate(self.parts)}

    @property
    def log_capitals(self) -> Mapping[str, FloatArray]:
        """By part, the natural logarithm of the capital after each step that is remembered."""
        rows, number = self._log.rows, len(self.parts)
        return {part: rows[:, number + k].copy() for k, part in enumerate(self.parts)}

    @property
    def history(self) -> FloatArray:
        """Time, whether the set held the truth (NaN if not judged), and its size, step by step."""
        return self._log.rows[:, 2 * len(self.parts) :].copy()

    @property
    def promise(self) -> str:
        if self._adapting:
            bound = self.adaptive.bound
            since = "" if self.adapt_from == "beginning" else " since an alarm"
            return (
                f"the level adapts{since}: misses in the long run are those of the level, "
                f"whatever comes{'' if math.isinf(bound) else f', to within {bound:.3f} now'}; a "
                "single set promises nothing"
            )
        found = promise_of(self._settings._remembering, fixed=False)
        if not found.exact:
            return found.says
        visits = f" {found.when} to the {found.state}" if found.when == BY_VISITS else ""
        given = f"{visits} if the law stays as it is from step {self._since} on"
        if self._cut == "change":
            return f"approximately exact{given}: that step was chosen by the data"
        return f"exact again{given}" if self._cut else f"exact{visits}, if the law stays as it is"

    def observe(self, observation: Any = None, *, predict: bool = True) -> AnySet | None:
        """Take in an observation and return the set for the present.

        Parameters
        ----------
        observation : a symbol, a number, a row, a frame of one row; None where it is missing, and
            for a plain Markov chain
        predict : bool, default True
            Whether a set is wanted.

        Returns
        -------
        a set about the present step; where labels are late, about the present alone with a fixed
        model and "spaced" blocks or "departures", else about all steps since the last label

        Notes
        -----
        If labels are so late that their sequences cannot be listed, the error is that of
        `ConformalHMM.predict_set` and nothing has changed; ``predict=False`` takes the observation
        in without a set.

        Where the history and a frame have a time index, a hole before the observation is a `gap`,
        with a warning.
        """
        times = read_index(observation)
        self._go_to(times)
        return self._observe(observation if times is None else without_index(observation), predict)

    def _go_to(self, times: Times | None) -> None:
        """Go to the time of the next row; after a hole what comes is a segment of its own."""
        clock = self._clock
        if clock is None or times is None or clock.kind != times.kind:
            self._clock = None if clock is None else clock._replace(last=None)
            return
        if clock.precedes_hole(times, "the observation"):
            warn_caller(f"a row comes {clock.describe(times)}: {CUT}, as by gap()", HoleWarning)
            self.gap()
        self._clock = clock._replace(last=times.values[-1].item())

    def _observe(self, observation: Any, predict: bool = True) -> AnySet | None:
        """Take in an observation whose time is known."""
        code = self._code(observation)
        uniforms = tuple(self._generator.random(len(self.parts)).tolist())
        step = Waiting(self.n_observed, observation, code, uniforms)
        if predict:
            step.set, step.steps = self._predict(step)
            if self._adapting and step.steps:
                step.issued = self.adaptive.issue()
        self._queue.append(step)
        return step.set

    def label(self, state: Any, time: int | None = None) -> list[Step]:
        """Learn a label, judge the set that was given then, and bet.

        Parameters
        ----------
        state : a label, or a list of labels for steps that follow each other
        time : int, optional
            The step that it belongs to, the first, as `observe` counts them from 0; the earliest
            that waits for one if left out.

        Returns
        -------
        the steps that were learned: none where an earlier label has not come yet, several where
        others had waited for this one
        """
        labels = [plain_label(state)] if hashable(state) else listed(state, "state")
        steps = self._queue.find(time, len(labels))
        for label in labels:
            if is_missing(label):
                raise ValueError(
                    f"state is missing ({label!r}); call skip() for a step whose label never comes"
                )
            try:
                self._way.check_label(label)
            except CountsInsufficient:
                self._outgrow()
                self._way.check_label(label)
        self._queue.give(steps, labels)
        return self._learn_all()

    def skip(self, time: int | None = None) -> list[Step]:
        """Say that a label never comes; the next one begins a new segment.

        States cannot be rearranged over a step that is not known, so that what follows is a
        segment of its own: the sets are exact if whether a label comes does not depend on the
        state.

        Parameters
        ----------
        time : int, optional
            The step without a label; the earliest that waits for one if left out.
        """
        [step] = self._queue.find(time, 1)
        step.skipped = True
        return self._learn_all()

    def gap(self) -> list[Step]:
        """Say that there is a gap of which nothing is known, before the next observation.

        Labels that are still waited for are taken never to come.
        """
        for step in self._queue.steps:
            step.skipped = step.skipped or not step.labelled
        learned = self._learn_all()
        self._gap, self._begun = True, False
        return learned

    def run(self, observations: Any, states: Any) -> Iterator[Step]:
        """Observe and label row by row; a state that is missing never comes.

        Parameters
        ----------
        observations : a list, an array, a series, a frame or a generator; None for a plain chain
        states : their labels, likewise

        Examples
        --------
        >>> from definetti import ConformalHMM
        >>> from definetti.simulate import weather
        >>> y, x = weather(200, random_state=0)
        >>> monitor = Monitor(ConformalHMM(random_state=0).fit(y[:100], x[:100]), random_state=0)
        >>> sum(step.covered for step in monitor.run(y[100:], x[100:]))
        94
        """
        check_aligned({"observations": observations, "states": states})
        times = read_index(observations, states)
        if times is not None:
            observations, states = without_index(observations), without_index(states)
        for row, (observation, state) in enumerate(in_pairs(observations, states)):
            if times is None:
                self.observe(observation)
            else:
                self._go_to(times._replace(values=times.values[row : row + 1]))
                self._observe(observation)
            missing = hashable(state) and is_missing(state)
            yield from self.skip() if missing else self.label(state)

    def plot(self, ax: Any = None) -> Any:
        """Draw the capitals, coverage so far, and the sets with the truth.

        Parameters
        ----------
        ax : three axes of matplotlib, optional
            Where to draw; a new figure if left out. Drawing into the axes that were returned before
            draws anew, at the cost of what is shown.

        Returns
        -------
        the three axes
        """
        from definetti.plots import plot_monitor

        return plot_monitor(self, ax)

    def _saved(self) -> dict[str, Any]:
        return take_apart(self)

    @classmethod
    def _restored(cls, kept: dict[str, Any]) -> Monitor:
        return put_together(cls, kept)

    @classmethod
    def _memory(cls, kept: dict[str, Any]) -> int:
        return measure_memory(kept)

    def _code(self, observation: Any) -> int:
        try:
            return self._way.code(observation)
        except CountsInsufficient:
            self._outgrow()
            return self._way.code(observation)

    def _outgrow(self) -> None:
        """Go over to the estimator's own machinery, for good."""
        self._way = self._asked()

    def _predict(self, step: Waiting) -> tuple[AnySet, int]:
        """Return the set for a new step, and how many of the last steps it is about."""
        if not self._begun or any(one.skipped for one in self._queue.steps):
            return unknown_set(self._settings, self.states), 0
        levels = self._levels_now()
        way = self._way
        # Data that chose where the history begins keep no level exactly.
        exact = not self._adapting and self._cut != "change"
        if not self._queue.steps and isinstance(way, CountsSource) and way.sets:
            return count_set(way, self._settings, step.code, levels, step.uniforms[-1], exact), 1
        rows = [one.observation for one in self._queue.steps]
        found, steps = ask_set(self._follower, [*rows, step.observation], levels, self._adapting)
        return found if exact else replace(found, exact=False), steps

    def _levels_now(self) -> Levels:
        if not self._adapting:
            return self._levels
        return Levels({}, Fraction(self.adaptive.alpha))

    def _learn_all(self) -> list[Step]:
        """Learn what waits, in order, up to the first step without a label."""
        learned = []
        for step in self._queue.settled():
            if step.labelled:
                # Whole or not at all, as far as Ctrl-C goes.
                learned.append(hold_signals(self._learn, (step,)))
                continue
            self.n_skipped += 1
            self._gap, self._begun = True, False
            if step.issued is not None:
                self.adaptive.drop(step.issued)
        return learned

    def _learn(self, step: Waiting) -> Step:
        label, found = step.label, {}
        if self._gap:
            self._way.new_segment()
            self._follower.new_segment()
            self._truths.clear()
        values = logs = [math.nan] * len(self.parts)
        raised: list[int] = []
        if self._begun:
            ranks = self._way.ranks(step.observation, step.code, label)
            values = [one.p_value(u) for one, u in zip(ranks, step.uniforms, strict=True)]
            logs, raised = self._bets.take(values)
            found = dict(zip(self.parts, values, strict=True))
        self._truths.append(label)
        members = None if step.set is None else last_states(step.set)
        covered = self._judge(step, members)
        self.recent.append((step.time, label, members))
        size = math.nan if members is None else float(len(members))
        held = math.nan if covered is None else float(covered)
        self._log.append([*values, *logs, float(step.time), held, size])
        if self.restart_from == "change" and self.on_alarm == "restart":
            self._rows.append((step.observation, label, self._gap))
        self._way.learn(label, step.code)
        self._follower.learn(step.observation, label)
        self._gap, self._begun = False, True
        self.n_labels += 1
        alerts = self._alert(step, raised) if raised else ()
        waiting = self._queue.steps
        longest = max([one.steps for one in waiting]) if waiting else 1
        while len(self._truths) > longest:
            self._truths.popleft()
        return Step(step.time, label, step.set, covered, found, alerts)

    def _judge(self, step: Waiting, members: tuple[Hashable, ...] | None) -> bool | None:
        """Tell whether the set of a step held the truth; one that was filled was empty."""
        if step.set is None or members is None or not step.steps or len(self._truths) < step.steps:
            if step.issued is not None:
                self.adaptive.drop(step.issued)
            return None
        truth = tuple(self._truths)[-step.steps :] if step.steps > 1 else (step.label,)
        if step.steps == 1:
            covered = step.label in members and not step.set.filled_steps[-1]
        else:
            covered = step.set.covers_unfilled(truth)
        self.coverage.add(step.label, covered)
        if step.issued is not None:
            self.adaptive.update(noted_p_value(step.set, truth), step.issued)
        return covered

    def _alert(self, step: Waiting, new: list[int]) -> tuple[Alert, ...]:
        """Raise the alarm of some parts, and do what is to be done."""
        statistics, threshold = self.alarm.statistics.tolist(), self.alarm.log_threshold
        done = self._react(step, max(new, key=statistics.__getitem__))
        alerts = [Alert(step.time, self.parts[k], statistics[k], threshold, done) for k in new]
        self.alarms += alerts
        return tuple(alerts)

    def _react(self, step: Waiting, part: int) -> str:
        if self.on_alarm == "adapt":
            self._adapting = True
            return "the level adapts from now on"
        if self.on_alarm == "restart":
            return self._restart(step, part)
        warn_caller(
            f"at step {step.time} the law of the {self.parts[part]} is found to have changed, or "
            "the chain not to be Markov: what follows need not keep its level; on_alarm='restart' "
            f"begins anew ({self.alarm.promise})",
            ChangeWarning,
        )
        return "a warning was given"

    def _restart(self, step: Waiting, part: int) -> str:
        """Begin anew, with the step that raised the alarm or with the estimated change."""
        rows, since = [(step.observation, step.label, False)], step.time
        if self.restart_from == "change":
            logs = self._log.rows[:, len(self.parts) + part]
            times = self._log.rows[:, 2 * len(self.parts)]
            # Before the last restart it was another capital that was low, or high.
            last = self.alarms[-1].time if self.alarms else -1
            bet = np.flatnonzero((times > last) & ~np.isnan(logs))
            lowest = int(bet[logs[bet].argmin()])
            after = len(self._log.rows) - 1 - lowest
            if after:
                rows, since = list(self._rows)[-after:], int(times[-after])
        self._cut, self._since = self.restart_from, since
        settings, states = self._settings, self.states
        known = settings.model_ if not settings.model_.fixed else settings.fixed_model()
        declared = states if settings._data.closed else None
        anew = clone(settings).set_params(model=known, train_size=None, states=declared, memory=1)
        anew._known = states
        # The observation at the alarm has helped to raise it: its step begins the history with its
        # state alone.
        anew._omits_first = len(rows) == 1
        lengths = np.diff([0, *(k for k, row in enumerate(rows) if row[2] and k), len(rows)])
        observations = self._follower.stacked([row[0] for row in rows])
        anew.random_state = settings._entropy
        anew.fit(observations, [row[1] for row in rows], lengths.tolist())
        if isinstance(settings._remembering, Remembering):
            # What is remembered stays what it was, though a row or two have no past to tell of.
            anew.memory, anew._remembering = settings.memory_, settings._remembering
        self._follow(anew)
        for one in self._queue.steps:
            one.code = self._code(one.observation)
        self._rows.clear()
        self._rows.extend(rows)
        self._bets = Bets(self._parts, self.martingale, self.alarm)
        return f"restarted: {self.promise}"
