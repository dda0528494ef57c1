"""The laws of observations; `definetti.emissions` under its longer name."""

from definetti.emissions import (
    Bernoulli,
    Categorical,
    Classifier,
    Emission,
    Gaussian,
    LogLikelihood,
    Mixed,
    Poisson,
    Text,
    Words,
)

__all__ = [
    "Bernoulli",
    "Categorical",
    "Classifier",
    "Emission",
    "Gaussian",
    "LogLikelihood",
    "Mixed",
    "Poisson",
    "Text",
    "Words",
]
