"""What goes to standard output: one JSON document for programs, or tables for people."""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Any

import typer

from definetti.cli.formatting import escape_controls

if TYPE_CHECKING:
    from rich.console import Console


def console() -> Console:
    """Return a console that prints labels as they are: ``[b]`` and ``:smile:`` are labels, too.

    It prints a line at a time, and nothing in it, a file's name or a column's, moves the cursor.
    """
    from rich.console import Console
    from rich.text import Text

    class Screen(Console):
        def render_str(self, text: str, **how: Any) -> Text:
            return super().render_str(escape_controls(text), **how)

    return Screen(markup=False, emoji=False, highlight=False)


def tell(line: str) -> None:
    """Write a line to standard error, whatever names are in it."""
    typer.echo(escape_controls(line), err=True)


def print_text(text: str) -> None:
    """Print lines of our own, whatever names are in them."""
    typer.echo("\n".join(map(escape_controls, text.split("\n"))))


def print_json(result: Any) -> None:
    """Print one document that every reader of JSON takes."""
    typer.echo(json.dumps(make_plain(result), default=str, allow_nan=False))


def print_notes(notes: list[str]) -> None:
    """Tell a person, not a program, how something was understood."""
    for note in notes:
        tell(f"note: {note}")


def make_plain(value: Any) -> Any:
    """Return values with null for numbers that JSON does not have, and text for other keys.

    >>> make_plain({"size": float("inf"), 1: [float("nan"), 0.5]})
    {'size': None, '1': [None, 0.5]}
    """
    if isinstance(value, dict):
        return {str(key): make_plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [make_plain(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value
