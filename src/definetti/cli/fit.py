"""Model files: `definetti fit` and `inspect`; also read new rows for a fitted model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from definetti.cli import options
from definetti.cli.check import check_rows, note_broken
from definetti.cli.column_types import match_new_rows, name_symbols
from definetti.cli.columns import (
    LabelledTable,
    as_frame,
    check_columns,
    find_time_column,
    read_labelled,
    take_columns,
)
from definetti.cli.errors import BadTable
from definetti.cli.estimators import fit_table, make_estimator
from definetti.cli.lazy import pl
from definetti.cli.printing import make_table, print_result
from definetti.cli.table_files import name_source, read_table
from definetti.cli.writing import check_output

ENDING = ".definetti"
LONGEST = 60  # maximal number of characters, or items, of a value
# Options that a fitted model cannot change.
SETTLED = (
    "state_column", "train_size", "symmetry", "memory", "score", "states", "classifier", "seed",
)  # fmt: skip


def is_model_file(path: Path) -> bool:
    """Tell whether a file is a model file."""
    from definetti.exceptions import LoadError
    from definetti.saving import read_manifest

    try:
        read_manifest(path)
    except (LoadError, OSError):
        return False
    return True


def check_there(model: Path) -> None:
    """Refuse a model file that does not exist."""
    if not model.exists():
        raise BadTable(f"{model}: no such file")


def check_settled(context: typer.Context) -> None:
    """Refuse options that a fitted model cannot change."""
    if changed := options.given_options(context, SETTLED):
        raise BadTable(
            f"--{changed[0].replace('_', '-')} cannot change after the model was fitted; leave it "
            "out, or fit again: definetti fit"
        )


def read_saved(model: Path, new: str | None, observed: str | None) -> tuple[Any, LabelledTable]:
    """Load a model file, and read new rows in the form of those it was fitted on."""
    from definetti.conformal import ConformalHMM
    from definetti.saving.files import load_with_notes

    check_there(model)
    cp, notes = load_with_notes(model)
    if not isinstance(cp, ConformalHMM):
        raise BadTable(
            f"{model} is a {type(cp).__name__}; the command predicts with a ConformalHMM"
        )
    data, columns, state = cp._data, notes.get("columns"), str(notes.get("state_column"))
    if observed is not None:
        columns = {name.strip(): "" for name in observed.split(",") if name.strip()}
    if data.plain:
        columns = {}
    if not isinstance(columns, dict):
        raise BadTable(
            f"{model} was not written by definetti fit and does not name the columns it was fitted "
            "on; name them with --observation-columns"
        )
    trained = [] if data.training is None else [data.training.states]
    codes = [code for states in (data.history.pool.states, *trained) for code in states.tolist()]
    states = list(data.alphabet.decode(codes))
    table = LabelledTable(None, states, columns=columns, clock=data.clock)
    if new is None:
        return cp, table
    past, name = known_rows(cp, list(columns)), name_source(new)
    rows = read_table(new, symbols=name_symbols(past))
    check_columns(rows.columns, name, list(columns))
    rows, table.notes = match_new_rows(
        rows, name, past, str(model), columns=list(columns), state=state
    )
    timed, _ = find_time_column(rows, [name for name in rows.columns if name not in columns])
    times = None if timed is None else timed.times
    table.add_new(rows, state, take_observed(cp, rows, list(columns)), times, name)
    return cp, table


def known_rows(cp: Any, columns: list[str]) -> Any:
    """Return the observations of the labelled rows as a table, for matching types of new rows."""
    parts, table = cp._data._parts, cp._data.table
    past = table.take(np.arange(len(table))) if is_framed(table) else None
    if past is None and parts:
        past = parts[0].observations
    if isinstance(past, pl.Series) and len(columns) == 1:
        return past.to_frame(columns[0])
    if isinstance(past, pl.DataFrame) and set(columns) <= set(past.columns):
        return past
    if isinstance(past, pl.DataFrame) and columns:
        raise BadTable(f"the model was fitted on the columns {', '.join(past.columns)}")
    return pl.DataFrame({column: [] for column in columns})  # types are unknown


def take_observed(cp: Any, rows: Any, columns: list[str]) -> Any:
    """Return the observed columns of new rows as a series or frame, as in fitting."""
    observed = take_columns(rows, columns)
    return as_frame(observed) if is_framed(cp._data.table) else observed


def is_framed(table: Any) -> bool:
    """Return whether observations are rows of a data frame, as for a classifier."""
    from definetti.emissions.tables import Raw

    return isinstance(table, Raw) and table.schema is not None


def fit(
    data: options.LabelledRows,
    output: Annotated[Path, options.output_option("--output", "-o", help="model file: .definetti")],
    columns: options.Columns,
    settings: options.Settings,
    no_check: options.NoCheck = False,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Fit a model to labelled rows, and write it to a file.

    With definetti predict --model the file gives the same sets as the labelled rows, which are in
    it; it holds no code. Exit code 2: an argument or a file is wrong.

    Example: definetti fit history.csv -o model.definetti --state-column stage
    """
    check_output(output, [data], force, is_model_file, (ENDING,))
    settings.check_one_level(
        "a model file keeps one level; give one here, and others to definetti predict"
    )
    if settings.classifier not in (None, options.ClassifierName.logistic):
        raise ValueError(
            f"--classifier {settings.classifier.value} cannot be kept in a file, which holds "
            "no trees; take --classifier logistic, or predict from the labelled rows each time"
        )
    table = read_labelled(data, None, columns)
    if table.new_rows:
        table.notes.append(f"the last {table.new_rows} rows have no state and are left out")
        table.new, table.new_rows = None, 0
    cp = fit_table(make_estimator(settings, table, settings.max_errors + 1), table)
    # Import late: slow to load.
    from definetti.models.base import described
    from definetti.saving import save

    save(cp, output, {"state_column": columns.state_column, "columns": table.columns})
    model = described(cp.model_, list(table.columns), len(table.states) - cp.n_steps_)
    checked = check_rows(table, cp.memory_, settings.seed, train_size=cp.train_size, skip=no_check)
    document = {
        "output": str(output), "labelled_rows": len(table.states), "states": list(cp.states_),
        "observed": table.columns, "model": repr(cp.model_), "bytes": output.stat().st_size,
        "check": None if checked is None else checked.to_dict(),
    }  # fmt: skip
    notes = [*table.notes, *note_broken(checked, settings.symmetry)]
    print_result(document, [f"model: {model}"], json, notes, [output])


def inspect(
    model: Annotated[Path, typer.Argument(help="a file that definetti fit or save wrote")],
    json: options.Json = False,
) -> None:
    """Show the contents of a model file and verify its checksums, without loading it.

    Exit code 2: the file is no model, is cut off, was altered, or has a later version.

    Example: definetti inspect model.definetti
    """
    from definetti.saving.files import read_manifest

    check_there(model)
    manifest = read_manifest(model)
    table = make_table(
        ("what", "value"), left=("what", "value"),
        title=f"{model}: whole, {len(manifest['parts'])} parts",
    )  # fmt: skip
    for row in _list_rows(manifest):
        table.add_row(*row)
    print_result(manifest, [table], json)


def _list_rows(manifest: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the entries of a manifest as pairs of name and text."""
    rows = [("format", f"{manifest['version']}")]
    origin = manifest.get("made_by")
    for name, version in origin.items() if isinstance(origin, dict) else ():
        rows.append((f"made by {name}", _shorten(version)))
    notes = manifest.get("notes")
    for name, value in notes.items() if isinstance(notes, dict) else ():
        text = ", ".join(value) if isinstance(value, dict) else _shorten(value)
        rows.append((name.replace("_", " "), text))
    kind, fields = _name_thing(manifest.get("object"))
    rows.append(("holds", kind))
    for name, value in fields.items():
        if isinstance(value, dict) and isinstance(value.get("dict"), list):  # parameters
            shown = {str(pair[0]): pair[1] for pair in value["dict"]}
        elif _name_thing(value)[0] == "labelled":
            data = _name_thing(value)[1]
            shown = {"model used": data.get("model"), "states": data.get("alphabet")}
        else:
            shown = {f"{name.strip('_')} used": value}
        rows += [(f"  {key}", _shorten(shown_value)) for key, shown_value in shown.items()]
    size = sum(part["bytes"] for part in manifest["parts"].values())
    rows.append(("size of parts", f"{size:,} bytes"))
    return rows


def _name_thing(value: Any) -> tuple[str, dict[str, Any]]:
    """Return the class name and the fields of an object in a manifest; empty if it is none."""
    thing = value.get("thing") if isinstance(value, dict) else None
    if isinstance(thing, list) and len(thing) == 2 and isinstance(thing[1], dict):
        return str(thing[0]), thing[1]
    return "", {}


def _shorten(value: Any) -> str:
    """Shorten a value of a manifest to a few characters; name objects by their class."""
    kind, fields = _name_thing(value)
    if kind:
        inside = ", ".join(f"{name} {_shorten(field)}" for name, field in fields.items())
        text = f"{kind} ({inside})" if inside else kind
    elif isinstance(value, list):
        text = ", ".join(map(_shorten, value[:LONGEST]))
    elif isinstance(value, dict) and len(value) == 1:
        tag, inner = next(iter(value.items()))
        text = _shorten(inner) if tag in ("tuple", "number") else f"a {tag}"
    else:
        text = str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
