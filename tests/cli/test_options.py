"""Every option of every command that reads a file: on a good file, on broken ones, and misused.

The options are those that the commands have: one that is new and not in these tables fails here.
"""

import json

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from definetti.cli import app
from definetti.scores import Score
from definetti.symmetry import Symmetry

COMMANDS = get_command(app).commands
READS = ["predict", "fit", "backtest", "check", "monitor", "report", "inspect"]
OTHERS = ["simulate", "demo", "verify", "reproduce", "compare"]  # which read no one's rows

# An option, what it is given, and what goes with it.
GOOD = {
    "--state-column": ["state"],
    "--observation-columns": ["seen"],
    "--confidence": ["0.8", "--confidence", "0.95"],
    "--guarantee": ["steps"],
    "--max-errors": ["1", "--guarantee", "errors"],
    "--states": ["a,b,c"],
    "--train-size": ["0.5"],
    "--classifier": ["logistic"],
    "--symmetry": ["full"],
    "--memory": ["2"],
    "--score": ["filter"],
    "--smoothing": [],
    "--allow-empty": [],
    "--seed": ["3"],
    "--horizon": ["2"],
    "--lag": ["1"],
    "--start": ["0.6"],
    "--windows": ["3"],
    "--no-check": [],
    "--output": ["out"],
    "--force": [],
    "--json": [],
    "--title": ["What is it?"],
    "--show": ["1", "--group-column", "part"],
    "--model": ["model.definetti"],
    "--tests": ["order,drift"],
    "--resamples": ["19"],
    "--alpha": ["0.1"],
    "--fail": [],
    "--jobs": ["1"],
    "--plot": ["check.svg"],
    "--no-coverage": [],
    "--no-observations": [],
    "--first": ["12"],
    "--listen-to": ["law"],
    "--on-alarm": ["restart"],
    "--save": ["on.definetti"],
    "--adapt-from": ["beginning", "--on-alarm", "adapt"],
    "--visits": [],
    "--group-column": ["part"],
    "--order-column": ["when", "--group-column", "part"],
    "--series": ["others", "--group-column", "part"],
    "--cells": ["cells", "--group-column", "part"],
    "--by-series": ["series.csv", "--group-column", "part"],
    "--fresh": ["--group-column", "part"],
}
# What waits for rows that never come, and for machines; tests of streams and of clusters have it.
WAITS = {"--follow", "--cluster"}
# The same misused, and a word of what a person is told.
WRONG = {
    "--state-column": (["stat"], "has no column 'stat'"),
    "--observation-columns": (["state"], "is the state"),
    "--confidence": (["1.5"], "--confidence"),
    "--guarantee": (["most"], "'all', 'steps', 'errors'"),
    "--max-errors": (["1"], "is for --guarantee errors"),
    "--states": (["a"], "--states a leaves out 'b', which rows have"),
    "--train-size": (["1.5"], "--train-size must be a share"),
    "--classifier": (["oracle"], "'random-forest', 'logistic',"),
    "--symmetry": (["round"], "--symmetry must be one of"),
    "--memory": (["long"], "--memory must be a whole number"),
    "--score": (["best"], "--score must be one of"),
    "--seed": (["-1"], "greater than or equal to 0"),
    "--horizon": (["0"], "greater than or equal to 1"),
    "--lag": (["-1"], "greater than or equal to 0"),
    "--start": (["2"], "less than or equal to 0.95"),
    "--windows": (["0"], "greater than or equal to 1"),
    "--output": (["out.doc"], "files end in"),
    "--model": (["none.definetti"], "no such file"),
    "--tests": (["taste"], "taste"),
    "--resamples": (["0"], "greater than or equal to 1"),
    "--alpha": (["2"], "alpha"),
    "--jobs": (["0"], "jobs"),
    "--plot": (["check.doc"], "files end in"),
    "--first": (["1"], "greater than or equal to 2"),
    "--listen-to": (["noise"], "'coverage'"),
    "--on-alarm": (["sleep"], "'warn', 'restart', 'adapt'"),
    "--save": (["good.csv"], "good.csv"),
    "--adapt-from": (["noon"], "'alarm', 'beginning'"),
    "--group-column": (["person"], "has no column 'person'"),
    "--order-column": (["when"], "--order-column is for many series"),
    "--show": (["1"], "--show is for many series"),
    "--series": (["all"], "--series is for many series"),
    "--cells": (["cells"], "--cells is for many series"),
    "--by-series": (["series.csv"], "--by-series is for many series"),
    "--fresh": ([], "--fresh is for many series"),
}
# What a command cannot do without, and what keeps it short.
NEEDS = {
    "predict": {"--horizon": "2"},
    "fit": {"--output": "out.definetti"},
    "backtest": {"--windows": "3"},
    "check": {"--resamples": "9"},
    "monitor": {"--first": "20"},
    "report": {"--windows": "2", "--output": "out.html"},
    "inspect": {},
}
ENDINGS = {"predict": ".tsv.gz", "fit": ".definetti", "backtest": ".parquet", "report": ".html"}
BROKEN = {
    "no rows": "seen,state,part\n",
    "no states": "seen,state,part\n" + "x,,1\n" * 5,
    "a row too long": "seen,state,part\nx,a,1\nx,a,1,2\n",
    "no text": "seen,state,part\nx,\0,1\n",
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{'xyz'[k * k % 7 % 3]},{'ab'[k * k % 5 % 2]},{k // 20},{k}" for k in range(40)]
    (tmp_path / "good.csv").write_text("seen,state,part,when\n" + "\n".join(rows) + "\n")
    for name, text in BROKEN.items():
        (tmp_path / f"{name}.csv").write_text(text)


def options_of(command):
    return [max(one.opts, key=len) for one in COMMANDS[command].params if one.opts[0][0] == "-"]


def run(command, file, *given):
    needs = [word for one in NEEDS[command].items() if one[0] not in given for word in one]
    quick = ["--no-check"] if "--no-check" in options_of(command) else []
    files = [] if file is None else [file]
    done = CliRunner().invoke(app, [command, *files, *needs, *quick, *given])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


CASES = [(command, option) for command in READS for option in options_of(command)]


def test_every_command_is_in_one_of_the_lists():
    assert sorted(COMMANDS) == sorted(READS + OTHERS)


def test_every_option_is_in_the_table():
    known = {*GOOD, *WAITS, "--help"}
    assert not {option for _, option in CASES} - known
    assert not {*GOOD} - {option for _, option in CASES}
    assert {*GOOD} - {*WRONG} == {one for one, given in GOOD.items() if not given} | {"--title"}
    assert not {*WRONG} - {*GOOD}


def mark_cases(cases):
    """Mark cases: in the fast lane an option is tried with the first command that has it."""
    first = dict(reversed([(option, command) for command, option in cases]))
    fast = {(command, option) for option, command in first.items()}
    slow = [pytest.mark.slow]
    return [pytest.param(*case, marks=[] if case in fast else slow) for case in cases]


@pytest.mark.parametrize(("command", "option"), mark_cases(CASES))
def test_an_option_on_a_good_file_and_misused(command, option):
    if option in WAITS or option == "--help":
        return
    given, file = list(GOOD[option]), "good.csv"
    if option == "--output":
        given = [f"out{ENDINGS[command]}"]
    if option == "--confidence" and command in ("fit", "monitor"):
        given = ["0.8"]
    if option in ("--lag", "--max-errors") and command in ("backtest", "report"):
        given += ["--horizon", "2"]
    if option == "--model" or command == "inspect":
        made = CliRunner().invoke(app, ["fit", file, "--no-check", "--output", "model.definetti"])
        assert made.exit_code == 0, made.output
        file = None if option == "--model" else "model.definetti"
        given += ["--horizon", "1"] if option == "--model" else []
    done = run(command, file, option, *given)
    assert done.exit_code == (1 if option == "--fail" and "fail" in done.stdout else 0), done.output
    if option == "--json":
        for line in done.stdout.splitlines():
            json.loads(line)
    if option in WRONG:
        wrong, said = WRONG[option]
        done = run(command, None if option == "--model" else "good.csv", option, *wrong)
        assert done.exit_code == 2, done.output
        told = " ".join(done.stderr.replace("│", " ").split())
        assert said in told, told


# What has a series of its own to be about, or another file, and is refused with many.
ALONE = {("predict", "--model")}
TOGETHER = [
    (command, option)
    for command, option in CASES
    if command in ("predict", "backtest", "check")
    and option not in {*WAITS, "--help", "--plot", "--classifier"}
]


@pytest.mark.parametrize(("command", "option"), mark_cases(TOGETHER))
def test_every_option_works_with_series_or_is_refused(command, option):
    given = [] if "--group-column" in (option, *GOOD[option]) else ["--group-column", "part"]
    given += [option, *(GOOD[option] if option != "--output" else [f"out{ENDINGS[command]}"])]
    if option in ("--lag", "--max-errors") and command == "backtest":
        given += ["--horizon", "2"]
    done = run(command, "good.csv", *given)
    alone = (command, option) in ALONE
    failed = option == "--fail" and "fail" in done.stdout
    assert done.exit_code == (2 if alone else 1 if failed else 0), done.output
    if alone:
        assert len(done.stderr.strip().splitlines()) == 1
        assert done.stderr.startswith("definetti: ")


def test_predict_help_has_panels_and_lists_scores_and_symmetries():
    done = CliRunner().invoke(app, ["predict", "--help"], env={"COLUMNS": "200"})
    words = " ".join(done.stdout.replace("│", " ").split())
    for panel in ("Data", "Model", "Guarantee", "Computation", "Output"):
        assert f"─ {panel} ─" in done.stdout
    for name in (*Score.named, *Symmetry.named):
        assert name in words.split("--symmetry")[1].split("--model")[0]


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("command", READS)
def test_broken_file_is_one_line_with_every_option(command, broken):
    """With all options that go together, too: nothing is done before the file is read."""
    together = {"--state-column", "--observation-columns", "--score", "--smoothing", "--seed",
                "--symmetry", "--train-size", "--json"}  # fmt: skip
    more = [word for one in options_of(command) if one in together for word in (one, *GOOD[one])]
    for given in ([], more):
        done = run(command, f"{broken}.csv", *given)
        assert done.exit_code == 2, done.output
        assert done.stdout == ""
        last = done.stderr.strip().splitlines()[-1]
        assert last.startswith("definetti: "), done.stderr
        assert f"{broken}.csv" in last
