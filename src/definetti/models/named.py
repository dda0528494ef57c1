"""Models by what the user gives."""

from __future__ import annotations

import copy
from typing import Any, Literal

from definetti.emissions._choice import choose
from definetti.models.function import Predictor
from definetti.models.hmm import Model
from definetti.models.hmmlearn import FromHmmlearn, is_hmmlearn


def resolve(model: Any, observations: Any) -> Model | Literal["auto"]:
    """Find the model that a user means; "auto" is for `Labelled` to choose, when all is known.

    >>> from definetti import HMM
    >>> resolve(HMM(prior=0), [True, False])
    HMM(prior=0)
    """
    if isinstance(model, str) and model == "auto":
        return "auto"
    if hasattr(model, "_data") and hasattr(model, "model_"):  # a fitted estimator of ours
        data = model._data
        fitted: Model = data.model
        if fitted.fixed:
            return copy.deepcopy(fitted)
        return fitted.trained(data.history.pool, data.table, data.alphabet.labels)
    if not isinstance(model, type) and hasattr(model, "trained") and hasattr(model, "estimate"):
        # A copy: what becomes of the user's own later is of no concern to the fit.
        found: Model = copy.deepcopy(model)
        return found
    if is_hmmlearn(model):
        return FromHmmlearn(copy.deepcopy(model))
    if callable(model) and not isinstance(model, type):
        return Predictor(model, choose(observations))
    if isinstance(model, type):
        raise TypeError(
            f"model is the class {model.__name__}; pass an instance: model={model.__name__}()"
        )
    if hasattr(model, "predict_proba") or hasattr(model, "decision_function"):
        raise TypeError(
            f"model is {model!r}, a classifier, which knows no chain; pass model=HMM(emission="
            f"Classifier({type(model).__name__}(…))), with definetti.emissions.Classifier, and "
            "train_size=0.5"
        )
    raise TypeError(
        "model must be 'auto', a definetti.HMM, a fitted hmmlearn model or a function from start "
        f"states and observations to probabilities, got {model!r}"
    )
