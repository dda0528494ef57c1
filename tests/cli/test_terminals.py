"""Terminals that know few letters, readers that leave early, and disks that are full."""

import json
import os
from pathlib import Path

import polars as pl
import pytest

from definetti.models.base import described

FEW_LETTERS = [
    {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"},
    pytest.param({"PYTHONIOENCODING": "ascii"}, marks=pytest.mark.slow),
]
PRINTING = tuple(
    [*one, "--no-check"]  # which has something to say of these rows
    for one in (["predict", "x.csv"], ["backtest", "x.csv"], ["predict", "x.csv", "--json"])
)
# How a process ends: its help is soon there, and the others are forked but in the slow tests.
ENDS = [
    pytest.param(PRINTING, False, id="forked"),
    pytest.param([["--help"]], True, id="help"),
    pytest.param(PRINTING, True, id="fresh", marks=pytest.mark.slow),
]
ROWS = "heat,alarms,state\n" + "20.5,0,idlé\n61.5,2,wörks\n66.1,1,wörks\n" * 15
FULL = Path("/dev/full")


@pytest.fixture
def file(tmp_path):
    (tmp_path / "x.csv").write_text(ROWS + "60.1,1,\n66.5,0,\n", encoding="utf-8")
    return tmp_path


@pytest.mark.slow_cases("terminal0")
@pytest.mark.parametrize("terminal", FEW_LETTERS)
def test_terminals_without_utf8(ask, file, terminal):
    done = ask("predict", "x.csv", **terminal)
    check_letters(done)
    assert "probability >= 0.9" in done.out
    assert ask("predict", "--help", **terminal).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("terminal", FEW_LETTERS)
def test_a_backtest_without_utf8(ask, file, terminal):
    check_letters(ask("backtest", "x.csv", "--windows", 12, **terminal))


def check_letters(done):
    assert done.returncode == 0, done.err
    assert done.stdout.isascii()
    assert r"w\xf6rks" in done.out  # and not w?rks, which may be another's
    assert "+--" in done.out  # a table


@pytest.mark.slow_cases("forked")
@pytest.mark.parametrize(("many", "fresh"), ENDS)
def test_closed_pipe_ends_quietly(ask_into, file, many, fresh):
    """Whatever is printed, and how often: exit code 0, and nothing on standard error."""
    for arguments in many:
        reading, writing = os.pipe()
        os.close(reading)  # at once, so that it is the same every time
        assert ask_into(writing, *arguments, fresh=fresh) == (0, ""), arguments
        os.close(writing)


@pytest.mark.slow_cases("forked")
@pytest.mark.skipif(not FULL.exists(), reason="there is no full disk to write to")
@pytest.mark.parametrize(("many", "fresh"), ENDS)
def test_full_disk_is_one_line(ask_into, file, many, fresh):
    for arguments in many:
        with FULL.open("w") as full:
            code, said = ask_into(full.fileno(), *arguments, fresh=fresh)
        assert code == 2, said
        assert said.startswith("definetti: standard output could not be written: No space"), said
        assert said.count("\n") == 1


def test_model_is_described_in_words(ask, file):
    done = ask("predict", "x.csv", "--train-size", 0.4)
    assert "model: Gaussian for heat; Poisson for alarms; fixed on the first 18 rows\n" in done.out
    assert "TrainedHMM" not in done.out
    done = ask("predict", "x.csv", "--observation-columns", "heat")
    assert "model: Gaussian for heat; fitted anew with each candidate\n" in done.out
    assert "TrainedHMM" in ask("predict", "x.csv", "--train-size", 0.4, "--json").out


def test_models_of_all_types_are_described():
    from definetti import HMM
    from definetti.emissions import Bernoulli, Gaussian, Mixed, Poisson, Text

    both = Mixed({"a": Gaussian(), "b": Bernoulli(), "c": Gaussian(), "d": Poisson()})
    assert described(HMM(emission=both)).startswith(
        "Gaussian for a, c; switches for b; Poisson for d"
    )
    assert described(HMM(emission=Text()), ["said"]).startswith("frequencies for said")
    assert described(HMM()).startswith("a Markov chain, nothing observed")


def test_an_empty_set_is_explained(ask, file):
    out = " ".join(ask("backtest", "x.csv", "--windows", 12, "--allow-empty").out.split())
    assert "before filling" not in out
    assert "empty" in out


@pytest.mark.slow
def test_a_set_that_was_filled_is_explained(ask):
    ask("simulate", "x.csv", "--rows", 303, "--new", 3, "--seed", 4, "--world", "sensors")
    how = ["--train-size", 0.4, "--confidence", 0.1]
    filled = ask("predict", "x.csv", *how).out
    assert "nothing is plausible at this level; the most plausible is shown" in filled
    empty = ask("predict", "x.csv", *how, "--allow-empty").out
    assert "nothing is plausible" not in empty
    assert "none" in empty
    test = " ".join(ask("backtest", "x.csv", *how, "--windows", 12).out.split())
    assert "before filling" in test
    assert "nothing was plausible, which are counted as misses, and were filled with" in test
    found = json.loads(ask("backtest", "x.csv", *how, "--windows", 12, "--json").out)
    assert found["methods"]["definetti"]["share_filled"] > 0
    assert found["methods"]["definetti"]["mean_states_per_step"] >= 1


@pytest.mark.slow
def test_columns_of_zeros_and_ones_are_switches(ask, tmp_path):
    rows = ["state,on,heat", *(f"{'ab'[k % 2]},{k % 2},{k * 0.7 % 3}" for k in range(40)), ",1,2.5"]
    (tmp_path / "s.csv").write_text("\n".join(rows))
    assert "model: switches for on; Gaussian for heat" in ask("predict", "s.csv").out
    report = json.loads(ask("report", "s.csv", "-o", "page.html", "--json").out)
    assert "Bernoulli" in report["settings"]["model used"]
    (tmp_path / "s.csv").write_text("\n".join([*rows, ",2,2.5"]))
    assert ask("predict", "s.csv").returncode == 0  # a count among the new rows makes them counts


EVIL = "\x1b]0;evil\x07\x9b31m\n\u202ename"  # a terminal's title, red, a line's end, backwards
WRITTEN = r"\x1b]0;evil"


@pytest.mark.slow
def test_control_characters_in_names_are_escaped(on_terminal, tmp_path):
    """A column's and a file's, in tables, notes and messages; labels cannot either."""
    name = f"{EVIL}.csv"
    states = ["sun" if k % 4 else "rain" for k in range(40)]
    table = pl.DataFrame({EVIL: [k % 3 for k in range(40)], "state": states})
    table.write_parquet(tmp_path / name)  # the kind of a file is told by its contents
    pl.DataFrame({EVIL: [1], f"more{EVIL}": [2]}).write_parquet(tmp_path / "new.csv")
    for code, arguments in [
        (0, ["predict", name, "new.csv", "-o", f"sets{name}"]),
        (2, ["predict", name, "--state-column", "no"]),
        (2, ["predict", f"no{name}"]),
        (2, ["predict", name, "--horizon", 1, "-o", name]),
        (0, ["backtest", name, "--windows", 12, "-o", f"windows{name}"]),
        (0, ["report", name, "--windows", 12, "-o", f"{EVIL}.html"]),
        (0, ["simulate", f"made{name}", "--rows", 9]),
    ]:
        found, sent = on_terminal(*arguments)
        assert found == code, sent
        assert WRITTEN in sent, sent
        for part in (EVIL[:9], "\x07", "\x9b", "\nname", "\u202e"):
            assert part not in sent, (arguments, sent)
