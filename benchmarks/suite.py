"""What the tests gain by windows predicted in one pass: some rooms of them, with it and without."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from benchmarks.tables import format_ratio, format_seconds, make_table, show_table

ROOMS = {
    "backtests": ["tests/evaluation/test_backtest.py", "tests/evaluation/test_spread.py"],
    "the contest": ["tests/experiments/benchmark/test_compare.py"],
    "reports": ["tests/report/test_contents.py"],
    "commands": ["tests/cli/test_series.py", "tests/cli/test_report.py", "tests/cli/test_json.py"],
}
ALONE = ("-p", "benchmarks.one_by_one")


def run(console: Console) -> None:
    made = make_table(
        "Rooms of the fast tests, processor time", "room", "at once", "one by one", "ratio"
    )
    both = [0.0, 0.0]
    told = []
    for name, paths in ROOMS.items():
        spent = []
        for k, how in enumerate(((), ALONE)):
            seconds, end = _run(paths, how)
            spent.append(seconds)
            both[k] += seconds
            if how and "failed" in end:
                told.append(f"{name}, one by one: {end}")
        made.add_row(name, *map(format_seconds, spent), format_ratio(spent[1] / spent[0]))
    made.add_row("all of these", *map(format_seconds, both), format_ratio(both[1] / both[0]))
    show_table(
        console, made, "Each in a process of its own, of which 2 s or so is its start.", *told
    )


def _run(paths: Sequence[str], how: Sequence[str]) -> tuple[float, str]:
    """Run some tests; return the processor time of all processes, and what pytest said last."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *how, *paths]
    path = os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, (done.stdout.strip().splitlines() or [done.stderr.strip()])[-1]
