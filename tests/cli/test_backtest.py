"""`definetti backtest`: every guarantee and horizon, on the screen, as JSON and in a file."""

import json

import polars as pl
import pytest

from definetti.cli.writing import BACKTEST_COLUMNS
from definetti.simulate import weather

Y, X = weather(240, random_state=0)


@pytest.fixture
def rows(tmp_path):
    pl.DataFrame({"state": X, "seen": Y}).write_csv(tmp_path / "x.csv")


GUARANTEES = {
    "all": [],
    "steps": ["--guarantee", "steps"],
    "errors": ["--guarantee", "errors", "--max-errors", "1"],
    "no errors": ["--guarantee", "errors"],
}


@pytest.mark.parametrize("horizon", [1, 3, 10])
@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_every_guarantee_and_horizon(ask, rows, tmp_path, guarantee, horizon):
    how = ["--horizon", horizon, "--windows", 12, "--no-check", *GUARANTEES[guarantee]]
    shown = ask("backtest", "x.csv", *how, "-o", "steps.csv")
    if guarantee == "errors" and horizon == 1:
        assert (shown.returncode, "nothing is guaranteed" in shown.err) == (2, True)
        return
    assert (shown.returncode, "verdict: " in shown.out) == (0, True), shown.err
    told = ask("backtest", "x.csv", *how, "--json", "-o", "again.csv")
    assert told.returncode == 0, told.err
    found = json.loads(told.out)
    ours = found["methods"]["definetti"]
    assert 0 <= ours["low"] <= ours["coverage"] <= ours["high"] <= 1
    for part in (*ours["over_time"], *ours["by_last_state"].values()):
        assert 0 <= part["low"] <= part["coverage"] <= part["high"] <= 1
    assert found["verdict"] in shown.out.replace("\n", " ")
    written = pl.read_csv(tmp_path / "steps.csv")
    assert written.columns[-len(BACKTEST_COLUMNS) :] == BACKTEST_COLUMNS
    assert len(written) == found["windows"] * horizon
    assert written.equals(pl.read_csv(tmp_path / "again.csv"))


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_every_guarantee_with_several_levels_and_many_series(ask, rows, tmp_path, guarantee):
    how = ["--horizon", 3, "--windows", 5, *GUARANTEES[guarantee], "--json"]
    done = ask("backtest", "x.csv", *how, "--confidence", 0.8, "--confidence", 0.9, "--no-check")
    assert done.returncode == 0, done.err
    assert [one["confidence_level"] for one in json.loads(done.out)["levels"]] == [0.8, 0.9]
    town = ["Rome"] * 120 + ["Oslo"] * 120
    pl.DataFrame({"state": X, "seen": Y, "town": town}).write_csv(tmp_path / "towns.csv")
    groups = ["--group-column", "town", "--train-size", "0.3"]
    done = ask("backtest", "towns.csv", *how, *groups)
    assert done.returncode == 0, done.err
    found = json.loads(done.out)
    assert 0 <= found["low"] <= found["coverage"] <= found["high"] <= 1
    shown = ask("backtest", "towns.csv", *how[:-1], *groups)
    assert shown.returncode == 0, shown.err
    assert f"{found['coverage']:.3f} [{found['low']:.3f}, {found['high']:.3f}]" in shown.out
