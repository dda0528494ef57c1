"""Tables for people to read."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table


def make_table(title: str, *columns: str) -> Table:
    """Make a table whose first column is text and whose others are numbers."""
    made = Table(title=title, title_justify="left", title_style="bold")
    for k, column in enumerate(columns):
        made.add_column(column, justify="right" if k else "left")
    return made


def show_table(console: Console, made: Table, *notes: str) -> None:
    """Print a table, and below it what was compared with what."""
    console.print(made)
    for note in notes:
        console.print(f"  {note}", style="dim", highlight=False)
    console.print()


def format_seconds(seconds: float) -> str:
    """Write a time with three digits and the unit that suits it.

    >>> format_seconds(0.00123), format_seconds(12.3)
    ('1.23 ms', '12.3 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{_format_digits(seconds / size)} {unit}"
    return f"{_format_digits(seconds / 1e-6)} µs"


def format_ratio(ratio: float) -> str:
    """Write a ratio: 3.2×, 1,234×."""
    return f"{_format_digits(ratio)}×"


def format_memory(size: int) -> str:
    return f"{_format_digits(size / 2**20)} MiB"


def format_goal(ratio: float, least: float) -> str:
    """Say what was hoped for and whether it was reached."""
    return f"≥ {least:,.0f}× {'✓' if ratio >= least else '✗'}"


def _format_digits(value: float) -> str:
    """Write a number with three digits, or all of its whole ones."""
    places = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:,.{places}f}"
