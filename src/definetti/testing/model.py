"""The check of a model."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from sklearn.base import BaseEstimator

from definetti.conformal import ConformalHMM
from definetti.models import Model
from definetti.testing.uniform import check_object, check_two, check_uniform, make_predictor


def check_model(model: Model, observations: Sequence[Any], states: Sequence[Hashable]) -> None:
    """Check that a model's estimates are functions of what rearrangements share.

    Parameters
    ----------
    model : an object that derives from `definetti.models.Model`
    observations : two symbols that it reads
    states : its two states

    Examples
    --------
    >>> from definetti import given_hmm
    >>> model = given_hmm([[0.9, 0.1], [0.2, 0.8]], [[0.9, 0.1], [0.3, 0.7]], ["calm", "busy"])
    >>> check_model(model, [0, 1], ["calm", "busy"])
    """
    check_object(model, Model)
    check_two(observations, "observations")
    check_two(states, "states")
    model.check()
    # What is compared is counted, not drawn, whatever the model reads.
    symmetry = "spaced" if model.fixed else "returns"
    predictor = _Renamed(
        make_predictor(model, "filter", symmetry), tuple(states), tuple(observations)
    )
    check_uniform(predictor, 3, 1, "the model")
    if model.fixed:
        check_uniform(predictor, 3, 2, "the fixed model", seen=1)
        check_uniform(predictor, 4, 2, "the fixed model")


class _Renamed(BaseEstimator):
    """A predictor asked by numbers that stand for the labels and symbols of a model."""

    smoothing, allow_empty = False, True

    def __init__(self, cp: ConformalHMM, labels: Any, symbols: Any, states: Any = None) -> None:
        self.cp, self.labels, self.symbols, self.states = cp, labels, symbols, states

    def fit(self, seen: Any, past: Any) -> _Renamed:
        self.cp.set_params(states=list(self.labels))
        self.cp.fit([self.symbols[k] for k in seen], [self.labels[k] for k in past])
        return self

    def predict_ranks(self, new: Any, horizon: int) -> dict[Any, Any]:
        shown = None if new is None else [self.symbols[k] for k in new]
        found = self.cp.predict_ranks(shown, horizon=horizon)
        place = {label: k for k, label in enumerate(self.labels)}
        return {tuple(place[one] for one in key): rank for key, rank in found.items()}
