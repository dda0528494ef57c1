"""The labelled history from which a monitor computes sets and p-values."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.base import clone

from definetti.conformal import ConformalHMM
from definetti.conformal.tasks import Origin
from definetti.engine.promise import BY_VISITS, promise_of
from definetti.levels import Levels
from definetti.monitor.numbers import NumbersSource, numbers_tell
from definetti.monitor.sources import (
    CountsInsufficient,
    CountsSource,
    GeneralSource,
    Parts,
    Source,
    counts_tell,
)
from definetti.monitor.steps import Waiting
from definetti.sets import BasePredictionSet, PredictionSet, PredictionSets
from definetti.sets.wording import note_recent
from definetti.symmetry import Remembering

UNKNOWN = (
    "after a gap nothing is known of the state before: all states are in until one is labelled"
)


class Past:
    """An estimator that learns a stream, with the source of ranks of its steps.

    The estimator learns labels only when used: learning rows one by one costs more than all at
    once, and sets from counts rarely use the estimator. With `keep` it never learns.

    Attributes
    ----------
    known : the estimator, which may not know the last labels
    missed : how many labelled rows were not stored, with `keep`
    source : the source of ranks: counts, sums, or the estimator
    begun, gap : whether the present segment has a label; whether the next label begins a new one
    since, cut : the first step of the history, and what chose it: "" for none, "alarm" or
        "change"
    rows : observations, labels and gaps, kept for a restart further back than the alarm
    """

    def __init__(
        self,
        cp: ConformalHMM,
        parts: Parts,
        generator: np.random.Generator,
        keep: int | None,
        remembers: bool,
    ) -> None:
        self._parts, self._generator = parts, generator
        self._keep, self._remembers = keep, remembers
        self.rows: deque[tuple[Any, Hashable, bool]] = deque(maxlen=keep)
        self.gap, self.since, self.cut = False, 0, ""
        self._follow(cp)

    def _follow(self, cp: ConformalHMM) -> None:
        """Use a fitted estimator, by its counts or sums if these determine the ranks."""
        self.known, self.missed = cp, 0
        self._pending: list[tuple[Any, Hashable]] = []
        self.begun = len(cp._data.history) > 0
        self.source: Source
        if counts_tell(cp):
            self.source = CountsSource(cp, self._parts)
        elif numbers_tell(cp):
            self.source = NumbersSource(self, self._generator, self._parts)
        else:
            self.outgrow()
        if self._keep is not None and not (
            isinstance(self.source, CountsSource) and self.source.sets
        ):
            raise ValueError(
                "keep= bounds the memory where sets come from counts: symbols or a plain chain, a "
                "refitted HMM, symmetry='spaced', 'returns' or 'full', memory=1, guarantee='all', "
                "conformity_score='path', 'filter' or 'smoother'; leave it out"
            )

    def outgrow(self) -> None:
        """Rank by the estimator itself from now on."""
        self.source = GeneralSource(self, self._generator, self._parts)

    @property
    def cp(self) -> ConformalHMM:
        """The estimator, after learning all labels."""
        if self.missed:
            raise ValueError(
                f"keep= was given, so that {self.missed} labelled rows are known by their counts "
                "alone, which is not enough for this; leave keep out"
            )
        if self._pending:
            rows, labels = map(list, zip(*self._pending, strict=True))
            self.known.partial_fit(self.stacked(rows), labels)
            self._pending = []
        return self.known

    def stacked(self, rows: list[Any]) -> Any:
        """Join observations as the estimator reads them; None for a plain chain."""
        if self.known._data.plain:
            return None
        frames = [nw.from_native(row, eager_only=True, pass_through=True) for row in rows]
        if rows and all(isinstance(frame, nw.DataFrame) for frame in frames):
            return nw.concat(frames).to_native()
        return rows

    @property
    def promise(self) -> str:
        """The guarantee of sets without an adaptive level, in words."""
        promise = promise_of(self.known._remembering, fixed=False)
        if not promise.exact:
            return promise.says
        visits = f" {promise.when} to the {promise.state}" if promise.when == BY_VISITS else ""
        given = f"{visits} if the law stays as it is from step {self.since} on"
        if self.cut == "change":
            return f"approximately exact{given}: that step was chosen by the data"
        return f"exact again{given}" if self.cut else f"exact{visits}, if the law stays as it is"

    def code(self, observation: Any) -> int:
        """Return the code of an observation; raise for an invalid one."""
        try:
            return self.source.code(observation)
        except CountsInsufficient:
            self.outgrow()
            return self.source.code(observation)

    def check_label(self, label: Hashable) -> None:
        """Raise for an invalid label."""
        try:
            self.source.check_label(label)
        except CountsInsufficient:
            self.outgrow()
            self.source.check_label(label)

    def predict(
        self, step: Waiting, waiting: Iterable[Waiting], levels: Levels, adapting: bool
    ) -> tuple[BasePredictionSet, int]:
        """Return the set for a new step, and the number of last steps that it is for."""
        waiting, labels = list(waiting), self.source.labels
        if not self.begun or any(step.skipped for step in waiting):
            every: list[Any] = [(label,) for label in labels]
            ones = np.ones(len(labels))
            prediction_set: Any = PredictionSet(
                every, ones, labels, 1, None, self.source.method, True, ones, note=UNKNOWN
            )
            return prediction_set, 0
        # Sets are not exact if the data chose where the history begins.
        exact = not adapting and self.cut != "change"
        if not waiting and self.source.sets:
            return self._rank_set(step, levels, exact), 1
        prediction_set, steps = self._ask_set([*waiting, step], levels, adapting)
        return prediction_set if exact else replace(prediction_set, exact=False), steps

    def _rank_set(self, step: Waiting, levels: Levels, exact: bool) -> PredictionSet:
        """Return the set that the estimator would predict one step ahead, from the source."""
        cp, source = self.known, self.source
        ranks, alphas = source.step_ranks(step.code), levels.alphas(source.labels)
        uniforms = np.full((1, 1), step.uniforms[-1]) if cp.smoothing else None
        sets = PredictionSets.of_ranks(
            ranks, uniforms, np.array([alphas], dtype=object), not cp.allow_empty, source.labels, 1,
            levels.written, source.method, exact,
        )  # fmt: skip
        note = note_recent(cp.symmetry_, alphas, int(ranks.total.max()) - 1)
        return replace(sets[0], note=note)

    def _ask_set(
        self, steps: list[Waiting], levels: Levels, adapted: bool
    ) -> tuple[BasePredictionSet, int]:
        """Return the set that the estimator predicts, and the number of last steps that it is for.

        Of steps without a label, all but the last are left out if that is exact, else the set
        is for all of them. Levels that are `adapted` may be any numbers.
        """
        cp, number = self.cp, len(steps)
        new = self.stacked([step.observation for step in steps])
        by_last_state = cp._data.model.fixed and cp._remembering.by_last_state
        lag = number - 1 if by_last_state else 0
        arguments: dict[str, Any] = {"horizon": number if new is None else None, "lag": lag}
        if not adapted:
            return cp.predict_set(new, levels.written, **arguments), number - lag
        every = cp.predict_p(new, **arguments)
        if not isinstance(every, PredictionSet):
            raise ValueError(
                "on_alarm='adapt' needs sets that can be listed, and there are too many sequences; "
                "label sooner, or raise max_candidates"
            )
        assert levels.other is not None
        return cut_set(every, levels.other, bool(cp.allow_empty)), number - lag

    def p_values(self, step: Waiting) -> list[float]:
        """Return the smoothed p-value of each part; none for the first step of a segment."""
        if not self.begun:
            return []
        ranks = self.source.ranks(step.observation, step.code, step.label)
        return [rank.p_value(u) for rank, u in zip(ranks, step.uniforms, strict=True)]

    def learn(self, step: Waiting) -> None:
        """Append a labelled step to the history."""
        if self.gap:
            self.source.new_segment()
            if self._keep is None:
                self.cp.new_segment()
        if self._remembers:
            self.rows.append((step.observation, step.label, self.gap))
        self.source.learn(step.label, step.code)
        if self._keep is None:
            self._pending.append((step.observation, step.label))
        else:
            self.missed += 1
        self.gap, self.begun = False, True

    def end_segment(self) -> None:
        """End the segment; the next label begins a new one."""
        self.gap, self.begun = True, False

    def restart(self, step: Waiting, waiting: Iterable[Waiting], after: int, cut: str) -> None:
        """Restart from the state of the step that raised the alarm, or from the last `after` rows.

        `waiting` are the steps without a label, and `cut` is what chose the rows.
        """
        self.cut, self.since = cut, step.time
        rows = list(self.rows)[-after:] if after else [(step.observation, step.label, False)]
        settings, states = self.known, self.source.labels
        known = settings.model_ if not settings.model_.fixed else settings.fixed_model()
        declared = states if settings._data.closed else None
        anew = clone(settings).set_params(model=known, train_size=None, states=declared, memory=1)
        # The observation at the alarm contributed to it: the history begins with the state of its
        # step alone.
        origin = Origin(states, omits_first=len(rows) == 1)
        lengths = np.diff([0, *(k for k, row in enumerate(rows) if row[2] and k), len(rows)])
        observations = self.stacked([row[0] for row in rows])
        anew.random_state = settings._entropy
        anew._fit_from(observations, [row[1] for row in rows], lengths.tolist(), origin)
        if isinstance(settings._remembering, Remembering):
            # Keep the memory, although the first rows have no past.
            anew.memory, anew._remembering = settings.memory_, settings._remembering
        self._follow(anew)
        for unlabelled in waiting:
            unlabelled.code = self.code(unlabelled.observation)
        self.rows.clear()
        self.rows.extend(rows)


def cut_set(every: PredictionSet, alpha: Fraction, allow_empty: bool) -> PredictionSet:
    """Return the set of candidates with a p-value above alpha, which may be any number."""
    number = int(np.count_nonzero(every.p_values > float(alpha)))
    filled = not number and not allow_empty
    number += filled
    return replace(
        every,
        sequences=every.sequences[:number],
        p_values=every.p_values[:number],
        confidence_level=float(1 - alpha),
        exact=False,
        filled=filled,
    )


def last_states(prediction_set: BasePredictionSet) -> tuple[Hashable, ...]:
    """Return the states in the set at the last step."""
    if isinstance(prediction_set, PredictionSet) and prediction_set.horizon == 1:
        return tuple(state for (state,) in prediction_set.sequences)
    return tuple(prediction_set.steps[-1])


def noted_p_value(prediction_set: BasePredictionSet, truth: tuple[Hashable, ...]) -> float:
    """Return the p-value stored in a listed set; 0 for labels that it does not know."""
    assert isinstance(prediction_set, PredictionSet)
    try:
        return prediction_set.p_value(truth)
    except KeyError:
        return 0.0
