"""Print to the terminal: JSON documents, tables, and notes on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from math import isfinite
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

NOTHING = "none"  # the empty set


def console() -> Console:
    """Return a console that prints labels such as ``[b]`` as they are, and escapes controls."""
    from rich.console import Console
    from rich.text import Text

    class Screen(Console):
        def render_str(self, text: str, **how: Any) -> Text:
            return super().render_str(escape_controls(text), **how)

    return Screen(markup=False, emoji=False, highlight=False)


def is_watched() -> bool:
    """Tell whether standard error is a terminal, where progress is shown."""
    return sys.stderr is not None and sys.stderr.isatty()


def print_stderr(line: str) -> None:
    """Write a line to standard error, with controls escaped."""
    typer.echo(escape_controls(line), err=True)


def escape_controls(text: str) -> str:
    """Write characters that control a terminal, and ends of lines, as codes."""
    if text.isprintable():
        return text
    codes = (sign.encode("unicode_escape").decode("ascii") for sign in text)
    return "".join(
        sign if sign.isprintable() else code for sign, code in zip(text, codes, strict=True)
    )


def print_text(text: str) -> None:
    """Print lines, with controls escaped."""
    typer.echo("\n".join(map(escape_controls, text.split("\n"))))


def print_json(result: Any) -> None:
    """Print one strict JSON document."""
    typer.echo(json.dumps(make_plain(result), default=str, allow_nan=False))


def print_notes(notes: list[str]) -> None:
    """Write notes to standard error."""
    for note in notes:
        print_stderr(f"note: {note}")


def make_plain(value: Any) -> Any:
    """Return values for strict JSON: null for numbers that are not finite, and text for keys."""
    if isinstance(value, dict):
        return {str(key): make_plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [make_plain(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def format_label(label: Any) -> str:
    """Write a label; in quotes if it could be mistaken for something else."""
    word = str(label)
    odd = "|" in word or word != word.strip() or not word.isprintable() or word in ("", NOTHING)
    return repr(word) if odd else word


def format_set(labels: Iterable[Any]) -> str:
    """Write a set of labels.

    >>> format_set(["sun", "a|b"]), format_set([])
    ("sun | 'a|b'", 'none')
    """
    return " | ".join(map(format_label, labels)) or NOTHING
