"""Symmetries that draw few rearrangements, for tests to be fast."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from definetti.symmetry import Symmetry, find_symmetry


def drawing(symmetry: Any, number: int) -> Symmetry:
    """Return a symmetry that draws so many rearrangements, if it draws any at all."""
    found: Any = find_symmetry(symmetry)
    draws = any(field.name == "n_resamples" for field in fields(found))
    return replace(found, n_resamples=number) if draws else found
