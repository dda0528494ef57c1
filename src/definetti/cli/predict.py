"""`definetti predict`: prediction sets for the new rows of one or many series."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from definetti.cli import estimators, options, writing
from definetti.cli.check import check_rows, note_broken
from definetti.cli.columns import LabelledTable, read_labelled
from definetti.cli.errors import BadTable
from definetti.cli.fit import check_settled, read_saved
from definetti.cli.lazy import pl
from definetti.cli.printing import format_label, format_set, make_table, print_result

if TYPE_CHECKING:
    from rich.table import Table

LISTED = 1_000  # maximal number of sequences in JSON
SHOWN = 40  # rows in the printed table


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
        Path | None,
        options.model_option(help="model file of definetti fit, instead of labelled rows"),
    ] = None,
    horizon: options.Horizon = None,
    lag: options.Lag = 0,
    no_check: options.NoCheck = False,
    output: options.StepOutput = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Predict sets of states for unlabelled rows.

    New rows are in a file of their own, or below the labelled ones with empty states. CSV, TSV,
    JSON lines and Parquet, also gzipped. With --model, the model file replaces the labelled rows
    and the options it was fitted with. With --group-column the file has many series, each with its
    new rows below its labelled ones. Exit code 2: an argument or a file is wrong.

    Example: definetti predict history.csv tonight.csv --state-column stage --confidence 0.9

    Example: definetti predict patients.csv --group-column patient --order-column time -o sets.csv
    """
    inputs = [calibration, new, None if model is None else str(model)]
    writing.check_output(output, inputs, force, writing.is_prediction_file)
    if grouping.group_column is not None:
        if calibration is None or new is not None or model is not None:
            raise BadTable(
                "with --group-column there is one file, in which the new rows of each series "
                "are below its labelled ones; leave the other, and --model, out"
            )
        from definetti.cli.series import predict_groups

        rows, promise, n_series, notes = predict_groups(
            calibration, columns, settings, grouping, horizon=horizon, lag=lag
        )
        document: dict[str, Any] = {"series": grouping.series.value, "promise": promise}
        document["steps"] = rows
        above, below = [f"{n_series:,} series; {promise}"], list[str]()
    else:
        document, notes, above, below = _predict_series(
            context, calibration, new, model, columns, settings, horizon, lag,
            check=not no_check, with_keys=output is not None,
        )  # fmt: skip
        rows = document["steps"]
    if output is not None:
        notes += writing.write_frames([rows], output)
    table = _show_sets(rows[:SHOWN], grouping.group_column, len(settings.confidence) > 1)
    if len(rows) > SHOWN:
        below.append(f"… {len(rows) - SHOWN:,} more rows; --output writes all")
    print_result(document, [*above, table, *below], json, notes, [output])


def _show_sets(rows: list[dict[str, Any]], group: str | None, several: bool) -> Table:
    """Return a table of sets to print."""
    columns = [*([group] if group else []), "step", *["level"] * several, "possible states", "best"]
    table = make_table(columns, left=columns)
    for row in rows:
        series = [format_label(next(iter(row.values())))] if group else []
        level = [str(row["confidence"])] * several
        best = "" if row["best"] is None else format_label(row["best"])
        table.add_row(*series, str(row["step"]), *level, format_set(row["set"]), best)
    return table


def _predict_series(
    context: typer.Context,
    calibration: str | None,
    new: str | None,
    model: Path | None,
    columns: options.Columns,
    settings: options.Settings,
    horizon: int | None,
    lag: int,
    *,
    check: bool,
    with_keys: bool,
) -> tuple[dict[str, Any], list[str], list[str], list[str]]:
    """Predict the new rows of one series; return the document, notes, and lines to print."""
    from definetti.models.base import described
    from definetti.sets import StepSets, read_guarantee

    cp: Any = None
    if model is not None:
        if new is not None:
            raise BadTable("with --model there is one file, of new rows; leave the other out")
        check_settled(context)
        cp, data = read_saved(model, calibration, columns.observation_columns)
    elif calibration is None:
        raise BadTable("no file is given; name one of labelled rows, or a --model")
    else:
        data = read_labelled(calibration, new, columns)
    steps = horizon or data.new_rows
    if not steps:
        raise BadTable("there are no new rows; give a file of them, or --horizon to forecast")
    estimators.check_lag(lag, steps)
    data.check_new(steps)
    if cp is None:
        cp = estimators.make_estimator(settings, data, steps, lag)
        levels = estimators.read_confidences(settings.confidence, data.states)
        cp.fit(data.observations, data.states, data.lengths)
    else:
        levels = _update(cp, context, settings, data)
    guarantee, max_errors = read_guarantee(cp.guarantee)
    estimators.check_errors(guarantee, max_errors, steps - lag)
    seen, ahead = estimators.cut_new(data, steps)
    sets = [cp.predict_set(seen, levels[0], horizon=ahead, lag=lag, verbose=True)]
    if len(levels) > 1:
        sets = cp.predict_set(seen, levels, horizon=ahead, lag=lag, verbose=True)
    # The rows of a saved model were checked when it was fitted.
    checked = check_rows(
        data, cp.memory_, settings.seed,
        train_size=cp.train_size, skip=not check or model is not None,
    )  # fmt: skip
    keys = data.new_keys if with_keys and data.new_keys is not None else pl.DataFrame()
    beyond: dict[str, Any] = dict.fromkeys(keys.columns)
    rows = [
        row
        for level, prediction in zip(levels, sets, strict=True)
        for row in writing.list_prediction_steps(prediction, lag, level, keys.to_dicts(), beyond)
    ]
    listed = [] if isinstance(sets[-1], StepSets) else islice(sets[-1], LISTED)
    sequences = [
        {"sequence": list(sequence), "p_value": sets[-1].p_value(sequence)} for sequence in listed
    ]
    named = [estimators.name_levels(level, cp.states_) for level in levels]
    filled = [prediction.filled for prediction in sets]
    document = {
        "confidence_level": named if len(named) > 1 else named[0],
        "guarantee": guarantee, "max_errors": max_errors,
        "horizon": steps, "lag": lag, "labelled_rows": len(data.states),
        "states": list(cp.states_), "observed": data.columns, "model": cp.model_,
        "method": sets[0].method, "symmetry": cp.symmetry_.known_as,
        "memory": estimators.write_memory(cp.memory), "score": cp.conformity_score,
        "given": sets[0].given, "exact": sets[0].exact, "smoothing": cp.smoothing,
        "allow_empty": cp.allow_empty, "filled": filled if len(filled) > 1 else filled[0],
        "train_size": cp.train_size, "seed": cp.random_state,
        "check": None if checked is None else checked.to_dict(),
        "steps": rows, "sequences": sequences,
    }  # fmt: skip
    if cp.train_size is None and "fixed on the first half" in sets[0].method:
        data.notes.append(
            "the model is fixed on the first half of the rows (--train-size 0.5): to refit it for "
            "each sequence would take seconds"
        )
    notes = [*data.notes, *note_broken(checked, cp.symmetry_.known_as)]
    observed = ", ".join(f"{name} ({kind})" for name, kind in data.columns.items()) or "none"
    described_model = described(cp.model_, list(data.columns), len(data.states) - cp.n_steps_)
    above = [
        f"observed: {observed}", f"model: {described_model}",
        *(prediction._headline() for prediction in sets),
    ]  # fmt: skip
    below = [prediction._on_filling() for prediction in sets if prediction.filled][:1]
    return document, notes, above, below


def _update(
    cp: Any, context: typer.Context, settings: options.Settings, data: LabelledTable
) -> list[Any]:
    """Set the options that may change after fitting; return the levels."""
    from definetti.sets import Errors, read_guarantee

    wanted = {"smoothing": settings.smoothing, "allow_empty": settings.allow_empty}
    given = options.given_options(context, wanted)
    cp.set_params(**{name: wanted[name] for name in given})
    name, max_errors = read_guarantee(cp.guarantee)
    if options.given_options(context, ["guarantee"]):
        name, max_errors = settings.guarantee.value, 0
    if options.given_options(context, ["max_errors"]):
        max_errors = settings.max_errors
    estimators.check_errors(name, max_errors, max_errors + 1)
    cp.guarantee = Errors(max_errors) if name == "errors" else name
    if options.given_options(context, ["confidence"]):
        return estimators.read_confidences(settings.confidence, data.states)
    return [cp.confidence_level]
