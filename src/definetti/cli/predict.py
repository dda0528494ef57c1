"""`definetti predict`: sets for the rows of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from definetti.cli import options
from definetti.cli.choices import Guarantee
from definetti.cli.mistakes import report_mistakes
from definetti.cli.printing import print_json, print_notes

if TYPE_CHECKING:
    from definetti.cli.columns import LabelledTable

LISTED = 1_000  # sequences written out at most
SHOWN = 40  # steps in the table


def predict(
    calibration: options.LabelledRows,
    new: options.NewRows = None,
    state_column: options.StateColumn = "state",
    observation_columns: options.ObservationColumns = None,
    confidence: options.Levels = "0.9",
    horizon: options.Horizon = None,
    guarantee: options.Guarantee = Guarantee.all,
    max_errors: options.MaxErrors = 0,
    train_size: options.TrainSize = None,
    symmetry: options.Symmetry = "auto",
    memory: options.Memory = "1",
    smoothing: options.Smoothing = False,
    allow_empty: options.AllowEmpty = False,
    seed: options.Seed = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="a row a step: .csv .json .parquet …")
    ] = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Say which states are possible in rows whose state is not known.

    New rows come in a file of their own, or below the labelled ones with empty states. CSV, TSV,
    JSON lines and Parquet, also gzipped. Exit code 2: something is wrong with what was given.

    Example: definetti predict history.csv tonight.csv --state-column stage --confidence 0.9
    """
    with report_mistakes():
        from definetti.cli.estimators import check_share, read_both
        from definetti.cli.fields import BadTable
        from definetti.cli.levels import read_confidence
        from definetti.cli.writing import check_output, write_rows

        if output is not None:
            check_output(output, [calibration, new], force, is_prediction_file)
        check_share(train_size)
        data = read_both(calibration, new, state_column, observation_columns)
        steps = horizon or data.new_rows
        if not steps:
            raise BadTable("there are no new rows; give a file of them, or --horizon to forecast")
        found, settings, model = _predict(
            data, steps, confidence=read_confidence(confidence, data.states),
            guarantee=guarantee.value, max_errors=max_errors, train_size=train_size,
            symmetry=symmetry, memory=memory,
            smoothing=smoothing, allow_empty=allow_empty, seed=seed,
        )  # fmt: skip
        rows = list_steps(found)
        if output is not None:
            write_rows(rows, output)
        print_notes(data.notes)
        if json:
            print_json({**settings, "steps": rows, "sequences": _list_members(found)})
        else:
            _show(data, found, rows, model, output)


def _predict(
    data: LabelledTable, steps: int, *, confidence: Any, guarantee: str, max_errors: int,
    train_size: float | None, symmetry: str, memory: str, smoothing: bool, allow_empty: bool,
    seed: int,
) -> tuple[Any, dict[str, Any], str]:  # fmt: skip
    """Return the sets, what they were asked for with, and the model in words."""
    from definetti.cli.estimators import make_estimator
    from definetti.cli.levels import name_levels
    from definetti.models.describing import described

    cp, new, horizon = make_estimator(
        data, steps, confidence=confidence, guarantee=guarantee, max_errors=max_errors,
        train_size=train_size, symmetry=symmetry, memory=memory, smoothing=smoothing,
        allow_empty=allow_empty, seed=seed,
    )  # fmt: skip
    cp.fit(data.observations, data.states)
    found = cp.predict_set(new, horizon=horizon)
    settings = {
        "confidence_level": name_levels(confidence, cp.states_),
        "guarantee": guarantee, "max_errors": max_errors,
        "horizon": steps, "labelled_rows": len(data.states), "states": list(cp.states_),
        "observed": data.columns, "model": repr(cp.model_), "method": found.method,
        "symmetry": cp.symmetry_.known_as, "memory": memory, "given": found.given,
        "exact": found.exact, "smoothing": smoothing, "allow_empty": allow_empty,
        "filled": found.filled, "train_size": cp.train_size, "seed": seed,
    }  # fmt: skip
    fixed_on = len(data.states) - cp.n_steps_
    return found, settings, described(cp.model_, list(data.columns), fixed_on)


def list_steps(found: Any) -> list[dict[str, Any]]:
    """Return a row a step: the possible states, the best, and a number for each state."""
    from definetti.sets import StepSets

    if isinstance(found, StepSets):
        kind, numbers = "probability", found.marginals
    else:
        kind, numbers = "p", found.step_p_values
    best = found.best
    return [
        {
            "step": k + 1,
            "set": list(states),
            "size": len(states),
            "best": None if best is None else best[k],
            **{f"{kind}_{label}": float(p) for label, p in zip(found.states, row, strict=True)},
        }
        for k, (states, row) in enumerate(zip(found.steps, numbers, strict=True))
    ]


def is_prediction_file(path: Path) -> bool:
    """Tell whether a file is one of these, by its columns."""
    from definetti.cli.overwriting import read_columns

    columns = read_columns(path)
    numbers = all(one.startswith(("p_", "probability_")) for one in columns[4:])
    return columns[:4] == ["step", "set", "size", "best"] and numbers


def _list_members(found: Any) -> list[dict[str, Any]]:
    """Return the members, best first, where the set has any; not too many of them."""
    from itertools import islice

    from definetti.sets import StepSets

    if isinstance(found, StepSets):
        return []

    first = islice(found, LISTED)
    return [{"sequence": list(one), "p_value": found.p_value(one)} for one in first]


def _show(
    data: LabelledTable, found: Any, rows: list[dict[str, Any]], model: str, output: Path | None
) -> None:
    from rich.table import Table

    from definetti.cli.printing import console, format_label, format_set

    screen = console()
    columns = ", ".join(f"{name} ({kind})" for name, kind in data.columns.items()) or "none"
    screen.print(f"observed: {columns}", soft_wrap=True)
    screen.print(f"model: {model}", soft_wrap=True)
    screen.print(found._headline())
    table = Table()
    for column in ("step", "possible states", "best"):
        table.add_column(column)
    for row in rows[:SHOWN]:
        best = "" if row["best"] is None else format_label(row["best"])
        table.add_row(str(row["step"]), format_set(row["set"]), best)
    screen.print(table)
    if found.filled:
        screen.print(found._on_filling())
    if len(rows) > SHOWN:
        screen.print(f"… {len(rows) - SHOWN:,} more steps; --output writes all")
    if output is not None:
        screen.print(f"written: {output}", soft_wrap=True)
