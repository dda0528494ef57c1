"""One level for all states, or one for each: from what the user writes to fractions.

A p-value is valid given the last state, so that each last state may have a level of its own: a
candidate is in the set if its p-value exceeds one minus the level of the state that it ends in.
With `symmetry="departures"` it is valid given the present state, and the level is that state's.
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
OTHERS = None  # the key that stands for all states that are not named


@dataclass(frozen=True)
class Levels:
    """What may be missed, state by state.

    Attributes
    ----------
    named : one minus the level of each state that has one of its own
    other : one minus the level of all others; None where they have none

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
        """The level where it is one for all."""
        return None if self.named or self.other is None else float(1 - self.other)

    @property
    def written(self) -> float | dict[Any, float]:
        """As a user writes it, in decimals: a number where it is one for all."""
        if self._one is not None:
            return self._one
        every: dict[Any, Fraction] = dict(self.named)
        if self.other is not None:
            every[OTHERS] = self.other
        return {label: float(1 - alpha) for label, alpha in every.items()}

    def alpha(self, label: Hashable) -> Fraction:
        """Return what may be missed where a state is the one that counts."""
        found = self.named.get(label, self.other)
        if found is None:
            raise ValueError(
                f"confidence_level has no level for the state {label!r}; add {label!r}: 0.9, or "
                "None: 0.9 for all states that are not named"
            )
        return found

    def alphas(self, labels: Iterable[Hashable]) -> list[Fraction]:
        """Return what may be missed for each of some states."""
        if not self.named and self.other is not None:
            return [self.other for _ in labels]
        return [self.alpha(label) for label in labels]

    def at(self, label: Hashable) -> Levels:
        """Return the level of one state, for all: where it is the present one."""
        return Levels({}, self.alpha(label))

    def check(self, labels: Iterable[Hashable]) -> None:
        """Refuse a level for a state that there is not, and a state without a level."""
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
    """Read a confidence level, or a mapping from states to theirs; None is for all others.

    Parameters
    ----------
    confidence_level : float, or dict
        Levels are taken as the decimals that were written, as `definetti.engine.miscoverage` does.
    """
    if not isinstance(confidence_level, Mapping):
        return Levels({}, miscoverage(confidence_level))
    if not confidence_level:
        raise ValueError(
            "confidence_level is {}, an empty mapping; give each state a number between 0 and 1, "
            "or None: 0.9 for all that are not named"
        )
    found = {}
    for name, level in confidence_level.items():
        label = plain_label(name)
        try:
            found[label] = miscoverage(level)
        except ValueError:
            raise ValueError(
                f"confidence_level[{label!r}] must be a number between 0 and 1, both excluded, got "
                f"{level!r}; {{{label!r}: 0.9}} asks for sets that hold the truth 9 times in 10"
            ) from None
    other = found.pop(OTHERS, None)
    return Levels(found, other)


def several_levels(confidence_level: Any) -> list[Any] | None:
    """Return several levels one by one; None where it is one alone, a number or a mapping."""
    several = isinstance(confidence_level, (list, tuple))
    if not several and not (isinstance(confidence_level, np.ndarray) and confidence_level.ndim):
        return None
    found = list(confidence_level)
    if not found:
        raise ValueError("confidence_level is an empty list; give one number, 0.9, or several")
    for one in found:
        read_levels(one)
    return found


def chances_by_state(
    ranks: list[Rank],
    states: npt.NDArray[Any],
    confidence_level: Any,
    smoothing: bool,
    predictions: Iterable[tuple[int, ...]] = (),
) -> FloatArray:
    """Return how probable it is that each rank is in the set, at the level of its state.

    `predictions` are places of candidates of sets to be filled, the most plausible first.
    """
    levels = read_levels(confidence_level)
    found, alphas = np.empty(len(ranks)), levels.alphas(states.tolist())
    if not levels.named:
        found[:] = chances(ranks, confidence_level, smoothing)
    else:
        for state in np.unique(states).tolist():
            own = np.flatnonzero(states == state)
            level = levels.at(state).written
            found[own] = chances([ranks[k] for k in own.tolist()], level, smoothing)
    return found + chances_to_fill(ranks, predictions, alphas, smoothing)


def write_at_least(confidence_level: ConfidenceLevel, sign: str = "≥ ") -> str:
    """Write what is promised, and where."""
    if not isinstance(confidence_level, Mapping):
        return f"{sign}{confidence_level}"
    return ", ".join(
        f"{sign}{level} {'otherwise' if names is None else f'where the last state is {names}'}"
        for level, names in grouped(confidence_level)
    )


def grouped(confidence_level: Mapping[Any, float]) -> list[tuple[float, str | None]]:
    """Return the levels, each with its states in words; None for all others, at the end."""
    groups: dict[float, list[str]] = {}
    for label, level in confidence_level.items():
        if label is not OTHERS:
            groups.setdefault(level, []).append(str(label))
    others = [(confidence_level[OTHERS], None)] if OTHERS in confidence_level else []
    return [*((level, " or ".join(names)) for level, names in groups.items()), *others]
