"""What goes to standard output: one JSON document for programs, or tables for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from math import isfinite
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

NOTHING = "none"  # what a person reads where no state is possible


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


def is_watched() -> bool:
    """Tell whether a person can see what is written to standard error, as a progress bar is."""
    return sys.stderr is not None and sys.stderr.isatty()


def tell(line: str) -> None:
    """Write a line to standard error, whatever names are in it."""
    typer.echo(escape_controls(line), err=True)


def escape_controls(text: str) -> str:
    r"""Write signs that a terminal would act upon, the end of a line among them, as codes.

    >>> print(escape_controls("a\x1b[31m\nb"))
    a\x1b[31m\nb
    """
    if text.isprintable():
        return text
    codes = (sign.encode("unicode_escape").decode("ascii") for sign in text)
    return "".join(
        sign if sign.isprintable() else code for sign, code in zip(text, codes, strict=True)
    )


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


def format_label(label: Any) -> str:
    """Write a label for a person; in quotes where it could be taken for something else.

    >>> [format_label(label) for label in ("sun", "a|b", "a ", 2)]
    ['sun', "'a|b'", "'a '", '2']
    """
    word = str(label)
    odd = "|" in word or word != word.strip() or not word.isprintable() or word in ("", NOTHING)
    return repr(word) if odd else word


def format_set(labels: Iterable[Any]) -> str:
    """Write a set of labels for a person.

    >>> format_set(["sun", "a|b"]), format_set([])
    ("sun | 'a|b'", 'none')
    """
    return " | ".join(map(format_label, labels)) or NOTHING
