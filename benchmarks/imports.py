"""What it costs to import the package, each time in a fresh process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from rich.console import Console

from benchmarks.tables import format_seconds, make_table, show_table

ROUNDS = 7
STATEMENTS = (
    "import definetti",
    "from definetti import ConformalHMM; ConformalHMM()",
    "import sklearn.base",
    "import numba",
)
FIRST_PREDICTION = """
from definetti import ConformalHMM
from definetti.simulate import weather
observations, states = weather(300, random_state=0)
ConformalHMM(random_state=0).fit(observations[:298], states[:298]).predict_set(observations[298:])
"""
COLD_ROUNDS = 2
GOAL = 0.5  # seconds to the first estimator
BYTECODE = tempfile.TemporaryDirectory()


def run(console: Console) -> None:
    made = make_table("Import time, in a fresh process", "statement", "best", "worst", "goal")
    for statement in STATEMENTS:
        best, worst = _time_imports(statement)
        goal = f"≤ {GOAL} s {'✓' if best <= GOAL else '✗'}" if "ConformalHMM" in statement else ""
        made.add_row(statement, format_seconds(best), format_seconds(worst), goal)
    made.add_section()
    for name, times in (
        ("import, fit and predict_set", _time_imports(FIRST_PREDICTION)),
        ("the same, nothing compiled yet", _time_cold(FIRST_PREDICTION)),
    ):
        made.add_row(name, *map(format_seconds, times))
    show_table(
        console,
        made,
        f"Best and worst of {ROUNDS}, after one that fills the disk cache; the start of Python "
        "itself is not included.",
        "Kernels are compiled once per machine and then loaded from disk when first used; the last "
        f"row, best and worst of {COLD_ROUNDS}, finds none there.",
    )


def _time_imports(program: str) -> tuple[float, float]:
    found = [_time_program(program) for _ in range(ROUNDS + 1)][1:]
    return min(found), max(found)


def _time_cold(program: str) -> tuple[float, float]:
    """Time a program that finds no compiled kernel on the disk."""
    found = []
    for _ in range(COLD_ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            found.append(_time_program(program, NUMBA_CACHE_DIR=folder))
    return min(found), max(found)


def _time_program(program: str, **others: str) -> float:
    """Return the time that a fresh process takes for a program: that of its processor."""
    timed = f"import time\nbegin = time.process_time()\n{program}\n"
    command = [sys.executable, "-c", f"{timed}\nprint(time.process_time() - begin)"]
    surroundings = {**os.environ, "PYTHONPYCACHEPREFIX": BYTECODE.name, **others}
    surroundings.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=surroundings)
    return float(done.stdout)
