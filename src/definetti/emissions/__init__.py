"""How observations are told apart, counted and judged: one emission a file, one contract."""

from definetti.emissions.base import Emission
from definetti.emissions.bernoulli import Bernoulli
from definetti.emissions.categorical import Categorical
from definetti.emissions.classifier import Classifier
from definetti.emissions.gaussian import Gaussian
from definetti.emissions.likelihood import LogLikelihood
from definetti.emissions.mixed import Mixed
from definetti.emissions.poisson import Poisson
from definetti.emissions.text import Text
from definetti.emissions.words import Words

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
