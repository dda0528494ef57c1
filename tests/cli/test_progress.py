"""Long work shows one bar, on a terminal's standard error; other work shows none."""

import io
from contextlib import redirect_stderr, redirect_stdout

import pytest

from definetti import ConformalHMM
from definetti._system import terminal
from definetti.experiments.resampling import ClassConditional
from definetti.simulate import weather

Y, X = weather(60, random_state=0)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """All work is long, however fast the machine; a bar is shown when complete, and once."""
    monkeypatch.setattr(terminal, "PATIENCE", -1.0)
    monkeypatch.setenv("TERM", "dumb")


def said(work, to=Terminal):
    out, err = Terminal(), to()
    with redirect_stdout(out), redirect_stderr(err):
        found = work()
    assert out.getvalue() == ""
    return err.getvalue(), found


def test_one_bar_counts_the_windows():
    cp = ConformalHMM(random_state=0).fit(Y[:50], X[:50])
    err, loud = said(lambda: cp.evaluate(Y[50:], X[50:], horizon=2, verbose=True))
    assert err.count("predicting windows") == 1
    assert "ranking" not in err  # no bar within the bar
    err, quiet = said(lambda: cp.evaluate(Y[50:], X[50:], horizon=2))
    assert err == ""
    assert loud.p_values.tolist() == quiet.p_values.tolist()


def test_single_window_shows_the_ranking_of_candidates():
    cp = ConformalHMM(random_state=0).fit(Y[:58], X[:58])
    assert "ranking candidates" in said(lambda: cp.predict_set(Y[58:], verbose=True))[0]


def test_baselines_show_a_progress_bar():
    cp = ClassConditional(random_state=0).fit(Y[:50], X[:50])
    assert said(lambda: cp.evaluate(Y[50:], X[50:], horizon=1))[0] == ""
    err, _ = said(lambda: cp.evaluate(Y[50:], X[50:], horizon=1, verbose=True))
    assert err.count("predicting windows") == 1


def test_short_work_shows_no_progress_bar(monkeypatch):
    monkeypatch.setattr(terminal, "PATIENCE", float("inf"))
    cp = ConformalHMM(random_state=0).fit(Y[:50], X[:50])
    assert said(lambda: cp.evaluate(Y[50:], X[50:], horizon=1, verbose=True))[0] == ""


@pytest.mark.parametrize("forced", ["FORCE_COLOR", "TTY_COMPATIBLE", "NOTHING"])
def test_no_progress_bar_in_a_file_or_pipe(monkeypatch, forced):
    monkeypatch.setenv(forced, "1")
    cp = ConformalHMM(random_state=0).fit(Y[:50], X[:50])
    assert (
        said(lambda: cp.evaluate(Y[50:], X[50:], horizon=2, verbose=True), to=io.StringIO)[0] == ""
    )


def test_progress_bar_names_its_estimator():
    cp = ConformalHMM(random_state=0).fit(Y[:50], X[:50])
    err, _ = said(lambda: cp.evaluate(Y[50:], X[50:], horizon=2, verbose=True))
    assert "ConformalHMM: predicting windows" in err
    cp = ClassConditional(random_state=0).fit(Y[:50], X[:50])
    err, _ = said(lambda: cp.evaluate(Y[50:], X[50:], horizon=2, verbose=True))
    assert "ClassConditional: predicting windows" in err
