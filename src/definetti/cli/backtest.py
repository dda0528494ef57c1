"""`definetti backtest`: the promise judged on a labelled history."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from definetti.cli import options
from definetti.cli.mistakes import report_mistakes
from definetti.cli.printing import is_watched, print_json, print_notes
from definetti.judging import START, WINDOWS

ENOUGH = 10  # windows with a last state, to speak of its coverage
READABLE = 10**7  # sequences, of which the number is written in full


def backtest(
    data: options.LabelledRows,
    state_column: options.StateColumn = "state",
    observation_columns: options.ObservationColumns = None,
    confidence: options.Levels = "0.9",
    horizon: Annotated[int, typer.Option(min=1, help="steps per window")] = 1,
    start: options.Start = START,
    windows: Annotated[int, typer.Option(min=1, help="windows at most, the last ones")] = WINDOWS,
    train_size: options.TrainSize = None,
    symmetry: options.Symmetry = "auto",
    memory: options.Memory = "1",
    allow_empty: options.AllowEmpty = False,
    no_check: options.NoCheck = False,
    seed: options.Seed = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="a row a window: .csv .json .parquet …")
    ] = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Predict window after window of a labelled history, each from all rows before it.

    Coverage with its exact 95 % interval, overall, by last state and over time; sizes; and the
    same for classical conformal prediction, which ignores time. Exit code 2: something is wrong
    with what was given.

    Example: definetti backtest history.csv --state-column stage --confidence 0.9
    """
    with report_mistakes():
        from definetti.cli.checking import check_rows, find_memory, note_broken
        from definetti.cli.estimators import check_share, choose_share, read_both, read_memory
        from definetti.cli.levels import name_levels, read_confidence
        from definetti.cli.reading import name_source
        from definetti.cli.writing import check_output, write_rows

        if output is not None:
            check_output(output, [data], force, is_backtest_file)
        check_share(train_size)
        table = read_both(data, None, state_column, observation_columns)
        # Slow to load, so not before the file is read.
        from definetti.conformal import ConformalHMM
        from definetti.judging.backtest import OURS, find_begin, run_backtest
        from definetti.judging.summing import summary
        from definetti.symmetry import find_symmetry

        if find_begin(len(table.states), horizon, start, windows) is None:
            raise ValueError(
                f"{name_source(data)}: {len(table.states)} labelled rows are too few for a "
                f"window of {horizon} after a share of {start:g}; give more rows, or lower "
                "--start or --horizon"
            )
        level = read_confidence(confidence, table.states)
        cp = ConformalHMM(
            symmetry=symmetry, memory=read_memory(memory),
            confidence_level=level,
            train_size=choose_share(
                table, horizon, train_size, memory == "auto", symmetry, memory
            ),
            allow_empty=allow_empty, random_state=seed, verbose=is_watched(),
        )  # fmt: skip
        test = run_backtest(
            cp, table.observations, table.states, horizon, start=start, windows=windows
        )
        found = test.evaluations()
        checked = check_rows(
            table, find_memory(cp, table), seed, train_size=cp.train_size, skip=no_check
        )
        if output is not None:
            write_rows(_list_windows(found[OURS], test.begin, horizon), output)
        result = {
            "confidence_level": name_levels(level, table.states),
            "horizon": horizon, "windows": test.windows, "allow_empty": allow_empty,
            "symmetry": symmetry, "memory": memory, "given": find_symmetry(symmetry).given,
            "first_row": test.begin + 1, "observed": table.columns,
            "methods": {name: summary(one, horizon) for name, one in found.items()},
            "check": None if checked is None else checked.to_dict(),
        }  # fmt: skip
        print_notes([*table.notes, *test.notes, *note_broken(checked, symmetry)])
        if json:
            print_json(result)
        else:
            print_table(result, output)


def is_backtest_file(path: Path) -> bool:
    """Tell whether a file is one of these, by its columns."""
    from definetti.cli.overwriting import read_columns

    return read_columns(path) == ["first_row", "covered", "size", "p_value"]


def _list_windows(evaluation: Any, begin: int, horizon: int) -> list[dict[str, Any]]:
    return [
        {
            "first_row": begin + 1 + k * horizon,
            "covered": bool(evaluation.covered[k]),
            "size": float(evaluation.sizes[k]),
            "p_value": float(evaluation.p_values[k]),
        }
        for k in range(len(evaluation.covered))
    ]


def print_table(result: dict[str, Any], output: Path | None) -> None:
    """Print what `definetti backtest` found, a column a method."""
    from rich.table import Table

    from definetti.cli.printing import console, format_label

    table = Table(
        title=f"{result['windows']} windows of {result['horizon']}, each from all rows before it, "
        f"at {_write_level(result['confidence_level'], result['given'])}",
        title_justify="left",
    )
    for column in ("", *result["methods"]):
        table.add_column(column, justify="left" if not column else "right")
    ways = list(result["methods"].values())
    table.add_row("covered", *map(_write_share, ways))
    table.add_row("sequences in a set", *(_write_number(way["mean_size"]) for way in ways))
    if ways[0]["share_filled"]:
        table.add_row(
            "sets that were filled", f"{ways[0]['share_filled']:.3f}", *["–"] * len(ways[1:])
        )
    table.add_row("states per step", *(f"{way['mean_states_per_step']:.2f}" for way in ways))
    table.add_section()
    own, present = ways[0].get("by_state", {}), result["given"] == "present state"
    for label in ways[0]["by_last_state"]:
        shares = (_write_share(way["by_last_state"][label]) for way in ways)
        asked = None if present else own.get(label, {}).get("promised")
        promised = "" if asked is None else f" (promised {asked:g})"
        table.add_row(f"ends in {format_label(label)}{promised}", *shares)
    for label, one in own.items() if present else ():
        name = f"when in {format_label(label)} (promised {one['promised']:g})"
        table.add_row(name, _write_share(one), *["–"] * len(ways[1:]))
    table.add_section()
    for k, part in enumerate(ways[0]["over_time"]):
        name = f"windows {part['first']} to {part['last']}"
        table.add_row(name, *(_write_share(way["over_time"][k]) for way in ways))
    table.caption = "shares covered, with exact 95 % intervals"
    if "classical" in result["methods"]:
        table.caption += "; classical guarantees none of them"
    if result["allow_empty"]:
        table.caption += "; a set may be empty, and then covers nothing"
    elif ways[0]["share_filled"]:
        table.caption += "; filled: nothing was plausible, and the most plausible is alone in it"
    screen = console()
    screen.print(table)
    if output is not None:
        screen.print(f"written: {output}", soft_wrap=True)


def _write_level(level: float | dict[str, float], given: str) -> str:
    """Write a level, or say that each state has its own, which the table shows.

    >>> _write_level(0.9, "last state"), _write_level({"N1": 0.99, "W": 0.8}, "last state")
    ('0.9', 'a level for each last state')
    """
    return f"a level for each {given}" if isinstance(level, dict) else f"{level:g}"


def _write_share(share: dict[str, Any]) -> str:
    if share["windows"] < ENOUGH:
        return f"{share['coverage']:.2f} (of {share['windows']})"
    return f"{share['coverage']:.3f} [{share['low']:.3f}, {share['high']:.3f}]"


def _write_number(mean: float) -> str:
    """Write a mean number of sequences, which may be beyond all numbers.

    >>> _write_number(1.106), _write_number(2.0e12), _write_number(float("inf"))
    ('1.11', '2.0e+12', '> 1e+300')
    """
    if mean == float("inf"):
        return "> 1e+300"
    return f"{mean:.2f}" if mean < READABLE else f"{mean:.1e}"
