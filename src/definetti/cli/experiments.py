"""`definetti reproduce` and `definetti compare`: run experiments; stopped runs can be resumed."""

from __future__ import annotations

import json as js
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from definetti._system.checks import checked_jobs
from definetti._system.interrupts import is_stopping
from definetti.cli import options
from definetti.cli.printing import print_json, print_lines, print_result, print_stderr
from definetti.cli.writing import check_folder

PATIENCE = 10  # seconds to wait for the scheduler
What = StrEnum("What", ["figure1", "figure2", "table1", "figure3", "all"])  # of the paper


def find_data_files(data: Path | None) -> list[Path]:
    """Return the data files of experiments in a folder or its subfolders."""
    from definetti.experiments.worlds import NEEDS

    names = dict.fromkeys(name for files in NEEDS.values() for name in files)
    patterns = [pattern for name in names for pattern in (name, f"*/{name}")]
    return [] if data is None else [path for pattern in patterns for path in data.glob(pattern)]


@contextmanager
def explain_resuming(output: Path) -> Iterator[None]:
    """Print how to resume a run that is stopped or fails, and exit with code 1."""
    remedy = (
        f"Finished cells are in {output / 'cells'}; the same command resumes there, and "
        "--fresh starts again."
    )
    try:
        yield
    except typer.Exit:
        raise
    except (Exception, KeyboardInterrupt) as error:
        if is_stopping() or isinstance(error, KeyboardInterrupt):
            said = "stopped"
        elif isinstance(error, (ImportError, OSError)):  # missing Dask, no scheduler, full disk
            raise
        else:  # for example a killed worker or a lost scheduler
            said = f"{type(error).__name__}: {error}"
        print_stderr(f"definetti: {said}. {remedy}")
        raise typer.Exit(1) from None


@contextmanager
def use_cluster(address: str | None) -> Iterator[None]:
    """Run all parallel work on a Dask cluster, if an address is given."""
    if address is None:
        yield
        return
    from joblib import parallel_config  # type: ignore[import-untyped,unused-ignore]

    try:
        # Import by name, since Dask may be missing where types are checked.
        connect = import_module("dask.distributed").Client
    except ImportError:
        raise ImportError(
            "--cluster needs Dask; install it with pip install 'definetti-hmm[cluster]'"
        ) from None
    try:
        client = connect(address, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise OSError(
            f"no Dask scheduler answers at {address} ({error}); start one with `dask scheduler` "
            "and `dask worker ADDRESS`, or leave --cluster out"
        ) from None
    with client, parallel_config("dask"):
        yield


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
        Path | None, typer.Option(help="folder with dataset_tk.csv, D202.csv and SPY.csv")
    ] = None,
    cluster: options.Cluster = None,
    fresh: options.Fresh = False,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Run the paper's experiments: its method as published, as proved, and ours.

    A stopped run resumes where it was. Exit code 0: done, and every method with a guarantee has its
    coverage; 1: one has not, or the run was stopped; 2: an argument or a file is wrong.

    Example: definetti reproduce figure1 --repetitions 100 --jobs 2
    """
    checked_jobs(jobs, 1)
    from definetti import experiments
    from definetti.experiments.recorded_series import FILES, read_series
    from definetti.experiments.reproduction import check_experiment

    if data is None and what not in (What.figure1, What.figure2):
        files = "; ".join(f"{file.name} from {file.origin}" for file in FILES)
        raise ValueError(f"{what} needs real series: name a folder with --data ({files})")
    check_experiment(output, repetitions, seed)  # before an hour of work
    if data is not None:
        read_series(data)
    names = [name for name in What if name is not What.all] if what is What.all else [what]
    written = [pattern for name in names for pattern in (f"{name}.csv", f"{name}_*.png")]
    check_folder(output, written, find_data_files(data), force)
    done: list[experiments.Reproduction] = []
    with explain_resuming(output), use_cluster(cluster):
        for name in names:
            # figure3 uses the series that table1 has just computed.
            again = fresh and not (what is What.all and name is What.figure3)
            drawn = name in (What.figure1, What.figure2)
            extra: dict[str, Any] = {"repetitions": repetitions} if drawn else {"data": data or ""}
            run = getattr(experiments, name)
            done.append(run(output, n_jobs=jobs, seed=seed, fresh=again, verbose=True, **extra))
            if not json:
                print_lines([*str(done[-1]).split("\n"), ""])
    if json:  # print one document for all
        parts = [js.loads(reproduction.to_json()) for reproduction in done]
        print_json(parts if what is What.all else parts[0])
    if not all(reproduction.keeps_promise for reproduction in done):
        raise typer.Exit(1)


def compare(
    worlds: Annotated[
        list[str] | None,
        typer.Option(
            help="worlds, comma-separated; default: all except the whole grids",
            autocompletion=options.complete_from("definetti.experiments.worlds", "DRAWN", "NEEDS"),
        ),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            help="methods, comma-separated; default: all",
            autocompletion=options.complete_from(
                "definetti.experiments.contestants", "CONTESTANTS"
            ),
        ),
    ] = None,
    repetitions: Annotated[
        int | None,
        typer.Option(min=1, help="histories per world, and windows of real data; default: 200"),
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

    A stopped run resumes where it was. Exit code 0: done, and every method with a guarantee has its
    coverage; 1: one has not, or the run was stopped; 2: an argument or a file is wrong.

    Example: definetti compare --worlds sticky,rare --repetitions 100 --jobs 2
    """
    from definetti.experiments import benchmark
    from definetti.experiments.contestants import chosen
    from definetti.experiments.reproduction import check_experiment
    from definetti.experiments.worlds import selected

    places, names = _split_names(worlds), _split_names(methods)
    number = repetitions or (benchmark.QUICK_REPETITIONS if quick else benchmark.REPETITIONS)
    horizons = benchmark.QUICK_HORIZONS if quick else benchmark.HORIZONS
    checked_jobs(jobs, 1)
    check_experiment(output, number, seed)  # before an hour of work
    check_folder(output, ("compare.csv", "compare.png"), find_data_files(data), force)
    chosen(names)
    for message in selected(places, data, horizons, number)[1]:
        print_stderr(message)
    with explain_resuming(output), use_cluster(cluster):
        comparison = benchmark.compare(
            output, data, worlds=places, methods=names, horizons=horizons, repetitions=number,
            seed=seed, n_jobs=jobs, fresh=fresh, verbose=True,
        )  # fmt: skip
    print_result(js.loads(comparison.to_json()), str(comparison).split("\n"), json)
    if not comparison.keeps_promise:
        raise typer.Exit(1)


def _split_names(given: list[str] | None) -> list[str] | None:
    """Parse comma-separated names from one or several options."""
    if not given:
        return None
    return [name.strip() for text in given for name in text.split(",") if name.strip()]
