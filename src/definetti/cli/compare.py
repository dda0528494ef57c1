"""`definetti compare`: every method in every world, in one table and one picture."""

from __future__ import annotations

import json as js
from pathlib import Path
from typing import Annotated, Any

import typer

from definetti.cli import options
from definetti.cli.completing import complete_methods, complete_worlds
from definetti.cli.mistakes import report_mistakes
from definetti.cli.printing import print_json, print_text, tell


def compare(
    worlds: Annotated[
        list[str] | None,
        typer.Option(
            help="names, separated by commas; all but the whole grids if left out",
            autocompletion=complete_worlds,
        ),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            help="names, separated by commas; all if left out", autocompletion=complete_methods
        ),
    ] = None,
    repetitions: Annotated[
        int | None,
        typer.Option(min=1, help="histories a world, and windows of real data; 200 if left out"),
    ] = None,
    jobs: options.Jobs = -1,
    seed: options.Seed = 2023,
    data: Annotated[
        Path | None, typer.Option(help="folder with the real data, or with folders of them")
    ] = None,
    output: Annotated[
        Path, typer.Option(help="folder for the table, the picture and finished cells")
    ] = Path("comparison"),
    cluster: options.Cluster = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="one step ahead only, and 50 repetitions")
    ] = False,
    fresh: options.Fresh = False,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Compare ours, the paper's method and the baselines: coverage, size and time.

    A run that was stopped goes on where it was. Exit code 0: done, and every method covers where
    that is guaranteed; 1: one does not, or the run was stopped; 2: something asked for cannot be.

    Example: definetti compare --worlds sticky,rare --repetitions 100 --jobs 2
    """
    with report_mistakes():
        found = _compare(
            _split_names(worlds), _split_names(methods), repetitions=repetitions, jobs=jobs,
            seed=seed, data=data, output=output, cluster=cluster, quick=quick, fresh=fresh,
            force=force,
        )  # fmt: skip
        if json:
            print_json(js.loads(found.to_json()))
        else:
            print_text(str(found))
    if not found.keeps_promise:
        raise typer.Exit(1)


def _compare(
    places: list[str] | None, names: list[str] | None, *, repetitions: int | None, jobs: int,
    seed: int, data: Path | None, output: Path, cluster: str | None, quick: bool, fresh: bool,
    force: bool,
) -> Any:  # fmt: skip
    from definetti.cli.experiments import (
        check_jobs,
        explain_resuming,
        find_data_files,
        use_cluster,
    )
    from definetti.cli.overwriting import check_folder
    from definetti.experiments.benchmark import (
        HORIZONS,
        QUICK_HORIZONS,
        QUICK_REPETITIONS,
        REPETITIONS,
    )
    from definetti.experiments.benchmark import compare as run
    from definetti.experiments.contestants import chosen
    from definetti.experiments.reproduction import check_experiment
    from definetti.experiments.worlds import selected

    number = repetitions or (QUICK_REPETITIONS if quick else REPETITIONS)
    horizons = QUICK_HORIZONS if quick else HORIZONS
    check_jobs(jobs)
    check_experiment(output, number, seed)  # all that is missing, before an hour of work
    check_folder(output, ("compare.csv", "compare.png"), find_data_files(data), force)
    chosen(names)
    for message in selected(places, data, horizons, number)[1]:
        tell(message)
    with explain_resuming(output), use_cluster(cluster):
        return run(output, data, worlds=places, methods=names, horizons=horizons,
                   repetitions=number, seed=seed, n_jobs=jobs, fresh=fresh,
                   verbose=True)  # fmt: skip


def _split_names(given: list[str] | None) -> list[str] | None:
    """Read names that are separated by commas, given once or several times.

    >>> _split_names(["sticky, rare", "ten"])
    ['sticky', 'rare', 'ten']
    """
    if not given:
        return None
    return [name.strip() for text in given for name in text.split(",") if name.strip()]
