"""Parameters of bets."""

from __future__ import annotations

from numbers import Real
from typing import Any


def checked_share(value: Any, name: str, remedy: str) -> float:
    """Return a number between 0 and 1, both excluded."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not 0 < value < 1:
        raise ValueError(
            f"{name} must be a number between 0 and 1, both excluded, got {value!r}; {remedy}"
        )
    return float(value)
