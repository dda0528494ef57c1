"""`definetti predict`: sets for the rows of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from definetti.cli import options
from definetti.cli.choices import Guarantee
from definetti.cli.fields import BadTable
from definetti.cli.mistakes import report_mistakes
from definetti.cli.printing import print_json, print_notes

if TYPE_CHECKING:
    from definetti.cli.columns import LabelledTable

LISTED = 1_000  # sequences written out at most
SHOWN = 40  # steps in the table


def predict(
    context: typer.Context,
    calibration: Annotated[
        str | None,
        typer.Argument(help="labelled rows; - for standard input; with --model, the new rows"),
    ] = None,
    new: options.NewRows = None,
    model: Annotated[
        Path | None, typer.Option(help="a file of definetti fit, in the place of labelled rows")
    ] = None,
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
    no_check: options.NoCheck = False,
    seed: options.Seed = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="a row a step: .csv .json .parquet …")
    ] = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Say which states are possible in rows whose state is not known.

    New rows come in a file of their own, or below the labelled ones with empty states. CSV, TSV,
    JSON lines and Parquet, also gzipped. With --model, a file that definetti fit wrote has what
    was labelled, and what it was asked for with. Exit code 2: something is wrong with what was
    given.

    Example: definetti predict history.csv tonight.csv --state-column stage --confidence 0.9
    """
    with report_mistakes():
        from definetti.cli.checking import check_rows, note_broken
        from definetti.cli.estimators import check_share, read_both
        from definetti.cli.levels import read_confidence
        from definetti.cli.saved import check_settled, read_saved, were_given
        from definetti.cli.writing import check_output, write_rows

        if output is not None:
            inputs = [calibration, new, None if model is None else str(model)]
            check_output(output, inputs, force, is_prediction_file)
        wanted: dict[str, Any] = {
            "confidence": confidence, "guarantee": guarantee.value, "max_errors": max_errors,
            "smoothing": smoothing, "allow_empty": allow_empty,
        }  # fmt: skip
        if model is not None:
            if new is not None:
                raise BadTable("with --model there is one file, of new rows; leave the other out")
            check_settled(context)
            cp, data = read_saved(model, calibration, observation_columns)
            wanted = {name: wanted[name] for name in were_given(context, wanted)}
        elif calibration is None:
            raise BadTable("no file is given; name one of labelled rows, or a --model")
        else:
            check_share(train_size)
            data = read_both(calibration, new, state_column, observation_columns)
        if "confidence" in wanted:
            wanted["confidence"] = read_confidence(confidence, data.states)
        steps = horizon or data.new_rows
        if not steps:
            raise BadTable("there are no new rows; give a file of them, or --horizon to forecast")
        if model is None:
            cp = _fit(
                data, steps, **wanted, train_size=train_size, symmetry=symmetry, memory=memory,
                seed=seed,
            )  # fmt: skip
        else:
            level = {"confidence_level": wanted.pop("confidence")} if "confidence" in wanted else {}
            cp.set_params(**level, **wanted, verbose=True)
        found, settings, described = _predict(cp, data, steps)
        # What a saved model has learned from was another command's affair.
        checked = check_rows(
            data, cp.memory_, seed, train_size=cp.train_size, skip=no_check or model is not None
        )
        rows = list_steps(found)
        if output is not None:
            write_rows(rows, output)
        print_notes([*data.notes, *note_broken(checked, settings["symmetry"])])
        if json:
            settings["model"] = repr(settings["model"])  # for which scikit-learn is loaded
            settings["check"] = None if checked is None else checked.to_dict()
            print_json({**settings, "steps": rows, "sequences": _list_members(found)})
        else:
            _show(data, found, rows, described, output)


def _fit(data: LabelledTable, steps: int, **wanted: Any) -> Any:
    """Return an estimator that has learned from the labelled rows."""
    from definetti.cli.estimators import make_estimator

    return make_estimator(data, steps, **wanted).fit(data.observations, data.states)


def _predict(cp: Any, data: LabelledTable, steps: int) -> tuple[Any, dict[str, Any], str]:
    """Return the sets, what they were asked for with, and the model in words."""
    from definetti.cli.estimators import check_errors, cut_new, write_memory
    from definetti.cli.levels import name_levels
    from definetti.models.describing import described

    check_errors(cp.guarantee, cp.max_errors, steps)
    new, horizon = cut_new(data, steps)
    found = cp.predict_set(new, horizon=horizon)
    settings = {
        "confidence_level": name_levels(cp.confidence_level, cp.states_),
        "guarantee": cp.guarantee, "max_errors": cp.max_errors,
        "horizon": steps, "labelled_rows": len(data.states), "states": list(cp.states_),
        "observed": data.columns, "model": cp.model_, "method": found.method,
        "symmetry": cp.symmetry_.known_as, "memory": write_memory(cp.memory), "given": found.given,
        "exact": found.exact, "smoothing": cp.smoothing, "allow_empty": cp.allow_empty,
        "filled": found.filled, "train_size": cp.train_size, "seed": cp.random_state,
    }  # fmt: skip
    if cp.choice_ is not None and cp.choice_.diagnosis is not None:
        data.notes.append(cp.choice_.words)
        settings["chosen"] = cp.choice_.words
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
