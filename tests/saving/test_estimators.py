"""Scikit-learn models go in by skops and a list of classes, or are refused by name."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfVectorizer,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier
from tests.saving.answers import check_same
from tests.saving.test_broken_files import repacked

from definetti import HMM, ConformalHMM, ConformalSequences, load
from definetti.emissions import Classifier
from definetti.exceptions import LoadError, SaveError

RNG = np.random.default_rng(2)
X = RNG.choice(["a", "b"], 80).tolist()
Y = RNG.normal(size=(80, 2)) + (np.array(X) == "a")[:, None]
FRAME = pd.DataFrame({"heat": Y[:, 0], "city": np.where(Y[:, 1] > 0, "Rome", "Oslo")})
TEXT = ["a rainy day" if one > 0 else "the sun" for one in Y[:, 0]]


def columns(*steps):
    return make_pipeline(ColumnTransformer(list(steps)), LogisticRegression())


HOT = ("c", OneHotEncoder(), ["city"])
HELD = {
    "logistic": (LogisticRegression(), Y),
    "Bayes": (GaussianNB(), Y),
    "linear": (LinearDiscriminantAnalysis(), Y),
    "quadratic": (QuadraticDiscriminantAnalysis(), Y),
    "calibrated": (CalibratedClassifierCV(RidgeClassifier(), cv=2), Y),
    "pipeline": (make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()), Y),
    "one hot": (
        columns(("n", StandardScaler(), ["heat"]), ("c", OneHotEncoder(), ["city"])),
        FRAME,
    ),
    "ordinal": (columns(("n", "passthrough", ["heat"]), ("c", OrdinalEncoder(), ["city"])), FRAME),
    "text": (make_pipeline(TfidfVectorizer(), LogisticRegression()), TEXT),
    "polynomial": (make_pipeline(PolynomialFeatures(3), LogisticRegression()), Y),
    "dummy": (DummyClassifier(strategy="uniform"), Y),
}


@pytest.mark.slow_cases("Bayes", "linear", "logistic", "one hot", "ordinal")
@pytest.mark.parametrize("name", HELD)
def test_models_that_files_hold(name, tmp_path):
    model, y = HELD[name]
    cp = ConformalHMM(model, train_size=0.5, random_state=0, smoothing=True).fit(y[:70], X[:70])
    check_same(cp, tmp_path, [y[75:77]], (y[70:75], X[70:75]))


def test_whole_sequences(tmp_path):
    cp = ConformalSequences(LogisticRegression(), confidence_level=0.7).fit(Y, X, [4] * 20)
    cp.save(tmp_path / "model.definetti")
    again = load(tmp_path / "model.definetti")
    assert (again.predict_set(Y[:4]).marginals == cp.predict_set(Y[:4]).marginals).all()


@pytest.mark.parametrize(
    ("model", "strange"),
    [
        (RandomForestClassifier(3), "RandomForestClassifier"),
        (DecisionTreeClassifier(), "DecisionTreeClassifier"),
        (HistGradientBoostingClassifier(max_iter=2), "HistGradientBoostingClassifier"),
        (KNeighborsClassifier(), "KNeighborsClassifier"),
        (MLPClassifier(), "MLPClassifier"),
        (make_pipeline(FunctionTransformer(np.exp), LogisticRegression()), "numpy.exp"),
        (LogisticRegression(random_state=np.random.RandomState(0)), "RandomState"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_models_that_are_refused_by_name(model, strange, tmp_path):
    # Not fitted: what is refused is refused for what it is.
    cp = ConformalHMM(GaussianNB(), train_size=0.5).fit(Y, X)
    cp.model = HMM(emission=Classifier(model))
    named = (
        f"{strange}, which is not among" if strange in repr(type(model)) else f".* with .*{strange}"
    )
    with pytest.raises(
        SaveError, match=rf"model: emission: estimator is a {named}.*; use one that"
    ):
        cp.save(tmp_path / "model.definetti")


def altered(name, change, path):
    """Save a model, change the tree that skops made of it, and make all checksums right."""
    model, y = HELD[name]
    ConformalHMM(model, train_size=0.5).fit(y, X).save(path)

    def put(manifest, parts):
        for part in [one for one in parts if one.endswith(".json")]:
            parts[part] = change(parts[part].decode()).encode()

    path.write_bytes(repacked(path.read_bytes(), put))


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("sklearn.linear_model._logistic", "os"),
        lambda text: text.replace('"LogisticRegression"', '"system"'),
        lambda text: text.replace('"JsonNode"', '"FunctionNode"'),
        lambda text: text.replace('"ObjectNode"', '"MethodNode"'),
        lambda text: text.replace('"ListNode"', '"OperatorFuncNode"'),
        lambda text: json.dumps({"__class__": "system", "__module__": "os"}),
        lambda text: "[]",
        lambda text: text.replace("0.npy", "9.npy"),
    ],
)
def test_altered_trees(change, tmp_path):
    path = tmp_path / "model.definetti"
    altered("logistic", change, path)
    with pytest.raises(LoadError):
        load(path)


def test_numbers_that_lead_beyond_what_is_there(tmp_path):
    path = tmp_path / "model.definetti"
    altered("text", lambda text: text.replace('"content": "2"', '"content": "200000000"'), path)
    with pytest.raises(LoadError, match="not numbered from 0 on"):
        load(path)


@pytest.mark.parametrize(
    ("name", "attribute", "told"),
    [
        ("polynomial", "_max_degree", "a file holds a number up to 10 alone"),
        ("polynomial", "_n_out_full", "a file holds a number up to 1,000,000 alone"),
        ("dummy", "n_classes_", "counts other classes than it has"),
    ],
)
def test_numbers_that_take_time_or_memory_without_bound(name, attribute, told, tmp_path):
    """A degree is how often a loop runs, and the others are numbers of columns to be made."""

    def change(text):
        def put(node):
            if isinstance(node, dict) and attribute in node:
                node[attribute]["content"] = str(10**12)
            return node

        return json.dumps(json.loads(text, object_hook=put))

    path = tmp_path / "model.definetti"
    altered(name, change, path)
    with pytest.raises(LoadError, match=told):
        load(path)


def test_without_skops_it_says_what_to_install(tmp_path, monkeypatch):
    path = tmp_path / "model.definetti"
    cp = ConformalHMM(GaussianNB(), train_size=0.5).fit(Y, X)
    cp.save(path)
    monkeypatch.setitem(__import__("sys").modules, "skops.io", None)
    with pytest.raises(LoadError, match=r"pip install 'definetti-hmm\[save\]'"):
        load(path)
    with pytest.raises(SaveError, match=r"pip install 'definetti-hmm\[save\]'"):
        cp.save(path)


TEXT_PARAMETERS = [
    ("input", "filename"),
    ("input", "file"),
    ("encoding", "punycode"),
    ("decode_error", "xmlcharrefreplace"),
    ("strip_accents", str),
    ("preprocessor", str),
    ("tokenizer", str),
    ("analyzer", str),
    ("token_pattern", r"(?:a+)+$"),
    ("token_pattern", None),
    ("stop_words", "french"),
    ("stop_words", str),
    ("ngram_range", (1, 100_000)),
    ("ngram_range", (1, 2.5)),
    ("ngram_range", 3),
]


@pytest.mark.parametrize("made", [CountVectorizer, TfidfVectorizer])
@pytest.mark.parametrize(("parameter", "value"), TEXT_PARAMETERS)
def test_vectorizers_are_refused_when_saved(made, parameter, value, tmp_path):
    cp = ConformalHMM(GaussianNB(), train_size=0.5).fit(Y, X)
    model = make_pipeline(made(**{parameter: value}), LogisticRegression())
    cp.model = HMM(emission=Classifier(model))
    with pytest.raises(SaveError, match=f"its {made.__name__} has {parameter}=.*, and a file"):
        cp.save(tmp_path / "model.definetti")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("made", [HashingVectorizer, FeatureHasher])
def test_hashing_vectorizers_are_refused_by_name(made, tmp_path):
    cp = ConformalHMM(GaussianNB(), train_size=0.5).fit(Y, X)
    cp.model = HMM(emission=Classifier(make_pipeline(made(), LogisticRegression())))
    with pytest.raises(SaveError, match=f"with .*{made.__name__} in it, which is not among"):
        cp.save(tmp_path / "model.definetti")


@pytest.mark.parametrize("made", [CountVectorizer, TfidfVectorizer])
@pytest.mark.parametrize(("parameter", "value"), TEXT_PARAMETERS)
def test_vectorizers_in_crafted_files_are_refused(made, parameter, value, tmp_path, monkeypatch):
    """Neither `input="filename"`, which opens the files that observations name, nor a pattern."""
    path = tmp_path / "model.definetti"
    model = make_pipeline(made(), LogisticRegression())
    cp = ConformalHMM(model, train_size=0.5).fit(TEXT, X)
    for emission in (cp.model.steps, cp._data.model.emission.estimator.steps):
        setattr(emission[0][1], parameter, value)
    with monkeypatch.context() as patch:
        patch.setattr("definetti.saving.foreign_models.check_sound", lambda model: None)
        cp.save(path)
    with pytest.raises(LoadError, match=f"its {made.__name__} has {parameter}="):
        load(path)


@pytest.mark.parametrize(
    "parameters",
    [
        {"analyzer": "char_wb", "ngram_range": (2, 4), "strip_accents": "unicode"},
        {"lowercase": False, "stop_words": "english", "encoding": "latin-1"},
        {"stop_words": ["the"], "ngram_range": (1, 2), "decode_error": "ignore"},
    ],
)
def test_vectorizers_that_files_hold(parameters, tmp_path):
    model = make_pipeline(CountVectorizer(**parameters), LogisticRegression())
    cp = ConformalHMM(model, train_size=0.5, random_state=0).fit(TEXT[:70], X[:70])
    check_same(cp, tmp_path, [TEXT[75:77]], (TEXT[70:75], X[70:75]))


@pytest.mark.parametrize(("parameter", "value"), [("memory", "cache"), ("n_jobs", 10_000)])
def test_caches_and_thousands_of_processes_are_refused(parameter, value, tmp_path):
    model = columns(("n", StandardScaler(), ["heat"]))
    owner = model if parameter == "memory" else model.steps[0][1]
    cp = ConformalHMM(model, train_size=0.5).fit(FRAME, X)
    setattr(owner, parameter, value)
    with pytest.raises(SaveError, match=f"its {type(owner).__name__} has {parameter}="):
        cp.save(tmp_path / "model.definetti")
