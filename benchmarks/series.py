"""Ten thousand series of a thousand rows: each backtested, on two cores and on a cluster.

By itself it is the whole demonstration, at any size: `python -m benchmarks.series --series 400`.
"""

from __future__ import annotations

import argparse
import hashlib
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
WORKERS = 4
COMMAND = [sys.executable, "-m", "definetti"]
OPTIONS = ["--group-column", "series", "--order-column", "day", "--json"]
FILES = ("steps.parquet", "series.parquet")  # a row a step, and a row a series


def run(console: Console, series: int = SERIES, rows: int = ROWS) -> bool:
    """Show all three ways; return whether the cluster wrote the bytes that two processes wrote."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        table = folder / "towns.parquet"
        _ask("simulate", table, "--series", series, "--rows", rows)
        found = [
            _row("own", table, folder, "--series", "own", "--jobs", 2),
            _row("others", table, folder, "--series", "others", "--jobs", 2),
            _on_cluster(table, folder),
        ]
        hashes = {way: [_hash(folder / f"{way}-{file}") for file in FILES]
                  for way in ("own", "cluster")}  # fmt: skip
    made = make_table(
        f"Backtest of {series:,} series of {rows:,} rows, with a row a step and a row a series",
        "", "CPU time", "time", "largest process", "windows", "covered", "mean size",
    )  # fmt: skip
    for row in found:
        made.add_row(*row)
    equal = hashes["own"] == hashes["cluster"]
    show_table(
        console, made, f"one worker of {WORKERS} was killed; equal bytes: {equal}",
        "the time of the cluster's own processes is not in its first column",
    )  # fmt: skip
    for way, each in hashes.items():
        for file, digest in zip(FILES, each, strict=True):
            console.print(f"{way:8}{file:16}sha256 {digest}", soft_wrap=True, highlight=False)
    return equal


def _row(way: str, table: Path, folder: Path, *more: object) -> list[str]:
    """Backtest, and tell what it took, processes that it started included."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    steps, by_series = (folder / f"{way}-{file}" for file in FILES)
    found = json.loads(
        _ask("backtest", table, *OPTIONS, "-o", steps, "--by-series", by_series, *more)
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return [
        way, f"{cpu:.0f} s", f"{time.perf_counter() - begin:.0f} s",
        f"{after.ru_maxrss / 2**20:.2f} GB", f"{found['windows']:,}", f"{found['coverage']:.4f}",
        f"{found['mean_size']:.3f}",
    ]  # fmt: skip


def _on_cluster(table: Path, folder: Path) -> list[str]:
    """The same on a local Dask cluster, one worker of which is killed in the middle."""
    from dask.distributed import Client, LocalCluster

    options = {"n_workers": WORKERS, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        pids = list(client.run(os.getpid).values())
        cells = folder / "kept"
        killer = threading.Thread(target=_kill_later, args=(pids[0], cells / "cells"), daemon=True)
        killer.start()
        row = _row(
            "cluster", table, folder, "--cluster", cluster.scheduler_address, "--cells", cells
        )
        if killer.is_alive():
            raise RuntimeError("all was done before a worker was killed; take more series")
    return row


def _kill_later(pid: int, cells: Path) -> None:
    """Kill a worker as soon as some parts are done."""
    while not cells.is_dir() or len(list(cells.glob("*.json"))) < 2:
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _ask(*arguments: object) -> str:
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=SERIES)
    parser.add_argument("--rows", type=int, default=ROWS)
    asked = parser.parse_args()
    sys.exit(not run(Console(), asked.series, asked.rows))
