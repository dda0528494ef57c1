"""Models by what the user gives, and by what is observed."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from definetti._system.arrays import FloatArray
from definetti.data.history import Completion, History
from definetti.emissions.base import Emission, Labels
from definetti.emissions.categorical import Categorical
from definetti.emissions.choice import Kinds, choose, kinds_of
from definetti.emissions.classifier import Classifier
from definetti.emissions.gaussian import Gaussian
from definetti.emissions.rates import Bernoulli, Poisson
from definetti.models.base import Estimate, GivesModel, Model
from definetti.models.hmm import HMM
from definetti.models.hmmlearn import FromHmmlearn, is_hmmlearn
from definetti.models.predictors import Predictor
from definetti.models.selection import select


class Auto(Model):
    """An `HMM` whose emission is chosen by what is observed, new observations included.

    A choice by the history alone might be another for another rearrangement of it. Where it is
    fixed on rows that do not calibrate, these choose among several models, as `select` says.

    Examples
    --------
    >>> auto = Auto()
    >>> auto.choose(auto.infer_types([0.5, 1.25, None]))
    HMM(emission=Gaussian(covariance='full', prior=0.1, shrinkage=None))
    """

    @property
    def emission_(self) -> Emission:
        return Categorical()

    def infer_types(self, observations: Any) -> Kinds:
        return kinds_of(observations)

    def choose(self, kinds: Kinds | None) -> HMM:
        return HMM(emission=None if kinds is None else kinds.emission())

    def estimate(
        self, completion: Completion, table: Any, statistics: FloatArray, labels: Any
    ) -> Estimate:
        return HMM().estimate(completion, table, statistics, labels)

    def fixed_on(
        self,
        chosen: Model,
        history: History,
        table: Any,
        labels: Labels,
        lengths: Sequence[int] = (),
    ) -> Model:
        assert isinstance(chosen, HMM)
        return select(chosen, history, table, labels, lengths)


def choose_coding(observations: Any) -> Emission:
    """Choose how a function's observations are read: rows of numbers as numbers, even 0 and 1.

    No law is fitted to them, so that 0 and 1 in labelled rows do not rule out 0.5 in new ones.
    """
    found = choose(observations)
    return Gaussian() if isinstance(found, (Bernoulli, Poisson)) else found


def resolve_model(model: Any, observations: Any) -> Model:
    """Find the model that a user means."""
    if isinstance(model, type):
        raise TypeError(
            f"model is the class {model.__name__}; pass an instance: model={model.__name__}()"
        )
    if isinstance(model, str) and model == "auto":
        return Auto()
    if isinstance(model, GivesModel):
        return model.fixed_model()
    if isinstance(model, Model):
        # A copy: what becomes of the user's own later is of no concern to the fit.
        found = copy.deepcopy(model)
        found.check()
        return found
    if is_hmmlearn(model):
        fitted = FromHmmlearn(copy.deepcopy(model))
        fitted.check()
        return fitted
    if hasattr(model, "predict_proba") or hasattr(model, "decision_function"):
        return HMM(emission=Classifier(copy.deepcopy(model)))
    if callable(model):
        return Predictor(model, choose_coding(observations))
    raise TypeError(
        "model must be 'auto', a definetti.HMM, a scikit-learn classifier, a fitted hmmlearn "
        "model, a definetti.models.Model or a function from start states and observations to "
        f"probabilities, got {model!r}"
    )
