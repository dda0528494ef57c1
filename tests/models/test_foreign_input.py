"""Whatever is wrong with a model from elsewhere, or its data: the error says whose fault it is."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, StackingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import definetti
from definetti import HMM, ConformalHMM, FromHmmlearn, compare_predictors, given_hmm
from definetti.emissions import Classifier, Gaussian, LogLikelihood
from definetti.exceptions import NotExactWarning
from definetti.scores import Path, Score
from definetti.simulate import weather

RNG = np.random.default_rng(0)
STATES = np.array(["low", "high"])[RNG.integers(0, 2, 80)]
NUMBERS = RNG.normal(2.0 * (STATES == "high")[:, None], 1.0, (80, 2))
COUNTS = RNG.poisson(2 + 5 * (STATES == "high"))[:, None]
SYMBOLS = (COUNTS > 2).astype(int) + (COUNTS > 5)

pytestmark = pytest.mark.filterwarnings("ignore::definetti.exceptions.GapWarning")


def changed(rows, row, column, value):
    rows = np.array(rows, dtype=float)
    rows[row, column] = value
    return rows


# hmmlearn


def hmmlearn(kind, rows):
    hmm = pytest.importorskip("hmmlearn.hmm")
    trials = {"n_trials": int(rows[0].sum())} if kind == "MultinomialHMM" else {}
    return getattr(hmm, kind)(2, random_state=0, **trials).fit(rows)


SPLIT = np.random.default_rng(1).multinomial(5, [0.2, 0.3, 0.5], 80)
WRONG_ROWS = [
    ("GaussianHMM", NUMBERS, NUMBERS[:, :1], "has 1 column, but the GaussianHMM .* give 2 numbers"),
    ("GMMHMM", NUMBERS, np.hstack([NUMBERS, NUMBERS]), "4 columns, .* was fitted with 2"),
    ("GaussianHMM", NUMBERS, changed(NUMBERS, 3, 1, np.nan), "row 4, column 1 is nan; .* fill it"),
    ("PoissonHMM", COUNTS, changed(COUNTS, 5, 0, 1.5), "row 6, column 0 is 1.5; .* whole numbers"),
    ("PoissonHMM", COUNTS, changed(COUNTS, 5, 0, -1), "row 6, column 0 is -1; .* whole numbers"),
    ("MultinomialHMM", SPLIT, changed(SPLIT, 4, 2, 0.5), "row 5, column 2 is 0.5; .* whole"),
    ("CategoricalHMM", SYMBOLS, changed(SYMBOLS, 7, 0, 0.5), "row 8, column 0 is 0.5; .* whole"),
    ("CategoricalHMM", SYMBOLS, changed(SYMBOLS, 7, 0, -2), "row 8, column 0 is -2; .* whole"),
    ("CategoricalHMM", SYMBOLS, changed(SYMBOLS, 7, 0, 3), "is 3; .* 0 to 2; .* n_features"),
    ("CategoricalHMM", SYMBOLS, np.hstack([SYMBOLS, SYMBOLS]), "2 columns, .* give 1 number per"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "rows", "wrong", "message"), WRONG_ROWS)
def test_rows_that_an_hmmlearn_model_cannot_take(kind, rows, wrong, message):
    model = FromHmmlearn(hmmlearn(kind, rows), states=("low", "high"))
    with pytest.raises(ValueError, match=f"^observations.*{message}"):
        ConformalHMM(model).fit(wrong, STATES)
    cp = ConformalHMM(model, states=["low", "high"]).fit(rows, STATES)
    with pytest.raises(ValueError, match=r"^new_observations"):
        cp.predict_set(wrong[3:8])
    with pytest.raises(ValueError, match=r"^observations"):
        cp.partial_fit(wrong[3:8], STATES[3:8])
    assert cp.n_steps_ == 80


@pytest.mark.parametrize(
    ("kind", "rows"),
    [("GaussianHMM", NUMBERS), ("CategoricalHMM", SYMBOLS), ("PoissonHMM", COUNTS)],
)
def test_rows_that_are_missing_altogether_are_fine(kind, rows):
    model = hmmlearn(kind, rows)
    gappy = [None, *rows[1:].tolist()]
    cp = ConformalHMM(model, train_size=0.5).fit(gappy, STATES)
    assert len(cp.predict_p([None, rows[0].tolist()])) == 4
    named = FromHmmlearn(model, states=("low", "high"))
    assert len(ConformalHMM(named).fit(None, STATES).predict_p(horizon=1)) == 2


def test_an_hmmlearn_model_whose_matrices_were_put_in():
    model = hmmlearn("CategoricalHMM", SYMBOLS)
    by_hand = type(model)(2)
    for name in ("startprob_", "transmat_", "emissionprob_"):
        setattr(by_hand, name, getattr(model, name))
    with pytest.raises(ValueError, match=r"row 1 is 3; .* symbols 0 to 2"):
        ConformalHMM(FromHmmlearn(by_hand, states=("low", "high"))).fit([3, 0], ["low", "high"])


def test_what_an_error_recommends_can_be_had():
    assert "FromHmmlearn" in definetti.__all__
    assert definetti.FromHmmlearn is FromHmmlearn


# A matrix of log-likelihoods

JUDGED = np.stack([-(NUMBERS[:, 0] ** 2) / 2, -((NUMBERS[:, 0] - 2) ** 2) / 2], axis=1)
READY = HMM(emission=LogLikelihood())


@pytest.mark.parametrize("split", [None, 0.5])
@pytest.mark.parametrize("states", [["low", "high", "top"], ["low", "high", "top", "side"]])
def test_fewer_columns_than_states(states, split):
    cp = ConformalHMM(READY, states=states, train_size=split)
    with pytest.raises(ValueError, match=f"2 columns for {len(states)} states; give one column"):
        cp.fit(JUDGED, STATES)


@pytest.mark.parametrize("split", [None, 0.5])
def test_states_without_a_column_may_be_asked_about(split):
    cp = ConformalHMM(READY, random_state=0, train_size=split, states=["low", "high"])
    cp.fit(JUDGED, STATES)
    assert 0 < cp.p_value(JUDGED[:1], ["top"]) <= 1
    with pytest.raises(ValueError, match="is 'top', which is not among the known labels"):
        cp.partial_fit(JUDGED[:1], ["top"])


def test_columns_without_names_need_declared_states():
    """The order in which labels are first met is not what a rearrangement keeps."""
    for model in (READY, lambda s, o: np.full((*o.shape, 2), 0.5)):
        with pytest.raises(
            ValueError, match=r"states is not declared.*in the order of the columns"
        ):
            ConformalHMM(model).fit(JUDGED, STATES)


@pytest.mark.parametrize("shift", [7.0, -7.0])
def test_adding_to_a_row_is_without_effect_also_for_later_states(shift):
    emission = LogLikelihood()
    found = []
    for rows in (JUDGED, JUDGED + shift):
        table, codes = emission.encode(rows, None, "observations")
        logs = emission.log_likelihood(table, np.zeros((3, 0)), codes)
        found.append(logs - logs[:, :1])
    np.testing.assert_allclose(*found)
    np.testing.assert_allclose(found[0][:, 2], found[0][:, :2].min(axis=1))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([-1.0, np.inf], "row 4, column 1 is inf; use a finite number"),
        ([-np.inf, -np.inf], "row 4, column 0 is -inf; and so is the whole row"),
        ([-1.0, np.nan], "row 4, column 1 is nan; give a number for every state"),
    ],
)
def test_log_likelihoods_that_are_none(row, message):
    cp = ConformalHMM(READY, states=["low", "high"])
    with pytest.raises(ValueError, match=f"^observations: {message}"):
        cp.fit(changed(JUDGED, 3, [0, 1], row), STATES)
    with pytest.raises(ValueError, match=r"^new_observations: row 1"):
        cp.fit(JUDGED, STATES).predict_set([row])


def test_log_likelihoods_that_rule_a_state_out():
    cp = ConformalHMM(READY, states=["low", "high"])
    cp.fit([*JUDGED.tolist(), [-np.inf, 0.0], None], [*STATES, "high", "low"])
    assert cp.predict_p([[-np.inf, 0.0]]).sequences[0] == ("high",)
    assert len(cp.predict_p([None])) == 2
    assert len(cp.fit(None, STATES).predict_p(horizon=1)) == 2


# Whose error it is

Y, X = weather(40, random_state=0)


class Asking(Score):
    """A user's class of scores, which asks the model."""

    def __call__(self, estimate, windows):
        return estimate.log_posterior(windows)


def failing(start, observations):
    raise ValueError("the server is down")


@pytest.mark.parametrize("score", ["path", "filter", "band", Path(), Asking()])
@pytest.mark.parametrize(
    ("model", "message"),
    [
        (failing, "the server is down"),
        (lambda s, y: np.full((len(s), 2), 0.5), "model returned shape"),
        (lambda s, y: np.full((*y.shape, 2), np.nan), "model returned nan"),
        (lambda s, y: np.full((*y.shape, 2), 0.6), r"model returned .* that sum to 1\.2"),
        (lambda s, y: None, "model returned"),
        (lambda s, y: "half", "model returned a str that is no array of numbers; return"),
        (lambda s, y: [[0.5], [0.5, 0.5]], "model returned a list that is no array of numbers"),
    ],
)  # fmt: skip
def test_a_score_is_not_blamed_for_its_model(model, message, score):
    cp = ConformalHMM(model, conformity_score=score, states=["sun", "rain"]).fit(Y, X)
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        cp.predict_set(["hat"])


class Worded(Score):
    def __call__(self, estimate, windows):
        return ["strange"] * len(windows.start)


@pytest.mark.parametrize(
    "score", [lambda w: int("many"), lambda w: b"\xff".decode(), lambda w: None + 1, Worded()]
)
def test_a_score_is_blamed_for_itself(score):
    cp = ConformalHMM(HMM(), conformity_score=score).fit(Y, X)
    with pytest.raises(
        (TypeError, ValueError), match=r"^score must return one number per window: "
    ):
        cp.predict_set(["hat"])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda y: y.mean(dim=1), "model returned shape"),
        (lambda y: y.softmax(dim=-1) * float("nan"), "model returned nan for window 0"),
        (lambda y: y, "model returned .*probabilities"),
        (lambda y: y.exp(), "model returned probabilities that sum to .* softmax"),
        (lambda y: (y.softmax(dim=-1), y[..., :1]), "model returned a tuple that is no array"),
    ],
)
def test_a_torch_module_that_gives_no_probabilities(answer, message):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")

    class Net(torch.nn.Module):
        def forward(self, start, observations):
            return answer(observations)

    cp = ConformalHMM(Net(), states=["low", "high"]).fit(NUMBERS, STATES)
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        cp.predict_set(NUMBERS[:2])


def test_a_torch_module_takes_numbers_only():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")

    class Coin(torch.nn.Module):
        def forward(self, start, observations):
            return torch.full((*observations.shape, 2), 0.5)

    cp = ConformalHMM(Coin(), states=["sun", "rain"]).fit(Y, X)
    with pytest.raises(TypeError, match=r"^model is a PyTorch module, .* code them as numbers"):
        cp.predict_set(["hat"])
    assert len(cp.fit([len(symbol) for symbol in Y], X).predict_p([3])) == 2


# Classes for instances, classifiers for models


def test_the_class_of_an_emission():
    with pytest.raises(TypeError, match=r"class Gaussian; pass an instance: emission=Gaussian\(\)"):
        ConformalHMM(HMM(emission=Gaussian)).fit(NUMBERS, STATES)


def test_the_name_of_an_emission():
    named, made = (
        ConformalHMM(HMM(emission=one), train_size=0.5, random_state=0).fit(NUMBERS, STATES)
        for one in ("gaussian", Gaussian())
    )
    assert named.predict_p(NUMBERS[:2]) == made.predict_p(NUMBERS[:2])
    with pytest.raises(ValueError, match=r"emission must be one of .*'poisson'.*got 'normal'"):
        HMM(emission="normal").check()
    with pytest.raises(TypeError, match=r"pass an instance: emission=Classifier\(…\)"):
        HMM(emission="classifier").check()
    with pytest.raises(TypeError, match="or be a name of one, got 3"):
        HMM(emission=3).check()


@pytest.mark.parametrize("estimator", [LogisticRegression, "logistic", None])
def test_what_is_no_classifier(estimator):
    with pytest.raises(TypeError, match=r"estimator must be an instance .* LogisticRegression\(\)"):
        Classifier(estimator)


def trained(estimator, rows=NUMBERS):
    return ConformalHMM(HMM(emission=Classifier(estimator)), train_size=0.5).fit(rows, STATES)


def test_a_classifier_without_probabilities():
    with pytest.raises(TypeError, match=r"predict_proba; .*CalibratedClassifierCV\(LinearSVC\(…"):
        trained(LinearSVC())
    # It has some, but knows only once it is fitted.
    stack = StackingClassifier([("one", LogisticRegression()), ("other", LogisticRegression())])
    assert len(trained(stack).predict_p(NUMBERS[:1])) == 2


@pytest.mark.parametrize("row", [3, 60])
def test_a_classifier_that_takes_no_gaps(row):
    gappy = changed(NUMBERS, row, 1, np.nan)
    remedy = "takes no gaps; .* SimpleImputer"
    # What comes after the segment is counted from its end.
    expected = rf"^observations.*: row {row % 40 + 1}, column {{}} is nan; .*{remedy}"
    with pytest.raises(ValueError, match=expected.format(1)):
        trained(LogisticRegression(), gappy)
    with pytest.raises(ValueError, match=expected.format("'b'")):
        trained(LogisticRegression(), pd.DataFrame(gappy, columns=["a", "b"]))
    cp = trained(LogisticRegression())
    with pytest.raises(ValueError, match=f"^new_observations: row 1, column 1 is nan; .*{remedy}"):
        cp.predict_set(gappy[row : row + 1])
    with pytest.raises(ValueError, match=r"^observations: row 1"):
        cp.partial_fit(gappy[row : row + 1], ["low"])
    assert len(cp.predict_p([None])) == 2
    for able in (
        make_pipeline(SimpleImputer(), LogisticRegression()),
        HistGradientBoostingClassifier(max_iter=2),
    ):
        assert len(trained(able, gappy).predict_p(gappy[row : row + 1])) == 2


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC(), make_pipeline(LinearSVC())])
def test_a_bare_classifier(model):
    """It stands for `HMM(emission=Classifier(…))`, and says what it lacks where it lacks it."""
    with pytest.raises(ValueError, match=r"classifier cannot be refitted .*train_size=0\.5"):
        ConformalHMM(model).fit(NUMBERS, STATES)
    wrapped = HMM(emission=Classifier(model))
    if isinstance(model, LogisticRegression):
        ours, theirs = (
            ConformalHMM(one, train_size=0.5).fit(NUMBERS, STATES).predict_p(NUMBERS[:1])
            for one in (model, wrapped)
        )
        assert ours == theirs
    else:
        with pytest.raises(TypeError, match="CalibratedClassifierCV"):
            ConformalHMM(model, train_size=0.5).fit(NUMBERS, STATES)


@pytest.mark.parametrize("model", [LogisticRegression, HMM])
def test_the_class_of_a_model(model):
    with pytest.raises(TypeError, match=rf"pass an instance: model={model.__name__}\(\)"):
        ConformalHMM(model).fit(NUMBERS, STATES)


# Matrices

HALVES = [[0.5, 0.5], [0.5, 0.5]]


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.5, 0.5], [1.0]], r"\[1\] has 1 entries and \w+\[0\] has 2; give all rows the same"),
        ([[0.5, 0.5], ["much", 0.5]], r"\[1, 0\] is 'much'; probabilities are numbers"),
        (["ab", "cd"], r"\[0\] is 'ab'; probabilities are numbers"),
        ("ab", " is 'ab'; probabilities are numbers"),
        ([[0.5, [0.5]], [0.5, 0.5]], r"\[0, 1\] is \[0.5\]; probabilities"),
        ([[10**400, 1]], " is .*; probabilities are numbers"),
        ([0.5, 0.5], r" must be a matrix, got shape \(2,\); give a list of rows"),
    ],
)
def test_matrices_that_are_none(matrix, message):
    with pytest.raises(ValueError, match=f"^transition{message}"):
        given_hmm(matrix, HALVES)
    with pytest.raises(ValueError, match=f"^emission{message}"):
        given_hmm(HALVES, matrix)


# Comparisons


@pytest.mark.parametrize("predictors", [[HMM()], (HMM(),), HMM(), "HMM", []])
def test_predictors_that_have_no_names(predictors):
    with pytest.raises(TypeError, match=r"predictors must be a dict .* got"):
        compare_predictors(predictors, Y, X)


def test_what_is_not_guaranteed_comes_last_and_is_marked():
    coin = lambda s, o: np.full((*o.shape, 2), 0.5)  # noqa: E731
    small = ConformalHMM(HMM(), symmetry="published", random_state=0)
    with pytest.warns(NotExactWarning):
        found = compare_predictors(
            {"small": small, "coin": coin, "counted": HMM()}, *weather(200, random_state=1),
            random_state=0, labels=["sun", "rain"],
        )  # fmt: skip
    assert [row.predictor for row in found.rows] == ["counted", "coin", "small"]
    assert found.rows[2].size < found.rows[1].size
    assert [row.exact for row in found.rows] == [True, True, False]
    assert list(found.to_frame("pandas")["exact"]) == [True, True, False]
    lines = repr(found).splitlines()
    place = next(k for k, line in enumerate(lines) if line.startswith("* not guaranteed"))
    assert lines[place - 1].startswith("small * ")
    assert "*" not in repr(found._replace(rows=found.rows[:2]))


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame(index=range(4)), "observations is a frame without columns"),
        (pd.DataFrame(np.zeros((4, 2)), columns=["a", "a"]), "has the column 'a' twice"),
    ],
)
def test_frames_that_no_one_can_read(frame, message):
    with pytest.raises(ValueError, match=message):
        ConformalHMM().fit(frame, [0, 1, 0, 1])


def test_states_without_names_are_refused_at_the_fit():
    hmm = pytest.importorskip("hmmlearn.hmm")
    y = np.random.default_rng(0).normal(size=(50, 1))
    model = hmm.GaussianHMM(2, random_state=0).fit(y)
    with pytest.raises(ValueError, match=r"have no names; set train_size=0\.2"):
        ConformalHMM(model).fit(y, [0, 1] * 25)
    with pytest.raises(ValueError, match="names a state twice"):
        ConformalHMM(FromHmmlearn(model, ("a", "a"))).fit(y, ["a", "b"] * 25)
