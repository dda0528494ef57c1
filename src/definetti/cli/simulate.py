"""`definetti simulate`: data to try things on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from definetti.cli import options
from definetti.cli.choices import SimulatedWorld
from definetti.cli.mistakes import report_mistakes
from definetti.cli.printing import escape_controls, print_json, print_text

MACHINE = ("idle", "works", "worn")
# The columns of each world's file, and the states in it.
LABELS = {
    ("day", "state", "carried"): {"sun", "rain"},
    ("state", "heat", "shake", "alarms"): set(MACHINE),
}


def simulate(
    output: Annotated[Path, typer.Argument(help="the file to write: .csv .jsonl .parquet …")],
    rows: Annotated[int, typer.Option(min=1, help="how many")] = 1_000,
    new: Annotated[int, typer.Option(min=0, help="rows at the end without a state")] = 0,
    world: Annotated[
        SimulatedWorld, typer.Option(help="weather has symbols, sensors has numbers")
    ] = SimulatedWorld.weather,
    seed: options.Seed = 0,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Write a labelled sequence of a hidden Markov model.

    Example: definetti simulate days.csv --rows 500 --new 3
    """
    with report_mistakes():
        from definetti.cli.writing import check_output, write_rows

        if new > rows:
            raise ValueError(f"--new {new} is more than --rows {rows}; give less of the one")
        check_output(output, [], force, is_simulated_file)
        draw = _draw_weather if world is SimulatedWorld.weather else _draw_sensors
        made = draw(rows, seed)
        for row in made[rows - new :]:
            row["state"] = None
        write_rows(made, output)
        if json:
            columns = list(made[0])
            print_json({"file": str(output), "rows": rows, "new": new, "world": world,
                        "seed": seed, "columns": columns})  # fmt: skip
        else:
            file = escape_controls(str(output))
            print_text(f"{rows:,} rows, {new:,} of them without a state: {file}")


def is_simulated_file(path: Path) -> bool:
    """Tell whether a file is one of these: by its columns, and by its labels.

    People write files of their own after the pattern of these, so columns alone will not do.
    """
    from definetti.cli.fields import BadTable
    from definetti.cli.overwriting import read_columns
    from definetti.cli.reading import read_table

    labels = LABELS.get(tuple(read_columns(path)))
    if labels is None:
        return False
    try:
        table = read_table(str(path))
    except BadTable:
        return False
    counted = "day" not in table.columns or table["day"].to_list() == [*range(1, len(table) + 1)]
    return counted and set(table["state"].drop_nulls()) <= labels


def _draw_weather(rows: int, seed: int) -> list[dict[str, Any]]:
    from definetti.simulate import weather

    things, skies = weather(rows, random_state=seed)
    days = zip(things, skies, strict=True)
    return [{"day": k + 1, "state": sky, "carried": thing} for k, (thing, sky) in enumerate(days)]


def _draw_sensors(rows: int, seed: int) -> list[dict[str, Any]]:
    """Draw a machine that is idle, works or is worn, with three sensors."""
    import numpy as np

    from definetti.simulate import sample

    rng = np.random.default_rng(seed)
    transition = np.array([[0.95, 0.05, 0.0], [0.02, 0.96, 0.02], [0.1, 0.0, 0.9]])
    codes = sample(np.array([1.0, 0.0, 0.0]), transition, np.eye(3), rows, rng).states
    heat = np.array([20.0, 60.0, 68.0])[codes] + rng.normal(0, 5, rows)
    shake = np.array([0.1, 1.0, 1.6])[codes] * rng.lognormal(0, 0.4, rows)
    alarms = rng.poisson(np.array([0.1, 0.3, 1.5])[codes])
    return [
        {
            "state": MACHINE[codes[k]],
            "heat": round(float(heat[k]), 1),
            "shake": round(float(shake[k]), 3),
            "alarms": int(alarms[k]),
        }
        for k in range(rows)
    ]
