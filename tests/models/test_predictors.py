"""Predictors trained elsewhere: however bad, the sets are valid."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from tests.products import covering

from definetti import HMM, ConformalHMM, compare_predictors, given_hmm
from definetti.emissions import Categorical, Gaussian, Mixed
from definetti.emissions.classifier import Classifier, LogLikelihood
from definetti.evaluation.intervals import exact_interval
from definetti.models.hmmlearn import FromHmmlearn
from definetti.models.predictors import Predictor, from_torch
from definetti.simulate import sample, weather
from definetti.verify import enumerate_ranks

TWO = [
    ([0.5, 0.5], [[0.1, 0.9], [0.9, 0.1]], [[0.5, 0.5], [0.5, 0.5]]),
    ([0.9, 0.1], [[0.8, 0.2], [0.0, 1.0]], [[0.7, 0.3], [0.2, 0.8]]),
    ([0.3, 0.7], [[0.6, 0.4], [0.3, 0.7]], [[0.9, 0.1], [0.2, 0.8]]),
]
WRONG = given_hmm([[0.05, 0.95], [0.99, 0.01]], [[0.1, 0.9], [1.0, 0.0]])


def stubborn(start, observations):
    """A predictor that never listens."""
    return np.broadcast_to([0.9, 0.1], (*observations.shape, 2))


def erratic(start, observations):
    """A random classifier: any probability, but the same for the same input."""
    first = (np.asarray(start, float)[:, None] * 7.3 + observations.astype(float) * 3.1) % 1.0
    return np.stack([first, 1 - first], axis=-1)


def impossible(start, observations):
    """A predictor that is sure, and wrong half of the time."""
    sure = observations.astype(int) == 1
    return np.stack([sure, ~sure], axis=-1).astype(float)


PREDICTORS = {
    "wrong model": {"model": WRONG},
    "stubborn": {"model": stubborn},
    "erratic": {"model": erratic},
    "impossible": {"model": impossible},
    "split": {"train_size": 2},
    "split, no prior": {"model": HMM(prior=0), "train_size": 0.5},
}
JUDGED = {
    "auto, path": ("auto", "path"),
    "auto, band": ("auto", "band"),
    "full": ("full", "joint"),
    "returns": ("returns", "filter"),
    "pairs": ("pairs", "path"),
}


@pytest.mark.slow_cases("erratic-full", "wrong model-auto, path")
@pytest.mark.parametrize(("name", "judged"), covering(PREDICTORS, JUDGED, fast=3))
def test_coverage_is_exact_whatever_the_predictor(name, judged):
    symmetry, score = JUDGED[judged]
    predictor = ConformalHMM(
        symmetry=symmetry, conformity_score=score, allow_empty=True, **PREDICTORS[name]
    )
    for shape in [(2, 2, 4, 1), (2, 2, 3, 2)]:
        everything = enumerate_ranks(predictor, *shape)
        for model in TWO:
            law = [np.array(part) for part in model]
            for level in (0.5, 0.8):
                assert everything.coverage(*law, level) >= level - 1e-12
                smoothed = everything._replace(smoothing=True)
                assert smoothed.coverage(*law, level) == pytest.approx(level, abs=1e-9)
                given = smoothed.coverage_given_last(*law, level)
                assert given[~np.isnan(given)] == pytest.approx(level, abs=1e-9)


def gaussian(length, seed=0, width=2):
    rng = np.random.default_rng(seed)
    x = sample(
        np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.2, 0.8]]), np.eye(2), length, rng
    ).states
    return rng.normal(2.0 * x[:, None], 1.0, (length, width)), np.array(["low", "high"])[x]


def test_a_split_fits_on_the_first_segment_only():
    y, x = weather(200, random_state=0)
    cp = ConformalHMM(train_size=0.5).fit(y, x)
    assert cp.n_steps_ == 100
    assert type(cp.symmetry_).__name__ == "Spaced"
    changed = ConformalHMM(train_size=0.5).fit(y, x[:100] + x[100:][::-1])
    assert (cp.model_.transitions == changed.model_.transitions).all()
    assert (cp.model_.statistics == changed.model_.statistics).all()


def test_a_fixed_model_scores_each_segment_once():
    """However many predictions are made, and whatever came in between."""
    y, x = gaussian(600)
    asked = []

    def probabilities(start, observations):
        asked.append(len(start))
        high = 1 / (1 + np.exp(2 - observations.sum(axis=-1)))
        return np.stack([1 - high, high], axis=-1)

    model = Predictor(probabilities, LogLikelihood())
    cp = ConformalHMM(model, states=["low", "high"]).fit(y[:500], x[:500])
    cp.predict_set(y[500:501])
    first = sum(asked)
    assert first >= 300
    for t in range(500, 550):
        cp.predict_set(y[t : t + 1])
        cp.partial_fit(y[t : t + 1], x[t : t + 1])
    assert sum(asked) - first < 50 * 8
    fresh = ConformalHMM(model, states=["low", "high"]).fit(y[:550], x[:550])
    assert cp.predict_p(y[550:551]) == fresh.predict_p(y[550:551])


@pytest.mark.parametrize("model", ["auto", HMM()])
def test_a_vocabulary_that_grows_is_no_stale_score(model):
    """The law of symbols changes with the first sight of a symbol; scores noted before do not."""
    y, x = weather(120, random_state=3)
    cp = ConformalHMM(model, train_size=0.5).fit(y, x)
    cp.predict_p(["hat"])
    cp.partial_fit(["sombrero", "hat"], ["sun", "sun"])
    whole = ConformalHMM(model, train_size=60).fit([*y, "sombrero", "hat"], [*x, "sun", "sun"])
    assert cp.predict_p(["umbrella"]).p_values == pytest.approx(
        whole.predict_p(["umbrella"]).p_values
    )


def test_any_classifier_and_pipelines():
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    y, x = gaussian(400)
    model = HMM(emission=Classifier(make_pipeline(StandardScaler(), LogisticRegression())))
    cp = ConformalHMM(model, train_size=0.5, confidence_level=0.8).fit(y[:300], x[:300])
    judged = cp.evaluate(y[300:], x[300:], horizon=1)
    assert judged.coverage > 0.7
    assert judged.size < 1.5
    with pytest.raises(ValueError, match=r"train_size=0\.5"):
        ConformalHMM(model).fit(y, x)


def test_a_classifier_that_has_not_seen_a_state():
    from sklearn.linear_model import LogisticRegression

    y, x = gaussian(100)
    x[:60] = "low"
    model = HMM(emission=Classifier(LogisticRegression()))
    with pytest.raises(ValueError, match="never has state 'high'"):
        ConformalHMM(model, train_size=0.5).fit(y, x)


def test_a_ready_log_likelihood():
    y, x = gaussian(300, width=1)
    judged = np.stack([-(y[:, 0] ** 2) / 2, -((y[:, 0] - 2) ** 2) / 2], axis=1)
    # Counted, not drawn: other numbers draw others.
    model = HMM(emission=LogLikelihood())
    cp = ConformalHMM(model, states=["low", "high"], symmetry="returns")
    s = cp.fit(judged[:299], x[:299]).predict_p(judged[299:])
    moved = cp.fit(judged[:299] + 5.0, x[:299]).predict_p(judged[299:] - 3.0)
    assert s.sequences == moved.sequences
    assert s.p_values == pytest.approx(moved.p_values)
    with pytest.raises(ValueError, match="2 columns for 1 states"):
        ConformalHMM(HMM(emission=LogLikelihood()), states=["low"]).fit(judged[:1], ["low"])


def hmmlearn_models():
    hmm = pytest.importorskip("hmmlearn.hmm")
    y, x = gaussian(600, seed=1)
    symbols = (y[:, :1] > 1).astype(int) + (y[:, :1] > 2)
    counts = np.random.default_rng(0).poisson(2 + 6 * (x == "high"))[:, None]
    return {
        "gaussian": (hmm.GaussianHMM(2, random_state=0).fit(y), y, x),
        "gmm": (hmm.GMMHMM(2, n_mix=2, random_state=0).fit(y), y, x),
        "categorical": (hmm.CategoricalHMM(2, random_state=3, n_iter=50).fit(symbols), symbols, x),
        "poisson": (hmm.PoissonHMM(2, random_state=0).fit(counts), counts, x),
    }


@pytest.mark.slow_cases("categorical", "gaussian", "gmm", "poisson")
@pytest.mark.parametrize("kind", ["gaussian", "gmm", "categorical", "poisson"])
def test_a_fitted_hmmlearn_model(kind):
    model, y, x = hmmlearn_models()[kind]
    cp = ConformalHMM(model, train_size=0.3, confidence_level=0.8).fit(y[:500], x[:500])
    judged = cp.evaluate(y[500:], x[500:], horizon=1)
    assert judged.coverage > 0.68
    assert judged.size < 1.7
    order = cp.model_.emission_.order
    named = FromHmmlearn(model, states=tuple(np.array(cp.states_)[np.argsort(order)]))
    again = ConformalHMM(named, confidence_level=0.8).fit(y[150:500], x[150:500])
    found, expected = again.predict_p(y[500:502]), cp.predict_p(y[500:502])
    assert {s: found.p_value(s) for s in found} == {s: expected.p_value(s) for s in expected}
    with pytest.raises(ValueError, match="train_size"):
        ConformalHMM(model).fit(y, x).predict_set(y[:1])


def test_a_torch_module():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(2, 2)
            self.dropout = torch.nn.Dropout(0.5)

        def forward(self, start, observations):
            return torch.softmax(self.dropout(self.linear(observations)), dim=-1)

    y, x = gaussian(200)
    net = Net()
    cp = ConformalHMM(net, states=["low", "high"]).fit(y[:198], x[:198])
    assert cp.predict_p(y[198:]) == cp.predict_p(y[198:])  # dropout is off
    assert net.training


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda s, y: np.full((len(s), 2), 0.5), "shape"),
        (lambda s, y: np.full((*y.shape, 3), 1 / 3), "declare states"),
        (lambda s, y: np.full((*y.shape, 2), np.nan), "nan for window 0, step 0, column 0"),
        (lambda s, y: np.broadcast_to([1.5, -0.5], (*y.shape, 2)), "-0.5 for window 0"),
        (lambda s, y: np.broadcast_to([0.5, 0.6], (*y.shape, 2)), "sum to 1.1 .* softmax"),
    ],
)  # fmt: skip
def test_functions_that_give_no_probabilities(function, message):
    y, x = weather(30, random_state=0)
    cp = ConformalHMM(function, states=["sun", "rain"]).fit(y, x)
    with pytest.raises(ValueError, match=message):
        cp.predict_set(["hat"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0.5, 0.6], [0.5, 0.5]], [[1.0], [1.0]]), r"transition\[0\] sums to 1.1"),
        (([[0.5, 0.5], [-0.1, 1.1]], [[1.0], [1.0]]), r"transition\[1, 0\] is -0.1"),
        (([[0.5, 0.5], [0.5, 0.5]], [[0.2, 0.8]]), "they must be"),
        (([[1.0]], [[np.nan]]), r"emission\[0, 0\] is nan"),
        (([[1.0]], [[1.0]], ["a", "b"]), "one label per row"),
    ],
)
def test_matrices_that_are_no_model(arguments, message):
    with pytest.raises(ValueError, match=message):
        given_hmm(*arguments)


@pytest.mark.parametrize("size", [0, 1.0, -1, 30, "half", True, None.__class__])
def test_splits_that_are_none(size):
    with pytest.raises(ValueError, match="train_size"):
        ConformalHMM(train_size=size).fit(*weather(30, random_state=0))


def test_what_is_trained_is_not_trained_again():
    with pytest.raises(ValueError, match="trained already"):
        ConformalHMM(stubborn, train_size=0.5, states=["sun", "rain"]).fit(
            *weather(30, random_state=0)
        )


def test_a_comparison_is_a_table_best_first():
    y, x = weather(400, random_state=2)
    true = given_hmm(
        [[0.9, 0.1], [0.2, 0.8]], [[0.1, 0.7, 0.2], [0.8, 0.05, 0.15]],
        states=["sun", "rain"], symbols=["umbrella", "hat", "nothing"],
    )  # fmt: skip
    found = compare_predictors(
        {"coin": lambda s, o: np.full((*o.shape, 2), 0.5), "true": true, "counted": HMM()},
        y, x, confidence_level=0.9, smoothing=True, random_state=0, labels=["sun", "rain"],
    )  # fmt: skip
    assert [row.predictor for row in found.rows][-1] == "coin"
    assert found.windows == 200
    for row in found.rows:
        assert row.low <= row.coverage <= row.high
        assert row.high > 0.9 - 0.02
    assert len(found.to_frame("pandas")) == 3
    assert "coin" in repr(found)
    with pytest.raises(ValueError, match="predictors"):
        compare_predictors({}, y, x)


def test_a_comparison_can_be_drawn():
    pytest.importorskip("matplotlib").use("Agg")
    found = compare_predictors({"counted": HMM()}, *weather(60, random_state=2), random_state=0)
    assert found.plot().get_ylabel() == "coverage"


def test_the_interval_is_that_of_clopper_and_pearson():
    """Its ends are the probabilities at which the count becomes improbable."""
    from scipy.stats import binom

    low, high = exact_interval(7, 20)
    assert binom.sf(6, 20, low) == pytest.approx(0.025)
    assert binom.cdf(7, 20, high) == pytest.approx(0.025)
    assert exact_interval(0, 5)[0] == 0
    assert exact_interval(5, 5)[1] == 1


def test_a_mixed_model_keeps_no_stale_score():
    """A new category changes the law of its column: what was asked before must not matter."""
    y = [(s, float(k % 3)) for k, s in enumerate(weather(80, random_state=4).observations)]
    x = weather(80, random_state=4).states
    model = HMM(emission=Mixed({0: Categorical(), 1: Gaussian()}))
    asked, fresh = (ConformalHMM(model, train_size=0.5, states=["sun", "rain"]) for _ in range(2))
    asked.fit(y, x).predict_p([("hat", 1.0)])
    asked.partial_fit([("sombrero", 1.0)], ["sun"])
    fresh.fit(y, x).partial_fit([("sombrero", 1.0)], ["sun"])
    assert asked.predict_p([("umbrella", 0.0)]) == fresh.predict_p([("umbrella", 0.0)])


def test_a_state_that_a_function_never_heard_of_has_no_probability():
    y, x = weather(60, random_state=5)
    coin = lambda s, o: np.full((*o.shape, 2), 0.5)  # noqa: E731
    cp = ConformalHMM(coin, states=["sun", "rain"]).fit(y, x)
    assert cp.p_value(["hat"], ["snow"]) == 1.0
    assert len(cp.predict_p(["hat"])) == 2


def test_a_fitted_estimator_is_a_predictor():
    y, x = weather(300, random_state=5)
    split = ConformalHMM(train_size=0.5).fit(y[:200], x[:200])
    again = ConformalHMM(split).fit(y[100:200], x[100:200])
    assert again.predict_p(y[200:202]) == split.predict_p(y[200:202])
    refitted = ConformalHMM(random_state=0).fit(y[:200], x[:200])
    fixed = ConformalHMM(refitted).fit(y[200:299], x[200:299])
    assert fixed.model_.transitions.sum() == 199
    assert fixed.predict_set(y[299:]).horizon == 1


def test_what_becomes_of_the_users_model_is_of_no_concern():
    hmm = pytest.importorskip("hmmlearn.hmm")
    y, x = gaussian(300, seed=1)
    model = hmm.GaussianHMM(2, random_state=0).fit(y)
    cp = ConformalHMM(model, train_size=0.3).fit(y[:299], x[:299])
    before = cp.predict_p(y[299:])
    model.means_ = model.means_[::-1]
    assert cp.predict_p(y[299:]) == before


def test_a_split_measures_from_what_it_trains_on():
    """Where the training data hardly vary, data far away must not tell how they are scaled."""
    y, x = np.array([0.0, 1e-7, 0.0, 1e-7, 1.0, 0.0]), [0, 1, 0, 1, 0, 1]
    found = []
    for later in (1.0, 7.0):
        cp = ConformalHMM(HMM(emission=Gaussian()), train_size=4, states=[0, 1])
        cp.fit(np.append(y, later), [*x, 0])
        found.append(cp.model_.emission_.log_likelihood(
            cp.model_.table, cp.model_.statistics, np.arange(4)))  # fmt: skip
    np.testing.assert_array_equal(*found)


def test_comparing_leaves_the_users_estimator_alone():
    y, x = weather(100, random_state=6)
    mine = ConformalHMM(random_state=0).fit(y, x)
    compare_predictors({"mine": mine}, y, x)
    assert mine.n_steps_ == 100


def test_states_that_contradict_the_model_are_refused():
    with pytest.raises(ValueError, match="states does not have 1"):
        ConformalHMM(WRONG, states=[0]).fit([0, 1], [0, 0])


def test_pairs_do_not_take_the_future_for_a_gap():
    y, x = weather(40, random_state=7)
    y[3] = None
    cp = ConformalHMM(HMM(), symmetry="pairs").fit(y, x)
    with pytest.raises(ValueError, match="symmetry='pairs'"):
        cp.predict_set(horizon=2)


def test_a_torch_module_in_training_is_asked_by_many_threads_without_dropout(monkeypatch):
    """Each thread that has asked turns training on again, and must not do so amid the others."""
    torch = SimpleNamespace(no_grad=nullcontext, as_tensor=np.asarray, Tensor=())
    monkeypatch.setitem(sys.modules, "torch", torch)
    seen = []

    class Net:
        training = True

        def eval(self):
            self.training = False

        def train(self, training):
            self.training = training

        def __call__(self, start, observations):
            time.sleep(0)  # let the others on
            seen.append(self.training)

    net = Net()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: from_torch(net, [0], [[0.0]]), range(2_000)))
    assert (set(seen), net.training) == ({False}, True)
