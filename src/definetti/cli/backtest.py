"""`definetti backtest`: the promise judged on a labelled history."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from definetti.cli import options
from definetti.cli.mistakes import report_mistakes
from definetti.cli.printing import print_json, print_notes

FEWEST = 2  # rows before the first window: classical prediction splits them


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
        from definetti.cli.estimators import choose_share, read_both
        from definetti.cli.reading import name_source
        from definetti.cli.shares import check_share
        from definetti.cli.writing import check_output, write_rows

        if output is not None:
            check_output(output, [data], force, wrote)
        check_share(train_size)
        table = read_both(data, None, state_column, observation_columns)
        length = len(table.states)
        begin = max(int(start * length), length - windows * horizon)
        if not FEWEST <= begin <= length - horizon:
            raise ValueError(
                f"{name_source(data)}: {length} labelled rows are too few for a window of "
                f"{horizon} after a share of {start:g}; give more rows, or lower --start or "
                "--horizon"
            )
        # Slow to load, so not before the file is read.
        from definetti.data.candidates import PER_WINDOW, is_long, powered
        from definetti.data.labels import piece
        from definetti.judging.summary import summary

        share, number = choose_share(table, horizon, train_size), len(set(table.states))
        names = ["definetti", "classical"]
        if is_long(number, horizon, PER_WINDOW):
            names.remove("classical")
            table.notes.append(
                f"classical prediction is left out: it lists {powered(number, horizon)} sequences "
                f"for each window; lower --horizon {horizon} to see it"
            )

        past = None if table.observations is None else piece(table.observations, 0, begin)
        rest = None if table.observations is None else piece(table.observations, begin, length)
        found = {
            name: _judged(name, past, rest, table.states, begin, confidence, horizon, share, seed)
            for name in names
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
            from definetti.cli.judged import show

            show(result, output)


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


def wrote(path: Path) -> bool:
    """Tell whether a file is one of these, by its columns."""
    from definetti.cli.overwriting import read_columns

    return read_columns(path) == ["first_row", "covered", "size", "p_value"]


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
