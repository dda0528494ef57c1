"""`definetti check`: what it says is what the function says, and how it ends."""

import json

import pytest

from definetti.check import check
from definetti.simulate import weather

Y, X = weather(200, random_state=0)


@pytest.fixture
def folder(tmp_path):
    rows = [f"{y},{x}" for y, x in zip(Y, [*X[:198], "", ""], strict=True)]
    (tmp_path / "days.csv").write_text("\n".join(["sky,state", *rows]) + "\n")
    (tmp_path / "twos.csv").write_text("state,y\n" + "a,1\na,1\nb,1\nb,1\n" * 20)
    (tmp_path / "one.csv").write_text("state\na\n")
    return tmp_path


def test_it_says_what_the_function_says(folder, ask_all):
    found = ask_all({
        "all": ("check", "days.csv", "--json"),
        "some": ("check", "days.csv", "--json", "--tests", "order,drift", "--memory", 2),
        "plain": ("check", "days.csv", "--json", "--no-observations", "--resamples", 99),
    })  # fmt: skip
    said = {name: json.loads(done.out) for name, done in found.items()}
    expected = {
        "all": check(Y[:198], X[:198], random_state=0),
        "some": check(Y[:198], X[:198], tests=["order", "drift"], memory=2, random_state=0),
        "plain": check(None, X[:198], n_resamples=99, random_state=0),
    }
    for name, one in expected.items():
        assert said[name]["p_value"] == one.p_value
        assert said[name]["verdict"] == one.verdict
        p_values = {test: found["p_value"] for test, found in said[name]["tests"].items()}
        assert p_values == {test: found.p_value for test, found in one.tests.items()}
        assert said[name]["untested"] == one.untested
        assert found[name].returncode == 0


def test_it_ends_as_it_is_told(folder, ask_all):
    found = ask_all({
        "true": ("check", "days.csv", "--fail"),
        "false": ("check", "twos.csv"),
        "fail": ("check", "twos.csv", "--fail"),
        "one": ("check", "one.csv"),
        "both": ("check", "days.csv", "--no-observations", "--observation-columns", "sky"),
        "name": ("check", "days.csv", "--tests", "ordre"),
    })  # fmt: skip
    codes = {name: done.returncode for name, done in found.items()}
    assert codes == {"true": 0, "false": 0, "fail": 1, "one": 2, "both": 2, "name": 2}
    assert "take memory=2" in " ".join(found["false"].out.split())
    assert "drift: not tested, " in found["false"].out
    assert "nothing can be tested" in found["one"].err
    assert "must be one of" in found["name"].err
