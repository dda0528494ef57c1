"""Figure 1 of the paper for our method, on two cores, as `definetti reproduce figure1` has it."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time

from rich.console import Console

from benchmarks.tables import format_ratio, format_seconds, make_table, show_table

REPETITIONS, JOBS = 500, 2
GOAL = 36.0  # seconds of the processor in all, for 20 s on the wall of two cores of one's own
FEW = 2  # repetitions, to tell what each costs where histories are asked about one by one
PROGRAM = """
import sys
from definetti.experiments import figure1, grids
from definetti.experiments.methods import OURS
if sys.argv[4]:
    grids.rank_histories = lambda *_: None
figure1(sys.argv[1], methods=[OURS], repetitions=int(sys.argv[2]), n_jobs=int(sys.argv[3]))
"""


def run(console: Console) -> None:
    made = make_table(
        f"Figure 1 for our method: 135 cells of {REPETITIONS} histories",
        "histories",
        "on the wall",
        "processor, all processes",
        "goal",
        "each history",
    )
    _measure(FEW, JOBS, False)  # compiles
    nothing = _measure(1, 1, False)[1]  # starting, the oracle's sizes, drawing the pictures
    wall, spent = _measure(REPETITIONS, JOBS, False)
    alone = (_measure(1 + FEW, 1, True)[1] - _measure(1, 1, True)[1]) / (135 * FEW)
    each = (spent - nothing) / (135 * REPETITIONS)
    goal = f"≤ {GOAL:.0f} s {'✓' if spent <= GOAL else '✗'}"
    made.add_row("at once", format_seconds(wall), format_seconds(spent), goal, format_seconds(each))
    made.add_row("one by one", "", "", "", format_seconds(alone))
    show_table(
        console,
        made,
        f"{JOBS} processes. Of the time of the processor, {format_seconds(nothing)} are for "
        "starting, the oracle's sizes and the pictures.",
        f"At once a history takes {format_ratio(alone / each)} less; the same numbers come out.",
    )


def _measure(repetitions: int, jobs: int, alone: bool) -> tuple[float, float]:
    """Return the time on the wall, and that of the processor in all processes together."""
    with tempfile.TemporaryDirectory() as folder:
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        given = [folder, str(repetitions), str(jobs), "alone" if alone else ""]
        subprocess.run([sys.executable, "-c", PROGRAM, *given], check=True, capture_output=True)
        wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return wall, spent
