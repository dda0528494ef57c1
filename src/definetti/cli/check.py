"""`definetti check`: whether the promise applies to a labelled history."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from definetti.cli import options
from definetti.cli.completing import complete_tests
from definetti.cli.mistakes import report_mistakes
from definetti.cli.printing import is_watched, print_json, print_notes

if TYPE_CHECKING:
    pass

PICTURES = (".png", ".svg", ".pdf")
MARK = "definetti check"  # what a picture is called inside


def check(
    data: options.LabelledRows,
    columns: options.Columns,
    settings: Annotated[
        options.Settings, options.only("memory", "train_size", "smoothing", "seed")
    ],
    grouping: Annotated[options.Grouping, options.only("group_column", "order_column")],
    no_observations: Annotated[
        bool, typer.Option("--no-observations", help="the states alone, as a plain Markov chain")
    ] = False,
    sequence_column: Annotated[
        str | None, typer.Option(hidden=True, help="another name for --group-column")
    ] = None,
    tests: Annotated[
        str | None,
        typer.Option(
            help="names with commas between; all if left out", autocompletion=complete_tests
        ),
    ] = None,
    resamples: Annotated[int, typer.Option(min=1, help="rearrangements to draw")] = 999,
    alpha: Annotated[float, typer.Option(help="the level at which something fails")] = 0.05,
    fail: Annotated[bool, typer.Option("--fail", help="exit code 1 where something fails")] = False,
    jobs: Annotated[int, typer.Option(help="threads; -1 for one a core")] = 1,
    plot: Annotated[
        Path | None, typer.Option(help="a file for the pictures: .png .svg .pdf")
    ] = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Test whether labelled rows are the hidden Markov model that sets are exact for.

    Exact at every length, by rearranging the rows. A table with what each test found, and one
    verdict for all, with remedies. With --group-column each series is rearranged by itself, and it
    is tested whether all have one law; data may be a folder of Parquet files then. Exit code 0
    whatever the verdict, but for --fail; 2: something is wrong with what was given.

    Example: definetti check history.csv --state-column stage --plot check.png

    Example: definetti check nights.csv --group-column patient --order-column time
    """
    with report_mistakes():
        from definetti.cli.checking import leave_training, take_groups
        from definetti.cli.estimators import check_grouping, check_share, read_both, read_memory
        from definetti.cli.fields import BadTable
        from definetti.cli.writing import check_output

        if no_observations and columns.observation_columns is not None:
            raise BadTable("--no-observations leaves no --observation-columns; give one of them")
        if plot is not None:
            check_output(plot, [data], force, is_check_picture, PICTURES)
        check_share(settings.train_size)
        if no_observations:
            columns = replace(columns, observation_columns="")
        if sequence_column is not None:
            if grouping.group_column is not None:
                raise BadTable("--sequence-column is another name for --group-column; give one")
            grouping = replace(grouping, group_column=sequence_column)
        check_grouping(grouping)
        if grouping.group_column is not None:
            rows, notes = take_groups(data, columns, grouping, settings.train_size)
        else:
            table = read_both(data, None, columns)
            rows, notes = leave_training(table, settings.train_size), table.notes
        # Slow to load, so not before the file is read.
        from definetti.check import check as run

        how: dict[str, Any] = {
            "n_resamples": resamples, "alpha": alpha, "n_jobs": jobs,
            "pictures": plot is not None, "smoothing": settings.smoothing,
            "tests": None if tests is None else [name.strip() for name in tests.split(",")],
        }  # fmt: skip
        memory = read_memory(settings.memory)
        found = run(**rows, memory=memory, random_state=settings.seed, verbose=is_watched(), **how)
        if plot is not None:
            _draw(found, plot)
        # That states are a plain chain needs no saying to who asked for it.
        print_notes([note for note in notes if not (no_observations and "plain" in note)])
        if json:
            print_json(found.to_dict())
        else:
            print_table(found, plot)
    if fail and found.rejected:
        raise typer.Exit(1)


def is_check_picture(path: Path) -> bool:
    """Tell whether a file is one of these, by its mark."""
    return MARK.encode() in path.read_bytes()


def _draw(found: Any, output: Path) -> None:
    import matplotlib as mpl

    from definetti._system.files import replace_file

    mpl.use("agg")  # a file needs no window
    kind = output.suffix.lower()[1:]
    figure = found.plot()
    replace_file(output, partial(figure.savefig, format=kind, dpi=150, metadata={"Title": MARK}))


def print_table(found: Any, output: Path | None = None) -> None:
    """Print a diagnosis, a row a test, and the verdict below it."""
    from rich.table import Table

    from definetti.cli.mistakes import write_options
    from definetti.cli.printing import console

    table = Table(title=f"Exact tests on {found.n_steps:,} labelled rows", title_justify="left")
    for column in ("test", "p", "adjusted", "what was found"):
        table.add_column(column, justify="right" if column in ("p", "adjusted") else "left")
    for name, one in found.tests.items():
        table.add_row(name, f"{one.p_value:.3g}", f"{one.adjusted_p_value:.3g}", one.effect)
    table.caption = "adjusted: of all tests together, the chance that any is so small"
    screen = console()
    screen.print(table)
    for name, why in found.untested.items():
        screen.print(f"{name}: not tested, {why}", soft_wrap=True)
    screen.print(write_options(found.verdict), soft_wrap=True)
    if output is not None:
        screen.print(f"written: {output}", soft_wrap=True)
