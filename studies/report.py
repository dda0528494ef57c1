"""The table for people to read, and what it says in words."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from definetti.experiments.worlds import Recording
from studies.assumptions import departure, half, lingering, two_back
from studies.rows import ENOUGH, StudyRow

COLUMNS = ("data", "method", "horizon", "level", "windows", "coverage", "95 % interval",
           "worst given last state", "mean size", "s per prediction")  # fmt: skip


def print_table(console: Console, table: Sequence[StudyRow]) -> None:
    """Print the table."""
    made = Table(title="Rolling sets on real data", title_justify="left", title_style="bold")
    for k, column in enumerate(COLUMNS):
        made.add_column(column, justify="right" if k > 1 else "left")
    before = None
    for row in table:
        if before not in (None, (row.data, row.horizon)):
            made.add_section()
        before = (row.data, row.horizon)
        worst = "" if row.worst is None else f"{row.worst:.2f} ({row.worst_state})"
        made.add_row(
            row.data, row.method, str(row.horizon), f"{row.level:.2f}", str(row.windows),
            f"{row.coverage:.3f}", f"{row.low:.3f} to {row.high:.3f}", worst,
            f"{row.size:.2f}", f"{row.seconds:.4f}",
        )  # fmt: skip
    console.print(made)
    console.print(
        "  The model is fitted to the first half of a history and windows are spread evenly over "
        "its last quarter;\n  none overlap, and labels are revealed after each. 'full' refits for "
        "every candidate and needs no split.\n  Intervals take windows for independent, which "
        "neighbours are not quite. Worst: among last states with at\n"
        f"  least {ENOUGH} windows; the smallest of several shares is low by chance, too.\n",
        style="dim",
        highlight=False,
    )


def explain(name: str, histories: Sequence[Recording], table: Sequence[StudyRow]) -> str:
    """Say which rows keep their promise, and how far the data are from what it rests on."""
    own = [row for row in table if row.data == name]
    short = [_named(row) for row in own if row.high < row.level]
    # A set that holds too much breaks no promise, so this is a remark and not a fault.
    ample = [_named(row) for row in own if row.low > row.level]
    parts = [f"{name}: {len(own) - len(short)} of {len(own)} rows reach their level, as far as the "
             "intervals can tell."]  # fmt: skip
    if short:
        parts.append(f"Short of it: {'; '.join(short)}.")
    if ample:
        parts.append(f"Above it: {'; '.join(ample)}.")
    memory, change = departure(histories, two_back), departure(histories, half)
    parts.append(
        f"The states are {_not(memory.bits > memory.chance)}a Markov chain: the state before the "
        f"present one tells {memory.bits:.3f} bits of the next, where chance would explain "
        f"{memory.chance:.3f}. Their law {_does(change.bits > change.chance)}: which half of "
        f"the history it is tells {change.bits:.3f} bits ({change.chance:.3f} by chance)."
    )
    if (linger := lingering(histories)) is not None:
        parts.append(
            "Successive observations, once the means of their states are taken off, have "
            f"correlation {linger:.2f}; it would be 0 if each depended on its own state alone."
        )
    parts.append(
        "The promise is not made for data that depart so"
        + (": coverage short of the level is what can come of it." if short else
           ", and yet coverage did not suffer here.")
    )  # fmt: skip
    if smaller := [line for row in own if (line := _smaller(row, own))]:
        parts.append(f"Smaller sets than 'spaced' at the same level: {'; '.join(smaller)}.")
    return " ".join(parts) + "\n"


def _named(row: StudyRow) -> str:
    steps = f"{row.horizon} step{'s' * (row.horizon > 1)}"
    return f"{row.method}, {steps}, {row.coverage:.3f} for {row.level:.2f}"


def _smaller(row: StudyRow, own: Sequence[StudyRow]) -> str | None:
    """Say what another method's smaller sets cost in the state that it treats worst."""
    same = {r.method: r for r in own if (r.horizon, r.level) == (row.horizon, row.level)}
    ours = same.get("spaced")
    if ours is None or row.method.startswith("spaced") or row.size >= ours.size:
        return None
    line = f"{_named(row)}, {row.size:.2f} against {ours.size:.2f}"
    if row.worst is None or ours.worst is None:
        return line
    return f"{line}, worst state {row.worst:.2f} against {ours.worst:.2f}"


def _not(true: bool) -> str:
    return "not " if true else ""


def _does(true: bool) -> str:
    return "changes" if true else "does not change"
