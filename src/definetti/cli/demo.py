"""`definetti demo`: a guided tour of the commands, on data that it makes itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from definetti.cli import options
from definetti.cli.printing import make_console, print_json, print_lines
from definetti.cli.report import is_report_file
from definetti.cli.simulate import is_simulated_file
from definetti.cli.writing import check_output

ROWS, NEW, SEED = 500, 3, 10


class Stop(NamedTuple):
    """A stop of the tour: a text, and the command to run."""

    words: str
    command: list[str]


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
    check_output(data, [], force, is_simulated_file)  # both, before any work is done
    check_output(page, [], force, is_report_file, (".html",))
    tour, app = plan_tour(data, page, force), context.find_root().command
    if json:
        print_json([
            {"command": " ".join(stop.command), "result": _run_as_json(app, stop.command)}
            for stop in tour
        ])  # fmt: skip
    else:
        _guide(app, tour, page)


def plan_tour(data: Path, page: Path, force: bool = False) -> list[Stop]:
    """Return the tour."""
    anyway = ["--force"] if force else []
    shared = [str(data), "--observation-columns", "carried", "--confidence", "0.9"]
    numbers = ["--rows", str(ROWS), "--new", str(NEW), "--seed", str(SEED)]
    return [
        Stop(
            "A file first: days of sun or rain, and what a neighbour carried on each.\n"
            f"The weather of the last {NEW} days is not known.",
            ["simulate", str(data), *numbers, *anyway],
        ),
        Stop(
            "What was the weather on these days? A set of answers that contains the true one\n"
            "with probability at least 0.9, whatever the probabilities of rain and umbrellas.",
            ["predict", *shared],
        ),
        Stop(
            "Does the guarantee hold? Known days, three at a time, are predicted as if they were\n"
            "unknown, each time from all days before; beside a method that ignores time.",
            ["backtest", *shared, "--horizon", str(NEW)],
        ),
        Stop(
            "All of it on one page, on which the level can be chosen.",
            ["report", *shared, "-o", str(page), *anyway],
        ),
    ]


def _guide(app: Any, tour: list[Stop], page: Path) -> None:
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


def _run_as_json(app: Any, command: list[str]) -> Any:
    """Run a command and return its JSON document."""
    import io
    import json
    from contextlib import redirect_stdout

    with redirect_stdout(io.StringIO()) as printed:
        _run(app, [*command, "--json"])
    return json.loads(printed.getvalue())


def _run(app: Any, command: list[str]) -> None:
    """Run a command; exit with its code if it fails."""
    if code := app.main(command, prog_name="definetti", standalone_mode=False):
        raise typer.Exit(code)
