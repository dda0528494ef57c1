"""Models by what the user gives."""

from __future__ import annotations

import copy
from typing import Any

from definetti.emissions import Classifier
from definetti.emissions._choice import choose
from definetti.models.auto import Auto
from definetti.models.base import GivesModel, Model
from definetti.models.function import Predictor
from definetti.models.hmm import HMM
from definetti.models.hmmlearn import FromHmmlearn, is_hmmlearn


def resolve(model: Any, observations: Any) -> Model:
    """Find the model that a user means.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> resolve(HMM(prior=0), [True, False])
    HMM(prior=0)
    >>> resolve(GaussianNB(), [[0.5, 1.0]])
    HMM(emission=Classifier(estimator=GaussianNB(), floor=1e-06))
    """
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
        return copy.deepcopy(model)
    if is_hmmlearn(model):
        return FromHmmlearn(copy.deepcopy(model))
    if hasattr(model, "predict_proba") or hasattr(model, "decision_function"):
        return HMM(emission=Classifier(copy.deepcopy(model)))
    if callable(model):
        return Predictor(model, choose(observations))
    raise TypeError(
        "model must be 'auto', a definetti.HMM, a scikit-learn classifier, a fitted hmmlearn "
        "model, a definetti.models.Model or a function from start states and observations to "
        f"probabilities, got {model!r}"
    )
