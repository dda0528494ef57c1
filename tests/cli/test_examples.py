"""The example in the help of every command runs as it stands."""

import re
import shlex

import pytest
import typer

from definetti import ConformalHMM
from definetti.cli import app

GROUP = typer.main.get_command(app)
LONG = ["reproduce", "compare"]  # minutes: what they are asked for is read, and not worked out
SHORTER = {"verify": ["--length", "2"]}  # the last one given counts


def example(command):
    found = re.search(r"Example: definetti (.*)", GROUP.commands[command].help)
    assert found is not None, f"{command} has no example"
    return shlex.split(found[1])


@pytest.fixture
def files(tmp_path):
    (tmp_path / "history.csv").write_text("seen,stage\n" + "a,REM\nb,N2\nb,N2\n" * 14)
    (tmp_path / "tonight.csv").write_text("seen\na\nb\n")
    cp = ConformalHMM().fit(["a", "b", "b"] * 14, ["REM", "N2", "N2"] * 14)
    cp.save(tmp_path / "model.definetti")


@pytest.mark.slow_cases("check", "demo", "report", "verify")
@pytest.mark.parametrize("command", [name for name in GROUP.commands if name not in LONG])
def test_examples_of_help_run(ask, files, command):
    arguments = example(command)
    assert arguments[0] == command
    done = ask(*arguments, *SHORTER.get(command, []))
    assert done.returncode == 0, done.err
    assert done.out.strip()


@pytest.mark.parametrize("command", LONG)
def test_examples_of_long_commands_parse(command):
    name, *arguments = example(command)
    asked = GROUP.commands[name].make_context(name, arguments)
    assert (asked.params["repetitions"], asked.params["jobs"]) == (100, 2)
