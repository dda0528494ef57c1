"""Read one level for all states, or one per state, as exact fractions.

P-values are valid conditional on the last state, so each last state may have its own level: a
candidate is in the set if its p-value exceeds one minus the level of its last state. With
`symmetry="departures"` they are valid conditional on the present state, which sets the level.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray
from definetti.data.labels import plain_label
from definetti.engine.pvalues import Rank, chances, chances_to_fill, miscoverage

ConfidenceLevel = float | Mapping[Any, float]
OTHERS = None  # the key for all states that are not named


@dataclass(frozen=True)
class Levels:
    """The miscoverage allowed, by state.

    Attributes
    ----------
    named : one minus the level of each state with its own level
    other : one minus the level of all other states; None if they have none

    Examples
    --------
    >>> levels = read_levels({"N1": 0.99, None: 0.8})
    >>> levels.alphas(("W", "N1"))
    [Fraction(1, 5), Fraction(1, 100)]
    >>> levels.written
    {'N1': 0.99, None: 0.8}
    >>> levels.at("N1").written
    0.99
    """

    named: Mapping[Hashable, Fraction]
    other: Fraction | None

    @cached_property
    def _one(self) -> float | None:
        """The level, if all states share one."""
        return None if self.named or self.other is None else float(1 - self.other)

    @property
    def written(self) -> float | dict[Any, float]:
        """The levels as decimals, as a user writes them: a number if all states share one."""
        if self._one is not None:
            return self._one
        every: dict[Any, Fraction] = dict(self.named)
        if self.other is not None:
            every[OTHERS] = self.other
        return {label: float(1 - alpha) for label, alpha in every.items()}

    def alpha(self, label: Hashable) -> Fraction:
        """Return the miscoverage allowed for a state."""
        alpha = self.named.get(label, self.other)
        if alpha is None:
            raise ValueError(
                f"confidence_level has no level for the state {label!r}; add {label!r}: 0.9, or "
                "None: 0.9 for all states that are not named"
            )
        return alpha

    def alphas(self, labels: Iterable[Hashable]) -> list[Fraction]:
        """Return the miscoverage allowed for each of some states."""
        if not self.named and self.other is not None:
            return [self.other for _ in labels]
        return [self.alpha(label) for label in labels]

    def at(self, label: Hashable) -> Levels:
        """Return levels that give all states the level of one state, the present one."""
        return Levels({}, self.alpha(label))

    def check(self, labels: Iterable[Hashable]) -> None:
        """Raise for a level of an unknown state, and for a state without a level."""
        labels = list(labels)
        known = set(labels)
        unknown = [label for label in self.named if label not in known]
        if unknown:
            raise ValueError(
                f"confidence_level has a level for {unknown[0]!r}, a state that the history does "
                "not have and that is not declared; leave it out, or declare it with "
                f"states={[*labels, unknown[0]]}"
            )
        self.alphas(labels)


def read_levels(confidence_level: Any) -> Levels:
    """Read a confidence level, or a mapping from states to levels; the key None is for others.

    Parameters
    ----------
    confidence_level : float, or dict
        Levels are read as exact decimals, as in `definetti.engine.miscoverage`.
    """
    if not isinstance(confidence_level, Mapping):
        return Levels({}, miscoverage(confidence_level))
    if not confidence_level:
        raise ValueError(
            "confidence_level is {}, an empty mapping; give each state a number between 0 and 1, "
            "or None: 0.9 for all that are not named"
        )
    alphas = {}
    for name, level in confidence_level.items():
        label = plain_label(name)
        try:
            alphas[label] = miscoverage(level)
        except ValueError:
            raise ValueError(
                f"confidence_level[{label!r}] must be a number between 0 and 1, both excluded, got "
                f"{level!r}; {{{label!r}: 0.9}} asks for sets that hold the truth 9 times in 10"
            ) from None
    other = alphas.pop(OTHERS, None)
    return Levels(alphas, other)


def several_levels(confidence_level: Any) -> list[Any] | None:
    """Return several levels as a list; None for a single level, a number or a mapping."""
    several = isinstance(confidence_level, (list, tuple))
    if not several and not (isinstance(confidence_level, np.ndarray) and confidence_level.ndim):
        return None
    levels = list(confidence_level)
    if not levels:
        raise ValueError("confidence_level is an empty list; give one number, 0.9, or several")
    for level in levels:
        read_levels(level)
    return levels


def chances_by_state(
    ranks: list[Rank],
    states: npt.NDArray[Any],
    confidence_level: Any,
    smoothing: bool,
    predictions: Iterable[tuple[int, ...]] = (),
) -> FloatArray:
    """Return the probability that each rank is in the set, at the level of its state.

    `predictions` are the places of candidates of sets to fill, most plausible first.
    """
    levels = read_levels(confidence_level)
    probabilities, alphas = np.empty(len(ranks)), levels.alphas(states.tolist())
    if not levels.named:
        probabilities[:] = chances(ranks, confidence_level, smoothing)
    else:
        for state in np.unique(states).tolist():
            own = np.flatnonzero(states == state)
            level = levels.at(state).written
            probabilities[own] = chances([ranks[k] for k in own.tolist()], level, smoothing)
    return probabilities + chances_to_fill(ranks, predictions, alphas, smoothing)


def write_at_least(confidence_level: ConfidenceLevel, sign: str = "≥ ") -> str:
    """Return the promised levels in words, with their states."""
    if not isinstance(confidence_level, Mapping):
        return f"{sign}{confidence_level}"
    return ", ".join(
        f"{sign}{level} {'otherwise' if names is None else f'where the last state is {names}'}"
        for level, names in grouped(confidence_level)
    )


def grouped(confidence_level: Mapping[Any, float]) -> list[tuple[float, str | None]]:
    """Return the levels, each with its states in words; None for all others comes last."""
    groups: dict[float, list[str]] = {}
    for label, level in confidence_level.items():
        if label is not OTHERS:
            groups.setdefault(level, []).append(str(label))
    others = [(confidence_level[OTHERS], None)] if OTHERS in confidence_level else []
    return [*((level, " or ".join(names)) for level, names in groups.items()), *others]
