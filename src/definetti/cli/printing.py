"""Results for programs: one JSON document on standard output, and nothing else there."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any

import typer


def print_json(result: Any) -> None:
    """Print one document that every reader of JSON takes."""
    typer.echo(json.dumps(plain(result), default=str, allow_nan=False))


def print_notes(notes: list[str]) -> None:
    """Tell a person, not a program, how something was understood."""
    for note in notes:
        typer.echo(f"note: {note}", err=True)


def plain(value: Any) -> Any:
    """Return values with null for numbers that JSON does not have, and text for other keys.

    >>> plain({"size": float("inf"), 1: [float("nan"), 0.5]})
    {'size': None, '1': [None, 0.5]}
    """
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value
