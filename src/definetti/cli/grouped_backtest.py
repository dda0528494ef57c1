"""The backtest of many series: the verdicts, and files with a row a step and a row a series."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from definetti.cli.backtest import is_backtest_file
from definetti.cli.errors import BadTable
from definetti.cli.estimators import check_share, name_levels
from definetti.cli.printing import console, print_json, print_notes
from definetti.cli.writing import check_output, read_columns, write_rows

if TYPE_CHECKING:
    from definetti.cli.options import Columns, Grouping, Settings, Spreading


def backtest_groups(
    data: str,
    columns: Columns,
    settings: Settings,
    grouping: Grouping,
    spreading: Spreading,
    *,
    horizon: int,
    lag: int,
    start: float,
    windows: int | None,
    output: Path | None,
    by_series: Path | None,
    force: bool,
    json: bool,
) -> None:
    """Backtest every series of a table; print or write what came of it."""
    if output is not None:
        check_output(output, [data], force, is_backtest_file)
    if by_series is not None:
        check_output(by_series, [data], force, is_series_file)
        if output is not None and output.resolve() == by_series.resolve():
            raise BadTable(f"--by-series {by_series} is the file of --output; name another")
    if grouping.series.value in ("own", "others"):
        check_share(settings.train_size)
    # Slow to load, so not before it is known that there is something to do.
    from definetti.cli.grouped import judge_groups
    from definetti.cli.series_table import describe_series, print_series
    from definetti.judging.work import join_levels

    found, said, notes = judge_groups(
        data, columns, settings, grouping, spreading, horizon=horizon, lag=lag, start=start,
        windows=windows, output=output,
    )  # fmt: skip
    if by_series is not None:
        table = join_levels(found)
        rows = zip(*table.values(), strict=True)
        write_rows([dict(zip(table, row, strict=True)) for row in rows], by_series)
    print_notes(notes)
    if json:
        each = [
            {"confidence_level": name_levels(level, said["states"]), **describe_series(one)}
            for level, one in zip(said["levels"], found, strict=True)
        ]
        print_json({**said, "horizon": horizon, "lag": lag, **each[0], "levels": each})
        return
    for one in found:
        print_series(one, said, horizon)
    for path in (output, by_series):
        if path is not None:
            console().print(f"written: {path}", soft_wrap=True)


def is_series_file(path: Path) -> bool:
    """Tell whether a file is a table of series that this command wrote, by its columns."""
    from definetti.judging.series import SeriesEvaluation

    return read_columns(path) == list(SeriesEvaluation([]).to_dict())
