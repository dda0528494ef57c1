"""Ctrl-C: one line, exit code 1, and no file that is half-written, at whatever moment."""

import os
import signal
import subprocess
import sys
import time
import warnings
from contextlib import suppress

import pytest
import typer

from definetti.__main__ import main
from definetti._system import interrupts
from definetti.cli.errors import report_errors
from definetti.cli.writing import write_whole
from definetti.simulate import weather

# Runs a command that stops itself where a module is loaded: the moment is always the same.
AT_IMPORT = """
import os, signal, sys
from importlib.abc import MetaPathFinder
class Stop(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == moment:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
moment = sys.argv.pop(1)
sys.meta_path.insert(0, Stop())
from definetti.__main__ import main
main()
"""
# The same while two processes wait for more work, which they do for five minutes.
WITH_WORKERS = f"""
from joblib import Parallel, delayed
Parallel(n_jobs=2)(delayed(abs)(k) for k in range(4))
print("ready", flush=True)
{AT_IMPORT}
"""
SOME = ["polars", "scipy.special"]
OTHERS = ["typer", "rich.table", "numpy.linalg", "numba.core.types", "definetti.check",
          "definetti.conformal"]  # fmt: skip


@pytest.fixture
def history(tmp_path):
    y, x = weather(6_000, random_state=0)
    rows = [f"{seen},{state}" for seen, state in zip(y, x, strict=True)]
    (tmp_path / "w.csv").write_text("seen,state\n" + "\n".join(rows) + f"\n{y[0]},\n{y[1]},\n")


def only_line(process):
    out, err = process.communicate(timeout=1200)
    assert process.returncode == 1, err
    assert "Traceback" not in err
    assert err.startswith("definetti: stopped"), err
    assert err.count("\n") == 1, err
    return out, err


@pytest.mark.slow_cases("moments0")
@pytest.mark.parametrize("moments", [SOME, pytest.param(OTHERS, marks=pytest.mark.slow)])
def test_interrupt_while_modules_load(history, start, tmp_path, moments):
    command = [sys.executable, "-c", AT_IMPORT]
    ran = [start(name, "predict", "w.csv", "-o", "sets.csv", command=command)
           for name in moments]  # fmt: skip
    assert [only_line(process)[0] for process in ran] == [""] * len(ran)
    assert [path.name for path in tmp_path.iterdir()] == ["w.csv"]


def test_interrupt_while_a_file_is_written(tmp_path):
    (tmp_path / "x.csv").write_text("old")

    def interrupted(path):
        path.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "x.csv", interrupted)
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]
    assert (tmp_path / "x.csv").read_text() == "old"


def test_worker_processes_stop_on_interrupt(history, start):
    process = start("polars", "predict", "w.csv", command=[sys.executable, "-c", WITH_WORKERS])
    assert process.stdout.readline() == "ready\n", process.communicate()
    # Whoever still works has standard output open; the limit is far from five minutes.
    _, err = process.communicate(timeout=150)
    assert (process.returncode, err) == (interrupts.CODE, f"{interrupts.MESSAGE}\n")


def test_no_warnings_of_cancelled_tasks_after_interrupt(monkeypatch, capsys):
    """Tasks that were cancelled warn of it, when they are forgotten: within, or at the very end."""
    monkeypatch.setattr(interrupts, "_state", {"asked": True, "writing": 0})

    @report_errors()
    def stopped():
        warnings.warn("3 tasks have been cancelled", UserWarning, stacklevel=1)
        raise KeyboardInterrupt

    with pytest.raises(typer.Exit):
        stopped()
    with warnings.catch_warnings():
        interrupts.prepare_exit()
        warnings.warn("3 tasks have been cancelled", UserWarning, stacklevel=1)
    assert capsys.readouterr().err.count("\n") == 1


def test_interrupt_waits_for_a_file_being_written(monkeypatch):
    left = []
    monkeypatch.setattr(interrupts, "leave", lambda: left.append(True))
    monkeypatch.setattr(interrupts, "is_loading", lambda frame: True)
    monkeypatch.setattr(interrupts, "_state", {"asked": False, "writing": 0})
    with interrupts.mark_writing(), pytest.raises(KeyboardInterrupt):
        interrupts._handle_interrupt(signal.SIGINT, None)
    assert left == []
    with pytest.raises(KeyboardInterrupt):
        interrupts._handle_interrupt(signal.SIGINT, None)
    assert (left, interrupts.is_stopping()) == ([True], True)


def test_ignored_sigint_stays_ignored(monkeypatch):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        monkeypatch.setattr(sys, "argv", ["definetti", "--help"])
        with pytest.raises(SystemExit):
            main()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


# Works out cells in three processes: one waits in the middle of its work, the others have none.
POOL = """
import sys, time
from pathlib import Path
from definetti._system.cells import Cell
from definetti._system.cells import run_cells
def work(cell, part):
    if cell.experiment == "waiting":
        Path("begun").touch()
        time.sleep(600)
    return [[0] for _ in part]
if __name__ == "__main__":
    cells = [Cell(name, (), (), 1, 0) for name in ("waiting", "quick", "quicker")]
    run_cells(cells, work, Path("cells"), n_jobs=3)
"""


def list_descendants(parent):
    """Return the processes that a process has started, and those that these have started."""
    rows = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,stat="], capture_output=True, text=True)
    table = [row.split() for row in rows.stdout.splitlines()]
    found, new = set(), {str(parent)}
    while new:
        new = {one for one, by, stat in table if by in new and not stat.startswith("Z")} - found
        found |= new
    return found


def is_running(process):
    found = subprocess.run(["ps", "-o", "stat=", "-p", process], capture_output=True, text=True)
    return bool(found.stdout.strip()) and not found.stdout.startswith("Z")


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals and ps")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_worker_processes_end_when_their_parent_is_killed(start, tmp_path, number):
    (tmp_path / "pool.py").write_text(POOL)
    process = start(command=[sys.executable, "pool.py"])
    patience = time.monotonic() + 300
    workers = set()
    while len(workers) < 3 or not (tmp_path / "begun").exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < patience
        workers = list_descendants(process.pid)
        time.sleep(0.1)
    process.send_signal(number)
    process.wait()
    # They would wait for more work for five minutes; the limit is far from that.
    patience = time.monotonic() + 120
    try:
        while any(map(is_running, workers)):
            assert time.monotonic() < patience, "worker processes are left"
            time.sleep(0.1)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
