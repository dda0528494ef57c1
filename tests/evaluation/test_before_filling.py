"""Coverage is that of sets before empty ones are filled with their most plausible sequence."""

import json

import numpy as np
import polars as pl
import pytest
from tests.making import grouped, promising
from typer.testing import CliRunner

from definetti import HMM, ConformalHMM, ConformalSequences, Errors
from definetti.cli import app
from definetti.evaluation import backtest_series, compare_predictors, run_backtest, summary
from definetti.monitor import Monitor
from definetti.plots import plot_backtest, plot_coverage
from definetti.report import make_report

ALPHA = 0.1


def drifting(number=600, seed=0):
    """Observations that tell the state clearly in the first half, and faintly in the second.

    There no state is as sure as the states of the first half, while the most plausible one remains
    the true one.
    """
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, number)
    later = np.arange(number) >= number // 2
    y = np.where(x == 1, 1.0, -1.0) + rng.normal(size=number) * 0.3
    y[later] = np.where(x == 1, 0.15, -0.15)[later] + rng.normal(size=number)[later] * 0.05
    return y.round(3).tolist(), np.where(x == 1, "up", "down").tolist()


Y, X = drifting()
SETTINGS = {
    "fixed, at once": {"train_size": 0.3},
    "refitted": {"train_size": None, "symmetry": "spaced"},
    "smoothed": {"train_size": 0.3, "smoothing": True},
    "departures": {"train_size": 90, "symmetry": "departures"},
    "lattice": {"train_size": 0.3, "max_candidates": 1},
}


@pytest.mark.parametrize("horizon", [1, 2])
@pytest.mark.parametrize("name", SETTINGS)
def test_covered_is_what_p_values_say(name, horizon):
    how = {"random_state": 0, "confidence_level": 1 - ALPHA, **SETTINGS[name]}
    filled = ConformalHMM(**how).fit(Y[:300], X[:300])
    empty = ConformalHMM(allow_empty=True, **how).fit(Y[:300], X[:300])
    number = 120 if name == "refitted" else 300
    later = Y[300 : 300 + number], X[300 : 300 + number]
    found, plain = (cp.evaluate(*later, horizon=horizon) for cp in (filled, empty))
    assert np.array_equal(found.covered, found.p_values > ALPHA)
    assert np.array_equal(found.covered, plain.covered)
    assert np.array_equal(found.wrong, plain.wrong)
    assert np.array_equal(found.empty, plain.sizes == 0)
    if name != "refitted":
        assert found.filled.mean() > ALPHA
        assert found.verdict.kept is False
    assert np.array_equal(found.filled, found.empty == 1)
    assert (found.sizes >= 1).all()
    assert summary(found, horizon)["coverage"] == plain.coverage
    assert summary(found, horizon)["share_empty"] == found.filled.mean()


def test_filled_best_guesses_are_no_kept_promise():
    """The most plausible state is right nearly always, and the promise is broken all the same."""
    cp = ConformalHMM(train_size=0.3, random_state=0).fit(Y[:300], X[:300])
    found = cp.evaluate(Y[300:], X[300:], horizon=1)
    shown = found.nodes[np.arange(300), found.truth]
    assert shown.mean() > 0.95 > 0.75 > found.coverage
    verdict = found.verdict
    assert (verdict.kept, verdict.empty) == (False, found.filled.mean())
    assert f"not calibrated: {verdict.empty:.3f} of the sets were empty before" in verdict.words
    assert "and at most 0.1 may be" in verdict.words
    assert f"{int(found.filled.sum())} empty before the most plausible was let in" in repr(found)


@pytest.mark.parametrize("allow_empty", [False, True])
def test_empty_sets_within_the_level_are_reported_and_no_failure(allow_empty):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 600)
    y = (rng.normal(size=600) + x).tolist()
    how = {"train_size": 0.3, "random_state": 0, "allow_empty": allow_empty, "smoothing": True}
    cp = ConformalHMM(confidence_level=0.5, **how).fit(y[:300], x[:300].tolist())
    found = cp.evaluate(y[300:], x[300:].tolist(), horizon=1)
    assert 0 < found.verdict.empty < 0.45
    assert found.verdict.kept
    assert found.verdict.words.endswith(
        f"; {found.verdict.empty:.3f} of the sets were empty before filling"
    )


@pytest.mark.parametrize("levels", [None, [0.5, 0.9, 0.95]])
def test_a_backtest_counts_no_filled_set_at_any_level(levels):
    cp = ConformalHMM(train_size=0.3, random_state=0)
    test = run_backtest(cp, Y, X, levels=levels)
    for level in levels or [0.9]:
        found = test.evaluations(level)["definetti"]
        assert np.array_equal(found.covered, found.p_values > round(1 - level, 6))
        assert found.filled.any()


@pytest.mark.parametrize("max_errors", [0, 1, 2])
@pytest.mark.parametrize("name", ["conformal", "sequences"])
def test_windows_with_too_many_empty_steps_are_sure_misses(name, max_errors):
    """Whatever the truth is, more steps are wrong than may be."""
    how = {"guarantee": Errors(max_errors), "confidence_level": 0.9,
           "allow_empty": True, "random_state": 0}  # fmt: skip
    if name == "conformal":
        cp = ConformalHMM(train_size=0.3, **how).fit(Y[:300], X[:300])
        found = cp.evaluate(Y[300:], X[300:], horizon=5)
    else:
        cp = ConformalSequences(HMM(emission="gaussian"), train_size=20, **how)
        cp.fit(Y[:300], X[:300], lengths=[5] * 60)
        found = cp.evaluate(Y[300:], X[300:], lengths=[5] * 60)
    nothing = ~found.nodes.reshape(60, 5, -1).any(axis=2)
    missed = nothing.sum(axis=1) > max_errors
    assert np.array_equal(found.sure_misses, missed)
    assert not found.covered[missed].any()
    assert found.verdict.empty == missed.mean()
    assert summary(found, 5)["share_empty"] == missed.mean()
    if max_errors and name == "conformal":
        assert missed.mean() > ALPHA > (nothing.all(axis=1)).mean()
        assert f"; not calibrated: {missed.mean():.3f} of the sets were" in found.verdict.words


@pytest.mark.parametrize("guarantee", ["steps", "errors"])
@pytest.mark.parametrize("name", ["conformal", "sequences"])
def test_sets_by_steps_count_no_filled_step(guarantee, name):
    def judge(allow_empty):
        how = {"guarantee": promising(guarantee, 1),
               "confidence_level": 0.5, "train_size": 0.3, "random_state": 0,
               "allow_empty": allow_empty}  # fmt: skip
        if name == "conformal":
            cp = ConformalHMM(**how).fit(Y[:300], X[:300])
            return cp.evaluate(Y[300:], X[300:], horizon=5)
        del how["train_size"]
        cp = ConformalSequences(HMM(emission="gaussian"), train_size=20, **how)
        cp.fit(Y[:300], X[:300], lengths=[5] * 60)
        return cp.evaluate(Y[300:], X[300:], lengths=[5] * 60)

    found, plain = judge(False), judge(True)
    assert found.filled.any()
    assert np.array_equal(found.wrong, plain.wrong)
    assert np.array_equal(found.covered, plain.covered)
    assert np.array_equal(found.empty, plain.empty)
    nothing = ~plain.nodes.reshape(60, 5, -1).any(axis=2)
    assert np.array_equal(found.empty, nothing.mean(axis=1))
    expected = nothing.mean(axis=1) if guarantee == "steps" else nothing.sum(axis=1) > 1
    assert found.verdict.empty == pytest.approx(expected.mean())
    assert found.verdict.words.replace("sets say", "") == plain.verdict.words.replace(
        "sets say", ""
    )


def test_series_count_no_filled_set():
    cp = grouped(train_size=0.3, random_state=0)
    towns = ["Rome"] * 600 + ["Oslo"] * 600
    y, x = drifting(seed=1)
    found = backtest_series(cp, Y + y, X + x, towns)
    for record in found:
        judged = found.evaluations[record.series]
        assert record.covered == (judged.p_values > ALPHA).sum()
        assert (record.filled, record.empty) == (judged.filled.sum(), judged.filled.sum())
    assert found.empty == sum(one.filled for one in found) / found.windows > ALPHA
    assert found.verdict().startswith("short: ")
    assert f"; not calibrated: {found.empty:.3f} of the sets were empty" in found.verdict()


def test_a_comparison_counts_no_filled_set():
    found = compare_predictors(
        {"gaussian": HMM(emission="gaussian")}, Y, X, confidence_level=0.9, train_size=0.3,
        random_state=0,
    )  # fmt: skip
    [row] = found.rows
    assert row.empty > ALPHA
    assert row.low <= row.coverage <= row.high < 0.9
    assert "before empty ones were filled" in repr(found)


@pytest.mark.filterwarnings("ignore::definetti.exceptions.ChangeWarning")
def test_a_monitor_counts_no_filled_set():
    cp = ConformalHMM(train_size=0.3, random_state=0, confidence_level=0.9).fit(Y[:300], X[:300])
    monitor = Monitor(cp, on_alarm="warn")
    steps = list(monitor.run(Y[300:], X[300:]))
    assert sum(step.set.filled for step in steps) > 30
    assert not any(step.covered for step in steps if step.set.filled)
    assert monitor.coverage.overall.held == sum(step.covered for step in steps)


def test_pictures_say_how_many_sets_were_filled():
    cp = ConformalHMM(train_size=0.3, random_state=0).fit(Y[:300], X[:300])
    found = cp.evaluate(Y[300:], X[300:], horizon=1)
    words = f"{found.filled.mean():.3f} of the sets filled"
    for plot in (plot_backtest, plot_coverage):
        assert words in plot(found).get_title()
    line = plot_coverage(found).lines[0].get_ydata()
    assert line[-1] == pytest.approx(found.coverage)


def test_the_command_and_the_report_count_no_filled_set(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"state": X, "seen": Y}).write_csv("x.csv")
    how = ["backtest", "x.csv", "--train-size", "0.3", "--no-check"]
    done = CliRunner().invoke(app, [*how, "--json", "-o", "steps.csv"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    ours = found["methods"]["definetti"]
    rows = pl.read_csv("steps.csv")
    assert (rows["covered"] == (rows["p_value"] > ALPHA)).all()
    assert ours["coverage"] == (rows["p_value"] > ALPHA).mean()
    assert ours["share_filled"] == ours["share_empty"] == rows["filled"].mean() > ALPHA
    assert "not calibrated" in found["verdict"]
    shown = CliRunner().invoke(app, how, env={"COLUMNS": "160"}).output
    assert f"{ours['share_empty']:.3f}" in shown
    assert "before filling" in shown
    cp = ConformalHMM(train_size=0.3, random_state=0)
    page = make_report(cp, Y, X, levels=[0.9]).contents
    there = page["backtest"]["methods"]["definetti"][page["asked"]]
    assert json.loads(json.dumps({key: there[key] for key in ours})) == ours
