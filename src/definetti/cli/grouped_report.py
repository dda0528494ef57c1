"""The report of many series: how all fared, and one of them in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from definetti.cli.errors import BadTable
from definetti.cli.grouped import judge_groups, read_one
from definetti.cli.options import Grouping, Spreading
from definetti.cli.report import Asked, report_one
from definetti.report import report_series

if TYPE_CHECKING:
    from definetti.judging.series import SeriesEvaluation
    from definetti.report import Report


def report_groups(asked: Asked, grouping: Grouping, show: str | None) -> tuple[Report, list[str]]:
    """Backtest every series, and put them on one page with the one to show; return it, and notes.

    Parameters
    ----------
    show : the series to show in full; if left out the worst, where each goes by its own rows
    """
    if asked.new is not None:
        raise BadTable(
            "with --group-column new rows come below the labelled ones, with empty states; leave "
            "out the second file"
        )
    own = grouping.series.value == "own"
    if show is not None and (not own or asked.data == "-"):
        raise ValueError(
            "--show is for a series by its own rows, in a file; take --series own and name a file, "
            "or leave it out"
        )
    horizon = asked.horizon or asked.lag + 1
    each, said, notes = judge_groups(
        asked.data, asked.columns, asked.settings, grouping, Spreading(),
        horizon=horizon, lag=asked.lag, start=asked.start, windows=asked.windows,
    )  # fmt: skip
    found, one, name = each[0], None, None
    worst = found.worst
    if show is not None or (own and asked.data != "-" and worst is not None):
        name = find_series(found, show) if show is not None else worst and worst.series
        rows = read_one(asked.data, asked.columns, grouping, name, list(said["observed"]))
        one, more = report_one(asked, rows)
        notes = [*notes, *(f"series {name!r}: {note}" for note in more)]
    made = report_series(
        each, horizon, one=one, name=name, title=asked.title,
        settings={
            "command": asked.command,
            "labelled rows from": asked.data,
            "series from": f"column {grouping.group_column}",
            "in the order of": "the file" if grouping.order_column is None
            else f"column {grouping.order_column}",
            "predicted by": grouping.series.value,
        },
    )  # fmt: skip
    return made, notes


def find_series(found: SeriesEvaluation, name: str) -> Any:
    """Return the name of a series as the table has it, which may be a number."""
    named = {str(one.series): one.series for one in found}
    if name not in named:
        some = ", ".join(list(named)[:6]) + (", …" if len(named) > 6 else "")
        raise BadTable(f"--show {name}: there is no such series; there are {some}")
    return named[name]
