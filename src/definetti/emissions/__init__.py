"""Emissions: the distribution of an observation given its state, from labelled data."""

from definetti.emissions.base import Emission as Emission
from definetti.emissions.classifier import Classifier as Classifier
from definetti.emissions.classifier import LogLikelihood as LogLikelihood
from definetti.emissions.gaussian import Gaussian as Gaussian
from definetti.emissions.mixed import Mixed as Mixed
from definetti.emissions.rates import Bernoulli as Bernoulli
from definetti.emissions.rates import Poisson as Poisson
from definetti.emissions.symbols import Categorical as Categorical
from definetti.emissions.symbols import Text as Text
from definetti.emissions.symbols import Words as Words
