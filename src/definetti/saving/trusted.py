"""The scikit-learn classes that files hold, and what must be true of those that index.

What is listed predicts by means of NumPy alone, which looks whether an index is within bounds, or
is looked at here. Trees and forests, neighbours and support vectors are not: their compiled code
follows the numbers in a file wherever these lead. Nor is anything allowed that opens files, calls
functions, or takes time or memory without bound by a parameter: those are held to the values below.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

CLASSES = {
    "sklearn.calibration": [
        "CalibratedClassifierCV", "_CalibratedClassifier", "_SigmoidCalibration",
    ],
    "sklearn.compose": ["ColumnTransformer"],
    "sklearn.decomposition": ["PCA"],
    "sklearn.discriminant_analysis": [
        "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis",
    ],
    "sklearn.dummy": ["DummyClassifier"],
    "sklearn.feature_extraction.text": ["CountVectorizer", "TfidfTransformer", "TfidfVectorizer"],
    "sklearn.impute": ["SimpleImputer"],
    "sklearn.linear_model": ["LogisticRegression", "LogisticRegressionCV", "RidgeClassifier"],
    "sklearn.naive_bayes": [
        "BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB",
    ],
    "sklearn.pipeline": ["FeatureUnion", "Pipeline"],
    "sklearn.preprocessing": [
        "FunctionTransformer", "LabelBinarizer", "LabelEncoder", "MinMaxScaler", "OneHotEncoder",
        "OrdinalEncoder", "PolynomialFeatures", "RobustScaler", "StandardScaler",
    ],
}  # fmt: skip
TYPES = {
    *(f"builtins.{name}" for name in ("bool", "float", "int", "str")),
    *(f"numpy.{name}" for name in ("bool", "bool_", "float32", "float64", "int32", "int64",
                                   "str_")),
}  # fmt: skip
# What the nodes of a tree are, but for the objects of scikit-learn, by the names of skops.
NODES = {
    "DTypeNode": {"numpy.dtype"},
    "DictNode": {"builtins.dict"},
    "JsonNode": {"builtins.str"},
    "ListNode": {"builtins.list"},
    "NdArrayNode": {"numpy.ndarray", *(name for name in TYPES if name.startswith("numpy."))},
    "SliceNode": {"builtins.slice"},
    "TupleNode": {"builtins.tuple"},
    "TypeNode": TYPES,
}
# The parameters of vectorizers that a file may hold. Any other pattern may take exponential time,
# and `input="filename"` opens the files that observations name.
VECTORIZER: dict[str, tuple[Any, ...]] = {
    "input": ("content",),
    "encoding": ("utf-8", "ascii", "latin-1"),
    "decode_error": ("strict", "ignore", "replace"),
    "strip_accents": (None, "ascii", "unicode"),
    "lowercase": (True, False),
    "preprocessor": (None,),
    "tokenizer": (None,),
    "analyzer": ("word", "char", "char_wb"),
    "token_pattern": (r"(?u)\b\w\w+\b",),
}
LARGEST_NGRAM = 10
MOST_JOBS = 64  # processes that a transformer may start
LARGEST_DEGREE, MOST_TERMS = 10, 10**6  # of polynomials


@cache
def trusted_nodes() -> dict[str, frozenset[str]]:
    """Return all names that a tree of skops may have, by the kind of node."""
    classes = [
        getattr(import_module(module), name) for module, names in CLASSES.items() for name in names
    ]
    objects = {"ObjectNode": {f"{one.__module__}.{one.__name__}" for one in classes}}
    return {loader: frozenset(names) for loader, names in {**NODES, **objects}.items()}


def check_sound(model: Any) -> None:
    """Refuse a model, and all within it, whose numbers lead beyond what is there."""
    seen: set[int] = set()
    stack = [model]
    while stack:
        one = stack.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, (list, tuple)):
            stack.extend(one)
        elif isinstance(one, dict):
            stack.extend(one.values())
        elif type(one).__module__.startswith("sklearn."):
            own = vars(one)
            name = type(one).__name__
            for check in CHECKS.get(name, ()):
                check(own, name)
            stack.extend(own.values())


def _check_vectorizer(own: dict[str, Any], name: str) -> None:
    words = own.get("vocabulary_")
    if words is not None and sorted(words.values()) != list(range(len(words))):
        raise ValueError("its vocabulary is not numbered from 0 on")
    for parameter, allowed in VECTORIZER.items():
        value = own.get(parameter)
        if not any(type(value) is type(one) and value == one for one in allowed):
            raise _refused(own, name, parameter, " or ".join(map(repr, allowed)))
    stop = own.get("stop_words")
    if not (_are_all(stop, str) if isinstance(stop, list) else stop in (None, "english")):
        raise _refused(own, name, "stop_words", "None, 'english' or a list of words")
    sizes: Any = own.get("ngram_range")
    pair = isinstance(sizes, (tuple, list)) and len(sizes) == 2 and _are_all(sizes, int)
    if not pair or not 1 <= sizes[0] <= sizes[1] <= LARGEST_NGRAM:
        raise _refused(own, name, "ngram_range", f"n-grams of up to {LARGEST_NGRAM}")


def _check_jobs(own: dict[str, Any], name: str) -> None:
    if own.get("memory") is not None:
        raise _refused(own, name, "memory", "None, since a cache is a folder of pickles")
    jobs = own.get("n_jobs")
    if jobs is not None and not (type(jobs) is int and abs(jobs) <= MOST_JOBS):
        raise _refused(own, name, "n_jobs", f"None or a number up to {MOST_JOBS}")


def _check_polynomial(own: dict[str, Any], name: str) -> None:
    for parameter, most in {"_max_degree": LARGEST_DEGREE, "_n_out_full": MOST_TERMS}.items():
        value = own.get(parameter, 0)
        if not (type(value) is int and 0 <= value <= most):
            raise _refused(own, name, parameter, f"a number up to {most:,}")


def _check_classes(own: dict[str, Any], name: str) -> None:
    if "classes_" in own and own.get("n_classes_") != len(own["classes_"]):
        raise ValueError(f"its {name} counts other classes than it has")


def _refused(own: dict[str, Any], name: str, parameter: str, allowed: str) -> ValueError:
    value = reprlib.repr(own.get(parameter))
    return ValueError(f"its {name} has {parameter}={value}, and a file holds {allowed} alone")


def _are_all(values: Any, kind: type[Any]) -> bool:
    return all(type(value) is kind for value in values)


def _check_one_hot(own: dict[str, Any], name: str) -> None:
    if own.get("drop") is not None or own.get("min_frequency") or own.get("max_categories"):
        raise ValueError("its OneHotEncoder leaves categories out; have it keep them all")
    if "categories_" in own:
        plain = own.get("_drop_idx_after_grouping") is None and own.get("drop_idx_") is None
        each = [len(one) for one in own["categories_"]]
        if not plain or own.get("_infrequent_enabled") or own.get("_n_features_outs") != each:
            raise ValueError("its OneHotEncoder counts other columns than it has categories")


def _check_function(own: dict[str, Any], name: str) -> None:
    if own.get("func") is not None or own.get("inverse_func") is not None:
        raise ValueError("its FunctionTransformer has a function, and a file holds no code")


def _check_scale(own: dict[str, Any], name: str) -> None:
    for part in ("scale_", "mean_", "center_", "var_"):
        if own.get(part) is not None and np.shape(own[part]) != (own.get("n_features_in_"),):
            raise ValueError("its scaler has another number of columns than it was fitted with")


CHECKS: dict[str, list[Callable[[dict[str, Any], str], None]]] = {
    "CountVectorizer": [_check_vectorizer],
    "TfidfVectorizer": [_check_vectorizer],
    "Pipeline": [_check_jobs],
    "FeatureUnion": [_check_jobs],
    "ColumnTransformer": [_check_jobs],
    "DummyClassifier": [_check_classes],
    "OneHotEncoder": [_check_one_hot],
    "PolynomialFeatures": [_check_polynomial],
    "FunctionTransformer": [_check_function],  # what columns are that pass through
    "StandardScaler": [_check_scale],
    "RobustScaler": [_check_scale],
}
