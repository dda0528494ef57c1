"""Models in files, from the command line: fit, predict --model, inspect."""

import json
from typing import NamedTuple

import pytest
from click.testing import CliRunner
from typer.main import get_command

from definetti import ConformalHMM, ConformalSequences, load
from definetti.cli import app
from definetti.saving.files import VERSION

DAYS = "day,seen,heat,state\n" + "".join(
    f"{k},{'wet' if k % 3 else 'dry'},{k % 5 + 0.5},{'rain' if k % 3 else 'sun'}\n"
    for k in range(60)
)
NEW = "heat,seen\n1.5,wet\n2.5,dry\n"


COMMAND = get_command(app)


@pytest.fixture
def ask(files, monkeypatch):
    """Run a command here: what is asked about are files, not processes."""
    monkeypatch.chdir(files)

    def asked(*arguments):
        done = CliRunner().invoke(COMMAND, [str(one) for one in arguments])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return Done(done.exit_code, done.stdout, done.stderr)

    return asked


class Done(NamedTuple):
    returncode: int
    out: str
    err: str


@pytest.fixture
def files(tmp_path):
    (tmp_path / "days.csv").write_text(DAYS)
    (tmp_path / "new.csv").write_text(NEW)
    return tmp_path


@pytest.mark.parametrize(
    "options",
    [
        ["--observation-columns", "seen,heat"],
        ["--observation-columns", "seen", "--train-size", "0.5", "--smoothing"],
        ["--observation-columns", "heat", "--symmetry", "full", "--memory", "2", "--seed", "4"],
        ["--observation-columns", "seen", "--confidence", "sun=0.8,0.9", "--guarantee", "steps"],
        ["--observation-columns", "seen", "--memory", "age:3"],
    ],
)
def test_saved_model_predicts_as_the_rows(options, files, ask):
    rows = ask("predict", "days.csv", "--no-check", "new.csv", *options, "--json")
    assert ask("fit", "days.csv", "-o", "m.definetti", *options).returncode == 0
    model = ask("predict", "--model", "m.definetti", "new.csv", "--json")
    assert model.returncode == 0, model.err
    assert json.loads(model.out) == json.loads(rows.out)


def test_level_and_guarantee_of_a_saved_model_can_change(files, ask):
    one = ["--observation-columns", "seen"]
    ask("fit", "days.csv", "-o", "m.definetti", *one, "--train-size", "0.5", "--confidence", "0.8")
    asked = ["predict", "--model", "m.definetti", "new.csv", "--json"]
    assert json.loads(ask(*asked).out)["confidence_level"] == 0.8
    other = ask(*asked, "--confidence", "0.95", "--guarantee", "steps", "--smoothing")
    found = json.loads(other.out)
    assert (found["confidence_level"], found["guarantee"]) == (0.95, "steps")
    rows = ask("predict", "days.csv", "new.csv", *one, "--train-size", "0.5", "--no-check",
               "--json", "--confidence", "0.95", "--guarantee", "steps", "--smoothing")  # fmt: skip
    assert json.loads(rows.out) == found


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("predict --model m.definetti new.csv --symmetry full", "--symmetry cannot change"),
        ("predict --model m.definetti new.csv --seed 3", "--seed cannot change"),
        ("predict --model m.definetti new.csv new.csv", "leave the other out"),
        ("predict --model none.definetti new.csv", "none.definetti: no such file"),
        ("predict --model days.csv new.csv", "days.csv is no file that definetti wrote"),
        ("predict --model m.definetti odd.csv", "has no column 'seen'"),
        ("predict --model m.definetti numbers.csv", "the column holds text; write both alike"),
        ("predict --model m.definetti", "there are no new rows"),
        ("predict --model m.definetti new.csv -o m.definetti", "files end in"),
        ("predict --model python.definetti new.csv", "name them with --observation-columns"),
        ("predict --model weeks.definetti new.csv", "is a ConformalSequences"),
        ("predict", "no file is given"),
        ("inspect none.definetti", "none.definetti: no such file"),
        ("inspect days.csv", "days.csv is no file that definetti wrote"),
        ("inspect .", "is no file, but a folder"),
        ("fit days.csv -o m.csv", "files end in .definetti"),
        ("fit days.csv -o other.definetti", "this command did not write it"),
        ("fit days.csv -o m.definetti --state-column none", "has no column 'none'"),
    ],
)
def test_mistakes_are_one_line(command, said, files, ask):
    ask("fit", "days.csv", "-o", "m.definetti", "--observation-columns", "seen")
    (files / "odd.csv").write_text("heat\n1\n")
    (files / "numbers.csv").write_text("seen\n1.5\n")
    (files / "other.definetti").write_text("a letter to my aunt")
    y, x = ["a", "b", "b"] * 14, ["REM", "N2", "N2"] * 14
    ConformalHMM().fit(y, x).save(files / "python.definetti")
    ConformalSequences().fit(y, x, [3] * 14).save(files / "weeks.definetti")
    done = ask(*command.split())
    assert done.returncode == 2
    lines = [line for line in done.err.splitlines() if not line.startswith("note: ")]
    assert len(lines) == 1
    assert said in lines[0]


def test_models_saved_in_python_need_named_columns(files, ask):
    cp = ConformalHMM(random_state=0).fit(["wet", "dry"] * 30, ["rain", "sun"] * 30)
    cp.save(files / "python.definetti")
    found = ask("predict", "--model", "python.definetti", "new.csv", "--json",
                "--observation-columns", "seen")  # fmt: skip
    steps = json.loads(found.out)["steps"]
    assert [tuple(one["set"]) for one in steps] == cp.predict_set(["wet", "dry"]).steps


def test_model_of_a_plain_chain_equals_labelled_rows(files, ask):
    ask("fit", "days.csv", "-o", "m.definetti", "--observation-columns", "")
    rows = ask(
        "predict", "days.csv", "--no-check", "--observation-columns", "", "--horizon", "2", "--json"
    )
    model = ask("predict", "--model", "m.definetti", "--horizon", "2", "--json")
    assert json.loads(model.out) == json.loads(rows.out)


def test_fit_replaces_what_it_wrote_and_leaves_out_rows_without_a_state(files, ask):
    (files / "more.csv").write_text(DAYS + "60,wet,1.5,\n")
    command = ["fit", "more.csv", "-o", "m.definetti", "--observation-columns", "seen", "--json"]
    first = ask(*command)
    assert "the last 1 rows have no state and are left out" in first.err
    before = (files / "m.definetti").read_bytes()
    again = json.loads(ask(*command).out)
    assert again["bytes"] == len(before)
    assert (files / "m.definetti").read_bytes() == before
    assert load(files / "m.definetti").n_steps_ == 60


def test_inspect_shows_the_manifest_and_loads_nothing(files, ask):
    ask("fit", "days.csv", "-o", "m.definetti", "--observation-columns", "seen,heat")
    shown = ask("inspect", "m.definetti").out
    for word in ("conformal hmm", "seen, heat", "0.1.0", "confidence_level", "sun, rain"):
        assert word in shown
    found = json.loads(ask("inspect", "m.definetti", "--json").out)
    assert found["version"] == VERSION
    assert found["notes"]["state_column"] == "state"
    content = bytearray((files / "m.definetti").read_bytes())
    content[content.index(b"\x93NUMPY") + 130] ^= 1
    (files / "m.definetti").write_bytes(content)
    broken = ask("inspect", "m.definetti")
    assert broken.returncode == 2
    assert "was altered or is damaged" in broken.err
