"""`definetti backtest`: the promise judged on a labelled history."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from definetti.cli import options
from definetti.cli.mistakes import told
from definetti.cli.printing import print_json, print_notes

FEWEST = 2  # rows before the first window: classical prediction splits them
ENOUGH = 10  # windows with a last state, to speak of its coverage


def backtest(
    data: options.LabelledRows,
    state_column: options.StateColumn = "state",
    observation_columns: options.ObservationColumns = None,
    confidence: options.Confidence = 0.9,
    horizon: Annotated[int, typer.Option(min=1, help="steps per window")] = 1,
    start: options.Start = 0.5,
    windows: Annotated[int, typer.Option(min=1, help="windows at most, the last ones")] = 500,
    train_size: options.TrainSize = None,
    seed: options.Seed = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="a row a window: .csv .json .parquet …")
    ] = None,
    json: options.Json = False,
) -> None:
    """Predict window after window of a labelled history, each from all rows before it.

    Coverage with its exact 95 % interval, overall, by last state and over time; sizes; and the
    same for classical conformal prediction, which ignores time. Exit code 2: something is wrong
    with what was given.

    Example: definetti backtest history.csv --state-column stage --confidence 0.9
    """
    with told():
        from definetti.cli.columns import given
        from definetti.cli.reading import called, read_table
        from definetti.cli.shares import check_share
        from definetti.cli.writing import check_output, write_rows

        if output is not None:
            check_output(output)
        check_share(train_size)
        table = given(read_table(data), called(data), state_column, observation_columns)
        length = len(table.states)
        begin = max(int(start * length), length - windows * horizon)
        if not FEWEST <= begin <= length - horizon:
            raise ValueError(
                f"{called(data)}: {length} labelled rows are too few for a window of {horizon} "
                f"after a share of {start:g}; give more rows, or lower --start or --horizon"
            )
        # Slow to load, so not before the file is read.
        from definetti.sequence import piece
        from definetti.summary import summary

        past = None if table.observations is None else piece(table.observations, 0, begin)
        rest = None if table.observations is None else piece(table.observations, begin, length)
        found = {
            name: _judged(
                name, past, rest, table.states, begin, confidence, horizon, train_size, seed
            )
            for name in ("definetti", "classical")
        }
        ours = found["definetti"]
        if output is not None:
            write_rows(_rows(ours, begin, horizon), output)
        result = {
            "confidence_level": confidence, "horizon": horizon, "windows": len(ours.covered),
            "first_row": begin + 1, "observed": table.columns,
            "methods": {name: summary(one, horizon) for name, one in found.items()},
        }  # fmt: skip
        print_notes(table.notes)
        if json:
            print_json(result)
        else:
            _show(result, output)


def _judged(
    name: str, past: Any, rest: Any, states: list[Any], begin: int, confidence: float,
    horizon: int, train_size: float | None, seed: int,
) -> Any:  # fmt: skip
    from definetti import ConformalHMM
    from definetti.baselines import Classical

    labels = list(dict.fromkeys(states))
    if name == "definetti":
        cp = ConformalHMM(
            confidence_level=confidence, train_size=train_size, states=labels, random_state=seed,
            verbose=True,
        ).fit(past, states[:begin])  # fmt: skip
        return cp.evaluate(rest, states[begin:], horizon=horizon)
    other = Classical(confidence_level=confidence, states=labels, random_state=seed)
    other.fit(past, states[:begin])
    return other.evaluate(rest, states[begin:], horizon=horizon, verbose=True)


def _rows(evaluation: Any, begin: int, horizon: int) -> list[dict[str, Any]]:
    return [
        {
            "first_row": begin + 1 + k * horizon,
            "covered": bool(evaluation.covered[k]),
            "size": float(evaluation.sizes[k]),
            "p_value": float(evaluation.p_values[k]),
        }
        for k in range(len(evaluation.covered))
    ]


def _show(result: dict[str, Any], output: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table(
        title=f"{result['windows']} windows of {result['horizon']}, each from all rows before it, "
        f"at {result['confidence_level']:g}",
        title_justify="left",
    )
    for column in ("", *result["methods"]):
        table.add_column(column, justify="left" if not column else "right")
    ways = list(result["methods"].values())
    table.add_row("covered", *map(_text, ways))
    table.add_row("sequences in a set", *(f"{way['mean_size']:.2f}" for way in ways))
    table.add_row("states per step", *(f"{way['mean_states_per_step']:.2f}" for way in ways))
    table.add_section()
    for label in ways[0]["by_last_state"]:
        table.add_row(f"ends in {label}", *(_text(way["by_last_state"][label]) for way in ways))
    table.add_section()
    for k, part in enumerate(ways[0]["over_time"]):
        name = f"windows {part['first']} to {part['last']}"
        table.add_row(name, *(_text(way["over_time"][k]) for way in ways))
    table.caption = "shares covered, with exact 95 % intervals; classical guarantees none of them"
    console.print(table)
    if output is not None:
        console.print(f"written: {output}", markup=False, highlight=False)


def _text(share: dict[str, Any]) -> str:
    if share["windows"] < ENOUGH:
        return f"{share['coverage']:.2f} (of {share['windows']})"
    return f"{share['coverage']:.3f} [{share['low']:.3f}, {share['high']:.3f}]"
