"""`definetti check`: test the assumption; also the quick check that other commands run."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from definetti._system.files import replace_file
from definetti.cli import options
from definetti.cli.columns import LabelledTable, read_labelled
from definetti.cli.errors import write_options
from definetti.cli.estimators import read_memory
from definetti.cli.printing import is_watched, make_table, print_result
from definetti.cli.writing import check_output
from definetti.data.labels import training_length

if TYPE_CHECKING:
    from definetti.check import Diagnosis

PICTURES = (".png", ".svg", ".pdf")
MARK = "definetti check"  # the title in the metadata of the plot


def check_rows(
    data: LabelledTable,
    memory: Any,
    seed: int,
    *,
    train_size: float | None = None,
    skip: bool = False,
    pictures: bool = False,
) -> Diagnosis | None:
    """Run the quick check on the calibration rows; return None if there is nothing to test."""
    if skip:
        return None
    from definetti.check import CannotTest, check_quickly

    table = take_calibration(data, train_size)
    if table.lengths is not None:  # only rows after the last gap are calibration rows
        table = table.cut(len(table.states) - table.lengths[-1])
    try:
        return check_quickly(
            table.observations, table.states, memory=memory, rows_before=table.rows[0],
            random_state=seed, pictures=pictures,
        )  # fmt: skip
    except CannotTest:
        return None


def take_calibration(data: LabelledTable, train_size: float | None) -> LabelledTable:
    """Return the rows without those that train a fixed model."""
    return data if train_size is None else data.cut(training_length(train_size, len(data.states)))


def note_broken(diagnosis: Diagnosis | None, symmetry: str) -> list[str]:
    """Return a note with a remedy if the assumption is clearly violated."""
    if diagnosis is None or not diagnosis.rejected:
        return []
    if symmetry in ("auto", "spaced"):  # do not recommend the default symmetry
        diagnosis = diagnosis.beyond_spaced()
    words = diagnosis.tests[diagnosis.failures[0]].verdict.rstrip(".")
    return [
        f"the assumption is clearly violated (quick check of {diagnosis.n_steps:,} rows: p = "
        f"{diagnosis.p_value:.3g}, {len(diagnosis.failures)} of {len(diagnosis.tests)} tests "
        "fail): "
        f"{words[:1].lower()}{write_options(words[1:])}; see `definetti check`; "
        "--no-check skips this check"
    ]


def check(
    data: options.LabelledRows,
    columns: options.Columns,
    settings: Annotated[
        options.Settings, options.only("memory", "train_size", "smoothing", "seed")
    ],
    grouping: Annotated[options.Grouping, options.only("group_column", "order_column")],
    no_observations: options.NoObservations = False,
    tests: Annotated[
        str | None,
        options.computation_option(
            help="tests to run, comma-separated; default: all",
            autocompletion=options.complete_from("definetti.check", "Statistic.named"),
        ),
    ] = None,
    resamples: Annotated[
        int, options.computation_option(min=1, help="number of rearrangements to draw")
    ] = 999,
    alpha: Annotated[float, options.guarantee_option(help="significance level")] = 0.05,
    horizon: Annotated[
        int, options.computation_option(min=1, help="steps ahead that coverage is measured for")
    ] = 1,
    no_coverage: Annotated[
        bool,
        options.computation_option(
            "--no-coverage", help="do not measure what departures cost in coverage"
        ),
    ] = False,
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
    """Test the assumption of the exact sets: that labelled rows are a hidden Markov model.

    The tests rearrange the rows and are exact at every length. Prints the result of each test, one
    verdict with remedies, and how much coverage departures cost. With --group-column each series is
    rearranged by itself, and all are compared; data may then be a folder of Parquet files. Exit
    code 0 whatever the verdict, except with --fail; 2: an argument or a file is wrong.

    Example: definetti check history.csv --state-column stage --plot check.png

    Example: definetti check nights.csv --group-column patient --order-column time
    """
    check_output(plot, [data], force, lambda path: MARK.encode() in path.read_bytes(), PICTURES)
    if no_observations:
        columns = columns.without_observations()
    if grouping.group_column is not None:
        from definetti.cli.series import read_for_check

        rows, notes = read_for_check(data, columns, grouping, settings.train_size)
    else:
        table = read_labelled(data, None, columns)
        table = take_calibration(table, settings.train_size)
        before: Any = table.rows[0] if table.lengths is None else list(table.rows)
        rows = {
            "observations": table.observations, "states": table.states, "lengths": table.lengths,
            "rows_before": before,
        }  # fmt: skip
        notes = table.notes
    # Import late: slow to load.
    from definetti.check import check as run

    diagnosis = run(
        **rows, memory=read_memory(settings.memory), random_state=settings.seed,
        tests=None if tests is None else [name.strip() for name in tests.split(",")],
        n_resamples=resamples, alpha=alpha, n_jobs=jobs, smoothing=settings.smoothing,
        horizon=None if no_coverage else horizon, pictures=plot is not None, verbose=is_watched(),
    )  # fmt: skip
    if plot is not None:
        import matplotlib as mpl

        mpl.use("agg")  # draw without a display
        figure_format = {"format": plot.suffix.lower()[1:], "dpi": 150, "metadata": {"Title": MARK}}
        replace_file(plot, partial(diagnosis.plot().savefig, **figure_format))
    # Omit the note on a plain Markov chain: --no-observations requested one.
    notes = [note for note in notes if not (no_observations and "plain" in note)]
    print_result(diagnosis.to_dict(), _list_lines(diagnosis), json, notes, [plot])
    if fail and diagnosis.rejected:
        raise typer.Exit(1)


def _list_lines(diagnosis: Diagnosis) -> Iterator[Any]:
    """Yield a table with a row per test, and the verdict."""
    table = make_table(
        ("test", "p", "adjusted", "what was found"), left=("test", "what was found"),
        title=f"Exact tests on {diagnosis.n_steps:,} labelled rows",
        caption="adjusted: p-values corrected for all tests together",
    )  # fmt: skip
    for name, test in diagnosis.tests.items():
        table.add_row(name, f"{test.p_value:.3g}", f"{test.adjusted_p_value:.3g}", test.effect)
    yield table
    yield from (f"{name}: not tested, {why}" for name, why in diagnosis.untested.items())
    yield write_options(diagnosis.verdict)
    if diagnosis.coverage is not None:
        yield diagnosis.coverage.verdict
