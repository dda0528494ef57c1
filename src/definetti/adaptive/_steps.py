"""Sizes of steps."""

from __future__ import annotations

from numbers import Real
from typing import Any


def checked_step(gamma: Any, name: str = "gamma") -> None:
    """Refuse anything but a number between 0 and 1."""
    number = isinstance(gamma, Real) and not isinstance(gamma, bool)
    if not number or not 0 < gamma < 1:
        raise ValueError(
            f"{name} must be a number between 0 and 1, got {gamma!r}; 0.005 adapts over some "
            "hundreds of rounds"
        )
