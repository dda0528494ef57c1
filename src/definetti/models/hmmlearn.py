"""A fitted hmmlearn model, its states matched to the labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti.data.history import Completion, History
from definetti.data.labels import MISSING
from definetti.emissions.base import Labels, judge_distinct
from definetti.emissions.tables import CodedRows, Rows, Vectors
from definetti.models.base import Model
from definetti.models.hmm import TrainedHMM


@dataclass(frozen=True, eq=False)
class FromHmmlearn(Model):
    """A model fitted without labels by hmmlearn: Categorical, Gaussian, GMM, Poisson, Multinomial.

    Observations are given as hmmlearn takes them: symbols as whole numbers from 0 on, and rows
    that are complete, or None where missing.

    Its states have no names. Either name them, or let them be matched to the labels on a first
    segment, which is then left out of the calibration: ``ConformalHMM(model, train_size=0.2)``.
    Matching or fitting on the calibration data would void the guarantee: fit the model on the
    segment used for matching, or on other observations.

    Parameters
    ----------
    model : fitted hmmlearn model
    states : labels of its states, in their order, optional
    """

    model: Any
    states: Labels | None = None
    table: Any = None

    fixed = True

    @property
    def emission_(self) -> HmmlearnEmission:
        return HmmlearnEmission(self.model, np.arange(self.model.n_components))

    def check(self) -> None:
        if not hasattr(self.model, "transmat_"):
            raise ValueError(
                "model is an hmmlearn model that is not fitted; call its fit first (scikit-learn's "
                "clone undoes a fit: wrap the model, FromHmmlearn(model), to keep it)"
            )
        if self.states is not None and len(set(self.states)) != len(self.states):
            raise ValueError(f"states names a state twice: {list(self.states)!r}")
        if self.states is not None and len(self.states) != self.model.n_components:
            raise ValueError(
                f"states names {len(self.states)} of {self.model.n_components} states of the "
                "hmmlearn model; name each"
            )

    def check_ready(self) -> None:
        """Raise an error if the states have no names and were not matched."""
        if self.states is None:
            raise ValueError(
                "the states of the hmmlearn model have no names; set train_size=0.2 to match them "
                "to the labels on the first segment, or give FromHmmlearn(model, states=[…])"
            )

    def trained(self, history: History, table: Rows, labels: Labels) -> TrainedHMM:
        n = self.model.n_components
        if len(labels) != n:
            raise ValueError(
                f"the hmmlearn model has {n} states and there are {len(labels)} labels; they are "
                "matched one to one, so fit a model with as many"
            )
        seen = history.observations != MISSING
        if not seen.any():
            raise ValueError(
                "observations are all missing in the training segment, so that there is nothing "
                "to match the states of the hmmlearn model by; raise train_size"
            )
        from scipy.optimize import linear_sum_assignment

        guessed = self.model.predict(self.emission_.rows(table, history.observations[seen]))
        agreement = np.zeros((n, n))
        np.add.at(agreement, (history.states[seen], guessed), 1)
        _, order = linear_sum_assignment(-agreement)
        return self._ordered(order, labels)

    def estimate(
        self, completion: Completion, table: Any, statistics: FloatArray, labels: Any
    ) -> Any:
        self.check_ready()
        assert self.states is not None
        ordered = self._ordered(np.arange(len(self.states)), self.states)
        return ordered.estimate(completion, table, statistics, labels)

    def _ordered(self, order: IntArray, labels: Labels) -> TrainedHMM:
        steps = np.asarray(self.model.transmat_, dtype=np.float64)[np.ix_(order, order)]
        emission = HmmlearnEmission(self.model, order)
        return TrainedHMM(steps, np.zeros((len(order), 0)), 0.0, emission, labels, None)


@dataclass(frozen=True, eq=False)
class HmmlearnEmission(CodedRows):
    """The log-likelihoods of an hmmlearn model, its states reordered."""

    model: Any
    order: IntArray

    def statistics(
        self, table: Rows, codes: IntArray, states: IntArray, n_states: int
    ) -> FloatArray:
        return np.zeros((n_states, 0))

    def rows(self, table: Rows, codes: IntArray) -> npt.NDArray[Any]:
        """Return observations as hmmlearn takes them: integers for laws of whole numbers."""
        rows = table.take(codes)
        return rows.astype(np.int64) if law_of_whole_numbers(self.model) else rows

    def check(self, vectors: Vectors) -> None:
        """Refuse observations that hmmlearn would refuse or misread."""
        if np.isnan(vectors.values).all():  # a plain chain has no columns
            return
        kind, law = type(self.model).__name__, law_of_whole_numbers(self.model)
        features = n_features(self.model)
        width = 1 if law == "Categorical" else features
        if width not in (None, vectors.width):
            raise ValueError(
                f"{vectors.name} has {vectors.width} column{'s' * (vectors.width != 1)}, but the "
                f"{kind} was fitted with {width}; give {width} number{'s' * (width != 1)} per step"
            )
        gaps = np.isnan(vectors.values)
        vectors.refuse(
            gaps & ~gaps.all(axis=1, keepdims=True),
            f"a {kind} takes no row with a gap in it; fill it in, or give None for the whole row",
        )
        if law:
            values = np.nan_to_num(vectors.values)
            vectors.refuse(
                (values < 0) | (values % 1 != 0),
                f"a {kind} takes whole numbers from 0 on; code observations as it was fitted with",
            )
        if law == "Categorical" and features is not None:
            vectors.refuse(
                vectors.values >= features,
                f"the {kind} knows the symbols 0 to {features - 1}; fit it with a larger "
                "n_features",
            )

    def log_likelihood(self, table: Rows, statistics: FloatArray, codes: IntArray) -> FloatArray:
        def judge(distinct: IntArray) -> FloatArray:
            with np.errstate(divide="ignore"):
                logs = self.model._compute_log_likelihood(self.rows(table, distinct))
            # A state unknown to the model has the likelihood of its least likely state.
            likelihood = np.repeat(logs.min(axis=1, keepdims=True), len(statistics), axis=1)
            likelihood[:, : len(self.order)] = logs[:, self.order]
            return likelihood

        return judge_distinct(codes, len(statistics), judge)


def law_of_whole_numbers(model: Any) -> str:
    """Return the name of a model's law of whole numbers, "" if none; derived classes share it."""
    names = " ".join(c.__name__ for c in type(model).__mro__)
    return next((law for law in ("Categorical", "Poisson", "Multinomial") if law in names), "")


def n_features(model: Any) -> int | None:
    """Return a model's number of columns or symbols; hmmlearn sets `n_features` only in fit."""
    for name in ("means_", "lambdas_", "emissionprob_"):
        if hasattr(model, name):
            return int(np.shape(getattr(model, name))[-1])
    return getattr(model, "n_features", None)


def is_hmmlearn(model: Any) -> bool:
    """Return whether a model is from hmmlearn, without importing it."""
    return any(c.__module__ == "hmmlearn.base" for c in type(model).__mro__)
