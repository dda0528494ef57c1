"""A set of states for each step."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from definetti._system.arrays import FloatArray
from definetti.engine.promise import write_condition
from definetti.levels.by_state import ConfidenceLevel, write_at_least
from definetti.sets.base import BaseStepwiseSet, BoolArray, coded, short
from definetti.sets.guarantees import check_guarantee
from definetti.symmetry.base import LAST


@dataclass(frozen=True, eq=False, repr=False)
class StepSets(BaseStepwiseSet):
    """For each step the states that are possible there, with a promise about all steps together.

    Attributes
    ----------
    states : all labels there are
    confidence_level : the level asked for, a dict where last states have levels of their own
    guarantee : "all", "steps" or "errors": what is promised
    max_errors : how many steps may be wrong, for "errors"
    limit : the largest nonconformity, one minus the probability, of a state in the set of its step
    last_limits : (number of states,) the same for each state at the last step; `limit` if None
    note : what it does not say, where too few windows of the past leave nothing out
    method : how the sets were made
    exact : whether the promise holds in finite samples
    marginals : (horizon, number of states) probability of each state at each step by the model
    given : given which state that holds: the "last state", the "present state", averaged over its
        visits, or the "present state, at any time"; "with its memory" where it has one
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
    >>> StepSets(("a", "b", "c"), 0.9, "steps", 0, 0.4, "by hand", True, marginals).steps
    [('a',), ()]
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
        check_guarantee(self.guarantee, self.max_errors)  # what is promised is said in its words

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
        return tuple(self.states[code] for code in self.marginals.argmax(axis=1).tolist())

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
        path = coded(sequence, self.states, self.horizon)
        if path is None:
            raise KeyError(f"{short(sequence)} is not a sequence of {self.horizon} known states")
        return int((~self.nodes[np.arange(self.horizon), path]).sum())

    def __contains__(self, sequence: Any) -> bool:
        path = coded(sequence, self.states, self.horizon)
        return path is not None and self.wrong(sequence) <= self.max_errors

    def plot(self, truth: Any = None, ax: Any = None) -> Any:
        """Draw the sets; see `definetti.plots.plot_set`."""
        from definetti.plots import plot_set

        return plot_set(self, truth, ax)

    def _on_filling(self) -> str:
        steps = f"{int(self.filled_steps.sum()):,} of {self.horizon:,} steps"
        return f"nothing is plausible at this level at {steps}; the most probable is shown"

    def _headline(self) -> str:
        line = f"{self.widths.mean():.2f} of {len(self.states)} states per step, "
        line += f"{self.horizon:,} step{'s' * (self.horizon > 1)}"
        if not self.exact:
            return f"{line}; level {write_at_least(self.confidence_level, '')} NOT guaranteed"
        level = write_at_least(self.confidence_level)
        if self.guarantee == "steps":
            promised = f"of all steps a share {level} is right on average"
            if isinstance(self.confidence_level, Mapping):
                promised = f"the share of steps that are right is on average {level}"
        elif self.max_errors:
            promised = f"at most {self.max_errors} wrong with probability {level}"
        else:
            promised = f"all right together with probability {level}"
        return f"{line}; {promised}{write_condition(self.given)}"


def _no_sequences(name: str) -> AttributeError:
    return AttributeError(
        f"StepSets has no {name}: it has states for each step, see steps; use guarantee='all' for "
        "a set of sequences"
    )
