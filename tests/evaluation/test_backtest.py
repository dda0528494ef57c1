"""One backtest: the command, the report and the library say the same of the same rows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from definetti import ConformalHMM, Errors
from definetti._system.files import make_plain
from definetti.cli import app
from definetti.engine.algorithm import PredictionTask
from definetti.evaluation import START, WINDOWS
from definetti.evaluation.advice import REPEAT, WITHOUT
from definetti.evaluation.backtest import find_begin, run_backtest
from definetti.evaluation.results import find_worst_state, split_by_last_state
from definetti.evaluation.window_loop import roll_windows
from definetti.report import make_report
from definetti.simulate import weather

Y, X = weather(70, random_state=2)
SETTINGS = {
    "one step": (1, {}),
    "several steps": (6, {"confidence": 0.8}),
    "few windows": (30, {"train-size": 0.4}),  # which a report used to cut short
    "last windows": (2, {"windows": 5, "seed": 3}),
    "later": (2, {"start": 0.8}),
}


def ask(*arguments):
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", SETTINGS)
def test_both_commands_have_the_same_numbers(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    horizon, options = SETTINGS[name]
    rows = {"state": X, "carried": Y}
    pl.DataFrame(rows).write_csv("old.csv")
    pl.DataFrame({"carried": (Y + Y)[:horizon]}).write_csv("new.csv")
    more = [part for key, value in options.items() for part in (f"--{key}", value)]
    told = ask("backtest", "old.csv", "--horizon", horizon, "--json", *more)
    page = ask("report", "old.csv", "new.csv", "--json", *more)
    test = page["backtest"]
    for key in ("horizon", "windows", "first_row"):
        assert test[key] == told[key], key
    assert test["methods"].keys() == told["methods"].keys()
    for method, numbers in told["methods"].items():
        there = test["methods"][method][page["asked"]]
        assert {key: there[key] for key in numbers} == numbers, method


def test_a_horizon_is_not_shortened():
    found = make_report(ConformalHMM(train_size=0.4, random_state=0), Y, X, horizon=20).contents
    assert (found["backtest"]["horizon"], found["backtest"]["windows"]) == (20, 1)


def test_rows_without_room_for_a_window_have_no_backtest_and_the_reason():
    found = make_report(ConformalHMM(train_size=0.4, random_state=0), Y, X, horizon=36).contents
    assert found["backtest"] is None
    assert (
        "there is no backtest: 70 labelled rows are too few for a window of 36 after a share of "
        "0.5; give more rows, or lower start or horizon"
    ) in found["notes"]


@pytest.mark.parametrize("horizon", [1, 3])
def test_where_windows_begin(horizon):
    for length in range(1, 40):
        for start in (0.05, 0.5, 0.9):
            first = max(int(start * length), 1)
            expected = first if length - first >= horizon else None
            assert find_begin(length, horizon, start) == expected


def test_defaults_are_one():
    found = make_report(ConformalHMM(random_state=0), Y, X).contents
    assert found["backtest"]["first_row"] == find_begin(70, 1, START) + 1
    assert found["settings"]["start"] == str(START)
    assert str(WINDOWS) in found["settings"]["windows"]
    for command in ("backtest", "report"):
        said = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).output
        assert f"or {WINDOWS}" in said
        assert f"[default: {START}]" in said


def test_classical_is_left_out_where_it_cannot_be_and_ours_is_not():
    found = run_backtest(ConformalHMM(random_state=0), Y[:3], X[:3])
    assert (found.begin, list(found.methods)) == (1, ["definetti", WITHOUT, REPEAT])
    assert "classical prediction is left out: " in found.notes[0]


def test_levels_of_a_backtest_come_in_any_order():
    rising, mixed, array = (
        run_backtest(ConformalHMM(random_state=0), Y, X, levels=levels)
        for levels in ([0.5, 0.7, 0.9], [0.9, 0.5, np.float32(0.7), 0.5], np.array([0.7, 0.5]))
    )
    assert mixed.methods["definetti"].levels == [0.5, 0.7, 0.9]
    assert mixed.asked == rising.asked == 2
    for level in (0.5, 0.7, 0.9):
        cp = ConformalHMM(random_state=0, confidence_level=level)
        alone = run_backtest(cp, Y, X).evaluations()
        assert mixed.evaluations(level) == rising.evaluations(level) == alone
        assert array.evaluations(level) == alone


def test_the_own_level_is_judged_beside_others():
    found = run_backtest(ConformalHMM(random_state=0), Y, X, levels=[0.7, 0.5])
    assert found.methods["definetti"].levels == [0.5, 0.7, 0.9]
    assert found.evaluations() == found.evaluations(0.9)
    with pytest.raises(ValueError, match=r"level 0.8 was not judged, only 0.5, 0.7, 0.9"):
        found.evaluations(0.8)
    alone = run_backtest(ConformalHMM(random_state=0), Y, X)
    with pytest.raises(ValueError, match=r"level 0.8 was not judged, only 0.9"):
        alone.evaluations(0.8)
    levels = {"sun": 0.9, None: 0.8}
    by_state = run_backtest(ConformalHMM(random_state=0, confidence_level=levels), Y, X)
    assert by_state.evaluations(levels) == by_state.evaluations()
    with pytest.raises(ValueError, match="a mapping among several levels"):
        run_backtest(ConformalHMM(confidence_level=levels), Y, X, levels=[0.8, 0.9])


def test_what_promises_nothing_is_not_judged():
    cp = ConformalHMM(train_size=0.4, guarantee=Errors(2))
    with pytest.raises(ValueError, match="max_errors=2 promises nothing of windows of 2"):
        run_backtest(cp, Y, X, horizon=2)


def test_every_window_is_ranked_once(monkeypatch):
    asked = []
    real = ConformalHMM._task

    def counted(self, *arguments, **more) -> PredictionTask:
        asked.append(arguments)
        return real(self, *arguments, **more)

    monkeypatch.setattr(ConformalHMM, "_task", counted)
    cp = ConformalHMM(random_state=0).fit(Y[:40], X[:40])
    cp.evaluate(Y[40:], X[40:], horizon=2)
    assert len(asked) == 1 + 15  # whether all can be ranked at once, and each


@pytest.mark.parametrize("more", [{}, {"train_size": 0.4}, {"smoothing": True}])
def test_the_truth_has_the_p_value_that_it_has_alone(more):
    """Also where it has a label that was never seen, which no set can know."""
    truth = [*X[60:64], "snow", "sun", "snow", "sun"]
    cp = ConformalHMM(random_state=0, **more).fit(Y[:60], X[:60])
    found = cp.evaluate(Y[60:68], truth, horizon=2)
    for k, begin in enumerate(range(60, 68, 2)):
        here = slice(begin - 60, begin - 58)
        assert found.p_values[k] == cp.p_value(Y[begin : begin + 2], truth[here])
        assert found.covered[k] == (tuple(truth[here]) in cp.predict_set(Y[begin : begin + 2]))
        cp.partial_fit(Y[begin : begin + 2], truth[here])
    assert found.truth.tolist()[4] == -1


def test_windows_that_are_passed_over_are_learned_from():
    class Learner:
        known = tuple(X[:10])

        def partial_fit(self, observations, states):
            assert list(observations) == list(Y[len(self.known) :][: len(states)])
            self.known = (*self.known, *states)

    learner = Learner()
    for window in roll_windows(learner, Y, X, [10, 13, 40], horizon=3, known=10):
        assert learner.known == tuple(X[: window.begin])
        assert window.truth == tuple(X[window.begin : window.begin + 3])
        assert list(window.observations) == list(Y[window.begin : window.begin + 3])


def test_coverage_given_the_last_state():
    covered = np.array([True, False, True, True, False])
    own = split_by_last_state(covered, ["b", "b", "a", "a", "c"], fewest=2)
    assert {state: part.tolist() for state, part in own.items()} == {
        "a": [True, True], "b": [True, False],
    }  # fmt: skip
    assert find_worst_state(own) == (0.5, "b")
    assert find_worst_state({}) == (None, None)


def test_no_two_classes_have_one_name():
    root = Path(__file__).resolve().parents[2]
    ours = [
        "src/definetti/evaluation",
        "src/definetti/experiments",
        "src/definetti/report",
        "studies",
    ]
    every = [
        (line.split()[1].rstrip(":").split("(")[0], path)
        for folder in ("src/definetti", "studies")
        for path in sorted((root / folder).rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("class ")
    ]
    for name, path in every:
        if any(path.is_relative_to(root / one) for one in ours):
            assert [other for same, other in every if same == name] == [path], name


def test_sizes_beyond_all_numbers_are_null_on_a_page():
    long = weather(2_600, random_state=0)
    cp = ConformalHMM(confidence_level=0.99, train_size=0.2, random_state=0)
    found = make_report(cp, *long, horizon=1_100, start=0.55).contents
    assert make_plain(found["backtest"]) == found["backtest"]
