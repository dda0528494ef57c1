"""Ctrl-C at random moments: the one line and exit code 1, or the regular end, never anything else.

The many moments are drawn over the time that a run took, the few are given; what happens depends
on none of them, so that a machine that is faster or slower only meets other moments. A run that
has ended before its moment is no failure.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from definetti.simulate import weather

HANG = 1200  # seconds after which something is wrong, on whatever machine
SPAN = 10  # seconds over which moments are drawn, where a run takes longer
READY = "ready\n"

# Ctrl-C while Python itself starts is Python's: moments are drawn from `main` on.
COMMAND = """
import os
from definetti import __main__ as program
from definetti._system import terminal
guard = terminal.guard_output
terminal.guard_output = lambda: (os.write(1, b"ready\\n"), guard())
program.main()
"""
CALL = """
import os
from definetti import ConformalHMM
from definetti.simulate import weather
y, x = weather(2_000, random_state=0)
one = ConformalHMM(random_state=0).fit(y, ["same"] * len(y))
many = ConformalHMM(random_state=0).fit(y, x)
try:
    os.write(1, b"ready\\n")
    for _ in range(20):
        one.predict_set(y[:150])
        many.predict_set(y[:5])
    os._exit(0)
except KeyboardInterrupt:
    os.write(2, b"KeyboardInterrupt\\n")
    os._exit(1)
"""
LONG = {
    "predict": ["w.csv", "--horizon", "10", "-o", "sets.csv"],
    "backtest": ["w.csv", "--windows", "100", "-o", "windows.csv"],
    "check": ["w.csv", "--resamples", "20000"],
    "report": ["w.csv", "--windows", "40", "-o", "page.html"],
    "simulate": ["made.csv", "--rows", "1000000"],
    "verify": ["--length", "4"],
    "reproduce": ["figure1", "--repetitions", "20", "--jobs", "2", "--output", "cells-here"],
    "compare": ["--worlds", "sticky", "--quick", "--jobs", "2", "--output", "cells-here"],
    "predict_set": [],
}
LINE = {"predict_set": "KeyboardInterrupt\n"}
# Seconds, for one that writes, one that has processes, and one without a command, with the files
# that each may leave; the slow tests have all commands, and many moments.
FEW = {"predict": (0.2, 1.0, 2.5), "reproduce": (3.5,), "predict_set": (0.1, 0.6)}
FILES = {"predict": {"sets.csv"}, "reproduce": set(), "predict_set": set()}


@pytest.fixture
def outcome(tmp_path):
    """Run a command in a folder of its own, stop it after so many seconds; tell how it ended."""
    y, x = weather(3_000, random_state=0)
    rows = [f"{seen},{state}" for seen, state in zip(y, x, strict=True)]
    (tmp_path / "w.csv").write_text("seen,state\n" + "\n".join(rows) + f"\n{y[0]},\n{y[1]},\n")

    def run(name, number, moment):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        shutil.copy(tmp_path / "w.csv", folder)
        program = [CALL] if name == "predict_set" else [COMMAND, name, *LONG[name]]
        process = subprocess.Popen(
            [sys.executable, "-c", *program], cwd=folder, start_new_session=True, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        try:
            assert process.stdout.readline() == READY, process.communicate()
            began = time.monotonic()
            try:
                out, err = process.communicate(timeout=moment)
                took = time.monotonic() - began
            except subprocess.TimeoutExpired:
                took = moment
                os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all processes
                out, err = process.communicate(timeout=HANG)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        left = {path.name for path in folder.rglob("*") if path.is_file()}
        return process.returncode, out, err, left, took

    return run


def check(name, outcome, moments, everything):
    with ThreadPoolExecutor(2) as pool:
        number = len(moments)
        found = list(pool.map(outcome, [name] * number, range(number), moments))
    stopped = 0
    for moment, (code, out, err, left, _) in zip(moments, found, strict=True):
        story = moment, code, out[-2000:], err[-2000:]
        if code == 1:
            stopped += 1
            assert err.startswith(LINE.get(name, "definetti: stopped")), story
            assert err.count("\n") == 1, story
        else:
            assert code == 0, story
            assert "Traceback" not in err, story
            assert "Exception ignored" not in err, story
        # Nothing that is half-written; cells are kept, in files of these names.
        finished = {each for each in left if not each.endswith(".json")}
        assert code == 0 or finished <= everything | {"w.csv"}, (story, left)
    print(f"{name}: {stopped} of {number} stopped over {max(moments):.1f} s")


@pytest.mark.slow_cases("predict", "predict_set", "reproduce")
@pytest.mark.parametrize("name", FEW)
def test_interrupt_at_a_few_moments(outcome, name):
    check(name, outcome, FEW[name], FILES[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_interrupt_at_random_moments(outcome, name):
    _, _, _, everything, took = outcome(name, "whole", SPAN)
    rng = random.Random(name)
    check(name, outcome, [rng.uniform(0, took) for _ in range(8)], everything)
