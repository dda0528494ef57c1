"""Ten thousand series of a thousand rows: each backtested, on two cores and on a cluster."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from benchmarks.tables import make_table, show_table

SERIES, ROWS = int(os.environ.get("DEFINETTI_SERIES", "10000")), 1000
COMMAND = [sys.executable, "-m", "definetti"]
OPTIONS = ["--group-column", "series", "--order-column", "day", "--json"]


def run(console: Console) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        table = folder / "towns.parquet"
        _ask("simulate", table, "--series", SERIES, "--rows", ROWS)
        rows = []
        for way in ("own", "others"):
            output = folder / f"{way}.parquet"
            rows.append(_row(way, table, output, "--series", way, "--jobs", 2))
        rows.append(_on_cluster(table, folder))
        equal = (folder / "own.parquet").read_bytes() == (folder / "cluster.parquet").read_bytes()
    made = make_table(
        f"Backtest of {SERIES:,} series of {ROWS:,} rows",
        "", "CPU time", "time", "largest process", "windows", "covered", "mean size",
    )  # fmt: skip
    for row in rows:
        made.add_row(*row)
    show_table(
        console, made, f"one worker of four was killed; equal bytes: {equal}",
        "the time of the cluster's own processes is not in its first column",
    )  # fmt: skip


def _row(name: str, table: Path, output: Path, *more: object) -> list[str]:
    """Backtest, and tell what it took, processes that it started included."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    found = json.loads(_ask("backtest", table, *OPTIONS, "-o", output, *more))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return [
        name, f"{cpu:.0f} s", f"{time.perf_counter() - begin:.0f} s",
        f"{after.ru_maxrss / 2**20:.2f} GB", f"{found['windows']:,}", f"{found['coverage']:.4f}",
        f"{found['mean_size']:.3f}",
    ]  # fmt: skip


def _on_cluster(table: Path, folder: Path) -> list[str]:
    """The same on a local Dask cluster of four workers, one of which is killed on the way."""
    from dask.distributed import Client, LocalCluster

    options = {"n_workers": 4, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        pids = list(client.run(os.getpid).values())
        cells = folder / "kept"
        killer = threading.Thread(target=_kill_later, args=(pids[0], cells / "cells"), daemon=True)
        killer.start()
        return _row(
            "cluster, one killed", table, folder / "cluster.parquet",
            "--cluster", cluster.scheduler_address, "--cells", cells,
        )  # fmt: skip


def _kill_later(pid: int, cells: Path) -> None:
    """Kill a worker as soon as some parts are done."""
    while not cells.is_dir() or len(list(cells.glob("*.json"))) < 3:
        time.sleep(0.2)
    os.kill(pid, signal.SIGKILL)


def _ask(*arguments: object) -> str:
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout
