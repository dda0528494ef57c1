"""A backtest as a table for people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

ENOUGH = 10  # windows with a last state, to speak of its coverage
READABLE = 10**7  # sequences, of which the number is written in full


def show(result: dict[str, Any], output: Path | None) -> None:
    """Print what `definetti backtest` found, a column a method."""
    from rich.table import Table

    from definetti.cli.formatting import format_label
    from definetti.cli.printing import console

    table = Table(
        title=f"{result['windows']} windows of {result['horizon']}, each from all rows before it, "
        f"at {result['confidence_level']:g}",
        title_justify="left",
    )
    for column in ("", *result["methods"]):
        table.add_column(column, justify="left" if not column else "right")
    ways = list(result["methods"].values())
    table.add_row("covered", *map(_share, ways))
    table.add_row("sequences in a set", *(_number(way["mean_size"]) for way in ways))
    table.add_row("states per step", *(f"{way['mean_states_per_step']:.2f}" for way in ways))
    table.add_section()
    for label in ways[0]["by_last_state"]:
        shares = (_share(way["by_last_state"][label]) for way in ways)
        table.add_row(f"ends in {format_label(label)}", *shares)
    table.add_section()
    for k, part in enumerate(ways[0]["over_time"]):
        name = f"windows {part['first']} to {part['last']}"
        table.add_row(name, *(_share(way["over_time"][k]) for way in ways))
    table.caption = "shares covered, with exact 95 % intervals"
    if "classical" in result["methods"]:
        table.caption += "; classical guarantees none of them"
    table.caption += "; a set may be empty, and then covers nothing"
    screen = console()
    screen.print(table)
    if output is not None:
        screen.print(f"written: {output}", soft_wrap=True)


def _share(share: dict[str, Any]) -> str:
    if share["windows"] < ENOUGH:
        return f"{share['coverage']:.2f} (of {share['windows']})"
    return f"{share['coverage']:.3f} [{share['low']:.3f}, {share['high']:.3f}]"


def _number(mean: float) -> str:
    """Write a mean number of sequences, which may be beyond all numbers.

    >>> _number(1.106), _number(2.0e12), _number(float("inf"))
    ('1.11', '2.0e+12', '> 1e+300')
    """
    if mean == float("inf"):
        return "> 1e+300"
    return f"{mean:.2f}" if mean < READABLE else f"{mean:.1e}"
