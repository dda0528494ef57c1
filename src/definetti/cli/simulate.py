"""`definetti simulate` draws series of a hidden Markov model; `demo` is a tour of the commands."""

from __future__ import annotations

import io
import json as js
from collections.abc import Iterator
from contextlib import redirect_stdout
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from definetti.cli import options
from definetti.cli.errors import BadTable
from definetti.cli.lazy import pl
from definetti.cli.printing import make_console, print_json, print_lines, print_result
from definetti.cli.report import is_report_file
from definetti.cli.table_files import read_table
from definetti.cli.writing import ENDINGS, check_output, read_columns, write_frames, write_whole

AT_ONCE = 1_000_000  # rows in a batch
ROWS, NEW, SEED = 500, 3, 10  # of the demo
MACHINE = ("idle", "works", "worn")
# Columns and states of the files that are written.
LABELS = {
    ("day", "state", "carried"): {"sun", "rain"},
    ("series", "day", "state", "carried"): {"sun", "rain"},
    ("state", "heat", "shake", "alarms"): set(MACHINE),
}
# The hidden Markov models to draw from.
SimulatedWorld = StrEnum("SimulatedWorld", ["weather", "sensors"])


def simulate(
    output: Annotated[Path, typer.Argument(help="the file to write: .csv .jsonl .parquet …")],
    rows: Annotated[int, typer.Option(min=1, help="number of rows of each series")] = 1_000,
    series: Annotated[
        int,
        typer.Option(min=1, help="number of series, in a Parquet file or a folder of such files"),
    ] = 1,
    new: Annotated[int, typer.Option(min=0, help="number of rows without a state at the end")] = 0,
    world: Annotated[
        SimulatedWorld, typer.Option(help="weather has symbols, sensors has numbers")
    ] = SimulatedWorld.weather,
    seed: options.Seed = 0,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Write a labelled sequence of a hidden Markov model.

    With --series a table of many: a Parquet file, or a folder of them.

    Example: definetti simulate days.csv --rows 500 --new 3

    Example: definetti simulate towns.parquet --series 100 --rows 500
    """
    if new > rows:
        raise ValueError(f"--new {new} is more than --rows {rows}; lower --new")
    document = {"file": str(output), "rows": rows, "new": new, "world": world, "seed": seed}
    if series > 1 and world is not SimulatedWorld.weather:
        raise BadTable(f"--series is for --world weather, and the world is {world}; leave one out")
    folder = series > 1 and not output.suffix
    if folder and output.exists() and not force and any(output.iterdir()):
        raise BadTable(f"output {output} exists already; name another folder, or use --force")
    if not folder:
        endings = (".parquet",) if series > 1 else ENDINGS
        check_output(output, [], force, is_simulated_file, endings)
    tables = _draw_series(series, rows, rows - new, seed)
    if series > 1:
        document["series"] = series
        text = f"{series:,} series of {rows:,} rows, {new:,} without a state: {output}"
    else:
        from definetti.simulate import weather

        if world is SimulatedWorld.sensors:
            table = _draw_sensors(rows, seed)
        else:
            things, skies = weather(rows, random_state=seed)
            table = pl.DataFrame({"day": range(1, rows + 1), "state": skies, "carried": things})
        tables = iter([table.with_columns(_hide_states(pl.int_range(pl.len()), rows - new))])
        document["columns"] = table.columns
        text = f"{rows:,} rows, {new:,} of them without a state: {output}"
    if folder:
        output.mkdir(parents=True, exist_ok=True)
        for number, table in enumerate(tables):
            write_whole(output / f"part-{number:05}.parquet", table.write_parquet)
    else:
        write_frames(tables, output)
    print_result(document, [text], json)


def _hide_states(row: pl.Expr, labelled: int) -> pl.Expr:
    """Return the states of the first rows of a series, and null for the others."""
    return pl.when(row < labelled).then(pl.col("state")).alias("state")


def _draw_series(series: int, rows: int, labelled: int, seed: int) -> Iterator[pl.DataFrame]:
    """Draw many series in batches, to limit memory."""
    from definetti.simulate import weather_series

    at_once = max(1, AT_ONCE // rows)
    for first in range(0, series, at_once):
        number = min(at_once, series - first)
        things, skies = weather_series(number, rows, [seed, first])
        carried = {0: "umbrella", 1: "hat", 2: "nothing"}
        table = pl.DataFrame({
            "series": np.repeat(np.arange(first + 1, first + 1 + number, dtype=np.int32), rows),
            "day": np.tile(np.arange(1, rows + 1, dtype=np.int32), number),
            "state": pl.Series(skies.ravel()).replace_strict({0: "sun", 1: "rain"}),
            "carried": pl.Series(things.ravel()).replace_strict(carried),
        })  # fmt: skip
        yield table.with_columns(_hide_states(pl.col("day") - 1, labelled))


def is_simulated_file(path: Path) -> bool:
    """Return whether a file has columns and labels that this command writes."""
    columns = tuple(read_columns(path))
    try:
        table = read_table(str(path)) if columns in LABELS else None
    except BadTable:
        table = None
    if table is None or not set(table["state"].drop_nulls()) <= LABELS[columns]:
        return False
    return columns[0] != "day" or table["day"].to_list() == [*range(1, len(table) + 1)]


def _draw_sensors(rows: int, seed: int) -> pl.DataFrame:
    """Draw three sensors of a machine that is idle, works or is worn."""
    from definetti.simulate import sample

    rng = np.random.default_rng(seed)
    transition = np.array([[0.95, 0.05, 0.0], [0.02, 0.96, 0.02], [0.1, 0.0, 0.9]])
    codes = sample(np.array([1.0, 0.0, 0.0]), transition, np.eye(3), rows, rng).states
    heat = np.array([20.0, 60.0, 68.0])[codes] + rng.normal(0, 5, rows)
    shake = np.array([0.1, 1.0, 1.6])[codes] * rng.lognormal(0, 0.4, rows)
    alarms = rng.poisson(np.array([0.1, 0.3, 1.5])[codes])
    states = [MACHINE[code] for code in codes]
    return pl.DataFrame({
        "state": states, "heat": heat.round(1), "shake": shake.round(3), "alarms": alarms,
    })  # fmt: skip


# --- The tour


def demo(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="folder for the files; made if needed")] = Path(
        "definetti-demo"
    ),
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Take a tour: simulate data, predict, backtest, and write a report.

    Example: definetti demo
    """
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file; name a folder for the demo to put its files in")
    folder.mkdir(parents=True, exist_ok=True)
    data, page = folder / "days.csv", folder / "report.html"
    check_output(data, [], force, is_simulated_file)  # check both files before any work
    check_output(page, [], force, is_report_file, (".html",))
    tour, app = plan_tour(data, page, force), context.find_root().command
    if not json:
        _guide(app, tour, page)
        return
    documents = []
    for _, command in tour:
        with redirect_stdout(io.StringIO()) as printed:
            _run(app, [*command, "--json"])
        result = js.loads(printed.getvalue())
        documents.append({"command": " ".join(command), "result": result})
    print_json(documents)


def plan_tour(data: Path, page: Path, force: bool = False) -> list[tuple[str, list[str]]]:
    """Return the steps of the tour: a text, and the command to run."""
    anyway = ["--force"] if force else []
    shared = [str(data), "--observation-columns", "carried", "--confidence", "0.9"]
    numbers = ["--rows", str(ROWS), "--new", str(NEW), "--seed", str(SEED)]
    return [
        (
            "A file first: days of sun or rain, and what a neighbour carried on each.\n"
            f"The weather of the last {NEW} days is not known.",
            ["simulate", str(data), *numbers, *anyway],
        ),
        (
            "What was the weather on these days? A set of answers that contains the true one\n"
            "with probability at least 0.9, whatever the probabilities of rain and umbrellas.",
            ["predict", *shared],
        ),
        (
            "Does the guarantee hold? Known days, three at a time, are predicted as if they were\n"
            "unknown, each time from all days before; beside a method that ignores time.",
            ["backtest", *shared, "--horizon", str(NEW)],
        ),
        (
            "All of it on one page, on which the level can be chosen.",
            ["report", *shared, "-o", str(page), *anyway],
        ),
    ]


def _guide(app: Any, tour: list[tuple[str, list[str]]], page: Path) -> None:
    from definetti.simulate import weather

    screen = make_console()
    truth = weather(ROWS, random_state=SEED)[1][-NEW:]
    for number, (words, command) in enumerate(tour, 1):
        screen.rule(f"{number} of {len(tour)}")
        print_lines([*words.split("\n"), ""])
        screen.print(f"$ definetti {' '.join(command)}", style="bold", soft_wrap=True)
        print_lines([""])
        _run(app, command)
        print_lines(["", f"It was {', '.join(truth)}.", ""] if command[0] == "predict" else [""])
    screen.rule()
    print_lines([
        f"The report: {page.resolve()}",
        "Open it in a browser and move the slider; then take a file of your own.",
        "`definetti verify` proves the guarantee by adding up the probability of every sequence.",
    ])  # fmt: skip


def _run(app: Any, command: list[str]) -> None:
    """Run a command; exit with its code if it fails."""
    if code := app.main(command, prog_name="definetti", standalone_mode=False):
        raise typer.Exit(code)
