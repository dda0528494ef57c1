"""How many series fared, for people and for programs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from definetti.judging.intervals import exact_interval

if TYPE_CHECKING:
    from definetti.judging.series import SeriesEvaluation, SeriesRecord

SHOWN = 10  # series that are listed, the worst first


def describe_series(found: SeriesEvaluation) -> dict[str, Any]:
    """Return overall numbers, the worst, the spread and whom to look at, as plain values."""
    worst = found.worst
    return {
        "verdict": found.verdict(), "number": len(found), "judged": len(found.judged),
        "windows": found.windows, "unseen": found.unknown, "coverage": found.coverage,
        "promised": found.promised,
        "mean_size": found.mean_size, "mean_states_per_step": found.states_per_step,
        "spread": found.spread, "spread_by_chance": found.spread_by_chance,
        "worst": None if worst is None else _describe(worst),
        "look_at": [_describe(one) for one in found.look_at],
    }  # fmt: skip


def _describe(one: SeriesRecord) -> dict[str, Any]:
    low, high = one.interval
    return {
        "series": one.series, "windows": one.windows, "coverage": one.coverage,
        "low": low, "high": high, "mean_size": one.mean_size,
    }  # fmt: skip


def _share(coverage: float, interval: tuple[float, float]) -> str:
    """Write a share with its interval, which shares of steps do not have."""
    low, high = interval
    return f"{coverage:.3f}" if math.isnan(low) else f"{coverage:.3f} [{low:.3f}, {high:.3f}]"


def print_series(found: SeriesEvaluation, said: dict[str, Any], horizon: int) -> None:
    """Print the verdict, all series together, and those that fared worst."""
    from rich.table import Table

    from definetti.cli.printing import console, format_label

    screen = console()
    screen.print(f"{found.verdict()}.", soft_wrap=True)
    judged = found.judged
    if not judged:
        return
    table = Table(
        title=f"{found.windows:,} windows of {horizon} in {len(judged):,} series, each from all "
        f"rows of its series before it; promised {found.promised:g}",
        title_justify="left",
    )
    for column in ("series", "windows", "covered", "size", "states a step"):
        table.add_column(column, justify="left" if column == "series" else "right")
    interval = (math.nan, math.nan)
    if not any(one.by_steps for one in judged):
        covered = sum(one.covered for one in judged)
        interval = exact_interval(int(covered), found.windows - found.unknown)
    table.add_row(
        "all", f"{found.windows:,}", _share(found.coverage, interval), f"{found.mean_size:.2f}",
        f"{found.states_per_step:.2f}",
    )  # fmt: skip
    table.add_section()
    for one in sorted(judged, key=lambda one: (one.p_value, one.coverage))[:SHOWN]:
        table.add_row(
            format_label(str(one.series)), f"{one.windows:,}",
            _share(one.coverage, one.interval), f"{one.mean_size:.2f}",
            f"{one.states_per_step:.2f}",
        )  # fmt: skip
    hidden = len(judged) - SHOWN
    left = f"; {hidden:,} more fared better" if hidden > 0 else ""
    table.caption = f"worst first{left}; {said['promise']}"
    screen.print(table)
