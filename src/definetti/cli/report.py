"""`definetti report`: write predictions and backtest of one or many series on one page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from definetti.cli import options
from definetti.cli.check import check_rows, note_broken
from definetti.cli.columns import LabelledTable, read_labelled
from definetti.cli.errors import BadTable
from definetti.cli.estimators import check_lag, cut_new, make_estimator, read_numbers
from definetti.cli.printing import name_some, print_result
from definetti.cli.writing import check_output, read_beginning

if TYPE_CHECKING:
    from definetti.report import Report

PAGE = Path("report.html")
MARK = '<meta name="generator" content="definetti">'


def report(
    context: typer.Context,
    data: options.LabelledRows,
    columns: options.Columns,
    settings: options.Settings,
    grouping: options.Grouping,
    *,
    new: options.NewRows = None,
    horizon: options.Horizon = None,
    rolling: options.Rolling,
    no_check: options.NoCheck = False,
    show: Annotated[
        str | None, options.output_option(help="series to show in full; default: the worst")
    ] = None,
    title: Annotated[str | None, options.output_option(help="title of the page")] = None,
    output: Annotated[
        Path, options.output_option("--output", "-o", help="page to write, .html")
    ] = PAGE,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Write one page with the sets, how such sets fared before, and the settings.

    The page is one file that opens without a network; its sets follow the confidence level chosen
    on it. New rows are in a second file, or below the labelled ones with empty states; without new
    rows, the page has the backtest only. With --group-column the page begins with a verdict over
    all series and a table of them, the worst first; by --series own, one is shown in full below.
    Exit code 2: an argument or a file is wrong.

    Example: definetti report history.csv tonight.csv --state-column stage -o report.html

    Example: definetti report nights.csv --group-column patient --order-column time
    """
    check_output(output, [data, new], force, is_report_file, (".html", ".htm"))
    task = ReportTask(
        data, new, columns, settings, horizon, rolling, no_check, title, write_command(context)
    )
    if grouping.group_column is not None:
        page, notes = _report_groups(task, grouping, show)
    else:
        options.check_single_series({"--show": show is not None})
        page, notes = _report_series(task, read_labelled(data, new, columns))
    page.save(output)
    lines = _list_findings(page.contents, settings.confidence, output)
    print_result({"written": str(output), **page.contents}, lines, json, notes)


class ReportTask(NamedTuple):
    """Options of a report, except those on series."""

    data: str
    new: str | None
    columns: options.Columns
    settings: options.Settings
    horizon: int | None
    rolling: options.Rolling
    no_check: bool
    title: str | None
    command: str


def _report_series(task: ReportTask, table: LabelledTable) -> tuple[Report, list[str]]:
    """Return the report of one series, and notes."""
    from definetti.report import make_report

    settings, lag, steps = task.settings, task.rolling.lag, task.horizon or table.new_rows
    longest = max(steps, lag + 1)  # steps of a backtest window
    if steps:
        check_lag(lag, steps)
        table.check_new(steps)
    seen, ahead = cut_new(table, longest)
    levels = read_numbers(settings.confidence, table.states)
    cp = make_estimator(settings, table, longest, lag=lag)
    checked = check_rows(
        table, cp.memory, settings.seed,
        train_size=cp.train_size, skip=task.no_check, pictures=True,
    )  # fmt: skip
    observed = ", ".join(f"{name} ({kind})" for name, kind in table.columns.items())
    page = make_report(
        cp, table.observations, table.states, seen if steps else None,
        horizon=ahead if steps else None, **asdict(task.rolling),
        levels=levels[1:], lengths=table.lengths, title=task.title, check=checked, verbose=True,
        settings={
            "command": task.command,
            "labelled rows from": task.data,
            "new rows from": _name_origin(task.data, task.new, table.new_rows, steps),
            "states from": f"column {task.columns.state_column}",
            "observed": observed or "nothing",
        },
    )  # fmt: skip
    return page, [*table.notes, *note_broken(checked, settings.symmetry)]


def _report_groups(
    task: ReportTask, grouping: options.Grouping, show: str | None
) -> tuple[Report, list[str]]:
    """Return the report of many series, with one shown in full, and notes."""
    from definetti.cli.series import backtest_groups
    from definetti.cli.series_tables import read_one_series
    from definetti.report import report_series

    if task.new is not None:
        raise BadTable(
            "with --group-column the new rows of each series are below its labelled ones, with "
            "empty states; leave out the second file"
        )
    own = grouping.series.value == "own"
    if show is not None and (not own or task.data == "-"):
        raise ValueError(
            "--show requires --series own and rows in a file; give these, or leave --show out"
        )
    horizon = task.horizon or task.rolling.lag + 1
    by_level, said, notes = backtest_groups(
        task.data, task.columns, task.settings, grouping, options.Spreading(), horizon, task.rolling
    )
    full, name, worst = None, None, by_level[0].worst
    if show is not None or (own and task.data != "-" and worst is not None):
        name = worst and worst.series
        if show is not None:
            names = {str(record.series): record.series for record in by_level[0]}
            if show not in names:
                raise BadTable(
                    f"--show {show}: there is no such series; there are {name_some(list(names))}"
                )
            name = names[show]  # the label as read, possibly a number
        rows = read_one_series(task.data, task.columns, grouping, name, list(said["observed"]))
        full, more = _report_series(task, rows)
        notes = [*notes, *(f"series {name!r}: {note}" for note in more)]
    page = report_series(
        by_level, horizon, one=full, name=name, title=task.title,
        settings={
            "command": task.command,
            "labelled rows from": task.data,
            "series from": f"column {grouping.group_column}",
            "in the order of": "the file" if grouping.order_column is None
            else f"column {grouping.order_column}",
            "predicted by": grouping.series.value,
        },
    )  # fmt: skip
    return page, notes


def is_report_file(path: Path) -> bool:
    """Return whether a file has the mark that this command writes."""
    return MARK in read_beginning(path)


def write_command(context: typer.Context) -> str:
    """Return the command line with all options that differ from their defaults."""
    import shlex

    words = ["definetti", str(context.command.name)]
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if value is None or value == parameter.default or parameter.name in ("force", "json"):
            continue
        for item in value if isinstance(value, list) else [value]:
            if parameter.param_type_name == "option":
                words.append(max(parameter.opts, key=len))
            if item is not True:
                words.append(str(item))
    return shlex.join(words)


def _name_origin(data: str, new: str | None, rows: int, steps: int) -> str:
    """Describe the source of the new rows."""
    if rows:
        return new or f"rows of {data} without a state"
    return f"none: a forecast of {steps:,} step{'s' * (steps > 1)}" if steps else "none"


def _list_findings(contents: dict[str, Any], confidence: list[str], output: Path) -> Iterator[str]:
    """Yield verdicts on all series, and the guarantee and the backtest at each level."""
    series = contents["series"]
    yield from (f"{verdict}." for verdict in series["verdicts"]) if series else ()
    places = []
    if contents["levels"] is not None:
        if series:
            yield f"Series {series['shown']}, from its own rows:"
        places = [contents["asked"]]
        if len(confidence) > 1:  # several levels are always numbers
            places += [
                contents["levels"].index(level) for level in read_numbers(confidence, [])[1:]
            ]
    for place in places:
        yield contents["promise"][place]
        if test := contents["backtest"]:
            yield f"Backtest: {test['methods']['definetti'][place]['verdict']['words']}."
    yield f"written: {output.resolve()}; open it in a browser"
