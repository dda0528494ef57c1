"""A set of states for each step."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.checks import checked_limit
from definetti.engine.past import past_by_state
from definetti.engine.promise import read_guarantee
from definetti.engine.task import PredictionTask
from definetti.engine.thresholds import limit, risk_limit
from definetti.levels import ConfidenceLevel, Levels
from definetti.models.base import Estimate
from definetti.scores import Band, Smoother
from definetti.scores.nonconformity import round_scores
from definetti.sets.base import BaseStepwiseSet, BoolArray, coded
from definetti.sets.wording import InsufficientCalibration, join_notes, note_recent, promise_by_step
from definetti.symmetry.base import LAST


@dataclass(frozen=True, eq=False, repr=False)
class StepSets(BaseStepwiseSet):
    """A set of states for each step, with a guarantee about all steps together.

    Attributes
    ----------
    states, confidence_level, method, exact, given, note : as in `BasePredictionSet`
    guarantee : "all", "steps" or "errors": what is promised
    max_errors : how many steps may be wrong, for "errors"
    limit : the largest nonconformity, one minus the probability, of a state in the set of its step
    last_limits : (number of states,) the same for each state at the last step; `limit` if None
    marginals : (horizon, number of states) probability of each state at each step by the model
    allow_empty : whether a step may have no state; else it has its most probable one, and the
        promise is kept all the more

    Examples
    --------
    >>> marginals = np.array([[0.7, 0.2, 0.1], [0.5, 0.4, 0.1]])
    >>> s = StepSets(("a", "b", "c"), 0.9, "steps", 0, 0.75, "by hand", True, marginals)
    >>> s.steps
    [('a',), ('a', 'b')]
    >>> s.wrong(("a", "c")), ("a", "b") in s
    (1, True)
    >>> filled = StepSets(
    ...     ("a", "b", "c"), 0.9, "steps", 0, 0.4, "by hand", True, marginals, allow_empty=False
    ... )
    >>> filled.steps, filled.filled_steps
    ([('a',), ('a',)], array([False,  True]))
    """

    states: tuple[Hashable, ...]
    confidence_level: ConfidenceLevel
    guarantee: str
    max_errors: int
    limit: float
    method: str
    exact: bool
    marginals: FloatArray
    given: str = LAST
    last_limits: FloatArray | None = None
    note: str = ""
    allow_empty: bool = True

    def __post_init__(self) -> None:
        read_guarantee(self.guarantee)
        checked_limit(self.max_errors, "max_errors")
        if self.max_errors and self.guarantee != "errors":
            raise ValueError(
                f"max_errors={self.max_errors} is for guarantee='errors', and guarantee is "
                f"{self.guarantee!r}"
            )

    @property
    def horizon(self) -> int:
        return len(self.marginals)

    @cached_property
    def nodes(self) -> BoolArray:
        """Which states are possible at each step: ``(horizon, number of states)``."""
        there = self._plausible
        if self.filled:
            likeliest = self.marginals.argmax(axis=1)[:, None] == np.arange(len(self.states))
            there = there | likeliest & self.filled_steps[:, None]
        return there

    @property
    def filled_steps(self) -> BoolArray:
        """Which steps were empty and got their most probable state: (horizon,)."""
        return np.asarray(~self._plausible.any(axis=1) & (not self.allow_empty))

    @property
    def filled(self) -> bool:
        """Whether there is such a step."""
        return bool(self.filled_steps.any())

    def covers_unfilled(self, truth: tuple[Hashable, ...]) -> bool:
        """Tell whether the sets have a sequence, filling left out."""
        return truth in (replace(self, allow_empty=True) if self.filled else self)

    @cached_property
    def _plausible(self) -> BoolArray:
        limits = np.full(self.marginals.shape, self.limit)
        if self.last_limits is not None:
            limits[-1] = self.last_limits
        return np.asarray(1.0 - self.marginals <= limits)

    @property
    def best(self) -> tuple[Hashable, ...]:
        """The most probable state of each step."""
        return self._labels(self.marginals.argmax(axis=1))

    @property
    def sequences(self) -> NoReturn:
        raise _no_sequences("sequences")

    @property
    def p_values(self) -> NoReturn:
        raise _no_sequences("p_values")

    def p_value(self, sequence: Any) -> NoReturn:
        raise _no_sequences("p_value")

    def wrong(self, sequence: Any) -> int:
        """Return the number of steps at which a sequence is outside the sets."""
        return int((~self.nodes[np.arange(self.horizon), self._read(sequence)]).sum())

    def __contains__(self, sequence: Any) -> bool:
        path = coded(sequence, self.states, self.horizon)
        return path is not None and self.wrong(sequence) <= self.max_errors

    def _on_filling(self) -> str:
        steps = f"{int(self.filled_steps.sum()):,} of {self.horizon:,} steps"
        return f"nothing is plausible at this level at {steps}; the most probable is shown"

    def _headline(self) -> str:
        width = f"{self.widths.mean():.2f} of {len(self.states)} states per step"
        promised = promise_by_step(
            self.confidence_level, self.exact, self.given, self.guarantee, self.max_errors
        )
        return f"{width}, {self._write_steps()}; {promised}"


def _no_sequences(name: str) -> AttributeError:
    return AttributeError(
        f"StepSets has no {name}: it has states for each step, see steps; use guarantee='all' for "
        "a set of sequences"
    )


def step_sets(
    task: PredictionTask,
    levels: Levels,
    guarantee: str,
    max_errors: int,
    allow_empty: bool = True,
) -> StepSets:
    """Return a set of states for each step, valid for every last state.

    The promise given a last state is kept where, if that state is the true one, every step has what
    its limit lets in. At the last step the truth is that state itself, which is held to its own
    limit; at the steps before, the largest limit will do.
    """
    promised = task.promise(guarantee)
    estimate = task.estimate(task.complete_with(0))
    window = task.hide_unseen(task.windows(np.zeros((1, task.steps), dtype=np.int64)))
    band = Band(max_errors, lag=task.lag)
    method = replace(task, score=Smoother(), smoothing=False).describe()
    alphas = levels.alphas(task.labels)
    if guarantee == "errors":
        past = past_by_state(replace(task, score=band), estimate)
        numbers = list(map(len, past))
        limits = list(map(limit, past, alphas))
    else:
        past = [_past_steps(task, estimate, last) for last in range(len(task.labels))]
        numbers = [len(steps) // task.steps for steps in past]
        limits = [
            risk_limit(steps, number, task.steps, alpha)
            for steps, number, alpha in zip(past, numbers, alphas, strict=True)
        ]
    few = InsufficientCalibration.of(task, numbers, alphas)
    few.warn()
    marginals = estimate.smoothing(window)[0, task.lag :]
    own = np.array(limits)
    largest = own.max()
    if guarantee == "errors" and not max_errors:
        # Where the true last state exceeds its own limit, the window is missed whatever the other
        # steps are, so that the limit of that state need not cover them.
        largest = own[1.0 - marginals[-1] <= own].max(initial=-np.inf)
    sets = StepSets(
        task.labels,
        levels.written,
        guarantee,
        max_errors,
        float(largest),
        method,
        promised.exact,
        marginals,
        promised.holds_given,
        own,
        allow_empty=allow_empty,
    )
    note = few.note(bool(sets.nodes.all()), task.steps)
    bounded = note_recent(task.symmetry, alphas, max(numbers))
    return replace(sets, note=join_notes(note, bounded))


def _past_steps(task: PredictionTask, estimate: Estimate, last: int) -> FloatArray:
    """Return the sorted nonconformity of all past steps, for one last state."""
    windows = task.hide_unseen(task.windows_ending(task.past_ends(last)))
    return round_scores(np.sort(Band(lag=task.lag).steps(estimate, windows), axis=None))
