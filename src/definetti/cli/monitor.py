"""`definetti monitor`: predict a stream of rows, and raise an alarm when it changes."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from definetti.cli import options
from definetti.cli.printing import format_label, make_table, print_json, print_lines, print_stderr
from definetti.cli.stream_reader import Interrupts

if TYPE_CHECKING:
    from definetti.cli.monitor_stream import RowReport
    from definetti.monitor import Monitor

INTERVALS = "95 % intervals valid at all times"
# When the level begins to adapt, which evidence raises an alarm, and what follows an alarm.
AdaptFrom = StrEnum("AdaptFrom", ["alarm", "beginning"])
ListenTo = StrEnum("ListenTo", ["coverage", "law"])
OnAlarm = StrEnum("OnAlarm", ["warn", "restart", "adapt"])


def monitor(
    data: Annotated[str, typer.Argument(help="rows in time order; - for standard input")],
    columns: options.Columns,
    settings: Annotated[options.Settings, options.but("guarantee", "max_errors")],
    grouping: Annotated[options.Grouping, options.only("group_column")],
    lag: Annotated[int, options.data_option(min=0, help="label delay in rows")] = 0,
    first: Annotated[
        int, options.data_option(min=2, help="number of labelled rows to fit on first")
    ] = 100,
    listen_to: Annotated[
        ListenTo,
        options.guarantee_option(
            help="raise alarms when sets miss too often, or the distribution changes"
        ),
    ] = ListenTo.coverage,
    on_alarm: Annotated[
        OnAlarm, options.guarantee_option(help="what to do after an alarm")
    ] = OnAlarm.warn,
    adapt_from: Annotated[
        AdaptFrom, options.guarantee_option(help="when the level begins to adapt")
    ] = AdaptFrom.alarm,
    visits: Annotated[
        bool,
        options.guarantee_option("--visits", help="also test whether each state is still visited"),
    ] = False,
    alpha: Annotated[
        float, options.guarantee_option(help="probability of ever raising a false alarm")
    ] = 0.05,
    follow: Annotated[bool, options.data_option("--follow", help="wait for more rows")] = False,
    save: Annotated[
        Path | None,
        options.output_option(help="file that keeps the state, to resume from: .definetti"),
    ] = None,
    json: options.Json = False,
) -> None:
    """Predict row after row, learn the labels, and raise an alarm when the distribution changes.

    The model is fitted on the first rows. Then each row is observed, its set is made, and its
    state, if it has one, is learned and evaluated. A row without a state is predicted; its label is
    taken never to come once a later row has one. With --lag the label of a row comes so many rows
    later; its observations count at once. With --json a line is printed for every row. Ctrl-C and
    the end of the rows end the command; with --save the next call resumes there, and after a kill
    at the first row that was not reported: the last one printed may be printed again. With
    --group-column each row goes to the monitor of its series, which is fitted on the first rows of
    that series; the probability that any alarm is ever false is --alpha at most, however many
    series there are. Exit code 2: an argument or a file is wrong.

    Example: definetti monitor history.csv --state-column stage --first 20 --save on.definetti

    Example: definetti monitor nights.csv --group-column patient --json
    """
    from definetti.cli.monitor_stream import StreamMonitor, StreamOptions

    settings.check_one_level("a stream has one level; give one")
    group = grouping.group_column
    if group is not None and save is not None:
        raise ValueError("--save is for one series; leave it out, or --group-column")
    watching = {
        "listen_to": listen_to.value, "on_alarm": on_alarm.value, "adapt_from": adapt_from.value,
        "visits": visits, "alpha": alpha,
    }  # fmt: skip
    asked = StreamOptions(data, columns, settings, first, lag, watching, group)
    stream = StreamMonitor(asked, save)
    with Interrupts() as interrupts:
        for report in stream.run(follow, interrupts):
            _print_row(report, json, lag)
    for note in stream.notes:
        print_stderr(f"note: {note}")
    begun = {name: series.monitor for name, series in stream.series.items() if series.monitor}
    if not begun:
        shortage = f"fewer than {first} labelled rows have come"
        if group is not None:
            shortage = f"no series has {first} labelled rows"
        raise ValueError(f"{data}: {shortage}, which --first requires; give more rows, or lower it")
    if not json:
        alone = begun.get(None)
        print_lines(
            _show_series(alone, stream.rows) if alone else _show_all(begun, stream.rows, alpha)
        )


def _print_row(report: RowReport, json: bool, lag: int) -> None:
    """Print the report of a row as JSON, or only its alarms as text."""
    step = report.learned
    if json:
        print_json({
            **({} if report.series is None else {"series": report.series}),
            "row": report.row, "set": None if report.states is None else list(report.states),
            "state": None if step is None else step.state,
            **({} if step is None else {
                "covered": step.covered, "p_values": dict(step.p_values),
                "alarms": [alert.part for alert in step.alerts],
            }),
            **({"labelled_row": report.labelled_row} if lag else {}),
        })  # fmt: skip
        return
    series = "" if report.series is None else f", series {report.series!r}"
    for alert in step.alerts if step else ():
        print_stderr(f"row {report.row}{series}: {alert.says}; {alert.done}")


def _show_all(monitors: dict[Any, Monitor], rows: int, alpha: float) -> Iterator[Any]:
    """Yield a table of coverage by series, most alarms first."""
    table = make_table(
        ("series", "covered", "at all times", "sets", "alarms"), left=["series"],
        title=f"{rows:,} rows of {len(monitors):,} series",
        caption=f"{INTERVALS}; probability of any false alarm: at most {alpha:g}",
    )  # fmt: skip
    for name, monitor in sorted(monitors.items(), key=lambda pair: -len(pair[1].alarms)):
        table.add_row(
            format_label(name), *_show_share(monitor.coverage.overall), f"{len(monitor.alarms):,}"
        )
    yield table


def _show_series(monitor: Monitor, rows: int) -> Iterator[Any]:
    """Yield coverage overall and by state, the capital of each martingale, and the alarms."""
    from definetti.martingales import show_capital

    table = make_table(
        ("", "covered", "at all times", "sets"), left=[""],
        title=f"{rows:,} rows, {monitor.n_labels:,} labels evaluated",
        caption=f"{INTERVALS}; {monitor.promise}",
    )  # fmt: skip
    table.add_row("all", *_show_share(monitor.coverage.overall))
    for state, share in monitor.coverage.by_state.items():
        table.add_row(format_label(state), *_show_share(share))
    yield table
    for name, bet in monitor.martingales.items():
        yield f"capital against {name}: {show_capital(bet.log_capital)}"
    yield f"alarms: {len(monitor.alarms)} ({monitor.alarm.promise})"


def _show_share(share: Any) -> tuple[str, str, str]:
    return f"{share.share:.3f}", f"[{share.low:.3f}, {share.high:.3f}]", f"{share.judged:,}"
