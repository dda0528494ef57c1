"""A monitor: predict sets in a stream, learn late labels, and raise alarms for changes."""

from __future__ import annotations

import copy
import sys
from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from definetti._system.checks import checked_choice, checked_number, entropy_of, warn_caller
from definetti._system.mixins import Saved
from definetti.conformal import ConformalHMM
from definetti.data.labels import hashable, is_missing, listed, plain_label
from definetti.data.timing import CUT, Clock, Times, check_aligned, read_index, without_index
from definetti.exceptions import HoleWarning
from definetti.levels import AdaptiveLevel, Levels, read_levels
from definetti.martingales import Alarm, ConfidenceSequence, Martingale
from definetti.monitor.evidence import Evidence
from definetti.monitor.past import Past
from definetti.monitor.sources import read_parts
from definetti.monitor.state import measure_memory, put_together, take_apart
from definetti.monitor.steps import COVERAGE, Coverage, Queue, Step, Waiting, in_pairs
from definetti.sets import BasePredictionSet
from definetti.symmetry import TogetherDepartures
from definetti.symmetry.base import PRESENT

WORDS = {
    "listen_to": (COVERAGE, "law"),
    "on_alarm": ("warn", "restart", "adapt"),
    "restart_from": ("alarm", "change"),
    "adapt_from": ("alarm", "beginning"),
}
RECENT = 300  # steps whose set members are kept for plots


class Monitor(Evidence, Saved):
    """Predict a set for each step of a stream, learn labels that come later, raise alarms.

    `observe` returns the set for the present; `label` learns the label of a step, judges the set
    that was returned for it *then*, and tests two assumptions, each by a capital that begins at one
    and bets against it. While an assumption is true, its capital ever reaches ``1/alpha`` with a
    probability of at most ``alpha``; this is the threshold of `Ville`.

    *Coverage*: "given the misses before, a set misses with a probability of at most one minus the
    level". It needs no model, and is what `on_alarm` listens to.

    *The law*: "it has not changed, and is that of a hidden Markov model". The p-values of
    ``symmetry="full"`` one step ahead, with fresh numbers for ties, are independent and uniform
    for every hidden Markov model. Three bets are made on them: on transitions, on observations, and
    on whole windows, joined by the union bound. They are the diagnosis of what changed.

    Parameters
    ----------
    cp : fitted ConformalHMM
        The estimator that predicts; the monitor keeps its own copy.
    parts : list of {"transitions", "observations", "whole window", "visits"}, or "all", optional
        Which parts of the law are tested; all but "visits" if left out. "visits" bets for each
        state of `cp`, by `Absence`, that it no longer occurs, which no other part detects. More
        parts delay each alarm: the threshold of `Ville` is their number over alpha.
    martingale : name in `definetti.martingales.Martingale.named`, or Martingale
        The betting method for the law; each part has its own martingale.
    alarm : name in `definetti.martingales.Alarm.named`, or Alarm
        The rule by which capital is evidence.
    listen_to : {"coverage", "law"}, default "coverage"
        Which test raises alarms. Evidence of the other is in `diagnosis`.
    on_alarm : {"warn", "restart", "adapt"}, default "warn"
        "warn" gives a `ChangeWarning`; "restart" drops the past, restarts the tests, and predicts
        from later steps; "adapt" lets the level adapt to misses from then on.
    restart_from : {"alarm", "change"}, default "alarm"
        Where a restart begins. At the alarm, with the state of that step and without its
        observation, the sets are exact again if the law stays as it is from there on. At the
        estimated change, where the capital was lowest, sets are smaller, but only approximately
        valid, as the cut is chosen by the data.
    adaptive : name in `definetti.levels.AdaptiveLevel.named`, or AdaptiveLevel
        The adaptive level; a name takes the estimator's level.
    adapt_from : {"alarm", "beginning"}, default "alarm"
        When adaptation starts: at an alarm with ``on_alarm="adapt"``, or at the beginning, for any
        `on_alarm`: in a slow drift, a restart alone does not keep the level.
    coverage : name in `definetti.martingales.ConfidenceSequence.named`, or object
        The confidence sequence for the intervals of `coverage`.
    keep : int, optional
        How many steps are stored one by one, all if left out. With it memory is bounded: the past
        is stored as counts, for symbols and a refitted model. Labels must not be late then.
    random_state : int, numpy Generator or None
        The source of the numbers that break ties; do not use the generator of the data.

    Attributes
    ----------
    n_observed, n_labels, n_skipped : numbers of steps so far, steps learned, and steps skipped
    n_waiting : the number of steps that wait for a label
    parts : the tested parts of the law
    martingales : the `Martingale` of coverage and of each part of the law, with their capital
    p_values : by part, of the stored steps
    log_capitals, log_thresholds : of coverage and of each part; capitals at the threshold are
        evidence
    diagnosis : assumptions with evidence against them since the last restart, and since which step
    alarms : the alarms raised, each an `Alert`
    recent : time, label and members of the set for the last few hundred steps
    coverage : how often sets held the truth, overall and by state, with intervals for all times
    promise : the guarantee that holds now, in words

    Notes
    -----
    A miss is a p-value of the truth of at most one minus the estimator's level for it, before an
    empty set is filled and whether or not the level adapts. A state that was unknown when the set
    was made is no miss: its p-value is one.

    The coverage assumption holds exactly with ``symmetry="full"`` and one level for all states;
    with levels by state the capital is one on average at every time. The p-values of other
    symmetries are uniform one by one and not independent, so the rate of false alarms is measured,
    not proved (``docs/streams.md``). After an alarm the test of coverage begins anew.

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
    >>> monitor
    Monitor: 300 labels, 0 alarms
    0.923 of 300 sets held the truth at the level 0.9
      against coverage: capital 0.397, evidence from 20 on
      against transitions: capital 0.552, evidence from 60 on
      against observations: capital 0.554, evidence from 60 on
      against whole window: capital 0.535, evidence from 60 on
    """

    def __init__(
        self,
        cp: ConformalHMM,
        *,
        parts: Sequence[str] | str | None = None,
        martingale: str | Martingale = "sleeper_stayer",
        alarm: str | Alarm = "ville",
        listen_to: str = COVERAGE,
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
                "what is monitored; of many series take one, GroupedConformalHMM.estimators_[…]"
            )
        cp._check_fitted()
        cp._check_parameters()
        if cp._data.together or isinstance(cp._remembering, TogetherDepartures):
            raise ValueError(
                "cp is calibrated by the rows of several series (series='all' or 'first'), which "
                "are not one chain: p-values of its steps would not be uniform, and alarms false; "
                "fit with series='own' or 'others', and monitor one of its estimators_"
            )
        self.martingale: Martingale = checked_choice(martingale, Martingale, "martingale")
        heard: Alarm = checked_choice(alarm, Alarm, "alarm")
        self.listen_to, self.on_alarm = listen_to, on_alarm
        self.restart_from, self.adapt_from = restart_from, adapt_from
        for name, words in WORDS.items():
            word = getattr(self, name)
            if not isinstance(word, str) or word not in words:
                known = ", ".join(map(repr, words))
                raise ValueError(f"{name} must be one of {known}, got {word!r}")
        self.adaptive = find_adaptive(adaptive, cp)
        sequence = checked_choice(coverage, ConfidenceSequence, "coverage")
        self.keep = None if keep is None else min(checked_number(keep, "keep"), sys.maxsize)
        self._generator = np.random.default_rng(entropy_of(random_state))
        self.n_labels = self.n_skipped = 0
        self.alarms = []
        self.coverage = Coverage(sequence)
        self._levels = read_levels(cp.confidence_level)
        self._one_miss = cp.guarantee in ("all", "steps")  # single misses have a tested probability
        if self.listen_to == COVERAGE and not self._one_miss:
            raise ValueError(
                f"guarantee={cp.guarantee!r} lets steps be wrong, so that a miss by itself has no "
                "probability that could be tested; set listen_to='law', or guarantee='all'"
            )
        self._adapting = self.adapt_from == "beginning"
        self._queue = Queue()
        self._truths = deque()  # the last labels, for sets of several steps
        self.recent = deque(maxlen=RECENT)
        self._parts = read_parts(parts, cp)
        self._clock = cp._data.clock  # the time of the last row, where rows have times
        self._begin_tests(heard)
        self._begin_past(copy.deepcopy(cp))

    @property
    def states(self) -> tuple[Hashable, ...]:
        """The labels of the states, in the order in which they were declared or first met."""
        return self._past.source.labels

    @property
    def estimator(self) -> ConformalHMM:
        """The estimator that predicts, which knows all labels since the last restart."""
        return self._past.cp

    @property
    def known(self) -> ConformalHMM:
        """The estimator, which may not know the last labels."""
        return self._past.known

    @property
    def clock(self) -> Clock | None:
        """The time of the last row, where rows have times."""
        return self._clock

    def forget_set(self) -> None:
        """Do not evaluate the set of the last step, as if none had been predicted."""
        step = self._queue.steps[-1]
        step.set, step.steps = None, 0

    @property
    def n_observed(self) -> int:
        return self._queue.n_observed

    @property
    def n_waiting(self) -> int:
        return len(self._queue)

    def _begin_past(self, cp: ConformalHMM) -> None:
        remembers = self.restart_from == "change" and self.on_alarm == "restart"
        self._past = Past(cp, self._parts, self._generator, self.keep, remembers)

    def observe(
        self, observation: Any = None, *, predict: bool = True, times: Times | None = None
    ) -> BasePredictionSet | None:
        """Take in an observation and return the set for the present.

        Parameters
        ----------
        observation : a symbol, a number, a row, a frame of one row; None where it is missing, and
            for a plain Markov chain
        predict : bool, default True
            Whether to predict a set.
        times : the time of the observation, if it has no time index

        Returns
        -------
        a set about the present step; where labels are late, about the present alone with a fixed
        model and "spaced" blocks or "departures", else about all steps since the last label

        Notes
        -----
        If labels are so late that their sequences cannot be listed, an error is raised and nothing
        changes; ``predict=False`` takes in the observation without a set. If the history and a
        frame have a time index, a hole before the observation is a `gap`, with a warning.
        """
        times, clock = times or read_index(observation), self._clock
        self._go_to(times)
        try:
            return self._observe(
                observation if times is None else without_index(observation), predict
            )
        except ValueError:
            self._clock = clock  # the caller may pass the observation again
            raise

    def _go_to(self, times: Times | None) -> None:
        """Advance the clock to the next row; begin a new segment after a hole in time."""
        clock = self._clock
        if clock is None or times is None or clock.kind != times.kind:
            self._clock = None if clock is None else clock._replace(last=None)
            return
        if clock.precedes_hole(times, "the observation"):
            warn_caller(f"a row comes {clock.describe(times)}: {CUT}, as by gap()", HoleWarning)
            self.gap()
        self._clock = clock._replace(last=times.values[-1].item())

    def _observe(self, observation: Any, predict: bool = True) -> BasePredictionSet | None:
        """Take in an observation after the clock has advanced; return its set."""
        code, waiting = self._past.code(observation), self._queue.steps
        uniforms = tuple(self._generator.random(len(self.parts)).tolist())
        step = Waiting(self.n_observed, observation, code, uniforms)
        step.begin = step.time - len(waiting)
        if predict:
            levels = Levels({}, Fraction(self.adaptive.alpha)) if self._adapting else self._levels
            step.set, step.steps = self._past.predict(step, waiting, levels, self._adapting)
            if step.steps:
                step.alpha = self._allowed()
                step.issued = self.adaptive.issue() if self._adapting else None
        self._queue.append(step)
        return step.set

    def _allowed(self) -> float | None:
        """Return the miscoverage allowed for a set made now; None if it depends on its label."""
        if not self._levels.named and self._levels.other is not None:
            return float(self._levels.other)
        if self._past.known.symmetry_.given == PRESENT:
            return float(self._levels.alpha(self._past.source.present))
        return None

    def label(self, state: Any, time: int | None = None) -> list[Step]:
        """Learn a label, judge the set returned for its step, and update the tests.

        Parameters
        ----------
        state : a label, or a list of labels for steps that follow each other
        time : int, optional
            The step of the (first) label, counted from 0 by calls of `observe`; the earliest step
            that waits for a label if left out.

        Returns
        -------
        the steps learned: none if an earlier label is missing, several if other steps waited for
        this label
        """
        labels = [plain_label(state)] if hashable(state) else listed(state, "state")
        steps = self._queue.find(time, len(labels))
        for label in labels:
            if is_missing(label):
                raise ValueError(
                    f"state is missing ({label!r}); call skip() for a step whose label never comes"
                )
            self._past.check_label(label)
        for step, label in zip(steps, labels, strict=True):
            step.label, step.labelled = label, True
        return self._learn_all()

    def skip(self, time: int | None = None) -> list[Step]:
        """Skip a step whose label never comes; the next step begins a new segment.

        The sets are exact if missingness of labels does not depend on the states.

        Parameters
        ----------
        time : int, optional
            The step without a label; the earliest that waits for one if left out.
        """
        [step] = self._queue.find(time, 1)
        step.skipped = True
        return self._learn_all()

    def gap(self) -> list[Step]:
        """Begin a new segment after a gap.

        Steps that still wait for labels are skipped.
        """
        for step in self._queue.steps:
            step.skipped = step.skipped or not step.labelled
        learned = self._learn_all()
        self._past.end_segment()
        return learned

    def run(self, observations: Any, states: Any) -> Iterator[Step]:
        """Observe and label row by row; skip rows whose state is missing.

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
            own = None if times is None else times._replace(values=times.values[row : row + 1])
            self.observe(observation, times=own)
            missing = hashable(state) and is_missing(state)
            yield from self.skip() if missing else self.label(state)

    def plot(self, ax: Any = None) -> Any:
        """Draw the capitals, coverage so far, and the sets with the truth.

        Parameters
        ----------
        ax : three axes of matplotlib, optional
            Where to draw; a new figure if left out. Passing the axes returned before redraws
            them, at a cost that depends only on the steps shown.

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


def find_adaptive(adaptive: Any, cp: ConformalHMM) -> AdaptiveLevel:
    """Return an adaptive level; a name takes the estimator's level, which must be a number."""
    levels = read_levels(cp.confidence_level)
    if isinstance(adaptive, str) and adaptive in AdaptiveLevel.named and not levels.named:
        level: AdaptiveLevel = AdaptiveLevel.named[adaptive](levels.written)
        return level
    return copy.deepcopy(checked_choice(adaptive, AdaptiveLevel, "adaptive"))  # type: ignore[no-any-return]
