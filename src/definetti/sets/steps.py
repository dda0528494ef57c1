"""A set of states for each step."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.checks import checked_limit
from definetti.levels.by_state import ConfidenceLevel
from definetti.sets.base import BaseStepwiseSet, BoolArray, coded
from definetti.sets.guarantees import read_guarantee
from definetti.sets.wording import promise_by_step
from definetti.symmetry.base import LAST


@dataclass(frozen=True, eq=False, repr=False)
class StepSets(BaseStepwiseSet):
    """For each step the states that are possible there, with a promise about all steps together.

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
        """At which steps no state is plausible, and the most probable was let in: (horizon,)."""
        return np.asarray(~self._plausible.any(axis=1) & (not self.allow_empty))

    @property
    def filled(self) -> bool:
        """Whether there is such a step."""
        return bool(self.filled_steps.any())

    def covers_unfilled(self, truth: tuple[Hashable, ...]) -> bool:
        """Tell whether the sets have a sequence without what was filled in."""
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
        """Return at how many steps a sequence is outside of the set."""
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
