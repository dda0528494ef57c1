"""`definetti predict`: sets for the rows of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from definetti.cli import options
from definetti.cli.fields import BadTable
from definetti.cli.mistakes import report_mistakes
from definetti.cli.printing import print_json, print_notes

if TYPE_CHECKING:
    from definetti.cli.columns import LabelledTable

LISTED = 1_000  # sequences written out at most
SHOWN = 40  # steps in the table


def predict(
    context: typer.Context,
    columns: options.Columns,
    settings: options.Settings,
    grouping: options.Grouping,
    calibration: Annotated[
        str | None,
        typer.Argument(help="labelled rows; - for standard input; with --model, the new rows"),
    ] = None,
    new: options.NewRows = None,
    model: Annotated[
        Path | None, typer.Option(help="a file of definetti fit, in the place of labelled rows")
    ] = None,
    horizon: options.Horizon = None,
    lag: options.Lag = 0,
    no_check: options.NoCheck = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="a row a step: .csv .json .parquet …")
    ] = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Say which states are possible in rows whose state is not known.

    New rows come in a file of their own, or below the labelled ones with empty states. CSV, TSV,
    JSON lines and Parquet, also gzipped. With --model, a file that definetti fit wrote has what
    was labelled, and what it was asked for with. With --group-column a table of many series, each
    with its new rows below its labelled ones. Exit code 2: something is wrong with what was given.

    Example: definetti predict history.csv tonight.csv --state-column stage --confidence 0.9

    Example: definetti predict patients.csv --group-column patient --order-column time -o sets.csv
    """
    with report_mistakes():
        from definetti.cli.checking import check_rows, note_broken
        from definetti.cli.estimators import (
            check_grouping,
            check_lag,
            check_share,
            make_estimator,
            read_both,
        )
        from definetti.cli.levels import read_confidences
        from definetti.cli.saved import check_settled, read_saved
        from definetti.cli.writing import add_keys, check_output, note_formulas, write_rows

        if output is not None:
            inputs = [calibration, new, None if model is None else str(model)]
            check_output(output, inputs, force, is_prediction_file)
        check_grouping(grouping)
        if grouping.group_column is not None:
            if calibration is None or new is not None or model is not None:
                raise BadTable(
                    "with --group-column there is one file, in which the new rows of each series "
                    "are below its labelled ones; leave the other, and --model, out"
                )
            from definetti.cli.grouped_sets import predict_groups

            predict_groups(
                calibration, columns, settings, grouping, horizon=horizon, lag=lag,
                output=output, json=json,
            )  # fmt: skip
            return
        if model is not None:
            if new is not None:
                raise BadTable("with --model there is one file, of new rows; leave the other out")
            check_settled(context)
            cp, data = read_saved(model, calibration, columns.observation_columns)
        elif calibration is None:
            raise BadTable("no file is given; name one of labelled rows, or a --model")
        else:
            check_share(settings.train_size)
            data = read_both(calibration, new, columns)
        steps = horizon or data.new_rows
        if not steps:
            raise BadTable("there are no new rows; give a file of them, or --horizon to forecast")
        check_lag(lag, steps)
        data.check_new(steps)
        if model is None:
            cp = make_estimator(settings, data, steps, lag=lag)
            levels = read_confidences(settings.confidence, data.states)
            cp.fit(data.observations, data.states, data.lengths)
        else:
            levels = _set_again(cp, context, settings, data)
        found, told, described = _predict(cp, data, steps, lag, levels)
        # What a saved model has learned from was another command's affair.
        checked = check_rows(
            data, cp.memory_, settings.seed,
            train_size=cp.train_size, skip=no_check or model is not None,
        )  # fmt: skip
        rows = [
            row
            for level, one in zip(levels, found, strict=True)
            for row in list_steps(one, lag, level)
        ]
        if output is not None:
            add_keys(rows, data.new_keys, [row["step"] - 1 for row in rows])
            write_rows(rows, output)
            data.notes += note_formulas(rows, output)
        print_notes([*data.notes, *note_broken(checked, told["symmetry"])])
        if json:
            told["model"] = repr(told["model"])  # for which scikit-learn is loaded
            told["check"] = None if checked is None else checked.to_dict()
            print_json({**told, "steps": rows, "sequences": _list_members(found[-1])})
        else:
            _show(data, found, rows, described, output)


def _set_again(
    cp: Any, context: typer.Context, settings: options.Settings, data: LabelledTable
) -> list[Any]:
    """Let a fitted estimator follow what it can still follow; return its levels."""
    from definetti.cli.levels import read_confidences
    from definetti.cli.saved import were_given

    wanted = {"guarantee": settings.guarantee.value, "max_errors": settings.max_errors,
              "smoothing": settings.smoothing, "allow_empty": settings.allow_empty}  # fmt: skip
    cp.set_params(**{one: wanted[one] for one in were_given(context, wanted)}, verbose=True)
    if were_given(context, ["confidence"]):
        return read_confidences(settings.confidence, data.states)
    return [cp.confidence_level]


def _predict(
    cp: Any, data: LabelledTable, steps: int, lag: int, levels: list[Any]
) -> tuple[list[Any], dict[str, Any], str]:
    """Return a set for each level, what they were asked for with, and the model in words."""
    from definetti.cli.estimators import check_errors, cut_new, write_memory
    from definetti.cli.levels import name_levels
    from definetti.models.base import described

    check_errors(cp.guarantee, cp.max_errors, steps - lag)
    new, horizon = cut_new(data, steps)
    asked = levels if len(levels) > 1 else levels[0]
    found = cp.predict_set(new, asked, horizon=horizon, lag=lag)
    found = found if len(levels) > 1 else [found]
    first, each = found[0], [name_levels(level, cp.states_) for level in levels]
    told = {
        "confidence_level": each if len(each) > 1 else each[0],
        "guarantee": cp.guarantee, "max_errors": cp.max_errors,
        "horizon": steps, "lag": lag, "labelled_rows": len(data.states),
        "states": list(cp.states_),
        "observed": data.columns, "model": cp.model_, "method": first.method,
        "symmetry": cp.symmetry_.known_as, "memory": write_memory(cp.memory),
        "score": cp.conformity_score, "given": first.given,
        "exact": first.exact, "smoothing": cp.smoothing, "allow_empty": cp.allow_empty,
        "filled": [one.filled for one in found] if len(found) > 1 else first.filled,
        "train_size": cp.train_size, "seed": cp.random_state,
    }  # fmt: skip
    fixed_on = len(data.states) - cp.n_steps_
    return found, told, described(cp.model_, list(data.columns), fixed_on)


def list_steps(found: Any, lag: int, level: Any) -> list[dict[str, Any]]:
    """Return a row a step: the possible states, the best, and a number for each state."""
    from definetti.cli.levels import write_level
    from definetti.sets import StepSets

    if isinstance(found, StepSets):
        kind, numbers = "probability", found.marginals
    else:
        kind, numbers = "p", found.step_p_values
    best = found.best
    return [
        {
            "step": lag + k + 1,
            "confidence": write_level(level),
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
    own = columns[columns.index("step") :] if "step" in columns else []
    numbers = all(one.startswith(("p_", "probability_")) for one in own[5:])
    return own[:5] == ["step", "confidence", "set", "size", "best"] and numbers


def _list_members(found: Any) -> list[dict[str, Any]]:
    """Return the members, best first, where the set has any; not too many of them."""
    from itertools import islice

    from definetti.sets import StepSets

    if isinstance(found, StepSets):
        return []

    first = islice(found, LISTED)
    return [{"sequence": list(one), "p_value": found.p_value(one)} for one in first]


def _show(
    data: LabelledTable, found: list[Any], rows: list[dict[str, Any]], model: str,
    output: Path | None,
) -> None:  # fmt: skip
    from rich.table import Table

    from definetti.cli.printing import console, format_label, format_set

    screen = console()
    columns = ", ".join(f"{name} ({kind})" for name, kind in data.columns.items()) or "none"
    screen.print(f"observed: {columns}", soft_wrap=True)
    screen.print(f"model: {model}", soft_wrap=True)
    for one in found:
        screen.print(one._headline())
    steps = len(rows) // len(found)
    by_level = [rows[k * steps : (k + 1) * steps] for k in range(len(found))]
    sets = ["possible states"]
    if len(found) > 1:
        sets = [f"possible at {each[0]['confidence']}" for each in by_level]
    table = Table()
    for column in ("step", *sets, "best"):
        table.add_column(column)
    for row, *others in list(zip(*by_level, strict=True))[:SHOWN]:
        best = "" if row["best"] is None else format_label(row["best"])
        shown = (format_set(one["set"]) for one in (row, *others))
        table.add_row(str(row["step"]), *shown, best)
    screen.print(table)
    for one in found:
        if one.filled:
            screen.print(one._on_filling())
            break
    if steps > SHOWN:
        screen.print(f"… {steps - SHOWN:,} more steps; --output writes all")
    if output is not None:
        screen.print(f"written: {output}", soft_wrap=True)
