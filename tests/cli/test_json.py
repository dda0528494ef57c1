"""`--json`: one document on standard output, whatever goes to standard error."""

import json
import math

import pytest
import typer
from typer.testing import CliRunner

from definetti import experiments
from definetti._system.files import make_plain
from definetti.cli.experiments import reproduce
from definetti.experiments import OURS, Reproduction, figure1
from definetti.experiments.grids import FIGURE1_POINTS


def refused(text):
    raise AssertionError(f"{text} is not JSON")


def document(done):
    assert done.returncode == 0, done.err
    return json.loads(done.out, parse_constant=refused)


@pytest.fixture
def folder(tmp_path):
    rows = "1.5,2020-01-01,sun\n2.5,2020-01-02,rain\n2.5,2020-01-03,sun\n" * 12
    (tmp_path / "x.csv").write_text(f"a,when,state\n{rows}1.5,2020-02-01,\n")
    return tmp_path


@pytest.mark.slow
def test_every_command_prints_one_document(folder, ask_all):
    found = ask_all({
        "predict": ("predict", "x.csv", "--json"),
        "backtest": ("backtest", "x.csv", "--windows", 4, "--json"),
        "check": ("check", "x.csv", "--resamples", 99, "--json"),
        "simulate": ("simulate", "y.csv", "--rows", 9, "--new", 2, "--json"),
        "verify": ("verify", "--length", 1, "--json"),
        "compare": ("compare", "--worlds", "sticky,words", "--methods", "full+path", "--quick",
                    "--repetitions", 2, "--jobs", 1, "--json"),
    })  # fmt: skip
    said = {name: document(done) for name, done in found.items()}
    for name in ("predict", "backtest", "check"):
        assert "note: columns of dates are left out: when" in found[name].err
    assert "words is left out" in found["compare"].err
    assert said["simulate"] == {
        "file": "y.csv", "rows": 9, "new": 2, "world": "weather", "seed": 0,
        "columns": ["day", "state", "carried"],
    }  # fmt: skip
    assert said["check"]["rows"] == 36
    assert "order" in said["check"]["failures"]  # the same three days again and again
    rows = said["verify"]["rows"]
    assert len(rows) == 7 * 5  # six symmetries, and one of them beyond what is observed
    assert all(row["valid"] for row in rows if row["symmetry"] == "full")
    assert {row["symmetry"] for row in rows if not row["proved"]} == {"shifts", "published"}
    assert said["verify"]["score"] == "filter"


def test_all_reproductions_are_one_document(tmp_path, monkeypatch):
    app = typer.Typer()
    app.command()(reproduce)
    points = [p for p in FIGURE1_POINTS if (p["T"], p["horizon"], p["b"]) == (50, 1, 0.5)][:1]
    made = figure1(tmp_path, points=points, methods=[OURS], repetitions=3, n_jobs=1)
    for name in ("figure1", "figure2", "table1", "figure3"):
        one = Reproduction(name, made.rows, made.summary, made.files)
        monkeypatch.setattr(experiments, name, lambda *_, one=one, **__: one)
    monkeypatch.setattr("definetti.experiments.recorded_series.read_series", lambda data: None)
    found = CliRunner().invoke(app, ["all", "--data", ".", "--output", str(tmp_path), "--json"])
    assert found.exit_code == 0, found.output
    assert [one["name"] for one in json.loads(found.stdout)] == [
        "figure1", "figure2", "table1", "figure3",
    ]  # fmt: skip


def test_infinite_numbers_are_null_in_json():
    assert make_plain({"a": [math.inf, -math.inf, math.nan, 1.5, True, None], 2: ("x",)}) == {
        "a": [None, None, None, 1.5, True, None], "2": ["x"],
    }  # fmt: skip
