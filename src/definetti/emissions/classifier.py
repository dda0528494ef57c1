"""Likelihoods from a scikit-learn classifier, or given for every step and state."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.checks import checked_prior
from definetti.data.labels import MISSING
from definetti.emissions.base import Labels, judge_distinct
from definetti.emissions.tables import CodedRows, Raw, Rows, Vectors, is_raw, place
from definetti.exceptions import UntrainedStateError

GAPS = (
    "the classifier takes no gaps; put a SimpleImputer before it in a pipeline, or give None for "
    "the whole row"
)


class KeptOrRead(CodedRows):
    """The coding of classifiers: rows of numbers are read, frames and text kept unchanged."""

    def encode(self, observations: Any, table: Any, name: str) -> tuple[Any, IntArray]:
        if isinstance(table, Raw) or (table is None and is_raw(observations)):
            return (Raw() if table is None else table).encoded(observations, name)
        return super().encode(observations, table, name)

    def columns_of(self, table: Any) -> Labels | None:
        return None  # a frame reaches the classifier unchanged


@dataclass(frozen=True)
class Classifier(KeptOrRead, name="classifier"):
    """Likelihoods computed from a classifier's probabilities, up to a factor.

        likelihood(y | i)  ∝  Pr(i | y) / Pr(i)

    with the classifier's probability and the state's frequency in its training. Pipelines are
    classifiers too; data frames and text reach them unchanged. A classifier is not refitted for
    each candidate but trained on a first segment, with ``train_size=0.5`` of the estimator.

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

    def __post_init__(self) -> None:
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "fit"):
            raise TypeError(
                "estimator must be an instance of a scikit-learn classifier, such as "
                f"LogisticRegression(), got {self.estimator!r}"
            )
        from sklearn.base import is_regressor  # a classifier implies that it is installed

        if is_regressor(self.estimator):
            raise TypeError(f"estimator {self.estimator!r} is a regressor; give a classifier")
        checked_prior(self.floor, "floor")

    def fix(
        self, table: Any, codes: IntArray, states: IntArray, labels: Labels
    ) -> TrainedClassifier:
        """Train the classifier on a labelled segment."""
        from sklearn.base import clone

        seen = codes != MISSING
        counts = np.bincount(states[seen], minlength=len(labels)).astype(np.float64)
        never = np.flatnonzero(counts == 0)
        if len(never) and np.count_nonzero(counts) < 2:
            raise UntrainedStateError(
                f"the classifier's training segment never has state {labels[never[0]]!r}; raise "
                "train_size, or leave the state out"
            )
        with gaps_named(table, codes, "observations"):
            fitted = clone(self.estimator).fit(table.take(codes[seen]), states[seen])
        # Not before the fit: a stack of classifiers has the method only once it is fitted.
        if not hasattr(fitted, "predict_proba"):
            raise TypeError(
                f"estimator {self.estimator!r} has no predict_proba; wrap it: "
                f"Classifier(CalibratedClassifierCV({type(self.estimator).__name__}(…)))"
            )
        trained = TrainedClassifier(fitted, counts / counts.sum(), self.floor)
        later = np.arange(codes.max() + 1, len(table))
        name = "observations after the training segment, those missing not counted"
        trained.check_judged(table, later, name)
        return trained

    def statistics(
        self, table: Any, codes: IntArray, states: IntArray, n_states: int
    ) -> FloatArray:
        raise ValueError(
            "a classifier cannot be refitted for every candidate; set train_size=0.5 to train it "
            "on the first half and calibrate on the second"
        )

    def log_likelihood(self, table: Any, statistics: FloatArray, codes: IntArray) -> FloatArray:
        raise ValueError("the classifier is not trained; set train_size=0.5")


@dataclass(frozen=True, eq=False)
class TrainedClassifier(KeptOrRead):
    """A fixed classifier, and the frequency of each state in its training."""

    estimator: Any
    frequencies: FloatArray
    floor: float

    def encode(self, observations: Any, table: Any, name: str) -> tuple[Any, IntArray]:
        table, codes = super().encode(observations, table, name)
        self.check_judged(table, codes, name)
        return table, codes

    def check_judged(self, table: Rows | Raw, codes: IntArray, name: str) -> None:
        """Refuse observations that the classifier refuses, before they are used."""
        doubtful = codes != MISSING
        if isinstance(table, Rows):  # complete rows of numbers need no trial
            doubtful &= np.isnan(table.take(codes)).any(axis=1)
        if doubtful.any():
            with gaps_named(table, codes, name):
                self.estimator.predict_proba(table.take(codes[doubtful]))

    def statistics(
        self, table: Any, codes: IntArray, states: IntArray, n_states: int
    ) -> FloatArray:
        return np.zeros((n_states, 0))

    def log_likelihood(self, table: Any, statistics: FloatArray, codes: IntArray) -> FloatArray:
        def judge(distinct: IntArray) -> FloatArray:
            probabilities = np.maximum(
                self.estimator.predict_proba(table.take(distinct)), self.floor
            )
            # A state absent from training has the likelihood one.
            likelihood = np.zeros((len(distinct), len(statistics)))
            known = np.log(probabilities / self.frequencies[self.estimator.classes_])
            likelihood[:, self.estimator.classes_] = known
            return likelihood

        return judge_distinct(codes, len(statistics), judge)


@contextmanager
def gaps_named(table: Rows | Raw, codes: IntArray, name: str) -> Iterator[None]:
    """Name the gap in a classifier's error about NaN; attribute other errors to the classifier."""
    try:
        yield
    except (TypeError, ValueError) as error:
        gap = table.first_gap(codes)
        if "nan" in str(error).lower() and gap is not None:
            raise ValueError(f"{place(name, *gap)} is nan; {GAPS}") from error
        if isinstance(table, Rows):
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name} cannot be judged by the classifier: {error}") from error


@dataclass(frozen=True)
class LogLikelihood(CodedRows, name="loglikelihood"):
    """Observations given as log-likelihoods: row ``t`` holds ``log B(i, y_t)`` for each state.

    Columns are in the order of the estimator's ``states``, which must be declared. The rows must
    come from a model that was not trained on these labels; a constant added to a row has no
    effect. ``-inf`` marks an impossible observation; a step without observation is None.

    Examples
    --------
    >>> from definetti import HMM, ConformalHMM
    >>> y, x = [[-0.1, -2.0], [-3.0, -0.2]] * 20, ["low", "high"] * 20
    >>> cp = ConformalHMM(HMM(emission=LogLikelihood()), states=["low", "high"]).fit(y, x)
    >>> cp.predict_set([[-0.1, -2.5]]).sequences
    [('low',)]
    """

    example = ((-0.1, -2.0), (-3.0, -0.2), None)
    ordered = True  # columns are matched to states by order alone

    infinite = True

    def check(self, vectors: Vectors) -> None:
        values, gaps = vectors.values, np.isnan(vectors.values)
        vectors.refuse(values == np.inf, "use a finite number, or -inf to rule a state out")
        vectors.refuse(
            gaps & ~gaps.all(axis=1, keepdims=True),
            "give a number for every state, or None for the whole row where nothing is observed",
        )
        vectors.refuse(
            np.isneginf(values) & np.isneginf(values).all(axis=1, keepdims=True),
            "and so is the whole row; leave a state possible, or give None for the whole row",
        )

    def statistics(
        self, table: Rows, codes: IntArray, states: IntArray, n_states: int
    ) -> FloatArray:
        # Row 0 is from the fit, where each state must have its column; new states may come later.
        width = table.width or 0
        # With no states, only the shape is needed.
        if n_states and not (width == n_states if (codes == 0).any() else width <= n_states):
            raise ValueError(
                f"observations has {width} columns for {n_states} states; give one column per "
                "state, and declare states=[…] in their order"
            )
        return np.zeros((n_states, 0))

    def log_likelihood(self, table: Rows, statistics: FloatArray, codes: IntArray) -> FloatArray:
        logs = np.zeros((*codes.shape, len(statistics)))
        if table.width is not None:
            rows = np.nan_to_num(table.take(codes), nan=0.0, neginf=-np.inf)
            # A new state has the likelihood of the least likely state.
            logs[...] = rows.min(axis=-1, keepdims=True)
            logs[..., : table.width] = rows
        return logs
