"""How far a reader has to walk: files of the package that one prediction and one backtest pass.

What is counted are calls of Python functions whose source stands in the package; functions of other
libraries, compiled kernels with what enters them (`ENTRIES`), and the running of modules, which
happens once, are not. A *file* is
passed if one of its functions is called. A *switch* is a call whose file is not that of the call
before it, so a return counts only through what is called next. Lambdas and generators count by
their file, as do comprehensions where Python calls them (up to 3.11). Everything is run once before
it is counted, so that imports and compilation are over.

The prediction is that of the README, `fit` and `predict_set`, 500 steps and two new observations.
The backtest is that of the same rows in Python, `run_backtest` and its verdict, over 20 windows,
classical prediction beside it. The command `definetti backtest` also reads a file, tells columns
apart and prints a table, and whether the rows are what they are taken for, which it checks unless
told not to, is once more as much: both are walks of their own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

from rich.console import Console
from typer.testing import CliRunner

import definetti
from benchmarks.tables import make_table, show_table
from definetti import ConformalHMM
from definetti._system.compiled import Kernel
from definetti.cli import app
from definetti.evaluation import Backtest, run_backtest
from definetti.evaluation.advice import OURS
from definetti.simulate import weather

ROOT = str(Path(definetti.__file__).parent)
ENTRIES = (
    "models/forward_backward.py",
    "_system/compiled.py",
    "_system/interrupts.py",
)
NEW = ["umbrella", "hat"]
LENGTH, WINDOWS = 500, 20
GOALS = {"prediction": "≤ 20 files, ≤ 131 switches", "backtest": "≤ 35 files"}


def run(console: Console, listed: bool = False) -> None:
    made = make_table("Files of the package that are passed", "walk", "files", "switches", "goal")
    found = {name: record_calls(walk) for name, walk in _make_walks().items()}
    for name, calls in found.items():
        made.add_row(name, str(len(set(calls))), f"{count_switches(calls):,}", GOALS.get(name, ""))
    show_table(
        console, made, "A switch is a call into another file than that of the call before it."
    )
    for name, calls in found.items() if listed else ():
        console.print(f"{name}:", *sorted(set(calls)), sep="\n  ", highlight=False)


def record_calls(walk: Callable[[], Any]) -> list[str]:
    """Return the file of every call of a function of the package, in order, once it is warm."""
    calls: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        known = code.co_filename, code.co_name
        if event != "call" or code.co_name == "<module>" or known in kernels:
            return
        name = code.co_filename.removeprefix(f"{ROOT}/")
        if name != code.co_filename and not name.startswith(ENTRIES):
            calls.append(name)

    walk()
    # Numba tells of its compiled functions as if they were Python's.
    kernels = {
        (one.py_func.__code__.co_filename, one.__name__)
        for module in list(sys.modules.values())
        for one in vars(module).values()
        if isinstance(one, Kernel)
    }
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        walk()
    finally:
        sys.setprofile(before)
    return calls


def count_switches(calls: list[str]) -> int:
    """Count the calls into another file than that of the call before.

    >>> count_switches(["a.py", "a.py", "b.py", "a.py"])
    2
    """
    return sum(here != there for here, there in pairwise(calls))


def _make_walks() -> dict[str, Callable[[], Any]]:
    y, x = weather(LENGTH, random_state=0)
    cut = LENGTH - WINDOWS
    rows = [f"{sky},{thing}" for thing, sky in zip(y, x, strict=True)]
    history = "\n".join(["state,carried", *rows])
    fitted, earlier = _make_estimator().fit(y, x), _make_estimator().fit(y[:cut], x[:cut])
    return {
        "prediction": lambda: _make_estimator().fit(y, x).predict_set(NEW),
        "prediction, its predict_set alone": lambda: fitted.predict_set(NEW),
        "backtest": lambda: _judge(run_backtest(_make_estimator(), y, x, windows=WINDOWS)),
        "backtest by the command": lambda: _run_backtest(history, "--no-check"),
        "the command, with its quick check": lambda: _run_backtest(history),
        "backtest by evaluate alone": lambda: earlier.evaluate(y[cut:], x[cut:], horizon=1),
    }


def _make_estimator() -> ConformalHMM:
    return ConformalHMM(confidence_level=0.9, random_state=0)


def _judge(found: Backtest) -> str:
    return str(found.evaluations()[OURS].verdict)


def _run_backtest(history: str, *options: str) -> None:
    with TemporaryDirectory() as folder:
        days = Path(folder) / "days.csv"
        days.write_text(history, encoding="utf-8")
        done = CliRunner().invoke(app, ["backtest", str(days), "--windows", str(WINDOWS), *options])
    if done.exit_code:
        raise RuntimeError(done.output)
