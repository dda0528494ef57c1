"""Estimators and symmetries that many tests make."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from definetti import ConformalHMM, Errors, GroupedConformalHMM
from definetti.symmetry import Symmetry, find_symmetry


def drawing(symmetry: Any, number: int) -> Symmetry:
    """Return a symmetry that draws so many rearrangements, if it draws any at all."""
    found: Any = find_symmetry(symmetry)
    draws = any(field.name == "n_resamples" for field in fields(found))
    return replace(found, n_resamples=number) if draws else found


def grouped(model: Any = "auto", *, series: Any = "own", **how: Any) -> GroupedConformalHMM:
    """Return an estimator for many series, given the parameters of each."""
    return GroupedConformalHMM(ConformalHMM(model, **how), series)


def promising(guarantee: str, max_errors: int) -> str | Errors:
    """Return the parameter `guarantee` for a name and a number of errors."""
    return Errors(max_errors) if guarantee == "errors" else guarantee
