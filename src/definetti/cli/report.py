"""`definetti report`: predict and backtest, on one page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from definetti.cli import options
from definetti.cli.errors import report_mistakes
from definetti.judging import START

if TYPE_CHECKING:
    from definetti.cli.columns import LabelledTable
    from definetti.report import Report

PAGE = Path("report.html")
MARK = '<meta name="generator" content="definetti">'


def report(
    context: typer.Context,
    data: options.LabelledRows,
    columns: options.Columns,
    settings: options.Settings,
    grouping: options.Grouping,
    new: options.NewRows = None,
    horizon: options.Horizon = None,
    lag: options.Lag = 0,
    start: options.Start = START,
    windows: options.Windows = None,
    no_check: options.NoCheck = False,
    show: Annotated[
        str | None,
        typer.Option(
            help="series to show in full; default: the worst", rich_help_panel=options.OUTPUT
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option(help="title of the page", rich_help_panel=options.OUTPUT)
    ] = None,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="page to write, .html", rich_help_panel=options.OUTPUT),
    ] = PAGE,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Write one page with the sets, how such sets fared before, and the settings.

    The page is a file of its own that opens without a network: choose the confidence level on it,
    and the sets follow. New rows come in a second file, or below the labelled ones with empty
    states; without any, the page has the backtest only. With --group-column the page begins with a
    verdict over all series and a table of them, the worst first; by --series own, one is shown in
    full below. Exit code 2: something is wrong with what was given.

    Example: definetti report history.csv tonight.csv --state-column stage -o report.html

    Example: definetti report nights.csv --group-column patient --order-column time
    """
    with report_mistakes():
        from definetti.cli.estimators import check_grouping, check_share, read_both
        from definetti.cli.printing import print_json, print_notes
        from definetti.cli.writing import check_output

        check_output(output, [data, new], force, is_report_file, (".html", ".htm"))
        check_share(settings.train_size)
        check_grouping(grouping)
        asked = Asked(
            data, new, columns, settings, horizon, lag, start, windows, no_check, title,
            write_command(context),
        )  # fmt: skip
        if grouping.group_column is not None:
            from definetti.cli.grouped_report import report_groups

            made, notes = report_groups(asked, grouping, show)
        else:
            options.check_single_series({"--show": show is not None})
            made, notes = report_one(asked, read_both(data, new, columns))
        made.save(output)
        print_notes(notes)
        if json:
            print_json({"written": str(output), **made.contents})
        else:
            _print_findings(made.contents, settings.confidence, output)


@dataclass(frozen=True)
class Asked:
    """What a report was asked for, but for which series."""

    data: str
    new: str | None
    columns: options.Columns
    settings: options.Settings
    horizon: int | None
    lag: int
    start: float
    windows: int | None
    no_check: bool
    title: str | None
    command: str


def report_one(asked: Asked, found: LabelledTable) -> tuple[Report, list[str]]:
    """Return the report of one series, and notes."""
    from definetti.cli.check import check_rows, note_broken
    from definetti.cli.estimators import check_lag, cut_new, make_estimator, read_numbers
    from definetti.report import make_report

    settings, lag, steps = asked.settings, asked.lag, asked.horizon or found.new_rows
    most = max(steps, lag + 1)  # of a window of the backtest
    if steps:
        check_lag(lag, steps)
        found.check_new(steps)
    seen, ahead = cut_new(found, most)
    levels = read_numbers(settings.confidence, found.states)
    cp = make_estimator(settings, found, most, lag=lag)
    checked = check_rows(
        found, cp.memory, settings.seed,
        train_size=cp.train_size, skip=asked.no_check, pictures=True,
    )  # fmt: skip
    made = make_report(
        cp, found.observations, found.states, seen if steps else None,
        horizon=ahead if steps else None, lag=lag,
        levels=levels[1:], lengths=found.lengths, start=asked.start, windows=asked.windows,
        title=asked.title or "What the hidden states can be", check=checked,
        settings={
            "command": asked.command,
            "labelled rows from": asked.data,
            "new rows from": _name_origin(asked.data, asked.new, found.new_rows, steps),
            "states from": f"column {asked.columns.state_column}",
            "observed": _write_columns(found.columns),
        },
    )  # fmt: skip
    return made, [*found.notes, *note_broken(checked, settings.symmetry)]


def is_report_file(path: Path) -> bool:
    """Tell whether a file is one of these, by its mark."""
    from definetti.cli.writing import read_beginning

    return MARK in read_beginning(path)


def write_command(context: typer.Context) -> str:
    """Write the command again, with what was said and not what goes without saying."""
    import shlex

    words = ["definetti", str(context.command.name)]
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if value is None or value == parameter.default or parameter.name in ("force", "json"):
            continue
        for one in value if isinstance(value, list) else [value]:
            if parameter.param_type_name == "option":
                words.append(max(parameter.opts, key=len))
            if one is not True:
                words.append(str(one))
    return shlex.join(words)


def _name_origin(data: str, new: str | None, rows: int, steps: int) -> str:
    """Say where the new rows are from, if there are any."""
    if rows:
        return new or f"rows of {data} without a state"
    return f"none: a forecast of {steps:,} step{'s' * (steps > 1)}" if steps else "none"


def _write_columns(columns: dict[str, str]) -> str:
    return ", ".join(f"{name} ({kind})" for name, kind in columns.items()) or "nothing"


def _print_findings(contents: dict[str, Any], confidence: list[str], output: Path) -> None:
    from definetti.cli.printing import console

    lines = [f"{one}." for one in contents["series"]["verdicts"]] if contents["series"] else []
    if contents["levels"] is not None:
        if contents["series"]:
            lines.append(f"Series {contents['series']['shown']}, by its own rows:")
        lines += _list_levels(contents, confidence)
    lines.append(f"written: {output.resolve()}; open it in a browser")
    screen = console()
    for line in lines:
        screen.print(line, soft_wrap=True)


def _list_levels(contents: dict[str, Any], confidence: list[str]) -> list[str]:
    """Return what is promised and what came of it, level by level, as they were asked for."""
    from definetti.cli.estimators import read_numbers

    lines, places = [], [contents["asked"]]
    if len(confidence) > 1:  # numbers, then
        levels = read_numbers(confidence, [])
        places += [contents["levels"].index(level) for level in levels[1:]]
    for place in places:
        lines.append(contents["promise"][place])
        if test := contents["backtest"]:
            lines.append(f"Backtest: {test['methods']['definetti'][place]['verdict']['words']}.")
    return lines
