"""What else could be done with the same predictor, on the same rows, filled in the same way."""

import json

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.making import promising
from typer.testing import CliRunner

from definetti import HMM, ConformalHMM
from definetti.cli import app
from definetti.evaluation import run_backtest
from definetti.evaluation.advice import CLASSICAL, PREVIOUS, REPEAT, WITHOUT
from definetti.experiments import Classical
from definetti.report import make_report

LEVEL = 0.8
EVERY = ["definetti", WITHOUT, CLASSICAL, PREVIOUS, REPEAT]
FOREST = RandomForestClassifier(20, min_samples_leaf=5, random_state=0)
LINE = make_pipeline(StandardScaler(), LogisticRegression())


def sticky(number=400, seed=0):
    """Three states that mostly stay, seen through noise."""
    rng = np.random.default_rng(seed)
    x = np.zeros(number, dtype=int)
    for t in range(1, number):
        x[t] = x[t - 1] if rng.random() < 0.9 else rng.integers(3)
    return rng.normal(size=(number, 2)) + 1.5 * np.eye(3)[x][:, :2], x.tolist()


Y, X = sticky()


def by_hand(tables, states, cut, begin, horizon, fill):
    """Split conformal prediction of windows, all candidates listed.

    Parameters
    ----------
    tables : (rows, n, n) the probability of each state given the previous one, row by row
    cut, begin : where the rows that calibrate begin, and the first window
    """
    n, logs = tables.shape[1], np.log(tables)
    states = np.asarray(states)

    def score(start, path, row):
        before = [start, *path[:-1]]
        return -sum(logs[row + k, before[k], path[k]] for k in range(horizon))

    paths = list(np.ndindex(*[n] * horizon))
    covered, sizes, empty = [], [], []
    for row in range(begin, len(states) - horizon + 1, horizon):
        ends = range(cut + 1, row - horizon + 1)
        past = np.array([score(states[k - 1], states[k : k + horizon], k) for k in ends])
        own = np.array([score(states[row - 1], path, row) for path in paths])
        p = ((past >= own[:, None] - 1e-9).sum(axis=1) + 1) / (len(past) + 1)
        held = p > 1 - LEVEL + 1e-12
        covered.append(bool(held[paths.index(tuple(states[row : row + horizon]))]))
        empty.append(not held.any())
        sizes.append(max(held.sum(), int(fill)))
    return covered, sizes, empty


def row_probabilities(estimator, cut):
    """The classifier by itself, and with the previous state as further columns."""
    plain = clone(estimator).fit(Y[:cut], X[:cut]).predict_proba(Y)
    previous = np.eye(3)[np.array(X)]
    if hasattr(estimator, "steps"):
        first = clone(estimator[:-1]).fit(Y[1:cut])
        last, rows = clone(estimator[-1]), first.transform(Y)
    else:
        last, rows = clone(estimator), Y
    last.fit(np.column_stack([rows[1:cut], previous[: cut - 1]]), X[1:cut])
    tables = [last.predict_proba(np.column_stack([rows, np.tile(one, (len(Y), 1))]))
              for one in np.eye(3)]  # fmt: skip
    found = np.repeat(plain[:, None], 3, axis=1), np.stack(tables, axis=1)
    return [np.maximum(one, 1e-6) for one in found]


@pytest.mark.parametrize("allow_empty", [False, True])
@pytest.mark.parametrize("horizon", [1, 2])
@pytest.mark.parametrize("estimator", [FOREST, LINE])
def test_classical_sets_are_those_of_the_same_classifier(estimator, horizon, allow_empty):
    cp = ConformalHMM(
        estimator, train_size=0.4, confidence_level=LEVEL, allow_empty=allow_empty, random_state=0
    )
    test = run_backtest(cp, Y, X, horizon)
    assert list(test.methods) == EVERY
    found, cut = test.evaluations(), int(0.4 * 200)
    for name, tables in zip((CLASSICAL, PREVIOUS), row_probabilities(estimator, cut), strict=True):
        covered, sizes, empty = by_hand(tables, X, cut, 200, horizon, not allow_empty)
        assert found[name].covered.tolist() == covered, name
        assert found[name].sizes.tolist() == sizes, name
        assert (found[name].empty == 1).tolist() == empty, name
        assert found[name].filled.any() == (any(empty) and not allow_empty)


def test_rivals_of_a_hidden_markov_model_have_its_law_of_observations():
    """Fixed on the same rows: probabilities from its matrices, with and without the chain."""
    cp = ConformalHMM(
        HMM(emission="gaussian"), train_size=0.4, confidence_level=LEVEL, random_state=0
    )
    test = run_backtest(cp, Y, X)
    model, cut = test.predictor.model_, int(0.4 * 200)
    table, rows = model.emission.encode(Y, model.table, "observations")
    likelihood = np.exp(model.emission.log_likelihood(table, model.statistics, rows))
    codes = [model.states.index(one) for one in X]
    law = np.bincount(codes[:cut]) / cut
    chain = model.transitions + model.prior
    chain /= chain.sum(axis=1, keepdims=True)
    for name, steps in ((CLASSICAL, np.tile(law, (3, 1))), (PREVIOUS, chain)):
        tables = likelihood[:, None] * steps
        tables /= tables.sum(axis=2, keepdims=True)
        covered, sizes, _ = by_hand(tables, codes, cut, 200, 1, True)
        found = test.evaluations()[name]
        assert found.covered.tolist() == covered, name
        assert found.sizes.tolist() == sizes, name


def test_rivals_of_a_refitted_model_are_trained_on_the_first_half():
    cp = ConformalHMM(HMM(emission="gaussian"), confidence_level=LEVEL, random_state=0)
    found = run_backtest(cp, Y, X).evaluations()
    fixed = run_backtest(cp.set_params(train_size=0.5), Y, X).evaluations()
    for name in (CLASSICAL, PREVIOUS, REPEAT):
        assert found[name] == fixed[name]


@pytest.mark.parametrize("allow_empty", [False, True])
def test_rivals_are_filled_as_ours_are_in_one_pass_and_one_by_one(allow_empty):
    how = {"train_size": 0.5, "allow_empty": allow_empty, "random_state": 0}
    cp = ConformalHMM(LINE, confidence_level=0.4, **how)
    one = run_backtest(cp, Y, X).evaluations()[CLASSICAL]
    several = run_backtest(cp, Y, X, levels=[0.4, 0.9]).evaluations(0.4)[CLASSICAL]
    assert one == several
    assert one.filled.tolist() == several.filled.tolist()
    assert one.filled.any() != allow_empty
    test = run_backtest(cp, Y, X)
    rival = Classical(test.predictor.model_, confidence_level=0.4, random_state=0)
    rival.fills = not allow_empty
    rival.fit(Y[100:200], X[100:200])
    s = [rival.predict_set(row[None]) for row in Y[200:260]]
    assert any(one.filled for one in s) != allow_empty
    assert min(map(len, s)) == int(not allow_empty)


@pytest.mark.parametrize("guarantee", ["all", "steps", "errors"])
@pytest.mark.parametrize(("horizon", "lag"), [(1, 0), (4, 0), (4, 1), (12, 0)])
def test_the_last_state_repeated(horizon, lag, guarantee):
    errors = int(guarantee == "errors" and horizon > 1)
    if guarantee == "errors" and horizon == 1:
        return
    cp = ConformalHMM(
        HMM(emission="gaussian"), train_size=0.5, guarantee=promising(guarantee, errors),
        random_state=0,
    )  # fmt: skip
    test = run_backtest(cp, Y, X, horizon, lag=lag, windows=20)
    found = test.evaluations()[REPEAT]
    for k, begin in enumerate(found.begins):
        last = X[begin - lag - 1]
        truth = X[begin : begin + horizon - lag]
        wrong = sum(one != last for one in truth)
        assert found.wrong[k] == pytest.approx(wrong / len(truth))
        assert found.covered[k] == (wrong <= errors)
    assert found.width == found.size == 1
    assert test.guaranteed[REPEAT] is False


def test_only_ours_has_a_guarantee_and_only_if_its_symmetry_has():
    cp = ConformalHMM(LINE, train_size=0.5, random_state=0)
    test = run_backtest(cp, Y, X, windows=20)
    assert test.guaranteed == {name: name in ("definetti", WITHOUT) for name in EVERY}
    cp.set_params(symmetry="shifts")
    with pytest.warns(UserWarning, match="does not guarantee"):
        test = run_backtest(cp, Y, X, windows=20)
    assert not any(test.guaranteed.values())


def test_text_and_late_states_and_gaps():
    words = ["wet day", "dry day", "wet grey", "dry sun"] * 60
    states = ["rain", "sun", "rain", "sun"] * 58 + ["snow"] * 8
    model = make_pipeline(CountVectorizer(), LogisticRegression())
    cp = ConformalHMM(model, train_size=0.5, random_state=0)
    test = run_backtest(cp, words, states, lengths=[100, 60, 80])
    assert list(test.methods) == EVERY
    for found in test.evaluations().values():
        assert found.unseen.sum() == 1
        assert len(found.covered) == test.windows


def test_a_function_says_itself_what_follows_a_state():
    def fair(start, seen):
        return np.full((*seen.shape[:2], 3), 1 / 3)

    cp = ConformalHMM(fair, states=[0, 1, 2], random_state=0)
    test = run_backtest(cp, Y, X, windows=20)
    assert list(test.methods) == ["definetti", WITHOUT, CLASSICAL, REPEAT]
    assert any(note.startswith(f"{PREVIOUS} is left out: ") for note in test.notes)


def test_the_command_and_the_report_show_all_of_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = {"state": [f"s{one}" for one in X], "a": Y[:, 0], "b": Y[:, 1]}
    pl.DataFrame(rows).write_csv("x.csv")
    how = ["backtest", "x.csv", "--classifier", "random-forest", "--no-check", "--seed", "0"]
    done = CliRunner().invoke(app, [*how, "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["methods"]
    assert list(found) == EVERY
    assert [one["guaranteed"] for one in found.values()] == [True, True, False, False, False]
    shown = CliRunner().invoke(app, how, env={"COLUMNS": "200"}).output
    for name, one in found.items():
        [line] = [line for line in shown.splitlines() if line.startswith(f"│ {name} ")][:1]
        assert f"{one['coverage']:.3f} [{one['low']:.3f}, {one['high']:.3f}]" in line
        assert ("yes" in line, "no" in line) == (one["guaranteed"], not one["guaranteed"])
    cp = ConformalHMM(LINE, train_size=0.5, random_state=0)
    methods = make_report(cp, Y, X, windows=20).contents["backtest"]["methods"]
    assert list(methods) == EVERY
    assert [one[0]["guaranteed"] for one in methods.values()] == [True, True, False, False, False]
