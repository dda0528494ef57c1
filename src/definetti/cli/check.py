"""`definetti check`: test the assumption; and the quick check that other commands make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from definetti.cli import options
from definetti.cli.errors import report_mistakes, write_options
from definetti.cli.printing import is_watched, print_json, print_notes

if TYPE_CHECKING:
    from definetti.check import Diagnosis
    from definetti.cli.columns import LabelledTable


def check_rows(
    data: LabelledTable,
    memory: Any,
    seed: int,
    *,
    train_size: float | None = None,
    skip: bool = False,
    pictures: bool = False,
) -> Diagnosis | None:
    """Check labelled rows in a moment, by random numbers of its own; None where nothing can be.

    Parameters
    ----------
    train_size : the share of rows that a model was fixed on, which calibrate nothing
    skip : whether nobody wants to know
    """
    if skip:
        return None
    from definetti.check import CannotTest, check_quickly
    from definetti.data.labels import piece

    seen, states, lengths, before = leave_training(data, train_size).values()
    if lengths is not None:  # what calibrates is what follows the last gap
        begin, end = len(states) - lengths[-1], len(states)
        before = before[begin]
        seen, states = None if seen is None else piece(seen, begin, end), states[begin:]
    try:
        return check_quickly(
            seen, states, memory=memory, rows_before=before, random_state=seed, pictures=pictures
        )
    except CannotTest:
        return None


def leave_training(data: LabelledTable, train_size: float | None) -> dict[str, Any]:
    """Return the rows that calibrate, as arguments of a check: with where they begin."""
    from definetti.data.labels import piece
    from definetti.data.splitting import training_length

    if train_size is None:
        return _asked(data.observations, data.states, data.lengths, data.rows, 0)
    end = len(data.states)
    begin = training_length(train_size, end)
    seen = None if data.observations is None else piece(data.observations, begin, end)
    lengths = None
    if data.lengths is not None:
        ends = [max(sum(data.lengths[: k + 1]) - begin, 0) for k in range(len(data.lengths))]
        lengths = [
            late - early for early, late in zip([0, *ends], ends, strict=False) if late > early
        ]
    return _asked(seen, data.states[begin:], lengths, data.rows, begin)


def _asked(
    seen: Any, states: list[Any], lengths: list[int] | None, rows: Sequence[int], begin: int
) -> dict[str, Any]:
    before: Any = begin
    if rows:
        before = rows[begin] if lengths is None else list(rows[begin:])
    return {"observations": seen, "states": states, "lengths": lengths, "rows_before": before}


def note_broken(found: Diagnosis | None, symmetry: str) -> list[str]:
    """Return one sentence where the assumption is clearly broken, with a remedy; else none."""
    if found is None or not found.rejected:
        return []
    if symmetry in ("auto", "spaced"):  # what the default does anyway is no remedy
        found = found.beyond_spaced()
    words = found.tests[found.failures[0]].verdict.rstrip(".")
    return [
        f"the assumption is clearly broken (quick check of {found.n_steps:,} rows: p = "
        f"{found.p_value:.3g}, {len(found.failures)} of {len(found.tests)} tests fail): "
        f"{words[:1].lower()}{write_options(words[1:])}; `definetti check` tells more, "
        "--no-check leaves this out"
    ]


PICTURES = (".png", ".svg", ".pdf")
MARK = "definetti check"  # what a picture is called inside


def complete_tests(incomplete: str) -> list[str]:
    """Complete the last name of a list of tests."""
    from definetti.check import Statistic

    return options.complete_last(incomplete, Statistic.named)


def check(
    data: options.LabelledRows,
    columns: options.Columns,
    settings: Annotated[
        options.Settings, options.only("memory", "train_size", "smoothing", "seed")
    ],
    grouping: Annotated[options.Grouping, options.only("group_column", "order_column")],
    no_observations: Annotated[
        bool,
        options.data_option("--no-observations", help="test the states alone, as a Markov chain"),
    ] = False,
    tests: Annotated[
        str | None,
        options.computation_option(
            help="tests to run, comma-separated; default: all", autocompletion=complete_tests
        ),
    ] = None,
    resamples: Annotated[
        int, options.computation_option(min=1, help="number of rearrangements to draw")
    ] = 999,
    alpha: Annotated[float, options.guarantee_option(help="significance level")] = 0.05,
    fail: Annotated[
        bool, options.output_option("--fail", help="exit code 1 if a test fails")
    ] = False,
    jobs: Annotated[
        int, options.computation_option(help="number of threads; -1: one per core")
    ] = 1,
    plot: Annotated[
        Path | None, options.output_option(help="file for the plots: .png .svg .pdf")
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
        from definetti.cli.errors import BadTable
        from definetti.cli.estimators import check_grouping, check_share, read_both, read_memory
        from definetti.cli.writing import check_output

        if no_observations and columns.observation_columns is not None:
            raise BadTable("--no-observations leaves no --observation-columns; give one of them")
        if plot is not None:
            check_output(plot, [data], force, is_check_picture, PICTURES)
        check_share(settings.train_size)
        if no_observations:
            columns = replace(columns, observation_columns="")
        check_grouping(grouping)
        if grouping.group_column is not None:
            from definetti.cli.series import read_for_check

            rows, notes = read_for_check(data, columns, grouping, settings.train_size)
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

    from definetti.cli.errors import write_options
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
