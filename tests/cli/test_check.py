"""`definetti check`: what it says is what the function says, and how it ends."""

import json
from random import Random

import pytest

from definetti.check import check
from definetti.cli.check import MARK
from definetti.simulate import weather

Y, X = weather(200, random_state=0)


@pytest.fixture
def folder(tmp_path):
    rows = [f"{y},{x}" for y, x in zip(Y, [*X[:198], "", ""], strict=True)]
    (tmp_path / "days.csv").write_text("\n".join(["sky,state", *rows]) + "\n")
    (tmp_path / "twos.csv").write_text("state,y\n" + "a,1\na,1\nb,1\nb,1\n" * 20)
    (tmp_path / "one.csv").write_text("state\na\n")
    return tmp_path


def test_command_check_equals_function_check(folder, ask_all):
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


@pytest.mark.slow
def test_exit_codes_of_check(folder, ask_all):
    found = ask_all({
        "true": ("check", "days.csv", "--fail"),
        "false": ("check", "twos.csv"),
        "fail": ("check", "twos.csv", "--fail"),
        "one": ("check", "one.csv"),
        "both": ("check", "days.csv", "--no-observations", "--observation-columns", "sky"),
        "name": ("check", "days.csv", "--tests", "ordre"),
        "level": ("check", "days.csv", "--alpha", 2),
        "threads": ("check", "days.csv", "--jobs", 0),
    })  # fmt: skip
    codes = {name: done.returncode for name, done in found.items()}
    assert codes == {
        "true": 0, "false": 0, "fail": 1, "one": 2, "both": 2, "name": 2,
        "level": 2, "threads": 2,
    }  # fmt: skip
    assert "take --memory 2" in " ".join(found["false"].out.split())
    assert "drift: not tested, " in found["false"].out
    assert "nothing can be tested" in found["one"].err
    assert "--tests must be one of" in found["name"].err
    assert "a function" not in found["name"].err
    assert "--alpha must be a number between 0 and 1" in found["level"].err
    assert "--jobs must be a whole number" in found["threads"].err


def test_effects_that_are_not_significant_are_not_printed(folder, ask_all):
    found = ask_all({
        "table": ("check", "days.csv"),
        "json": ("check", "days.csv", "--json"),
    })  # fmt: skip
    for done in found.values():
        assert done.out.count("not significant") == 5
        for words in ("near row", "bits of information", "correlate", "where the chain says"):
            assert words not in done.out
    assert "No evidence against the assumption that" in found["table"].out


def test_identifiers_are_named_and_not_tested(folder, ask_all):
    rows = [f"ref{k % 190},{y},{x}" for k, (y, x) in enumerate(zip(Y, X, strict=True))]
    (folder / "refs.csv").write_text("\n".join(["ref,sky,state", *rows]) + "\n")
    found = ask_all({"refs": ("check", "refs.csv", "--state-column", "state", "--json")})["refs"]
    told = json.loads(found.out)
    assert told["untested"]["column ref"] == (
        "it has 190 distinct values in 200 rows, as an identifier has; leave it out"
    )
    assert not told["rejected"]


@pytest.mark.slow
def test_check_plot_writes_its_own_file(folder, ask_all):
    (folder / "mine.png").write_bytes(b"not yours")
    found = ask_all({
        name: ("check", "days.csv", "--resamples", 39, "--plot", name)
        for name in ("a.png", "a.svg", "a.pdf", "a.txt", "mine.png")
    })  # fmt: skip
    codes = {name: done.returncode for name, done in found.items()}
    assert codes == {"a.png": 0, "a.svg": 0, "a.pdf": 0, "a.txt": 2, "mine.png": 2}
    assert (folder / "a.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (folder / "a.svg").read_bytes()
    assert (folder / "a.pdf").read_bytes().startswith(b"%PDF")
    assert "written: a.png" in found["a.png"].out
    assert (folder / "mine.png").read_bytes() == b"not yours"
    for name in ("a.png", "a.svg", "a.pdf"):
        assert MARK.encode() in (folder / name).read_bytes()


def test_check_of_groups_equals_check_of_lengths(folder, ask_all):
    night = ["one"] * 90 + ["two"] * 108
    rows = [f"{n},{y},{x}" for n, y, x in zip(night, Y, X, strict=False)]
    (folder / "nights.csv").write_text("\n".join(["night,sky,state", *rows]) + "\n")
    # The same, interleaved and from the last to the first, with rows that nobody labelled.
    numbers = [*range(90), *range(108)]
    named = zip(night, numbers, Y, X, strict=False)
    rows = [f"{n},{t},{y},{x}" for n, t, y, x in named]
    rows = sorted([*rows, "one,200,,"], key=lambda row: -int(row.split(",")[1]))
    (folder / "mixed.csv").write_text("\n".join(["night,t,sky,state", *rows]) + "\n")
    mixed = ("mixed.csv", "--group-column", "night", "--order-column", "t")
    found = ask_all({
        "nights": ("check", "nights.csv", "--group-column", "night", "--json", "--jobs", 2),
        "series": ("check", *mixed, "--json"),
        "trained": ("check", *mixed, "--train-size", 0.5, "--json"),
        "absent": ("check", "nights.csv", "--group-column", "day"),
        "state": ("check", "nights.csv", "--group-column", "state"),
    })  # fmt: skip
    said = json.loads(found["nights"].out)
    ours = check(Y[:198], X[:198], lengths=[90, 108], random_state=0)
    assert said["p_value"] == ours.p_value
    assert "one_chain" in said["tests"]
    assert json.loads(found["series"].out) | {"tests": {}} == said | {"tests": {}}
    ours = check(
        Y[45:90] + Y[144:198], X[45:90] + X[144:198], lengths=[45, 54], random_state=0
    )  # the second half of each
    assert json.loads(found["trained"].out)["p_value"] == ours.p_value
    assert [found[name].returncode for name in ("absent", "state")] == [2, 2]
    assert "--group-column" in found["absent"].err


def test_rows_are_those_of_the_file_where_some_have_no_state(folder, ask_all):
    coin = Random(1)
    rows = [(coin.gauss(3 * (k > 300), 1), "" if k % 70 < 10 else "ab"[k // 5 % 2])
            for k in range(400)]  # fmt: skip
    text = "\n".join(["y,state", *(f"{y:.3f},{x}" for y, x in rows)])
    (folder / "gaps.csv").write_text(f"{text}\n")
    found = ask_all({
        "check": ("check", "gaps.csv", "--tests", "drift", "--json"),
        "half": ("check", "gaps.csv", "--tests", "drift", "--json", "--train-size", 0.5),
        "quick": ("predict", "gaps.csv", "--horizon", 1, "--json"),
    })  # fmt: skip
    said = {name: json.loads(done.out) for name, done in found.items()}
    for name in ("check", "half"):
        one = said[name]["tests"]["drift"]
        assert abs(one["row"] - 301) < 5
        assert one["effect"].startswith(f"near row {one['row']} the observation moves by")
    assert said["quick"]["check"]["rows"] == 40
    assert 360 < said["quick"]["check"]["tests"]["drift"]["row"] <= 400


def test_too_many_resamples_are_refused(ask, tmp_path):
    (tmp_path / "rows.csv").write_text("state\n" + "a\na\nb\n" * 20)
    done = ask("check", "rows.csv", "--resamples", 10**20)
    assert done.returncode == 2
    assert "--resamples must be at most 1,000,000, got 100000000000000000000" in done.err
    assert "n_resamples" not in done.err
