"""`definetti fit`: write a model file; and read new rows for one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from definetti.cli import options
from definetti.cli.check import check_rows, note_broken
from definetti.cli.errors import BadTable, report_errors
from definetti.cli.estimators import check_share, make_estimator
from definetti.cli.printing import print_json, print_notes
from definetti.cli.reading import name_source, read_table
from definetti.cli.writing import check_output

if TYPE_CHECKING:
    import typer

    from definetti.cli.columns import LabelledTable

ENDING = ".definetti"
# Options that a fitted model cannot change.
SETTLED = {
    "state_column": "--state-column", "train_size": "--train-size", "symmetry": "--symmetry",
    "memory": "--memory", "score": "--score", "states": "--states", "classifier": "--classifier",
    "seed": "--seed",
}  # fmt: skip


def note_columns(table: LabelledTable, state: str) -> dict[str, Any]:
    """Return the columns, which a model file keeps beside the estimator."""
    return {"state_column": state, "columns": table.columns}


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
            f"{SETTLED[found[0]]} was settled when the model was fitted; leave it out, or fit "
            "again: definetti fit"
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
    columns, state = notes.get("columns"), notes.get("state_column")
    if observed is not None:
        columns = {name.strip(): "" for name in observed.split(",") if name.strip()}
    if cp._data.plain:
        columns = {}
    if not isinstance(columns, dict):
        raise BadTable(
            f"{model} does not say which columns it was fitted on, not being written by definetti "
            "fit; name them with --observation-columns"
        )
    data = cp._data
    labelled = [
        data.history.pool.states,
        *([] if data.training is None else [data.training.states]),
    ]
    known = [label for codes in labelled for label in data.alphabet.decode(codes.tolist())]
    table = LabelledTable(None, known, None, 0, columns)
    if new is not None:
        past = known_rows(cp, list(columns))
        rows, name = read_table(new, symbols=name_symbols(past)), name_source(new)
        check_columns(rows, name, list(columns))
        rows, found = match_new_rows(
            rows, name, past, str(model), columns=list(columns), state=str(state)
        )
        table.notes += found
        table.new_keys = rows.drop(str(state), *columns, strict=False)
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
    found = parts[0].observations if parts else None
    if is_framed(table):
        found = table.take(np.arange(len(table)))
    if isinstance(found, pl.Series) and len(columns) == 1:
        return found.to_frame(columns[0])
    if isinstance(found, pl.DataFrame) and set(columns) <= set(found.columns):
        return found
    if not columns:
        return pl.DataFrame()
    if isinstance(found, pl.DataFrame):
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
    with report_errors():
        check_output(output, [data], force, is_model_file, (ENDING,))
        check_share(settings.train_size)
        if len(settings.confidence) > 1:
            raise ValueError(
                "a model keeps one level, and --confidence is there "
                f"{len(settings.confidence)} times; give one here, and others to definetti predict"
            )
        if settings.classifier not in (None, options.ClassifierName.logistic):
            raise ValueError(
                f"--classifier {settings.classifier.value} cannot be kept in a file, which holds "
                "no trees; take --classifier logistic, or predict from the labelled rows each time"
            )
        from definetti.cli.columns import read_labelled

        table = read_labelled(data, None, columns)
        if table.new_rows:
            table.notes.append(f"left out, having no state: the last {table.new_rows} rows")
            table.new, table.new_rows = None, 0
        cp = make_estimator(settings, table, settings.max_errors + 1)
        cp.fit(table.observations, table.states, table.lengths)
        cp._data.clock = table.clock
        # Slow to load, so not before the rows are read.
        from definetti.models.base import described
        from definetti.saving import save

        save(cp, output, note_columns(table, columns.state_column))
        fixed_on = len(table.states) - cp.n_steps_
        model = described(cp.model_, list(table.columns), fixed_on)
        checked = check_rows(
            table, cp.memory_, settings.seed, train_size=cp.train_size, skip=no_check
        )
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
