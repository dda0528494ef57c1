"""Long work shows one bar, on standard error; short or silent work shows none."""

import pytest

from definetti import ConformalHMM, progress
from definetti.baselines import Classical
from definetti.simulate import weather

Y, X = weather(60, random_state=0)


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", -1.0)


def said(capsys):
    out, err = capsys.readouterr()
    assert out == ""
    return err


def test_one_bar_counts_the_windows(at_once, capsys):
    cp = ConformalHMM(verbose=True, random_state=0).fit(Y[:50], X[:50])
    loud = cp.evaluate(Y[50:], X[50:], horizon=2)
    err = said(capsys)
    assert err.count("predicting windows") == 1
    assert "ranking" not in err  # no bar within the bar
    assert cp.verbose  # the estimator itself is left as it is
    quiet = ConformalHMM(random_state=0).fit(Y[:50], X[:50]).evaluate(Y[50:], X[50:], horizon=2)
    assert said(capsys) == ""
    assert loud.p_values.tolist() == quiet.p_values.tolist()


def test_a_single_window_shows_what_goes_on_in_it(at_once, capsys):
    cp = ConformalHMM(verbose=True, random_state=0).fit(Y[:58], X[:58])
    cp.evaluate(Y[58:], X[58:])
    assert "ranking candidates" in said(capsys)


def test_baselines_show_one_too(at_once, capsys):
    cp = Classical(random_state=0).fit(Y[:50], X[:50])
    cp.evaluate(Y[50:], X[50:], horizon=1)
    assert said(capsys) == ""
    cp.evaluate(Y[50:], X[50:], horizon=1, verbose=True)
    assert said(capsys).count("predicting windows") == 1


def test_short_work_shows_none(capsys):
    cp = ConformalHMM(verbose=True, random_state=0).fit(Y[:50], X[:50])
    cp.evaluate(Y[50:], X[50:], horizon=1)
    assert said(capsys) == ""


def test_each_bar_says_whose_it_is(at_once, capsys):
    ConformalHMM(verbose=True, random_state=0).fit(Y[:50], X[:50]).evaluate(
        Y[50:], X[50:], horizon=2
    )
    assert "ConformalHMM: predicting windows" in said(capsys)
    cp = Classical(random_state=0).fit(Y[:50], X[:50])
    cp.evaluate(Y[50:], X[50:], horizon=2, verbose=True)
    assert "Classical: predicting windows" in said(capsys)
