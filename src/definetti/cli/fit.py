"""`definetti fit`: labelled rows into a file that predicts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from definetti.cli import options
from definetti.cli.choices import Guarantee
from definetti.cli.mistakes import report_mistakes
from definetti.cli.printing import print_json, print_notes


def fit(
    data: options.LabelledRows,
    output: Annotated[Path, typer.Option("--output", "-o", help="the model: .definetti")],
    state_column: options.StateColumn = "state",
    observation_columns: options.ObservationColumns = None,
    confidence: options.Levels = "0.9",
    guarantee: options.Guarantee = Guarantee.all,
    max_errors: options.MaxErrors = 0,
    train_size: options.TrainSize = None,
    symmetry: options.Symmetry = "auto",
    memory: options.Memory = "1",
    smoothing: options.Smoothing = False,
    allow_empty: options.AllowEmpty = False,
    seed: options.Seed = 0,
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
        from definetti.cli.levels import read_confidence
        from definetti.cli.saved import ENDING, is_model_file, note_columns
        from definetti.cli.writing import check_output

        check_output(output, [data], force, is_model_file, (ENDING,))
        check_share(train_size)
        table = read_both(data, None, state_column, observation_columns)
        if table.new_rows:
            table.notes.append(f"left out, having no state: the last {table.new_rows} rows")
            table.new, table.new_rows = None, 0
        cp = make_estimator(
            table, max_errors + 1, confidence=read_confidence(confidence, table.states),
            guarantee=guarantee.value, max_errors=max_errors, train_size=train_size,
            symmetry=symmetry, memory=memory,
            smoothing=smoothing, allow_empty=allow_empty, seed=seed,
        )  # fmt: skip
        cp.fit(table.observations, table.states)
        # Slow to load, so not before the rows are read.
        from definetti.models.describing import described
        from definetti.saving import save

        save(cp, output, note_columns(table, state_column))
        fixed_on = len(table.states) - cp.n_steps_
        model = described(cp.model_, list(table.columns), fixed_on)
        checked = check_rows(table, cp.memory_, seed, train_size=cp.train_size, skip=no_check)
        print_notes([*table.notes, *note_broken(checked, symmetry)])
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
