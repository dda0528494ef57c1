"""A run that is stopped, politely or not, goes on where it was and ends with the same table."""

from __future__ import annotations

import os
import signal

import pytest

from definetti.experiments import OURS, PAIRS, figure1
from definetti.experiments.figure1 import POINTS

pytestmark = pytest.mark.usefixtures("no_pictures")
SCRIPT = """
import sys
from definetti.experiments import OURS, PAIRS, figure1
from definetti.experiments.figure1 import POINTS
if __name__ == "__main__":
    figure1(sys.argv[1], repetitions=20, n_jobs=int(sys.argv[2]), points=POINTS[::15],
            methods=[PAIRS, OURS])
"""
COMMAND = """
import typer
from definetti.cli.reproduce import reproduce
app = typer.Typer(pretty_exceptions_enable=False)
app.command()(reproduce)
app()
"""


def csv_of(folder):
    return (folder / "figure1.csv").read_bytes()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, no_pictures):
    folder = tmp_path_factory.mktemp("undisturbed")
    figure1(folder, repetitions=20, n_jobs=1, points=POINTS[::15], methods=[PAIRS, OURS])
    return csv_of(folder)


@pytest.mark.parametrize(("how", "jobs"), [(signal.SIGINT, 1), (signal.SIGKILL, 2)])
def test_a_stopped_run_goes_on(start, wait_for_cells, undisturbed, tmp_path, how, jobs):
    process = start(SCRIPT, tmp_path, jobs)
    wait_for_cells(process, tmp_path, 3)
    os.killpg(process.pid, how)
    process.communicate()
    assert process.returncode != 0
    assert not (tmp_path / "figure1.csv").exists()
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "cells").glob("*.json")}
    assert 3 <= len(kept) < 18

    found = figure1(tmp_path, repetitions=20, n_jobs=1, points=POINTS[::15], methods=[PAIRS, OURS])
    assert csv_of(tmp_path) == undisturbed
    assert all(path.stat().st_mtime_ns == then for path, then in kept.items())
    assert len(list((tmp_path / "cells").glob("*.json"))) == 18
    assert all(path.exists() for path in found.files)


def test_control_c_says_how_to_go_on(start, wait_for_cells, tmp_path):
    process = start(COMMAND, "figure1", "--repetitions", 20, "--output", tmp_path, "--jobs", 2)
    wait_for_cells(process, tmp_path, 2)
    os.killpg(process.pid, signal.SIGINT)  # as the terminal does: to all of its processes
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "goes on from there" in " ".join(said.split())
    assert "Traceback" not in said
    assert not [path for path in tmp_path.rglob("*") if path.suffix not in ("", ".json")]
