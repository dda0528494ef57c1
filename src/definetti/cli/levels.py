"""`--confidence`: a level for all states, or levels by the last state."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any


def read_confidence(text: str, states: Iterable[Hashable]) -> float | dict[Any, float]:
    """Read a level, or levels with commas between, ``N1=0.99,0.8``: the bare one is for others.

    States are named as they are written, whatever they are in the file.

    >>> read_confidence("0.9", ["W", "N1"]), read_confidence("N1=0.99,0.8", ["W", "N1"])
    (0.9, {'N1': 0.99, None: 0.8})
    """
    named = {str(label): label for label in states}
    found: dict[Any, float] = {}
    for part in text.split(","):
        name, equals, level = part.rpartition("=")
        label = named.get(name.strip(), name.strip()) if equals else None
        if label in found:
            raise ValueError(
                f"--confidence {text}: {name.strip() or 'a level for all others'!r} is there twice"
                "; give each state one level, and one without a name for all others"
            )
        found[label] = _number(level, text)
    return found[None] if list(found) == [None] else found


def list_levels(
    confidence_level: float | dict[Any, float], states: Iterable[Hashable]
) -> list[float]:
    """Return the level of each state.

    >>> list_levels({"N1": 0.99, None: 0.8}, ["W", "N1"])
    [0.8, 0.99]
    """
    from definetti.levels import read_levels

    return [float(1 - alpha) for alpha in read_levels(confidence_level).alphas(states)]


def name_levels(
    confidence_level: float | dict[Any, float], states: Iterable[Hashable]
) -> float | dict[str, float]:
    """Write levels for JSON: a number, or each state's by its name."""
    from definetti.judging.summing import names_of

    if not isinstance(confidence_level, dict):
        return confidence_level
    labels = tuple(dict.fromkeys(states))
    return dict(zip(names_of(labels), list_levels(confidence_level, labels), strict=True))


def _number(level: str, text: str) -> float:
    try:
        return float(level)
    except ValueError:
        raise ValueError(
            f"--confidence {text}: {level.strip()!r} is no number; give a level, 0.9, or levels by "
            "the last state with one for all others, N1=0.99,0.8"
        ) from None
