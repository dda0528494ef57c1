"""The commands: what they print as JSON, and the files that they write."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.corpus.names import named
from typer.testing import CliRunner

# In the files `days.csv` and `machine.csv`, which have new rows at their ends.
MADE = {
    "days.csv": "--rows 163 --new 3 --seed 4",
    "machine.csv": "--rows 303 --new 3 --seed 4 --world sensors",
}
DAYS, MACHINE = "days.csv --observation-columns carried", "machine.csv"
FIXED, EMPTY = "--train-size 0.4", "--allow-empty"
COMMANDS = {
    "simulate weather": "simulate made.csv --rows 30 --new 2 --seed 1 --json",
    "simulate sensors": "simulate made.jsonl --rows 30 --world sensors --json",
    "predict": f"predict {DAYS} --json -o sets.csv {EMPTY}",
    "predict numbers": f"predict {MACHINE} --confidence 0.8 --json -o sets.json {EMPTY}",
    "predict a forecast": f"predict {DAYS} --horizon 5 --json {EMPTY}",
    "predict smoothed": f"predict {DAYS} --smoothing --seed 3 --json {EMPTY}",
    "predict steps": f"predict {DAYS} {FIXED} --guarantee steps --json -o sets.csv {EMPTY}",
    "predict errors": f"predict {MACHINE} {FIXED} --guarantee errors --max-errors 1 --json {EMPTY}",
    "predict far": f"predict {DAYS} {FIXED} --horizon 30 --json -o sets.csv {EMPTY}",
    "backtest": f"backtest {DAYS} --windows 20 --json -o windows.csv {EMPTY}",
    "backtest numbers": f"backtest {MACHINE} --windows 10 --horizon 2 --json -o windows.csv "
    f"{EMPTY}",
    "backtest far": f"backtest {DAYS} {FIXED} --horizon 20 --json -o windows.json {EMPTY}",
    "report": f"report {DAYS} --windows 12 -o page.html {EMPTY}",
    "report numbers": f"report {MACHINE} --windows 10 --confidence 0.8 -o page.html {EMPTY}",
    "report steps": f"report {DAYS} {FIXED} --guarantee steps --windows 6 -o page.html {EMPTY}",
    "report a forecast": f"report {DAYS} --horizon 2 --windows 10 -o page.html {EMPTY}",
    "verify": "verify --length 3 --json",
    # Without --allow-empty, as most people will ask.
    "predict filled": f"predict {MACHINE} {FIXED} --confidence 0.1 --json -o sets.json",
    "backtest filled": f"backtest {MACHINE} {FIXED} --windows 20 --confidence 0.5 --json",
    "report filled": f"report {MACHINE} {FIXED} --windows 10 --confidence 0.5 -o page.html",
}  # fmt: skip
SLOW_COMMANDS = {
    "verify two steps": "verify --length 2 --horizon 2 --score path --prior 0.5 --json",
    "verify longer": "verify --json",
    "compare": "compare --worlds sticky,figure1 --repetitions 3 --jobs 1 --quick --json "
    "--output out",
    "reproduce figure1": "reproduce figure1 --repetitions 1 --jobs 1 --json --output out",
}
EMBEDDED = re.compile(r'<script type="application/json" id="contents">(.*?)</script>', re.DOTALL)


def read_command(line: str) -> dict[str, Any]:
    """Run a command in a folder of its own; return what it printed and wrote."""
    before = Path.cwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for name, how in MADE.items():
                _run(f"simulate {name} {how}")
            made = set(Path().rglob("*"))
            code, printed = _run(line)
            printed = printed.replace(str(Path.cwd()), "FOLDER")
            found = {"code": code, "printed": _timeless(_parsed(printed))}
            for path in sorted(set(Path().rglob("*")) - made):
                if path.is_file() and path.suffix != ".png" and "cells" not in path.parts:
                    found[f"file {path.as_posix()}"] = _timeless(_read(path))
        finally:
            os.chdir(before)
    return found


def _run(line: str) -> tuple[int, str]:
    done = CliRunner().invoke(named("app"), shlex.split(line))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text.splitlines()


def _read(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        return json.loads(EMBEDDED.findall(text)[0])
    return _parsed(text) if path.suffix == ".json" else text.splitlines()


def _timeless(document: Any) -> Any:
    """Leave out how long it took: keys that say so, and the column of a CSV."""
    if isinstance(document, dict):
        return {key: _timeless(one) for key, one in document.items() if key != "seconds"}
    if isinstance(document, list) and document and isinstance(document[0], str):
        names = document[0].split(",")
        if "seconds" in names:
            place = names.index("seconds")
            rows = [line.split(",") for line in document]
            return [",".join(row[:place] + row[place + 1 :]) for row in rows]
        return document
    return [_timeless(one) for one in document] if isinstance(document, list) else document
