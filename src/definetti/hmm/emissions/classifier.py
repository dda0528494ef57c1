"""Any scikit-learn classifier, as the hybrid of speech recognition."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from definetti.arrays import FloatArray, IntArray
from definetti.hmm.emissions.rows import CodedRows, Rows
from definetti.sequence import MISSING


@dataclass(frozen=True)
class Classifier(CodedRows):
    """The likelihood of an observation is, up to a factor, what a classifier makes of it.

        likelihood(y | i)  ∝  Pr(i | y) / Pr(i)

    with the classifier's probability and the state's frequency among what it was trained on.
    Pipelines are classifiers too. A classifier cannot take in a candidate at little cost, so it
    is trained on a first stretch: ``ConformalHMM(model=HMM(emission=Classifier(…)),
    train_size=0.5)``.

    Parameters
    ----------
    estimator : classifier with `fit` and `predict_proba`
    floor : float, default 1e-6
        The least probability, so that no observation rules a state out for good.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from definetti import HMM, ConformalHMM
    >>> y, x = [[0.1], [0.2], [2.1], [2.2]] * 20, ["low", "low", "high", "high"] * 20
    >>> model = HMM(emission=Classifier(LogisticRegression()))
    >>> ConformalHMM(model, train_size=0.5).fit(y, x).predict_set([[0.1]]).sequences
    [('low',)]
    """

    estimator: Any
    floor: float = 1e-6

    def learned(
        self, table: Rows, codes: IntArray, states: IntArray, labels: tuple[Hashable, ...]
    ) -> TrainedClassifier:
        """Train the classifier on a labelled stretch."""
        seen = codes != MISSING
        counts = np.bincount(states[seen], minlength=len(labels)).astype(np.float64)
        never = np.flatnonzero(counts == 0)
        if len(never):
            raise ValueError(
                f"the classifier's training stretch never has state {labels[never[0]]!r}; raise "
                "train_size, or leave the state out"
            )
        fitted = clone(self.estimator).fit(table.take(codes[seen]), states[seen])
        return TrainedClassifier(fitted, counts / counts.sum(), self.floor)

    def statistics(
        self, table: Rows, codes: IntArray, states: IntArray, n_states: int
    ) -> FloatArray:
        raise ValueError(
            "a classifier cannot be refitted for every candidate; set train_size=0.5 to train it "
            "on the first half and calibrate on the second"
        )

    def log_likelihood(self, table: Rows, statistics: FloatArray, codes: IntArray) -> FloatArray:
        raise ValueError("the classifier is not trained; set train_size=0.5")


@dataclass(frozen=True, eq=False)
class TrainedClassifier(CodedRows):
    """A classifier that no longer changes, and how often each state came in its training."""

    estimator: Any
    frequencies: FloatArray
    floor: float

    def statistics(
        self, table: Rows, codes: IntArray, states: IntArray, n_states: int
    ) -> FloatArray:
        return np.zeros((n_states, 0))

    def log_likelihood(self, table: Rows, statistics: FloatArray, codes: IntArray) -> FloatArray:
        logs = np.zeros((codes.size, len(statistics)))
        flat = codes.ravel()
        distinct, place = np.unique(flat[flat != MISSING], return_inverse=True)
        if len(distinct):
            found = np.maximum(self.estimator.predict_proba(table.take(distinct)), self.floor)
            # A state that came up after the training counts as likely as the unlikeliest.
            known = np.log(found / self.frequencies[self.estimator.classes_])
            likelihood = np.repeat(known.min(axis=1, keepdims=True), len(statistics), axis=1)
            likelihood[:, self.estimator.classes_] = known
            logs[flat != MISSING] = likelihood[place]
        return logs.reshape(*codes.shape, len(statistics))
