"""`definetti reproduce`: exit codes, messages, files."""

from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner

from definetti import experiments
from definetti.cli import experiments as running
from definetti.cli.options import expand_options
from definetti.experiments import OURS, PUBLISHED, figure1
from definetti.experiments.grids import FIGURE1_POINTS

app = typer.Typer(pretty_exceptions_enable=False)
app.command()(expand_options(running.reproduce))


def asked(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture
def small(monkeypatch):
    """Make figure1 a small one."""

    def shrunk(output, **how):
        points = [p for p in FIGURE1_POINTS if (p["T"], p["horizon"], p["b"]) == (50, 1, 0.5)]
        return figure1(output, points=points, methods=[PUBLISHED, OURS], **how)

    monkeypatch.setattr(experiments, "figure1", shrunk)


def test_it_writes_a_table_and_pictures_and_sums_up(small, tmp_path):
    found = asked("figure1", "--repetitions", 40, "--jobs", 1, "--output", tmp_path)
    assert found.exit_code == 0, found.output
    assert "as published" in found.stdout
    names = {path.name for path in tmp_path.iterdir()}
    pictures = {f"figure1_{m}.png" for m in ("as_published", "ours", "ours_smoothed")}
    assert names == {"figure1.csv", "cells", *pictures}
    lines = (tmp_path / "figure1.csv").read_text().splitlines()
    assert len(lines) == 1 + 3 * 5
    assert lines[0].startswith("method,T,horizon,b,p,repetitions,covered,coverage")


@pytest.mark.slow
def test_json_is_for_programs(small, tmp_path):
    found = asked("figure1", "--repetitions", 3, "--jobs", 1, "--output", tmp_path, "--json")
    summary = json.loads(found.stdout)["summary"]
    assert [line["method"] for line in summary] == ["as published", "ours", "ours, smoothed"]


def test_a_promise_that_is_not_kept_is_exit_code_1(small, tmp_path, monkeypatch):
    monkeypatch.setattr(experiments.Reproduction, "keeps_promise", False)
    found = asked("figure1", "--repetitions", 3, "--jobs", 1, "--output", tmp_path)
    assert found.exit_code == 1


@pytest.mark.parametrize(("arguments", "message"), [
    (["figure9"], "figure9"),
    (["figure1", "--repetitions", "0"], "repetitions"),
    (["figure1", "--jobs", "0"], "--jobs must be a whole number"),
    (["figure1", "--seed", "-1"], "seed"),
    (["table1"], "--data"),
    (["all"], "--data"),
    (["figure3", "--data", "/nowhere"], "get it from"),
])  # fmt: skip
def test_mistakes_are_exit_code_2_with_a_remedy(arguments, message, tmp_path):
    found = asked(*arguments, "--output", tmp_path / "new")
    assert found.exit_code == 2
    assert message in found.output
    assert "Traceback" not in found.output
    assert not (tmp_path / "new").exists()


def test_an_output_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "taken").write_text("")
    found = asked("figure1", "--output", tmp_path / "taken")
    assert (found.exit_code, "name a folder" in found.output) == (2, True)


def test_without_dask_the_remedy_is_told(monkeypatch, tmp_path):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(running, "import_module", absent)
    found = asked("figure1", "--cluster", "tcp://127.0.0.1:1", "--output", tmp_path)
    assert (found.exit_code, "definetti-hmm[cluster]" in found.output) == (2, True)


def test_without_matplotlib_the_remedy_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(experiments.reproduction, "find_spec", lambda name: None)
    found = asked("figure1", "--output", tmp_path)
    assert (found.exit_code, "definetti-hmm[plot]" in found.output) == (2, True)
