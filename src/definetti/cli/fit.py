"""`definetti fit`: write a model file; and read new rows for one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from definetti.cli import options
from definetti.cli.check import check_rows, note_broken
from definetti.cli.errors import BadTable
from definetti.cli.estimators import make_estimator
from definetti.cli.printing import print_json, print_notes
from definetti.cli.reading import name_source, read_table
from definetti.cli.writing import check_output

if TYPE_CHECKING:
    import typer

    from definetti.cli.columns import LabelledTable

ENDING = ".definetti"
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
    if found := options.given_options(context, SETTLED):
        raise BadTable(
            f"--{found[0].replace('_', '-')} cannot change after the model was fitted; leave it "
            "out, or fit again: definetti fit"
        )


def read_saved(model: Path, new: str | None, observed: str | None) -> tuple[Any, LabelledTable]:
    """Load a model file, and read new rows in the form of those it was fitted on."""
    from definetti.cli.column_types import match_new_rows, name_symbols
    from definetti.cli.columns import LabelledTable, check_columns, find_time_column
    from definetti.conformal import ConformalHMM
    from definetti.data.timing import rows_until_hole
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
    table = LabelledTable(None, list(data.alphabet.decode(codes)), None, 0, columns)
    if new is None:
        return cp, table
    past, name = known_rows(cp, list(columns)), name_source(new)
    rows = read_table(new, symbols=name_symbols(past))
    check_columns(rows.columns, name, list(columns))
    rows, table.notes = match_new_rows(
        rows, name, past, str(model), columns=list(columns), state=state
    )
    table.new_keys = rows.drop(state, *columns, strict=False)
    table.new, table.new_rows = take_observed(cp, rows, list(columns)), len(rows)
    left = [column for column in rows.columns if column not in columns]
    timed, _ = find_time_column(rows, left)
    if timed is not None:
        table.new_until, table.hole = rows_until_hole(timed.times, data.clock, name)
    return cp, table


def known_rows(cp: Any, columns: list[str]) -> Any:
    """Return the observations of the labelled rows as a table, to compare new rows with."""
    import numpy as np
    import polars as pl

    parts, table = cp._data._parts, cp._data.table
    found = table.take(np.arange(len(table))) if is_framed(table) else None
    if found is None and parts:
        found = parts[0].observations
    if isinstance(found, pl.Series) and len(columns) == 1:
        return found.to_frame(columns[0])
    if isinstance(found, pl.DataFrame) and set(columns) <= set(found.columns):
        return found
    if isinstance(found, pl.DataFrame) and columns:
        raise BadTable(f"the model was fitted on the columns {', '.join(found.columns)}")
    return pl.DataFrame({column: [] for column in columns})  # with unknown types


def take_observed(cp: Any, rows: Any, columns: list[str]) -> Any:
    """Return the observed columns of new rows in the form that the estimator was fitted on."""
    from definetti.cli.columns import as_frame, take_columns

    found = take_columns(rows, columns)
    return as_frame(found) if is_framed(cp._data.table) else found


def is_framed(table: Any) -> bool:
    """Tell whether observations are rows of a data frame, as a classifier takes them."""
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
    if len(settings.confidence) > 1:
        raise ValueError(
            f"--confidence is given {len(settings.confidence)} times, and a model file keeps one "
            "level; give one here, and others to definetti predict"
        )
    if settings.classifier not in (None, options.ClassifierName.logistic):
        raise ValueError(
            f"--classifier {settings.classifier.value} cannot be kept in a file, which holds "
            "no trees; take --classifier logistic, or predict from the labelled rows each time"
        )
    from definetti.cli.columns import read_labelled

    table = read_labelled(data, None, columns)
    if table.new_rows:
        table.notes.append(f"the last {table.new_rows} rows have no state and are left out")
        table.new, table.new_rows = None, 0
    cp = make_estimator(settings, table, settings.max_errors + 1)
    cp.fit(table.observations, table.states, table.lengths)
    cp._data.clock = table.clock
    # Slow to load, so not before the rows are read.
    from definetti.models.base import described
    from definetti.saving import save

    save(cp, output, {"state_column": columns.state_column, "columns": table.columns})
    fixed_on = len(table.states) - cp.n_steps_
    model = described(cp.model_, list(table.columns), fixed_on)
    checked = check_rows(table, cp.memory_, settings.seed, train_size=cp.train_size, skip=no_check)
    print_notes([*table.notes, *note_broken(checked, settings.symmetry)])
    if json:
        print_json({"output": str(output), "labelled_rows": len(table.states),
                    "states": list(cp.states_), "observed": table.columns,
                    "model": repr(cp.model_), "bytes": output.stat().st_size,
                    "check": None if checked is None else checked.to_dict()})  # fmt: skip
    else:
        from definetti.cli.printing import console

        screen = console()
        screen.print(f"model: {model}", soft_wrap=True)
        screen.print(f"written: {output}", soft_wrap=True)
