"""`definetti fit`: labelled rows into a file that predicts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from definetti.cli import options
from definetti.cli.choices import ClassifierName
from definetti.cli.mistakes import report_mistakes
from definetti.cli.printing import print_json, print_notes


def fit(
    data: options.LabelledRows,
    output: Annotated[Path, typer.Option("--output", "-o", help="the model: .definetti")],
    columns: options.Columns,
    settings: options.Settings,
    no_check: options.NoCheck = False,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Learn from labelled rows, and write what was learned to a file.

    The file holds no code, and answers as the rows themselves would: definetti predict --model.
    The labelled rows are in it. Exit code 2: something is wrong with what was given.

    Example: definetti fit history.csv -o model.definetti --state-column stage
    """
    with report_mistakes():
        from definetti.cli.checking import check_rows, note_broken
        from definetti.cli.estimators import check_share, make_estimator, read_both
        from definetti.cli.saved import ENDING, is_model_file, note_columns
        from definetti.cli.writing import check_output

        check_output(output, [data], force, is_model_file, (ENDING,))
        check_share(settings.train_size)
        if len(settings.confidence) > 1:
            raise ValueError(
                "a model keeps one level, and --confidence is there "
                f"{len(settings.confidence)} times; give one here, and others to definetti predict"
            )
        if settings.classifier not in (None, ClassifierName.logistic):
            raise ValueError(
                f"--classifier {settings.classifier.value} cannot be kept in a file, which holds "
                "no trees; take --classifier logistic, or predict from the labelled rows each time"
            )
        table = read_both(data, None, columns)
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
