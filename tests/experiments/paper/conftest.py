"""Where the reference numbers and the real series are, and how to run a script."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

from definetti.experiments import reproduction

ROOT = Path(__file__).resolve().parents[3]
REFERENCE = Path(__file__).with_name("reference")


@pytest.fixture(scope="session")
def reference():
    """Read a table of reference numbers; `reference/README.md` says where they are from."""

    def read(name):
        with REFERENCE.joinpath(name).open(encoding="utf-8") as lines:
            return list(csv.DictReader(lines))

    return read


@pytest.fixture(scope="session")
def data(shared):
    """The folder of the real series, or skip."""
    return shared("data/paper/D202.csv").parent


@pytest.fixture(scope="module")
def no_pictures():
    """Draw nothing: pictures take longer than the small runs that are to be told apart here."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("draw_figure1", "draw_figure2", "draw_table1", "draw_figure3"):
            patch.setattr(reproduction, name, lambda rows: Blank())
        yield


class Blank:
    def savefig(self, path, **_):
        path.write_bytes(b"")


@pytest.fixture
def start():
    """Start a script in a session of its own, so that it can be stopped with all its workers."""
    begun = []

    def started(script, *arguments):
        path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
        process = subprocess.Popen(
            [sys.executable, "-c", script, *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": path}, start_new_session=True, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        begun.append(process)
        return process

    yield started
    for process in begun:
        if process.poll() is None:
            os.killpg(process.pid, 9)
        process.communicate()
