"""Write models of scikit-learn and hmmlearn, and read them within limits.

skops takes a scikit-learn model apart into a tree of nodes that name classes, and arrays. Both
become parts of our own: arrays are numbered by their contents, so that a model has the same bytes
whenever it is saved, and are read within our limits. Before skops builds any object, every node is
looked up in a list that is shorter than the one that skops trusts by itself. The numbers by which
skops makes one object of several nodes are left out: a node could otherwise stand for any number of
others, and objects could contain themselves.

The listed classes predict by means of NumPy alone, which checks indices, or are checked here. Trees
and forests, neighbours and support vectors are not listed: their compiled code uses numbers in a
file as indices without checks. Nor may a parameter open files, call functions, or take unbounded
time or memory: such parameters are restricted to the values below.
"""

from __future__ import annotations

import io
import json
import reprlib
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from definetti._system.files import claim_memory
from definetti.exceptions import LoadError, SaveError
from definetti.saving.archive import claim_text, read_json
from definetti.saving.values import Form, from_bytes

SCHEMA = "schema.json"
MARKS = ("__loader__", "__module__", "__class__")
INSTALL = "pip install 'definetti-hmm[save]'"
NODE = 3_000  # bytes that skops takes for a node, beside the text and the arrays
COPIES = 5  # of an array, while it is read
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
# The types of nodes of a tree, except for scikit-learn's objects, by skops' names of nodes.
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
HMMLEARN_CHAIN = ("startprob_", "transmat_", "n_features")
# Parameters of the observations. Records of the fit are left out: predictions do not use them.
HMMLEARN_LAWS = {
    "CategoricalHMM": ("emissionprob_",),
    "GaussianHMM": ("means_", "_covars_"),
    "GMMHMM": ("weights_", "means_", "covars_"),
    "MultinomialHMM": ("emissionprob_",),
    "PoissonHMM": ("lambdas_",),
}


def _is_estimator(value: Any) -> bool:
    return isinstance(value, BaseEstimator) and type(value).__module__.startswith("sklearn.")


def _write_estimator(value: Any, writer: Any, where: str) -> list[Any]:
    name = type(value).__name__
    try:
        from skops.io import dumps
    except ImportError:
        raise SaveError(f"{where} is a {name}, which takes skops to save; {INSTALL}") from None
    try:
        packed = dumps(value)
    except Exception as error:  # whatever skops does not support
        raise SaveError(f"{where} is a {name}, of which skops says: {error}") from None
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        schema = json.loads(archive.read(SCHEMA))
        untrusted = find_untrusted(schema)
        if untrusted:
            own = untrusted[0].rpartition(".")[2] == name
            raise SaveError(
                f"{where} is a {name}{'' if own else f' with {untrusted[0]} in it'}, which is "
                "not among the classes that a file may hold, since their code is safe with "
                "any numbers; use one that is, such as LogisticRegression (docs/saving.md "
                "lists them), or keep the labelled data and fit again"
            )
        try:
            check_sound(value)
        except ValueError as error:
            raise SaveError(f"{where} is a {name}, and {error}") from None
        parts: dict[str, str] = {}  # file names there by part, in the order of the tree
        sizes: dict[str, int] = {}
        for node in walk(schema):
            node.pop("__id__", None)
            if isinstance(file := node.get("file"), str):
                content = archive.read(file)
                part = writer.part(content, "npy")
                node["file"] = parts.setdefault(part, f"{len(parts)}.npy")
                sizes[node["file"]] = len(content)
    text = json.dumps(schema, allow_nan=False)
    claim_memory(len(text) + 2 * sum(sizes.values()))
    claim_text(text)
    _claim(schema, text, sizes)
    return [writer.part(text.encode("ascii"), "json"), list(parts)]


def _read_estimator(node: Any, reader: Any) -> Any:
    tree, parts = node
    schema = read_json(reader.archive.part(tree))
    untrusted = find_untrusted(schema)
    if untrusted:
        raise LoadError(f"holds a scikit-learn model with {untrusted[0]} in it, which is refused")
    try:
        from skops.io import load
    except ImportError:
        raise LoadError(
            f"holds a scikit-learn model, which takes skops to load; {INSTALL}"
        ) from None
    packed, sizes = io.BytesIO(), {}
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for number, name in enumerate(parts):
            content = reader.archive.part(name)
            from_bytes(content, name)  # refuses anything but an array
            claim_memory(len(content))
            sizes[f"{number}.npy"] = len(content)
            archive.writestr(f"{number}.npy", content)
        for entry in walk(schema):
            entry.pop("__id__", None)
        text = json.dumps(schema)
        _claim(schema, text, sizes)
        archive.writestr(SCHEMA, text)
    names = {f"{entry['__module__']}.{entry['__class__']}" for entry in walk(schema)}
    model = load(packed, trusted=sorted(names))
    if not _is_estimator(model):
        raise LoadError("holds no scikit-learn model where there should be one")
    check_sound(model)
    return model


def walk(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield the nodes of a tree, in the order of its text."""
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(reversed(node))
        elif isinstance(node, dict):
            if any(mark in node for mark in MARKS):
                yield node
            stack.extend(reversed(node.values()))


def find_untrusted(schema: Any) -> list[str]:
    """Return the classes and nodes of a tree that are not in the list, by name."""
    known, untrusted = trusted_nodes(), []
    for node in walk(schema):
        loader, module, name = (node.get(mark) for mark in MARKS)
        full = f"{module}.{name}"
        if loader not in known:
            untrusted.append(f"{full} ({loader})")
        elif full not in known[loader]:
            untrusted.append(full)
        elif loader == "JsonNode" and str(node.get("content")).lstrip()[:1] in ("[", "{"):
            untrusted.append("JSON inside of JSON")
    return untrusted


def _claim(schema: Any, text: str, sizes: dict[str, int]) -> None:
    """Claim the memory that skops takes to build a model from a tree and arrays of these sizes."""
    claim_text(text)
    for node in walk(schema):
        claim_memory(NODE)
        if "file" in node:  # read anew for every node that names it
            claim_memory(COPIES * sizes[node["file"]])


@cache
def trusted_nodes() -> dict[str, frozenset[str]]:
    """Return all names that a tree of skops may have, by the kind of node."""
    classes = [
        getattr(import_module(module), name) for module, names in CLASSES.items() for name in names
    ]
    objects = {"ObjectNode": {f"{kind.__module__}.{kind.__name__}" for kind in classes}}
    return {loader: frozenset(names) for loader, names in {**NODES, **objects}.items()}


def check_sound(model: Any) -> None:
    """Refuse a model, or a part of one, whose numbers lead out of bounds."""
    seen: set[int] = set()
    stack = [model]
    while stack:
        value = stack.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, (list, tuple)):
            stack.extend(value)
        elif isinstance(value, dict):
            stack.extend(value.values())
        elif type(value).__module__.startswith("sklearn."):
            own, name = vars(value), type(value).__name__
            if name in CHECKS:
                CHECKS[name](own, name)
            stack.extend(own.values())


def _check_vectorizer(own: dict[str, Any], name: str) -> None:
    words = own.get("vocabulary_")
    if words is not None and sorted(words.values()) != list(range(len(words))):
        raise ValueError("its vocabulary is not numbered from 0 on")
    for parameter, allowed in VECTORIZER.items():
        value = own.get(parameter)
        if not any(type(value) is type(choice) and value == choice for choice in allowed):
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
        sizes = [len(categories) for categories in own["categories_"]]
        if not plain or own.get("_infrequent_enabled") or own.get("_n_features_outs") != sizes:
            raise ValueError("its OneHotEncoder counts other columns than it has categories")


def _check_function(own: dict[str, Any], name: str) -> None:
    if own.get("func") is not None or own.get("inverse_func") is not None:
        raise ValueError("its FunctionTransformer has a function, and a file holds no code")


def _check_scale(own: dict[str, Any], name: str) -> None:
    for part in ("scale_", "mean_", "center_", "var_"):
        if own.get(part) is not None and np.shape(own[part]) != (own.get("n_features_in_"),):
            raise ValueError("its scaler has another number of columns than it was fitted with")


CHECKS: dict[str, Callable[[dict[str, Any], str], None]] = {
    "CountVectorizer": _check_vectorizer,
    "TfidfVectorizer": _check_vectorizer,
    "Pipeline": _check_jobs,
    "FeatureUnion": _check_jobs,
    "ColumnTransformer": _check_jobs,
    "DummyClassifier": _check_classes,
    "OneHotEncoder": _check_one_hot,
    "PolynomialFeatures": _check_polynomial,
    "FunctionTransformer": _check_function,  # stands for columns that pass through
    "StandardScaler": _check_scale,
    "RobustScaler": _check_scale,
}


def _is_hmmlearn(value: Any) -> bool:
    return type(value).__module__ == "hmmlearn.hmm" and type(value).__name__ in HMMLEARN_LAWS


def _write_hmmlearn(value: Any, writer: Any, where: str) -> list[Any]:
    name = type(value).__name__
    own, params = vars(value), value.get_params()
    kept = {key: own[key] for key in (*HMMLEARN_CHAIN, *HMMLEARN_LAWS[name]) if key in own}
    return [name, writer.write(params, where), writer.write(kept, where)]


def _read_hmmlearn(node: Any, reader: Any) -> Any:
    name, params, kept = node[0], reader.read(node[1]), reader.read(node[2])
    if name not in HMMLEARN_LAWS or not set(kept) <= {*HMMLEARN_CHAIN, *HMMLEARN_LAWS[name]}:
        raise LoadError("holds an hmmlearn model of a kind that is not known")
    try:
        from hmmlearn import hmm
    except ImportError:
        raise LoadError("holds an hmmlearn model; pip install hmmlearn to load it") from None
    model = getattr(hmm, name)(**params)
    model.__dict__.update(kept)
    return model


FORMS = (
    Form("hmmlearn", _is_hmmlearn, _write_hmmlearn, _read_hmmlearn),
    Form("estimator", _is_estimator, _write_estimator, _read_estimator),
)
