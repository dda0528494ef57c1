"""Likelihoods of a fixed emission, or of a trained classifier, raised to a power."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.data.labels import MISSING
from definetti.emissions.base import Emission, Wrapped, judge_distinct
from definetti.emissions.gaussian import Gaussian
from definetti.emissions.mixed import Columns, Mixed
from definetti.emissions.rates import Bernoulli, Poisson

FLOOR = 1e-4  # the least probability of a class, so that no observation rules a state out
MOST_CATEGORIES = 20  # largest number of columns for one column of symbols


class Classes(ABC):
    """A trained classifier as plain arrays; the result of a row does not depend on its batch."""

    @property
    @abstractmethod
    def number(self) -> int:
        """Number of classes."""

    @abstractmethod
    def logits(self, features: FloatArray) -> FloatArray:
        """Return the unnormalised log-probability of each class: ``(m, k)``."""


@dataclass(frozen=True, eq=False)
class Linear(Classes):
    """Multinomial logistic regression; a missing entry counts as the mean of its column."""

    weights: FloatArray  # (d, k)
    intercepts: FloatArray  # (k,)
    means: FloatArray  # (d,)

    @property
    def number(self) -> int:
        return len(self.intercepts)

    @classmethod
    def trained(cls, features: FloatArray, classes: IntArray) -> Linear:
        """Fit scikit-learn's logistic regression to standardised columns."""
        from sklearn.linear_model import LogisticRegression

        known = ~np.isnan(features)
        means = np.where(known, features, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        filled = np.where(known, features, means)
        spread = filled.std(axis=0)
        scale = np.where(spread > 1e-12 * np.maximum(1.0, np.abs(means)), spread, np.inf)
        with _one_thread():
            fitted = LogisticRegression(max_iter=300).fit((filled - means) / scale, classes)
        weights, intercepts = fitted.coef_.T, fitted.intercept_
        if weights.shape[1] == 1:  # scikit-learn has the second of two classes alone
            weights, intercepts = weights * [[0.0, 1.0]], intercepts * [0.0, 1.0]
        weights = weights / scale[:, None]
        return cls(weights, intercepts - means @ weights, means)

    def logits(self, features: FloatArray) -> FloatArray:
        _check_width(features, len(self.weights))
        return _linear(features, self.weights, self.intercepts, self.means)


@dataclass(frozen=True, eq=False)
class Boosted(Classes):
    """Gradient-boosted trees."""

    width: int
    start: FloatArray  # (k,) logits before any tree
    roots: IntArray  # (trees,) the first node of each tree
    columns: IntArray  # (trees,) the class that each adds to
    children: IntArray  # (nodes, 2) left and right child; -1 at a leaf
    features: IntArray  # (nodes,) the feature compared
    thresholds: FloatArray  # (nodes,) the largest value that goes left
    values: FloatArray  # (nodes,) the value that a leaf adds
    missing_left: npt.NDArray[np.bool_]  # (nodes,)

    @property
    def number(self) -> int:
        return len(self.start)

    @classmethod
    def trained(cls, features: FloatArray, classes: IntArray) -> Boosted:
        """Fit scikit-learn's histogram gradient boosting, and take its trees as arrays."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        boosting = HistGradientBoostingClassifier(
            max_iter=60, max_leaf_nodes=15, learning_rate=0.1, min_samples_leaf=20,
            l2_regularization=1.0, early_stopping=False, random_state=0,
        )  # fmt: skip
        with _one_thread():
            fitted = boosting.fit(features, classes)
        trees = [tree.nodes for stage in fitted._predictors for tree in stage]
        per_stage = len(fitted._predictors[0])
        nodes = np.concatenate(trees)
        sizes = np.array([len(tree) for tree in trees])
        roots = sizes.cumsum() - sizes
        leaf = nodes["is_leaf"].astype(np.bool_)
        children = np.stack([nodes["left"], nodes["right"]], axis=1).astype(np.int64)
        children += roots.repeat(sizes)[:, None]
        children[leaf] = -1
        start = np.ravel(fitted._baseline_prediction).astype(np.float64)
        columns = np.tile(np.arange(per_stage), len(trees) // per_stage)
        if per_stage == 1:  # scikit-learn has the second of two classes alone
            start, columns = start * [0.0, 1.0], columns + 1
        return cls(
            features.shape[1], start, roots, columns, children,
            nodes["feature_idx"].astype(np.int64), nodes["num_threshold"].astype(np.float64),
            nodes["value"].astype(np.float64), nodes["missing_go_to_left"].astype(np.bool_),
        )  # fmt: skip

    def logits(self, features: FloatArray) -> FloatArray:
        _check_width(features, self.width)
        return _boosted(
            features, self.start, self.roots, self.columns, self.children, self.features,
            self.thresholds, self.values, self.missing_left,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class TrainedClasses:
    """A classifier trained on some states: ``likelihood(y | i) ∝ Pr(i | y) / Pr(i)``.

    A state absent from training has the likelihood one: the chain alone decides on it.
    """

    classes: Classes
    states: IntArray  # (k,) the states in the training data
    log_frequencies: FloatArray  # (k,) their log-frequencies in training
    categories: tuple[int, ...]  # features of each column of symbols; 0 for numbers

    @classmethod
    def trained(
        cls,
        kind: type[Linear] | type[Boosted],
        coding: Emission,
        table: Any,
        codes: IntArray,
        states: IntArray,
    ) -> TrainedClasses | None:
        """Train a classifier on labelled rows; None where they have fewer than two states."""
        seen = codes != MISSING
        met, own = np.unique(states[seen], return_inverse=True)
        if len(met) < 2:
            return None
        categories = _categories(table, codes[seen])
        features = features_of(coding, table, codes[seen], categories)
        if not features.shape[1]:
            return None
        classes = kind.trained(features, own)
        counts = np.bincount(own)
        return cls(classes, met, np.log(counts / counts.sum()), categories)

    def log_likelihood(
        self, coding: Emission, table: Any, n_states: int, codes: IntArray
    ) -> FloatArray:
        """Return log-likelihoods of observations: ``codes.shape + (n_states,)``."""

        def judge(distinct: IntArray) -> FloatArray:
            features = features_of(coding, table, distinct, self.categories)
            likelihood = np.zeros((len(distinct), n_states))
            shares = _log_shares(self.classes.logits(features), FLOOR)
            likelihood[:, self.states] = shares - self.log_frequencies
            return likelihood

        return judge_distinct(codes, n_states, judge)


class Tempered(Wrapped):
    """A fixed emission whose likelihood, or that of a classifier, is raised to a power.

    Observations that depend on each other given the states carry less information than their
    likelihoods claim: a power below one accounts for it. The power zero leaves them out.
    """

    def __init__(
        self, coding: Emission, power: float = 1.0, classifier: TrainedClasses | None = None
    ) -> None:
        super().__init__(coding)
        self.coding, self.power, self.classifier = coding, power, classifier

    def log_likelihood(self, table: Any, statistics: FloatArray, codes: IntArray) -> FloatArray:
        n_states = len(statistics)
        if not self.power:
            return np.zeros((*codes.shape, n_states))
        if self.classifier is not None:
            logs = self.classifier.log_likelihood(self.coding, table, n_states, codes)
        else:
            logs = self.coding.log_likelihood(table, statistics, codes)
        return self.power * logs

    def __repr__(self) -> str:
        judge = self.coding if self.classifier is None else type(self.classifier.classes).__name__
        return f"Tempered({judge!r}, power={self.power:g})"


def is_tabular(emission: Emission) -> bool:
    """Return whether observations are numbers, or rows of numbers and symbols."""
    return isinstance(emission, (Gaussian, Poisson, Bernoulli, Mixed))


def features_of(
    coding: Emission, table: Any, codes: IntArray, categories: tuple[int, ...]
) -> FloatArray:
    """Return rows of features, NaN where an entry is missing: numbers, and symbols one-hot."""
    if not isinstance(table, Columns):
        values = np.asarray(coding.decode(table, codes), dtype=np.float64)
        return values.reshape(len(codes), -1)
    parts = []
    for column, own, width in zip(table.columns, table.take(codes), categories, strict=True):
        if width:
            parts.append((own[:, None] == np.arange(width)).astype(np.float64))
        elif not column.emission.symbols:
            values = np.asarray(column.emission.decode(column.table, own), dtype=np.float64)
            parts.append(values.reshape(len(codes), -1))
    return np.concatenate(parts, axis=1) if parts else np.zeros((len(codes), 0))


def _categories(table: Any, codes: IntArray) -> tuple[int, ...]:
    """Return the number of features that each column of symbols becomes in training."""
    if not isinstance(table, Columns):
        return ()
    return tuple(
        min(int(own.max(initial=-1)) + 1, MOST_CATEGORIES) if column.emission.symbols else 0
        for column, own in zip(table.columns, table.take(codes), strict=True)
    )


def _check_width(features: FloatArray, width: int) -> None:
    """Refuse rows of another width, which a kernel would read beyond."""
    if features.shape[1] != width:
        raise ValueError(f"observations have {features.shape[1]} features, training had {width}")


def _one_thread() -> Any:
    """Limit scikit-learn to one thread: more make small fits up to twenty times slower."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1)


@kernel
def _linear(
    features: FloatArray, weights: FloatArray, intercepts: FloatArray, means: FloatArray
) -> FloatArray:
    rows, width = features.shape
    logits = np.empty((rows, len(intercepts)))
    for row in range(rows):
        for j in range(len(intercepts)):
            total = intercepts[j]
            for k in range(width):
                value = features[row, k]
                total += weights[k, j] * (means[k] if math.isnan(value) else value)
            logits[row, j] = total
    return logits


@kernel
def _boosted(
    rows: FloatArray,
    start: FloatArray,
    roots: IntArray,
    columns: IntArray,
    children: IntArray,
    features: IntArray,
    thresholds: FloatArray,
    values: FloatArray,
    missing_left: npt.NDArray[np.bool_],
) -> FloatArray:
    logits = np.empty((len(rows), len(start)))
    for row in range(len(rows)):
        logits[row] = start
        for tree in range(len(roots)):
            node = roots[tree]
            while children[node, 0] >= 0:
                value = rows[row, features[node]]
                left = missing_left[node] if math.isnan(value) else value <= thresholds[node]
                node = children[node, 0 if left else 1]
            logits[row, columns[tree]] += values[node]
    return logits


@kernel
def _log_shares(logits: FloatArray, floor: float) -> FloatArray:
    """Return log-probabilities by the softmax of each row, none of them below the floor."""
    rows, width = logits.shape
    shares = np.empty((rows, width))
    for row in range(rows):
        most = logits[row].max()
        total = 0.0
        for j in range(width):
            total += math.exp(logits[row, j] - most)
        for j in range(width):
            shares[row, j] = math.log(max(math.exp(logits[row, j] - most) / total, floor))
    return shares
