"""Advice of a backtest: simpler methods that do as well, and remedies that hold later."""

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from definetti import HMM, ConformalHMM
from definetti.cli import app
from definetti.emissions import Gaussian
from definetti.evaluation import run_backtest
from definetti.evaluation.advice import OURS, WITHOUT
from definetti.evaluation.intervals import effective_number


def chain(number, stay=0.6, seed=0):
    rng = np.random.default_rng(seed)
    x = [0]
    for _ in range(number - 1):
        x.append(x[-1] if rng.random() < stay else int(rng.integers(3)))
    return np.array(x), rng


def shifted(number=1200):
    """Three states whose sensor is fine in the first part and misleads for good after it."""
    x, rng = chain(number, 0.8)
    y = 4.0 * x + rng.normal(size=number)
    y[number // 2 :] = 4.0 * ((x[number // 2 :] + 1) % 3) + rng.normal(size=number - number // 2)
    return y[:, None], x.tolist()


def test_observations_that_do_not_help_are_named():
    x, rng = chain(1200)
    found = run_backtest(
        ConformalHMM(HMM(emission=Gaussian()), train_size=100, smoothing=True, random_state=0),
        rng.normal(size=(1200, 5)), x.tolist(),
    )  # fmt: skip
    both = found.evaluations()
    assert both[WITHOUT].width <= both[OURS].width
    assert found.advice[0].startswith("the observations do not help here: use --no-observations")


def test_ties_without_observations_are_no_reason_to_observe_noise():
    x, rng = chain(1200, 0.75)
    found = run_backtest(
        ConformalHMM(HMM(emission=Gaussian()), train_size=100, random_state=0),
        rng.normal(size=(1200, 3)), x.tolist(),
    )  # fmt: skip
    both = found.evaluations()
    assert both[WITHOUT].width > both[OURS].width  # its sets keep all ties
    [said] = found.advice
    assert said.startswith("the observations do not help here: use --no-observations --smoothing")


def test_repeating_the_last_state_is_named_where_sets_are_short():
    x, rng = chain(1200, 0.97)
    y = 4.0 * x + rng.normal(size=1200)
    y[600:] = 4.0 * ((x[600:] + 1) % 3) + rng.normal(size=600)
    found = run_backtest(
        ConformalHMM(HMM(emission=Gaussian()), train_size=400, random_state=0),
        y[:, None],
        x.tolist(),
    )
    assert found.evaluations()[OURS].verdict.kept is False
    assert found.advice[0].startswith("repeating the last state is enough here")
    assert len(found.advice) == 2


def test_repeating_the_last_state_is_named_where_it_reaches_the_level():
    x, rng = chain(1000, 0.99)
    found = run_backtest(ConformalHMM(random_state=0), rng.normal(size=(1000, 2)), x.tolist())
    assert found.advice[0].startswith("repeating the last state is enough here")


def test_good_observations_need_no_advice():
    x, rng = chain(800)
    y = 3.0 * x[:, None] + rng.normal(size=(800, 1))
    assert run_backtest(ConformalHMM(random_state=0), y, x.tolist()).advice == []


def test_rare_states_lead_to_departures_and_its_sets_are_as_said():
    rng = np.random.default_rng(3)
    x = np.where(rng.random(1500) < 0.02, rng.integers(2, 8, 1500), rng.integers(0, 2, 1500))
    y = 3.0 * x[:, None] + rng.normal(size=(1500, 1))
    settings = {"model": HMM(emission=Gaussian()), "train_size": 400, "random_state": 0}
    found = run_backtest(ConformalHMM(**settings), y, x.tolist())
    assert len(found.advice) == 2
    assert found.advice[0].startswith("classical")
    said = found.advice[1]
    assert said.startswith("departures, exact given the present state")
    other = run_backtest(ConformalHMM(**settings, symmetry="departures"), y, x.tolist())
    own = other.evaluations()[OURS]
    assert f"({own.coverage:.3f} with {own.width:.3g} states a step)" in said
    assert own.width < 0.95 * found.evaluations()[OURS].width
    assert not any(line.startswith("departures") for line in other.advice)


def test_shortfall_is_answered_with_a_remedy_that_holds_on_the_second_half():
    y, x = shifted()
    cp = ConformalHMM(HMM(emission=Gaussian()), train_size=400, random_state=0)
    found = run_backtest(cp, y, x)
    assert found.evaluations()[OURS].verdict.kept is False
    assert len(found.advice) == 1
    assert "chosen on the first half of the windows" in found.advice[0]
    halves = found.methods[WITHOUT].take(np.arange(300, 600)).evaluation(0)
    if "no observations" in found.advice[0]:
        assert f"{halves.coverage:.3f} of the second half" in found.advice[0]


def test_remedies_judged_on_fewer_windows_are_compared_on_those():
    y, x = shifted(2400)
    cp = ConformalHMM(HMM(emission=Gaussian()), train_size=800, random_state=0)
    found = run_backtest(cp, y, x)
    assert found.windows == 1200  # a refitted model of numbers is judged on 500 of them
    assert len(found.advice) == 1


def test_kept_promise_tries_no_remedy(monkeypatch):
    monkeypatch.setattr(
        "definetti.evaluation.backtest.remedy", lambda *_: pytest.fail("nothing was short")
    )
    x, _ = chain(300)
    run_backtest(ConformalHMM(random_state=0), None, x.tolist())


def test_misses_in_runs_are_worth_fewer_windows():
    rng = np.random.default_rng(1)
    hits = rng.random(500) < 0.9
    assert effective_number(hits) == pytest.approx(500, rel=0.2)
    assert effective_number(hits.repeat(4)) == pytest.approx(500, rel=0.3)
    assert effective_number(np.ones(50, dtype=bool)) == 50


def test_command_prints_advice_and_leaves_observations_out(tmp_path):
    x, rng = chain(600, 0.99)
    path = tmp_path / "rows.csv"
    pl.DataFrame({"sensor": rng.normal(size=600), "state": x}).write_csv(path)
    asked = ["backtest", str(path), "--no-check", "--seed", "0"]
    runner = CliRunner()
    shown = runner.invoke(app, asked)
    assert shown.exit_code == 0, shown.output
    assert "advice: repeating the last state is enough here" in shown.output
    document = json.loads(runner.invoke(app, [*asked, "--json"]).stdout)
    assert document["advice"][0].startswith("repeating the last state")
    assert 0 < document["methods"]["definetti"]["effective_windows"] <= 300
    plain = json.loads(runner.invoke(app, [*asked, "--json", "--no-observations"]).stdout)
    assert list(plain["methods"])[:2] != ["definetti", "without observations"]
    assert plain["methods"]["definetti"]["coverage"] == pytest.approx(
        document["methods"]["without observations"]["coverage"]
    )
    both = runner.invoke(app, [*asked, "--no-observations", "--observation-columns", "sensor"])
    assert both.exit_code == 2
