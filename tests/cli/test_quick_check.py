"""Commands check the rows by themselves: one sentence where the assumption fails, else none."""

import json
from random import Random

import pytest

from definetti.check import check_quickly
from definetti.cli.check import note_broken
from definetti.cli.errors import write_options
from definetti.simulate import weather

Y, X = weather(120, random_state=0)
BROKEN = "the assumption is clearly violated"


@pytest.fixture
def folder(tmp_path):
    rows = [f"{k},{y},{x}" for k, (y, x) in enumerate(zip(Y, [*X[:118], "", ""], strict=True))]
    (tmp_path / "days.csv").write_text("\n".join(["day,sky,state", *rows]) + "\n")
    coin = Random(0)
    twos = "".join(f"{coin.randint(0, 2)},{x}\n" for x in "aabb" * 20)
    (tmp_path / "twos.csv").write_text(f"y,state\n{twos}1,\n")
    (tmp_path / "one.csv").write_text("state\na\n")
    return tmp_path


@pytest.mark.slow
def test_violated_assumption_is_noted_at_most_once(folder, ask_all):
    few = ("--windows", 5)
    found = ask_all({
        "true": ("predict", "days.csv", "--json"),
        "predict": ("predict", "twos.csv", "--json"),
        "remembers": ("predict", "twos.csv", "--memory", 2, "--json"),
        "skips": ("predict", "twos.csv", "--no-check", "--json"),
        "backtest": ("backtest", "twos.csv", *few, "--json"),
        "backtest skips": ("backtest", "twos.csv", *few, "--no-check", "--json"),
        "too short": ("predict", "one.csv", "--horizon", 1, "--json"),
        "table": ("predict", "twos.csv"),
    })  # fmt: skip
    assert {name for name, done in found.items() if BROKEN in done.err} == {
        "predict", "backtest", "table",
    }  # fmt: skip
    assert all(done.returncode == 0 and done.err.count(BROKEN) <= 1 for done in found.values())
    said = {name: json.loads(done.out) for name, done in found.items() if name != "table"}
    assert "take --memory 2;" in found["predict"].err
    assert "'day' counts the rows" in found["true"].err
    ours = check_quickly(Y[:118], X[:118], random_state=0)
    assert said["true"]["check"]["p_value"] == ours.p_value
    assert said["predict"]["check"]["rejected"]
    assert said["backtest"]["check"]["rejected"]
    assert not said["remembers"]["check"]["rejected"]
    assert [said[name]["check"] for name in ("skips", "backtest skips", "too short")] == [None] * 3
    for one, other in (("predict", "skips"), ("backtest", "backtest skips")):  # no other number
        assert {**said[one], "check": None} == said[other]


@pytest.mark.slow
def test_the_rows_that_a_model_was_fixed_on_are_not_tested(folder, ask_all):
    found = ask_all({
        "predict": ("predict", "days.csv", "--train-size", "0.5", "--json"),
        "backtest": ("backtest", "days.csv", "--train-size", "0.5", "--windows", 5, "--json"),
        "page": ("report", "days.csv", "--train-size", "0.5", "--windows", 5, "--json"),
    })  # fmt: skip
    assert [json.loads(done.out)["check"]["rows"] for done in found.values()] == [59] * 3


def test_rows_are_those_of_the_file(folder, ask_all):
    """Where the first rows fix a model, and a drift comes after them."""
    coin = Random(1)
    rows = [f"{coin.gauss(3 * (k > 300), 1):.3f},{'ab'[k // 5 % 2]}" for k in range(400)]
    (folder / "drift.csv").write_text("\n".join(["y,state", *rows, "1.0,"]) + "\n")
    found = ask_all({
        "half": ("predict", "drift.csv", "--train-size", "0.5"),
        "all": ("predict", "drift.csv"),
    })  # fmt: skip
    for done in found.values():
        assert "near row 301 the observation moves by" in done.err
        assert "use the rows after 301, or watch the stream" in done.err


def test_a_remedy_that_is_the_default_is_left_out():
    found = check_quickly(None, list("aabb" * 30), random_state=0)
    assert note_broken(None, "auto") == []
    (note,) = note_broken(found, "auto")
    assert "spaced" not in note
    (note,) = note_broken(found, "full")
    assert "or --symmetry spaced" in note
    assert write_options("take memory='age'") == "take --memory age"
