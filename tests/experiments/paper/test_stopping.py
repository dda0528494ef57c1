"""A run that is stopped, politely or not, goes on where it was and ends with the same table."""

from __future__ import annotations

import signal

import pytest

from definetti.experiments import OURS, PAIRS, figure1
from definetti.experiments.grids import FIGURE1_POINTS as POINTS

pytestmark = pytest.mark.usefixtures("no_pictures")
HANG = 1200  # seconds after which something is wrong, on whatever machine
# Stops itself, with all its processes as a terminal does, once a few cells are kept.
STOPS = """
import os, sys
from definetti._system.cells import Store
how, number, kept, keep = int(sys.argv.pop(1)), int(sys.argv.pop(1)), [], Store.keep
def kept_and_stopped(self, cell, records):
    keep(self, cell, records)
    kept.append(cell)
    if len(kept) == number:
        os.killpg(0, how)
Store.keep = kept_and_stopped
"""
SCRIPT = f"""{STOPS}
from definetti.experiments import OURS, PAIRS, figure1
from definetti.experiments.grids import FIGURE1_POINTS as POINTS
if __name__ == "__main__":
    figure1(sys.argv[1], repetitions=20, n_jobs=int(sys.argv[2]), points=POINTS[::45],
            methods=[PAIRS, OURS])
"""
COMMAND = f"""{STOPS}
import typer
from definetti.cli.experiments import reproduce
app = typer.Typer(pretty_exceptions_enable=False)
app.command()(reproduce)
app()
"""


def csv_of(folder):
    return (folder / "figure1.csv").read_bytes()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, no_pictures):
    folder = tmp_path_factory.mktemp("undisturbed")
    figure1(folder, repetitions=20, n_jobs=1, points=POINTS[::45], methods=[PAIRS, OURS])
    return csv_of(folder)


@pytest.mark.slow
@pytest.mark.parametrize(("how", "jobs"), [(signal.SIGINT, 1), (signal.SIGKILL, 2)])
def test_a_stopped_run_goes_on(start, undisturbed, tmp_path, how, jobs):
    process = start(SCRIPT, int(how), 3, tmp_path, jobs)
    process.communicate(timeout=HANG)
    assert process.returncode != 0
    assert not (tmp_path / "figure1.csv").exists()
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "cells").glob("*.json")}
    assert len(kept) == 3

    found = figure1(tmp_path, repetitions=20, n_jobs=1, points=POINTS[::45], methods=[PAIRS, OURS])
    assert csv_of(tmp_path) == undisturbed
    assert all(path.stat().st_mtime_ns == then for path, then in kept.items())
    assert len(list((tmp_path / "cells").glob("*.json"))) == 6
    assert all(path.exists() for path in found.files)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_control_c_says_how_to_go_on(start, tmp_path, jobs):
    arguments = ["figure1", "--repetitions", 20, "--output", tmp_path, "--jobs", jobs]
    process = start(COMMAND, int(signal.SIGINT), 2, *arguments)
    _, said = process.communicate(timeout=HANG)
    assert process.returncode == 1
    assert "resumes there" in " ".join(said.split())
    assert "Traceback" not in said
    assert not [path for path in tmp_path.rglob("*") if path.suffix not in ("", ".json")]
