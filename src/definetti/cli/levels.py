"""`--confidence`: a level for all states, or levels by the last state."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any


def read_confidence(text: str, states: Iterable[Hashable]) -> float | dict[Any, float]:
    """Read a level, or levels with commas between, ``N1=0.99,0.8``: the bare one is for others.

    What has a comma is one level of a kind: of several, each has a ``--confidence`` of its own.

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
                "; give each state one level, and one without a name for all others; for several "
                "levels give --confidence several times"
            )
        found[label] = _number(level, text)
    return found[None] if list(found) == [None] else found


def read_confidences(texts: list[str], states: Iterable[Hashable]) -> list[Any]:
    """Read levels, of which each ``--confidence`` is one; none twice.

    >>> read_confidences(["0.8", "N1=0.99,0.9"], ["W", "N1"])
    [0.8, {'N1': 0.99, None: 0.9}]
    """
    labels = list(states)
    found = [read_confidence(text, labels) for text in texts]
    for place, level in enumerate(found):
        if level in found[:place]:
            raise ValueError(f"--confidence {texts[place]} is there twice; leave one out")
    return found


def read_numbers(texts: list[str], states: Iterable[Hashable]) -> list[Any]:
    """Read levels that are judged in one run: numbers, or levels by state alone."""
    found = read_confidences(texts, states)
    own = next((k for k, level in enumerate(found) if isinstance(level, dict)), None)
    if own is not None and len(found) > 1:
        raise ValueError(
            f"--confidence {texts[own]} has levels by state, which are judged by themselves; leave "
            "the other --confidence out, and give it in a run of its own"
        )
    return found


def write_level(level: float | dict[Any, float]) -> float | str:
    """Write a level as it is read: a number, or text.

    >>> write_level(0.9), write_level({"N1": 0.99, None: 0.8})
    (0.9, 'N1=0.99,0.8')
    """
    if not isinstance(level, dict):
        return level
    return ",".join(
        f"{one:g}" if name is None else f"{name}={one:g}" for name, one in level.items()
    )


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
    from definetti.evaluation.summarize import names_of

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
