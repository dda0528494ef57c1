"""Figure 1 of the paper for our method, on two cores, as `definetti reproduce figure1` has it."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time

from rich.console import Console

from benchmarks.tables import format_seconds, make_table, show_table

REPETITIONS, JOBS = 500, 2
GOAL = 108.0  # seconds of processor time in all processes together
PROGRAM = """
import sys
from definetti.experiments import OURS, figure1
figure1(sys.argv[1], methods=[OURS], repetitions=int(sys.argv[2]), n_jobs=int(sys.argv[3]))
"""


def run(console: Console) -> None:
    made = make_table(
        f"Figure 1 for our method: 135 cells of {REPETITIONS} histories",
        "processes",
        "on the wall",
        "processor, all processes",
        "goal",
        "each history",
    )
    _measure(1, JOBS)  # compiles
    nothing = _measure(1, 1)[1]  # starting, the oracle's sizes, drawing the pictures
    wall, spent = _measure(REPETITIONS, JOBS)
    each = (spent - nothing) / (135 * REPETITIONS)
    goal = f"≤ {GOAL:.0f} s {'✓' if spent <= GOAL else '✗'}"
    made.add_row(str(JOBS), *map(format_seconds, (wall, spent)), goal, format_seconds(each))
    show_table(
        console,
        made,
        f"Of the processor time, {format_seconds(nothing)} are for starting, the oracle's sizes "
        "and the pictures.",
    )


def _measure(repetitions: int, jobs: int) -> tuple[float, float]:
    """Return the time on the wall, and that of the processor in all processes together."""
    with tempfile.TemporaryDirectory() as folder:
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        given = [folder, str(repetitions), str(jobs)]
        subprocess.run([sys.executable, "-c", PROGRAM, *given], check=True, capture_output=True)
        wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return wall, spent
