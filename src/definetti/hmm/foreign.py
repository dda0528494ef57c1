"""A fitted hmmlearn model, its states matched to the labels."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from definetti.arrays import FloatArray, IntArray
from definetti.history import Completion, History
from definetti.hmm.emissions.rows import CodedRows, Rows
from definetti.hmm.model import TrainedHMM
from definetti.sequence import MISSING


@dataclass(frozen=True, eq=False)
class FromHmmlearn:
    """A model fitted without labels by hmmlearn: Categorical, Gaussian, GMM or Poisson.

    Its states have no names. Either name them, or let them be matched to the labels on a first
    stretch, which is then left out of the calibration: ``ConformalHMM(model, train_size=0.2)``.
    Matching on the data that calibrate would void the guarantee.

    Parameters
    ----------
    model : fitted hmmlearn model
    states : labels of its states, in their order, optional
    """

    model: Any
    states: tuple[Hashable, ...] | None = None
    table: Any = None
    emission_: Any = field(init=False)

    fixed = True

    def __post_init__(self) -> None:
        order = np.arange(self.model.n_components)
        object.__setattr__(self, "emission_", HmmlearnEmission(self.model, order))

    def check(self) -> None:
        if not hasattr(self.model, "transmat_"):
            raise ValueError("model is an hmmlearn model that is not fitted; call its fit first")
        if self.states is not None and len(self.states) != self.model.n_components:
            raise ValueError(
                f"states names {len(self.states)} of {self.model.n_components} states of the "
                "hmmlearn model; name each"
            )

    def trained(self, history: History, table: Rows, labels: tuple[Hashable, ...]) -> TrainedHMM:
        n = self.model.n_components
        if len(labels) != n:
            raise ValueError(
                f"the hmmlearn model has {n} states and there are {len(labels)} labels; they are "
                "matched one to one, so fit a model with as many"
            )
        seen = history.observations != MISSING
        guessed = self.model.predict(self.emission_.rows(table, history.observations[seen]))
        agreement = np.zeros((n, n))
        np.add.at(agreement, (history.states[seen], guessed), 1)
        _, order = linear_sum_assignment(-agreement)
        return self._ordered(order, labels)

    def estimate(
        self, completion: Completion, table: Any, statistics: FloatArray, labels: Any
    ) -> Any:
        if self.states is None:
            raise ValueError(
                "the states of the hmmlearn model have no names; set train_size=0.2 to match them "
                "to the labels on the first stretch, or give FromHmmlearn(model, states=[…])"
            )
        ordered = self._ordered(np.arange(len(self.states)), self.states)
        return ordered.estimate(completion, table, statistics, labels)

    def _ordered(self, order: IntArray, labels: tuple[Hashable, ...]) -> TrainedHMM:
        steps = np.asarray(self.model.transmat_, dtype=np.float64)[np.ix_(order, order)]
        emission = HmmlearnEmission(self.model, order)
        return TrainedHMM(steps, np.zeros((len(order), 0)), 0.0, emission, labels, None)


@dataclass(frozen=True, eq=False)
class HmmlearnEmission(CodedRows):
    """The log-likelihood that an hmmlearn model gives, its states in another order."""

    model: Any
    order: IntArray

    def statistics(
        self, table: Rows, codes: IntArray, states: IntArray, n_states: int
    ) -> FloatArray:
        return np.zeros((n_states, 0))

    def rows(self, table: Rows, codes: IntArray) -> npt.NDArray[Any]:
        """Return observations as hmmlearn wants them: whole numbers where they are symbols."""
        rows = table.take(codes)
        whole = type(self.model).__name__ in ("CategoricalHMM", "PoissonHMM", "MultinomialHMM")
        return rows.astype(np.int64) if whole else rows

    def log_likelihood(self, table: Rows, statistics: FloatArray, codes: IntArray) -> FloatArray:
        logs = np.zeros((codes.size, len(statistics)))
        flat = codes.ravel()
        seen = flat != MISSING
        if seen.any():
            with np.errstate(divide="ignore"):
                found = self.model._compute_log_likelihood(self.rows(table, flat[seen]))
            # A state that the model does not have is as unlikely as its unlikeliest.
            likelihood = np.repeat(found.min(axis=1, keepdims=True), len(statistics), axis=1)
            likelihood[:, : len(self.order)] = found[:, self.order]
            logs[seen] = likelihood
        return logs.reshape(*codes.shape, len(statistics))


def is_hmmlearn(model: Any) -> bool:
    """Tell whether something is an hmmlearn model, without importing hmmlearn."""
    return any(c.__module__ == "hmmlearn.base" for c in type(model).__mro__)
