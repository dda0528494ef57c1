"""The models, scores and symmetries that are asked with, by name."""

from __future__ import annotations

from typing import Any

import numpy as np
from hmmlearn.hmm import CategoricalHMM, GaussianHMM
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from tests.corpus.names import emission

from definetti import HMM, FromHmmlearn, given_hmm
from definetti.symmetry import BlockGroup

SKIES = ["sun", "rain"]
STEPS = [[0.85, 0.15], [0.25, 0.75]]
EMITTED = [[0.15, 0.6, 0.25], [0.7, 0.1, 0.2]]


def matrices() -> Any:
    return given_hmm(STEPS, EMITTED, SKIES, ["umbrella", "hat", "nothing"])


def guess(start: Any, windows: Any) -> Any:
    """A predictor of one's own: by the observation, and a little by the state before."""
    rain = np.where(windows == "umbrella", 0.8, 0.3) + np.where(start == "rain", 0.1, 0)[:, None]
    return np.stack([1 - rain, rain], axis=-1)


def surprise(windows: Any) -> Any:
    """A score of one's own: steps that rain without an umbrella, and changes."""
    seen = windows.observations[:, -windows.states.shape[1] :]  # fewer where labels come late
    dry = (windows.states == "rain") & (seen != "umbrella")
    before = np.column_stack([windows.start, windows.states[:, :-1]])
    return dry.sum(axis=1) + 0.5 * (windows.states != before).sum(axis=1)


def by_symbols() -> Any:
    """Return an hmmlearn model that nothing was fitted to: no machine makes it another."""
    model = CategoricalHMM(2, n_features=3)
    model.startprob_, model.transmat_ = np.array([0.6, 0.4]), np.array(STEPS)
    model.emissionprob_ = np.array(EMITTED)
    return model


def by_numbers() -> Any:
    model = GaussianHMM(2, covariance_type="diag")
    model.n_features = 1
    model.startprob_, model.transmat_ = np.array([0.6, 0.4]), np.array(STEPS)
    model.means_, model.covars_ = np.array([[1.5], [3.0]]), np.array([[0.5], [0.5]])
    return model


def _with(kind: str, *arguments: Any, **more: Any) -> dict[str, Any]:
    return {"model": HMM(emission=emission(kind, *arguments)), **more}


# The kind of data that a model is for, and the parameters of the estimator with it.
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "prior 0": ("symbols", {"model": HMM(prior=0)}),
    "trained": ("symbols", {"train_size": 0.4}),
    "trained on 50": ("gaps", {"train_size": 50}),
    "matrices": ("symbols", {"model": matrices()}),
    "function": ("symbols", {"model": guess, "states": SKIES}),
    "hmmlearn": ("codes", {"model": FromHmmlearn(by_symbols(), ("sun", "rain"))}),
    "hmmlearn matched": ("codes", {"model": by_symbols(), "train_size": 0.3}),
    "hmmlearn numbers": ("numbers", {"model": by_numbers(), "train_size": 0.3}),
    "logistic": ("numbers", _with("Classifier", LogisticRegression(), train_size=0.5)),
    "bayes": ("vectors", _with("Classifier", GaussianNB(), train_size=0.5)),
    "categorical": ("symbols", _with("Categorical")),
    "full covariance": ("vectors", _with("Gaussian", "full")),
    "tied covariance": ("vectors", _with("Gaussian", "tied")),
    "diagonal covariance": ("vectors", _with("Gaussian", "diagonal")),
    "poisson": ("counts", _with("Poisson")),
    "bernoulli": ("switches", _with("Bernoulli")),
    "words": ("words", _with("Words")),
    "text": ("words", _with("Text")),
    "mixed": ("pandas", _with("Mixed")),
    "likelihoods": ("judged", _with("LogLikelihood", states=SKIES)),
}
SCORES = {name: name for name in ("path", "filter", "smoother", "joint", "band")}
SCORES |= {"own": surprise}
SYMMETRIES = {name: name for name in ("full", "returns", "pairs", "spaced", "shifts", "published")}
SYMMETRIES |= {
    "group": BlockGroup([[0, 1, 2], [1, 2, 0], [2, 0, 1]]),
    "group at pairs": BlockGroup([[0, 1], [1, 0]], blocks="pairs"),
}
