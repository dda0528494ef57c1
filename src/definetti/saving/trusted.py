"""The scikit-learn classes that files hold, and what must be true of those that index.

What is listed predicts by means of NumPy alone, which looks whether an index is within bounds, or
is looked at here. Trees and forests, neighbours and support vectors are not: their compiled code
follows the numbers in a file wherever these lead.
"""

from __future__ import annotations

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
PLAIN = {
    *(f"builtins.{name}" for name in ("bool", "dict", "float", "int", "list", "slice", "str",
                                      "tuple")),
    *(f"numpy.{name}" for name in ("bool", "bool_", "dtype", "float32", "float64", "int32", "int64",
                                   "ndarray", "str_")),
}  # fmt: skip
NODES = {
    "DTypeNode", "DictNode", "JsonNode", "ListNode", "NdArrayNode", "ObjectNode", "SliceNode",
    "TupleNode", "TypeNode",
}  # fmt: skip


@cache
def trusted_names() -> frozenset[str]:
    """Return all names that a tree of skops may have."""
    classes = [
        getattr(import_module(module), name) for module, names in CLASSES.items() for name in names
    ]
    return frozenset({*PLAIN, *(f"{one.__module__}.{one.__name__}" for one in classes)})


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
            for check in CHECKS.get(type(one).__name__, ()):
                check(own)
            stack.extend(own.values())


def _check_vocabulary(own: dict[str, Any]) -> None:
    words = own.get("vocabulary_")
    if words is not None and sorted(words.values()) != list(range(len(words))):
        raise ValueError("its vocabulary is not numbered from 0 on")
    for name in ("preprocessor", "tokenizer", "analyzer"):
        if callable(own.get(name)):
            raise ValueError(f"its {name} is a function, and a file holds no code")


def _check_one_hot(own: dict[str, Any]) -> None:
    if own.get("drop") is not None or own.get("min_frequency") or own.get("max_categories"):
        raise ValueError("its OneHotEncoder leaves categories out; have it keep them all")
    if "categories_" in own:
        plain = own.get("_drop_idx_after_grouping") is None and own.get("drop_idx_") is None
        each = [len(one) for one in own["categories_"]]
        if not plain or own.get("_infrequent_enabled") or own.get("_n_features_outs") != each:
            raise ValueError("its OneHotEncoder counts other columns than it has categories")


def _check_function(own: dict[str, Any]) -> None:
    if own.get("func") is not None or own.get("inverse_func") is not None:
        raise ValueError("its FunctionTransformer has a function, and a file holds no code")


def _check_scale(own: dict[str, Any]) -> None:
    for name in ("scale_", "mean_", "center_", "var_"):
        if own.get(name) is not None and np.shape(own[name]) != (own.get("n_features_in_"),):
            raise ValueError("its scaler has another number of columns than it was fitted with")


CHECKS: dict[str, list[Callable[[dict[str, Any]], None]]] = {
    "CountVectorizer": [_check_vocabulary],
    "TfidfVectorizer": [_check_vocabulary],
    "OneHotEncoder": [_check_one_hot],
    "FunctionTransformer": [_check_function],  # what columns are that pass through
    "StandardScaler": [_check_scale],
    "RobustScaler": [_check_scale],
}
