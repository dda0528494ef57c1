"""How many series fared, for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from definetti.evaluation.series import SeriesEvaluation, SeriesRecord

SHOWN = 10  # series that are listed, the worst first


def describe_series(found: SeriesEvaluation) -> dict[str, Any]:
    """Return overall numbers, the worst, the spread and whom to look at, as plain values."""
    worst, (low, high) = found.worst, found.interval
    return {
        "verdict": found.verdict(), "number": len(found), "judged": len(found.judged),
        "trained": found.trained, "source": found.source,
        "windows": found.windows, "unseen": found.unknown, "coverage": found.coverage,
        "low": low, "high": high, "promised": found.promised, "share_empty": found.empty,
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
        "share_empty": one.empty / one.judged if one.judged else None,
    }  # fmt: skip


def _share(coverage: float, interval: tuple[float, float]) -> str:
    """Write a share with its interval, where there is one."""
    low, high = interval
    if low != low:
        return f"{coverage:.3f}"
    return f"{coverage:.3f} [{low:.3f}, {high:.3f}]"


def print_series(found: SeriesEvaluation, said: dict[str, Any], horizon: int) -> None:
    """Print the verdict, all series together, and those that fared worst."""
    from rich.table import Table

    from definetti.cli.printing import console, format_label
    from definetti.evaluation.series import rank_series

    screen = console()
    screen.print(f"{found.verdict()}.", soft_wrap=True)
    judged = found.judged
    if not judged:
        return
    source = f", each from {found.source}" if found.source else ""
    trained = f"; {found.trained:,} series trained the model" if found.trained else ""
    table = Table(
        title=f"{found.windows:,} windows of {horizon} in {len(judged):,} series{source}{trained}; "
        f"promised {found.promised:g}",
        title_justify="left",
    )
    for column in ("series", "windows", "covered", "size", "states a step", "empty"):
        table.add_column(column, justify="left" if column == "series" else "right")
    table.add_row(
        "all", f"{found.windows:,}", _share(found.coverage, found.interval),
        f"{found.mean_size:.2f}", f"{found.states_per_step:.2f}", f"{found.empty:.3f}",
    )  # fmt: skip
    table.add_section()
    for one in sorted(judged, key=rank_series)[:SHOWN]:
        table.add_row(
            format_label(str(one.series)), f"{one.windows:,}",
            _share(one.coverage, one.interval), f"{one.mean_size:.2f}",
            f"{one.states_per_step:.2f}", f"{one.empty / one.judged:.3f}",
        )  # fmt: skip
    hidden = len(judged) - SHOWN
    left = f"; {hidden:,} more fared better" if hidden > 0 else ""
    before = ", before empty sets are filled" if found.empty else ""
    table.caption = f"shares covered{before}; worst first{left}; {said['promise']}"
    screen.print(table)
