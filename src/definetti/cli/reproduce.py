"""`definetti reproduce`: the paper's figures and table, and what ours does in their place."""

from __future__ import annotations

import json as js
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from definetti.cli import options
from definetti.cli.mistakes import report_mistakes
from definetti.cli.printing import print_json, print_text


class What(StrEnum):
    """What can be reproduced."""

    figure1 = "figure1"
    figure2 = "figure2"
    table1 = "table1"
    figure3 = "figure3"
    all = "all"


def reproduce(
    what: Annotated[What, typer.Argument(help="which of the paper's figures and tables")],
    jobs: options.Jobs = -1,
    repetitions: Annotated[
        int, typer.Option(min=1, help="histories per cell of figure1 and figure2")
    ] = 500,
    seed: options.Seed = 2023,
    output: Annotated[
        Path, typer.Option(help="folder for tables, pictures and finished cells")
    ] = Path("reproduction"),
    data: Annotated[
        Path | None,
        typer.Option(help="folder with dataset_tk.csv, D202.csv and SPY.csv"),
    ] = None,
    cluster: options.Cluster = None,
    fresh: options.Fresh = False,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Run the paper's experiments: its method as published, as proved, and ours.

    A run that was stopped goes on where it was. Exit code 0: done, and every method that promises
    a coverage keeps it; 1: one does not, or the run was stopped; 2: something asked for cannot be.

    Example: definetti reproduce figure1 --repetitions 100 --jobs 2
    """
    with report_mistakes():
        kept = _run_experiments(
            what, jobs=jobs, repetitions=repetitions, seed=seed, output=output, data=data,
            cluster=cluster, fresh=fresh, force=force, json=json,
        )  # fmt: skip
    if not kept:
        raise typer.Exit(1)


def _run_experiments(
    what: What, *, jobs: int, repetitions: int, seed: int, output: Path, data: Path | None,
    cluster: str | None, fresh: bool, force: bool, json: bool,
) -> bool:  # fmt: skip
    """Run and print; return whether every method that promises a coverage keeps it."""
    from definetti.cli.experiments import (
        check_jobs,
        explain_resuming,
        find_data_files,
        use_cluster,
    )

    check_jobs(jobs)
    from definetti import experiments
    from definetti.cli.overwriting import check_folder
    from definetti.experiments.recorded_series import FILES, read_series
    from definetti.experiments.reproduction import check_experiment

    if data is None and what not in (What.figure1, What.figure2):
        files = "; ".join(f"{file.name} from {file.origin}" for file in FILES)
        raise ValueError(f"{what} needs real series: name a folder with --data ({files})")
    how: dict[str, Any] = {"n_jobs": jobs, "seed": seed, "fresh": fresh, "verbose": True}
    runs: dict[What, Callable[[], experiments.Reproduction]] = {
        What.figure1: lambda: experiments.figure1(output, repetitions=repetitions, **how),
        What.figure2: lambda: experiments.figure2(output, repetitions=repetitions, **how),
        What.table1: lambda: experiments.table1(output, data or "", **how),
        What.figure3: lambda: experiments.figure3(output, data or "", **how),
    }
    check_experiment(output, repetitions, seed)  # what is missing is told of before an hour of work
    if data is not None:
        read_series(data)
    names = list(runs) if what is What.all else [what]
    written = [pattern for name in names for pattern in (f"{name}.csv", f"{name}_*.png")]
    check_folder(output, written, find_data_files(data), force)
    done: list[experiments.Reproduction] = []
    with explain_resuming(output), use_cluster(cluster):
        for name in names:
            # The series of figure3 are those of table1, which has just worked them out.
            how["fresh"] = fresh and not (what is What.all and name is What.figure3)
            done.append(runs[name]())
            if not json:
                print_text(f"{done[-1]}\n")
    if json:  # one document, so all at once
        parts = [js.loads(one.to_json()) for one in done]
        print_json(parts if what is What.all else parts[0])
    return all(one.keeps_promise for one in done)
