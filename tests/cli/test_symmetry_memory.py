"""`--symmetry` and `--memory`: what is asked of the estimator, and what is said of it."""

import json

import pytest

from definetti import ConformalHMM
from definetti.memory import Age
from definetti.simulate import weather

Y, X = weather(200, random_state=0)


@pytest.fixture
def folder(tmp_path):
    rows = [f"{y},{x}" for y, x in zip(Y, [*X[:198], "", ""], strict=True)]
    (tmp_path / "days.csv").write_text("\n".join(["sky,state", *rows]) + "\n")
    return tmp_path


def test_predict_with_symmetry_and_memory_equals_estimator(folder, ask_all):
    asked = {
        "departures": ({"symmetry": "departures"}, ("--symmetry", "departures")),
        "two": ({"memory": 2}, ("--memory", 2)),
        "age": (
            {"memory": Age(4), "symmetry": "full"},
            ("--memory", "age:4", "--symmetry", "full"),
        ),
        "observation": ({"memory": "observation"}, ("--memory", "observation")),
    }
    found = ask_all({
        name: ("predict", "days.csv", "--json", *options) for name, (_, options) in asked.items()
    })  # fmt: skip
    for name, (settings, _) in asked.items():
        told = json.loads(found[name].out)
        cp = ConformalHMM(random_state=0, **settings).fit(Y[:198], X[:198])
        s = cp.predict_set(Y[198:])
        assert [tuple(one["sequence"]) for one in told["sequences"]] == s.sequences
        assert (told["symmetry"], told["given"]) == (cp.symmetry_.known_as, s.given)
        assert told["method"] == s.method


def test_backtest_and_report_take_symmetry_and_memory(folder, ask_all):
    options = ("--symmetry", "departures", "--memory", "age:9", "--windows", 5, "--json")
    found = ask_all({
        "backtest": ("backtest", "days.csv", *options),
        "report": ("report", "days.csv", "-o", "page.html", *options),
    })  # fmt: skip
    told = json.loads(found["backtest"].out)
    assert (told["symmetry"], told["memory"]) == ("departures", "age:9")
    page = json.loads(found["report"].out)
    assert page["settings"]["symmetry used"] == "departures"
    assert page["settings"]["memory used"].endswith("how long it has lasted, up to 9 steps")
    through = "the future depends on the past only through the present state and how long"
    assert through in page["assumed"]


def test_mistakes_name_the_option(folder, ask_all):
    found = ask_all({
        "name": ("predict", "days.csv", "--symmetry", "fulll"),
        "memory": ("predict", "days.csv", "--memory", "ages"),
        "long": ("predict", "days.csv", "--memory", 500),
        "cap": ("predict", "days.csv", "--memory", "age:0"),
        "large": ("predict", "days.csv", "--memory", "age:99999999999999999999"),
        "digits": ("predict", "days.csv", "--memory", "age:" + "9" * 5000),
    })  # fmt: skip
    assert {one.returncode for one in found.values()} == {2}
    assert "symmetry must be one of" in found["name"].err
    assert "memory must be a whole number of steps" in found["memory"].err
    assert "--memory 500 is longer than the history of 198 steps" in found["long"].err
    assert "memory must be a whole number of steps" in found["cap"].err
    assert "--memory age:99999999999999999999 is more than 1,000,000,000" in found["large"].err
    assert "leave most out" in found["large"].err
    assert "is too long; name a memory" in found["digits"].err


@pytest.mark.slow
def test_verify_accepts_levels_by_state(folder, ask_all):
    asked = ("verify", "--length", 2, "--confidence", "1=0.75,0.4", "--json")
    told = json.loads(ask_all({"verify": asked})["verify"].out)
    assert told["confidence_level"] == {"0": 0.4, "1": 0.75}
    for part in ("rows", "memories"):
        assert {row["valid"] for row in told[part] if row["proved"]} == {True}
    assert {row["valid"] for row in told["departures"]} == {True}
    for row in told["departures"]:
        level = (0.4, 0.75)[row["state"]]
        assert row["smoothed"] == pytest.approx(level, abs=1e-9)


def test_backtest_shows_levels_beside_their_states(folder, ask_all):
    asked = ("backtest", "days.csv", "--symmetry", "departures", "--confidence", "rain=0.95,0.5",
             "--windows", 20)  # fmt: skip
    found = ask_all({"table": asked, "json": (*asked, "--json")})
    own = json.loads(found["json"].out)["methods"]["definetti"]["by_state"]
    table = found["table"].out
    assert "level for each present state" in " ".join(table.split())
    for label, one in own.items():
        line = next(line for line in table.splitlines() if f"when in {label} (promised" in line)
        assert f"{one['coverage']:.{2 if one['windows'] < 10 else 3}f}" in line
    assert not any("ends in" in line and "promised" in line for line in table.splitlines())


def test_departures_are_fixed_on_a_number_of_rows_and_on_no_share(folder, ask_all):
    asked = ("predict", "days.csv", "--symmetry", "departures", "--json")
    found = ask_all({
        "rows": (*asked, "--train-size", 120),
        "share": (*asked, "--train-size", 0.5),
        "needed": (*asked, "--guarantee", "steps"),
        "backtest": ("backtest", "days.csv", *asked[2:], "--train-size", 50, "--windows", 5),
    })  # fmt: skip
    cp = ConformalHMM(symmetry="departures", train_size=120, random_state=0)
    s = cp.fit(Y[:198], X[:198]).predict_set(Y[198:])
    told = json.loads(found["rows"].out)
    assert [tuple(one["sequence"]) for one in told["sequences"]] == s.sequences
    assert told["train_size"] == 120
    assert "the history's length" in found["share"].err
    assert "such as --train-size 99" in found["share"].err
    assert "set --train-size to a number of rows" in found["needed"].err
    assert [found[name].returncode for name in ("share", "needed")] == [2, 2]
    assert json.loads(found["backtest"].out)["train_size"] == 50
