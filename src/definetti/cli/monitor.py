"""`definetti monitor`: live with a stream of rows."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from definetti.cli import options
from definetti.cli.errors import report_mistakes
from definetti.cli.printing import print_json, print_notes, tell

if TYPE_CHECKING:
    from definetti.cli.grouped_living import LivingSeries
    from definetti.monitor import Monitor, Step


class AdaptFrom(StrEnum):
    """The time from which the level of a monitor adapts."""

    alarm = "alarm"
    beginning = "beginning"


class OnAlarm(StrEnum):
    """What a monitor does after an alarm."""

    warn = "warn"
    restart = "restart"
    adapt = "adapt"


def monitor(
    data: Annotated[str, typer.Argument(help="rows in time order; - for standard input")],
    columns: options.Columns,
    settings: Annotated[options.Settings, options.but("guarantee", "max_errors")],
    grouping: Annotated[options.Grouping, options.only("group_column")],
    lag: Annotated[
        int, typer.Option(min=0, help="label delay in rows", rich_help_panel=options.DATA)
    ] = 0,
    first: Annotated[
        int,
        typer.Option(
            min=2, help="number of labelled rows to fit on first", rich_help_panel=options.DATA
        ),
    ] = 100,
    on_alarm: Annotated[
        OnAlarm, typer.Option(help="what to do after an alarm", rich_help_panel=options.GUARANTEE)
    ] = OnAlarm.warn,
    adapt_from: Annotated[
        AdaptFrom,
        typer.Option(help="when the level begins to adapt", rich_help_panel=options.GUARANTEE),
    ] = AdaptFrom.alarm,
    visits: Annotated[
        bool,
        typer.Option(
            "--visits",
            help="also test whether each state is still visited",
            rich_help_panel=options.GUARANTEE,
        ),
    ] = False,
    alpha: Annotated[
        float,
        typer.Option(
            help="probability of ever raising a false alarm", rich_help_panel=options.GUARANTEE
        ),
    ] = 0.05,
    follow: Annotated[
        bool, typer.Option("--follow", help="wait for more rows", rich_help_panel=options.DATA)
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option(
            help="file that keeps the state, to resume from: .definetti",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Predict row after row, learn the labels, and say when the law has changed.

    The first rows are the history that all begins with. Then each row is observed, its set is made,
    and its state, if it has one, is learned and judged. A row without a state is predicted, and its
    label taken never to come once a later row has one. With --lag a row's label comes so many rows
    after it, and what is observed until then tells of it all the same. With --json a line is
    printed for every row. Ctrl-C and the end of the rows end it; with --save the next call goes on
    where this one ended; killed, it goes on with the first row that was not reported, and the last
    one printed may be printed again. With --group-column each row goes to
    the monitor of its series, which begins with the first rows of that series; a false alarm of any
    comes with the probability --alpha at most, however many there are. Exit code 2: something is
    wrong with what was given.

    Example: definetti monitor history.csv --state-column stage --first 20 --save on.definetti

    Example: definetti monitor nights.csv --group-column patient --json
    """
    with report_mistakes():
        from definetti.cli.estimators import check_share
        from definetti.cli.grouped_living import LivingSeries
        from definetti.cli.living import Living
        from definetti.cli.stream_reader import Interrupts

        check_share(settings.train_size)
        if len(settings.confidence) > 1:
            raise ValueError(
                f"a stream has one level, and --confidence is there {len(settings.confidence)} "
                "times; give one"
            )
        watching = {"on_alarm": on_alarm.value, "adapt_from": adapt_from.value, "visits": visits,
                    "alpha": alpha}  # fmt: skip
        if grouping.group_column is not None:
            if save is not None:
                raise ValueError("--save is for one series; leave it out, or --group-column")
            _watch_series(
                LivingSeries(data, columns, settings, first, lag, watching, grouping.group_column),
                follow, json,
            )  # fmt: skip
            return
        stream = Living(data, save, columns, settings, first, lag, watching)
        with Interrupts() as interrupts:
            for step in stream.run(follow, interrupts):
                _tell_step(step, json, lag, step[0] - lag)
        print_notes(stream.notes)
        if stream.monitor is None:
            raise ValueError(
                f"{data}: fewer than {first} labelled rows have come, which --first asks for; give "
                "more rows, or lower it"
            )
        if not json:
            print_summary(stream.monitor, stream.rows)


def _watch_series(stream: LivingSeries, follow: bool, json: bool) -> None:
    """Live with many series, and tell of each row whose it is."""
    from definetti.cli.stream_reader import Interrupts

    with Interrupts() as interrupts:
        for steps in stream.run(follow, interrupts):
            for name, step, labelled in steps:
                _tell_step(step, json, stream.lag, labelled, name)
    print_notes(stream.notes)
    begun = {name: one.monitor for name, one in stream.each.items() if one.monitor is not None}
    if not begun:
        raise ValueError(
            f"{stream.source}: no series has {stream.first} labelled rows, which --first asks for; "
            "give more rows, or lower it"
        )
    if not json:
        print_series(begun, stream.rows, stream.watching["alpha"])


def _tell_step(
    step: tuple[int, Any, Step | None],
    json: bool,
    lag: int,
    labelled: int | None,
    series: str | None = None,
) -> None:
    """Tell of a row: of which series, and which row's label came, where labels are late."""
    row, found, learned = step
    if json:
        told: dict[str, Any] = {} if series is None else {"series": series}
        told |= {"row": row, "set": None if found is None else list(found), **_learned(learned)}
        if lag:
            told["labelled_row"] = None if learned is None else labelled
        print_json(told)
        return
    whose = "" if series is None else f", series {series!r}"
    for alert in learned.alerts if learned else ():
        tell(f"row {row}{whose}: the law of the {alert.part} has changed; {alert.done}")


def _learned(step: Step | None) -> dict[str, Any]:
    if step is None:
        return {"state": None}
    return {
        "state": step.state,
        "covered": step.covered,
        "p_values": dict(step.p_values),
        "alarms": [alert.part for alert in step.alerts],
    }


def print_series(monitors: dict[str, Monitor], rows: int, alpha: float) -> None:
    """Print how the series of a stream fared, those with alarms first."""
    from rich.table import Table

    from definetti.cli.printing import console, format_label

    table = Table(title=f"{rows:,} rows of {len(monitors):,} series", title_justify="left")
    for column in ("series", "covered", "at all times", "sets", "alarms"):
        table.add_column(column, justify="left" if column == "series" else "right")
    for name, one in sorted(monitors.items(), key=lambda pair: -len(pair[1].alarms)):
        found = one.coverage.overall
        table.add_row(
            format_label(name), f"{found.share:.3f}", f"[{found.low:.3f}, {found.high:.3f}]",
            f"{found.judged:,}", f"{len(one.alarms):,}",
        )  # fmt: skip
    table.caption = (
        f"95 % intervals that hold whenever one looks; any alarm is ever false with probability "
        f"{alpha:g} at most"
    )
    console().print(table)


def print_summary(monitor: Monitor, rows: int) -> None:
    """Print how a stream fared."""
    from rich.table import Table

    from definetti.cli.printing import console, format_label

    table = Table(title=f"{rows:,} rows, {monitor.n_labels:,} labels judged", title_justify="left")
    for column in ("", "covered", "at all times", "sets"):
        table.add_column(column, justify="left" if not column else "right")
    shares = {"all": monitor.coverage.overall}
    shares |= {format_label(state): one for state, one in monitor.coverage.by_state.items()}
    for name, one in shares.items():
        table.add_row(
            name, f"{one.share:.3f}", f"[{one.low:.3f}, {one.high:.3f}]", f"{one.judged:,}"
        )
    table.caption = f"95 % intervals that hold whenever one looks; {monitor.promise}"
    screen = console()
    screen.print(table)
    for part, bet in monitor.martingales.items():
        screen.print(f"capital against {part}: {bet.capital:.3g}")
    screen.print(f"alarms: {len(monitor.alarms)} ({monitor.alarm.promise})")
