"""What may be replaced: never an input; what the command did not write, with --force alone."""

import os
from importlib import import_module
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from definetti import experiments
from definetti.cli import app
from definetti.simulate import weather

Y, X = weather(42, random_state=4)
ROWS = "seen,state\n" + "".join(f"{y},{x}\n" for y, x in zip(Y[:40], X[:40], strict=True))
NEW = f"seen\n{Y[40]}\n{Y[41]}\n"
WRITES = {
    "predict": ["--horizon", "1"],
    "backtest": ["--windows", "10"],
    "report": ["--windows", "10"],
}


def run(*arguments, stdin=None):
    """Run a command in this process; return its exit code and what it said, in one line."""
    done = CliRunner().invoke(app, list(map(str, arguments)), input=stdin, catch_exceptions=False)
    assert done.exit_code in (0, 2), done.output
    if done.exit_code:
        assert done.stderr.count("\n") == 1, done.stderr
        assert done.stdout == ""
    return done.exit_code, done.stderr


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "in.csv").write_text(ROWS)
    (tmp_path / "in.html").write_text(ROWS)  # a report goes to .html only
    (tmp_path / "new.csv").write_text(NEW)
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def spelt(how, path):
    """Return another name of a file."""
    if how == "linked":
        Path("link" + path.suffix).symlink_to(path)
        return Path("link" + path.suffix)
    if how == "linked hard":
        os.link(path, "hard" + path.suffix)
        return Path("hard" + path.suffix)
    return {"plain": path, "relative": Path("sub") / ".." / path, "whole": path.absolute()}[how]


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("how", ["plain", "relative", "whole", "linked", "linked hard"])
@pytest.mark.parametrize("command", WRITES)
def test_an_input_is_never_replaced(command, how, force):
    source = Path("in.html" if command == "report" else "in.csv")
    output = spelt(how, source)
    code, said = run(command, source, *WRITES[command], "-o", output, *force)
    assert code == 2
    assert f"output {output} is the file that the command reads ({source})" in said
    assert "name another file to write with --output" in said
    code, said = run(command, output, *WRITES[command], "-o", source, *force)  # the other way
    assert (code, source.read_text()) == (2, ROWS)
    assert output.is_symlink() == (how == "linked")


def test_the_file_of_new_rows_is_never_replaced():
    code, said = run("predict", "in.csv", "new.csv", "-o", "new.csv", "--force")
    assert (code, Path("new.csv").read_text()) == (2, NEW)
    assert "(new.csv)" in said


def test_the_file_on_standard_input_is_never_replaced(ask, folder):
    for arguments in (["-"], ["in.csv", "-"]):
        with (folder / "in.csv").open() as file:
            done = ask("predict", *arguments, "--horizon", 1, "-o", "in.csv", "--force", stdin=file)
        assert (done.returncode, Path("in.csv").read_text()) == (2, ROWS)
    with (folder / "in.csv").open() as file:
        done = ask("predict", "-", "--horizon", 1, "-o", "in.csv", "--force", stdin=file)
    assert "(standard input)" in done.err


def test_errors_come_before_any_work(monkeypatch):
    import definetti.cli.table_files as reading

    monkeypatch.setattr(reading, "read_table", lambda *_: pytest.fail("it was read"))
    assert run("predict", "in.csv", "-o", "in.csv")[0] == 2
    Path("mine.csv").write_text("my,own\n1,2\n")
    assert run("predict", "in.csv", "-o", "mine.csv")[0] == 2


WRITTEN = [
    *((command, ".csv") for command in ("predict", "backtest", "simulate")),
    *(("predict", ending) for ending in (".tsv", ".json", ".jsonl", ".parquet")),
    *(("simulate", ending) for ending in (".json", ".jsonl", ".parquet")),
    ("report", ".html"),
]


@pytest.mark.slow_cases(
    "backtest-.csv",
    "predict-.csv",
    "predict-.json",
    "predict-.parquet",
    "predict-.tsv",
    "report-.html",
)
@pytest.mark.parametrize(("command", "ending"), WRITTEN)
def test_own_files_are_replaced_and_no_others(command, ending):
    output = Path("out" + ending)
    arguments = (
        ["simulate", output, "--rows", "20", "--new", "2"]
        if command == "simulate"
        else [command, "in.csv", *WRITES[command], "-o", output]
    )
    assert run(*arguments)[0] == 0
    first = output.read_bytes()
    assert run(*arguments)[0] == 0  # the same command once more
    assert output.read_bytes() == first
    assert run(*arguments, "--seed", "1")[0] == 0
    for foreign in (b"precious", b"step,set\n1,2\n", b"[[[", b"{}", b"\xff\x00", b"PAR1PAR1"):
        output.write_bytes(foreign)
        code, said = run(*arguments)
        assert (code, output.read_bytes()) == (2, foreign)
        assert f"output {output} exists already, and this command did not write it" in said
        assert "--force" in said
    assert run(*arguments, "--force")[0] == 0
    assert output.read_bytes() == first
    output.write_bytes(b"")  # nothing to lose, as mktemp makes it
    assert run(*arguments)[0] == 0


def test_files_of_another_command_are_not_replaced():
    assert run("predict", "in.csv", "--horizon", 1, "-o", "sets.csv")[0] == 0
    code, said = run("backtest", "in.csv", "-o", "sets.csv")
    assert code == 2
    assert "this command did not write it" in said
    table = pl.read_csv("sets.csv").with_columns(truth=pl.lit("sun"))
    table.write_csv("sets.csv")  # with a column more, it is the user's
    assert run("predict", "in.csv", "--horizon", 1, "-o", "sets.csv")[0] == 2


def test_files_with_sets_per_step_are_replaced():
    arguments = ("predict", "in.csv", "new.csv", "--guarantee", "steps", "-o", "sets.csv")
    assert run(*arguments)[0] == 0
    assert run(*arguments)[0] == 0


@pytest.mark.parametrize(
    "text",
    [
        "day,state,carried\n1,fog,hat\n2,sun,hat\n",  # after the pattern of the example
        "day,state,carried\n14,rain,hat\n15,sun,hat\n",
        "state,heat,shake,alarms\nbroken,1,2,3\n",
        "day,state,carried\n1,sun\n2,3,4,5,6\n",
    ],
)
def test_file_like_a_simulated_one_is_not_replaced(text):
    Path("days.csv").write_text(text)
    assert run("simulate", "days.csv")[0] == 2
    assert Path("days.csv").read_text() == text


@pytest.mark.slow
def test_demo_does_not_replace_files(folder):
    (folder / "demo").mkdir()
    page = folder / "demo" / "report.html"
    page.write_text("my own")
    assert run("demo", "demo", "--json")[0] == 2
    assert page.read_text() == "my own"
    assert run("demo", "demo", "--json", "--force")[0] == 0
    assert run("demo", "demo", "--json")[0] == 0


EXPERIMENTS = {
    "compare.csv": ["compare", "--worlds", "sticky", "--quick"],
    "figure1.csv": ["reproduce", "figure1"],
    "figure2_ours.png": ["reproduce", "figure2"],
}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_experiments_do_not_replace_files(name, monkeypatch):
    def ran(*_, **__):
        raise ValueError("it ran")

    comparison = import_module("definetti.experiments.benchmark")  # the function has its name
    monkeypatch.setattr(comparison, "compare", ran)
    monkeypatch.setattr(experiments, "figure1", ran)
    monkeypatch.setattr(experiments, "figure2", ran)
    command = [*EXPERIMENTS[name], "--jobs", 1, "--output", "here"]
    place = Path("here") / name
    place.parent.mkdir()
    place.write_text("my own")
    assert "did not write it" in run(*command)[1]
    ended = lambda *more: CliRunner().invoke(app, [*map(str, command), *more]).stderr  # noqa: E731
    assert "it ran" in ended("--force")
    (Path("here") / "cells").mkdir()  # which a run before has left
    assert "it ran" in ended()
    place.unlink()
    Path("data").mkdir()
    (Path("data") / "SPY.csv").write_text("precious")
    place.symlink_to(Path("..") / "data" / "SPY.csv")
    if "compare" in command:
        code, said = run(*command, "--data", "data", "--force")
        assert code == 2
        assert "is the file that the command reads" in said


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices as POSIX has them")
def test_pipes_devices_and_broken_links_are_refused():
    os.mkfifo("pipe.csv")
    Path("null.csv").symlink_to(os.devnull)
    Path("round.csv").symlink_to("round.csv")
    for output in ("pipe.csv", "null.csv", "round.csv"):
        for force in ([], ["--force"]):
            code, said = run("predict", "in.csv", "--horizon", 1, "-o", output, *force)
            assert code == 2
            assert f"output {output} cannot be written" in said
    assert Path("pipe.csv").is_fifo()
    code, said = run("predict", "in.csv", "--horizon", 1, "-o", "/dev/stdout")
    assert code == 2
    assert "files end in" in said


@pytest.mark.skipif(os.name != "posix", reason="links as POSIX has them")
def test_a_link_is_written_through():
    Path("sets.csv").symlink_to(Path("sub") / "real.csv")
    for _ in range(2):
        assert run("predict", "in.csv", "--horizon", 1, "-o", "sets.csv")[0] == 0
    assert Path("sets.csv").is_symlink()
    assert "step,confidence,set" in (Path("sub") / "real.csv").read_text()
    Path("lost.csv").symlink_to(Path("nowhere") / "real.csv")
    code, said = run("predict", "in.csv", "--horizon", 1, "-o", "lost.csv")
    assert code == 2
    assert "a folder that does not exist" in said
