"""Pictures say what the objects say."""

import matplotlib as mpl
import numpy as np
import pytest
from tests.products import some_slow

mpl.use("agg")
import matplotlib.pyplot as plt

from definetti import HMM, ConformalHMM, compare_predictors
from definetti.plots import plot_backtest, plot_coverage, plot_sizes
from definetti.simulate import weather

Y, X = weather(700, random_state=3)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def drawn_cells(ax):
    """Which cells have a shade, steps by states."""
    mesh = ax.collections[0]
    shade = np.ma.getmaskarray(mesh.get_array())
    return ~shade.reshape(mesh._coordinates.shape[0] - 1, -1).T


SETS = {
    "listed": ({}, 3),
    "lattice": ({"train_size": 0.5}, 20),
    "steps": ({"train_size": 0.5, "guarantee": "steps"}, 25),
}


@pytest.mark.parametrize("name", some_slow(SETS, ["steps"]))
def test_the_cells_of_a_set_are_its_steps(name):
    params, horizon = SETS[name]
    s = ConformalHMM(random_state=0, **params).fit(Y[:600], X[:600]).predict_set(Y[600:][:horizon])
    truth = X[600:][:horizon]
    ax = s.plot(truth=truth)
    assert (drawn_cells(ax) == s.nodes).all()
    assert [label.get_text() for label in ax.get_yticklabels()] == list(s.states)
    line = next(line for line in ax.lines if line.get_label() == "true state")
    assert [s.states[int(code)] for code in line.get_ydata()] == list(truth)
    misses = [line for line in ax.lines if line.get_label() == "not in the set"]
    wrong = [k + 1 for k, (x, step) in enumerate(zip(truth, s.steps, strict=True)) if x not in step]
    assert [int(k) for line in misses for k in line.get_xdata()] == wrong
    other = plt.subplots()[1]
    assert s.plot(ax=other) is other
    with pytest.raises(ValueError, match="truth must be"):
        s.plot(truth=["snow"])


@pytest.mark.parametrize("score", ["path", "smoother", "band"])
def test_p_values_of_a_step_are_those_of_its_best_sequence(score):
    """The lattice's are those that a list of all candidates gives."""
    cp = ConformalHMM(conformity_score=score, train_size=0.5).fit(Y[:300], X[:300])
    listed = cp.predict_p(Y[300:305])
    cp.set_params(max_candidates=1, allow_empty=True)
    lattice = cp.predict_p(Y[300:305])
    assert type(lattice).__name__ == "LatticeSet"
    assert lattice.step_p_values == pytest.approx(listed.step_p_values)
    some = (
        ConformalHMM(conformity_score=score, train_size=0.5)
        .fit(Y[:300], X[:300])
        .predict_set(Y[300:305])
    )
    assert some.step_p_values == pytest.approx(listed.step_p_values)  # non-members have theirs
    for level in (0.5, 0.9):
        s = cp.predict_set(Y[300:305], level)
        assert (s.nodes == (s.step_p_values > 1 - level + 1e-12)).all()


def test_edges_of_a_list_are_those_of_the_lattice():
    cp = ConformalHMM(train_size=0.5).fit(Y[:300], X[:300])
    listed = cp.predict_set(Y[300:305])
    lattice = cp.set_params(max_candidates=1).predict_set(Y[300:305])
    assert (listed.edges == lattice.edges).all()
    assert (listed.nodes == lattice.nodes).all()


def test_a_backtest_marks_its_misses():
    e = (
        ConformalHMM(random_state=0)
        .fit(Y[:600], X[:600])
        .evaluate(Y[600:], X[600:], 0.8, horizon=1)
    )
    ax = plot_backtest(e)
    misses = next(line for line in ax.lines if line.get_label() == "not in the set")
    shown = e.nodes[np.arange(len(e.truth)), e.truth]  # filled sets as they were given
    assert len(misses.get_xdata()) == (~shown).sum() > 0
    assert np.array_equal(e.covered, shown & ~e.filled)
    assert (drawn_cells(ax) == e.nodes).all()
    assert e.plot() is not None
    running = next(line for line in plot_coverage(e).lines if line.get_label() == "coverage so far")
    assert running.get_ydata()[-1] == pytest.approx(e.coverage)
    shares = [bar.get_height() for bar in plot_sizes(e).patches]
    assert sum(shares) == pytest.approx(1)


@pytest.mark.slow
def test_many_states_and_many_steps_are_drawn():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 20, 6_000)
    y = (x + rng.integers(0, 2, 6_000)) % 20
    cp = ConformalHMM(HMM(), train_size=0.3, guarantee="steps", confidence_level=0.5)
    cp.fit(y[:5_000], x[:5_000])
    ax = cp.predict_set(y[5_000:5_100]).plot()
    ax.figure.canvas.draw()
    e = cp.evaluate(y[5_000:], x[5_000:], horizon=50)
    plot_backtest(e).figure.canvas.draw()


def test_a_comparison_is_drawn():
    found = compare_predictors({"counted": HMM()}, Y[:200], X[:200], random_state=0)
    assert found.plot().get_ylabel() == "coverage"


NAMES = ["$x", "a$b$c", r"$\frac", r"\$x$", "_hidden"]


def painted(text):
    """What is seen of a piece of text, and whether it is read as a formula."""
    letters, formula = text._preprocess_math(text.get_text())
    return letters.replace("\N{ZERO WIDTH SPACE}", ""), formula


@pytest.mark.slow
def test_names_are_drawn_verbatim():
    """A name may hold dollar signs, which is no formula, or begin with an underscore."""
    states = [NAMES[len(x) % 2] for x in X]
    cp = ConformalHMM(train_size=0.5, states=NAMES, random_state=0).fit(Y[:300], states[:300])
    names = [(name, False) for name in NAMES]
    for ax in (
        cp.predict_set(Y[300:303]).plot(truth=states[300:303]),
        plot_backtest(cp.evaluate(Y[300:310], states[300:310], horizon=1)),
    ):
        ax.figure.canvas.draw()
        assert [painted(label) for label in ax.get_yticklabels()] == names
    predictors = {name: HMM() for name in NAMES}
    comparison = compare_predictors(predictors, Y[:60], X[:60], test_size=0.1)
    ax = comparison.plot()
    ax.figure.canvas.draw()
    legend = [painted(text) for text in ax.get_legend().get_texts()]
    assert legend == [(row.label, False) for row in comparison.rows]
