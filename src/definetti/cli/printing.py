"""Print JSON documents and tables to standard output, and notes to standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from definetti._system.files import make_plain

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

NOTHING = "none"  # the empty set


def make_console() -> Console:
    """Return a console that prints markup such as ``[b]`` verbatim and escapes controls."""
    from rich.console import Console
    from rich.text import Text

    class Screen(Console):
        def render_str(self, text: str, **arguments: Any) -> Text:
            return super().render_str(escape_controls(text), **arguments)

    return Screen(markup=False, emoji=False, highlight=False)


def print_result(
    document: Any,
    lines: Iterable[Any],
    as_json: bool,
    notes: Iterable[str] = (),
    written: Iterable[Path | None] = (),
) -> None:
    """Print JSON, or lines, tables and paths of written files; print notes to standard error."""
    for note in notes:
        print_stderr(f"note: {note}")
    if as_json:
        print_json(document)
    else:
        print_lines([*lines, *(f"written: {path}" for path in written if path is not None)])


def print_lines(lines: Iterable[Any]) -> None:
    """Print lines without wrapping, and tables."""
    screen = make_console()
    for line in lines:
        screen.print(line, soft_wrap=isinstance(line, str))


def make_table(columns: Iterable[str], left: Iterable[str] = (), **table_options: Any) -> Table:
    """Return an empty table with right-aligned columns, except for those named in `left`."""
    from rich.table import Table

    table, on_left = Table(**{"title_justify": "left", **table_options}), {*left}
    for column in columns:
        table.add_column(column, justify="left" if column in on_left else "right")
    return table


def is_watched() -> bool:
    """Return whether standard error is a terminal, which shows progress."""
    return sys.stderr is not None and sys.stderr.isatty()


def print_stderr(line: str) -> None:
    """Print a line to standard error with control characters escaped."""
    typer.echo(escape_controls(line), err=True)


def escape_controls(text: str) -> str:
    """Escape control characters and line ends."""
    if text.isprintable():
        return text
    codes = (sign.encode("unicode_escape").decode("ascii") for sign in text)
    return "".join(
        sign if sign.isprintable() else code for sign, code in zip(text, codes, strict=True)
    )


def print_json(result: Any) -> None:
    """Print one strict JSON document."""
    typer.echo(json.dumps(make_plain(result), default=str, allow_nan=False))


def format_label(label: Any) -> str:
    """Write a label, quoted if it is ambiguous: empty, with bars or blanks, or ``none``."""
    word = str(label)
    odd = "|" in word or word != word.strip() or not word.isprintable() or word in ("", NOTHING)
    return repr(word) if odd else word


def format_set(labels: Iterable[Any]) -> str:
    """Write a set of labels."""
    return " | ".join(map(format_label, labels)) or NOTHING


def name_some(names: Sequence[Any]) -> str:
    """List the first five names."""
    return ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")
