"""How observations are told apart, counted and judged: one emission a file, one contract."""

from definetti.hmm.emissions.bernoulli import Bernoulli
from definetti.hmm.emissions.categorical import Categorical
from definetti.hmm.emissions.classifier import Classifier
from definetti.hmm.emissions.contract import Emission
from definetti.hmm.emissions.gaussian import Gaussian
from definetti.hmm.emissions.matrix import LogLikelihood
from definetti.hmm.emissions.mixed import Mixed
from definetti.hmm.emissions.poisson import Poisson
from definetti.hmm.emissions.text import Text
from definetti.hmm.emissions.words import Words

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
