"""What the commands that run experiments have in common: data, processes, and going on later."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import typer

from definetti._system.interrupts import is_stopping
from definetti.cli.printing import tell

PATIENCE = 10  # seconds that a scheduler has to answer


def find_data_files(data: Path | None) -> list[Path]:
    """Return what experiments may read in a folder, or in folders in it."""
    from definetti.experiments.worlds import NEEDS

    names = dict.fromkeys(name for files in NEEDS.values() for name in files)
    patterns = [pattern for name in names for pattern in (name, f"*/{name}")]
    return [] if data is None else [path for one in patterns for path in data.glob(one)]


def check_jobs(jobs: int) -> None:
    """Refuse a number of processes that is none."""
    if jobs == 0:
        raise ValueError("--jobs 0: 0 processes do no work; give 1 or more, or -1 for one a core")


@contextmanager
def explain_resuming(output: Path) -> Iterator[None]:
    """Say how to go on where a run ends early, for whatever reason."""
    remedy = (
        f"Finished cells are in {output / 'cells'}; the same command goes on from there, and "
        "--fresh starts anew."
    )
    try:
        yield
    except typer.Exit:
        raise
    except (Exception, KeyboardInterrupt) as error:
        if is_stopping() or isinstance(error, KeyboardInterrupt):
            said = "stopped"
        elif isinstance(error, (ImportError, OSError)):  # no Dask, no scheduler, no room on disk
            raise
        else:  # a worker killed, a scheduler lost, a file that is no such file
            said = f"{type(error).__name__}: {error}"
        tell(f"definetti: {said}. {remedy}")
        raise typer.Exit(1) from None


@contextmanager
def use_cluster(address: str | None) -> Iterator[None]:
    """Send all parallel work to a Dask cluster, if there is one."""
    if address is None:
        yield
        return
    from joblib import parallel_config  # type: ignore[import-untyped,unused-ignore]

    try:
        # By name: Dask has types for some of it, and whoever checks may not have it at all.
        connect = import_module("dask.distributed").Client
    except ImportError:
        raise ImportError(
            "--cluster needs Dask; install it with pip install 'definetti[cluster]'"
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
