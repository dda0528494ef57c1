"""Models whose estimates scores are computed from, one kind a file."""

from definetti.models.base import Estimate as Estimate
from definetti.models.base import Model as Model
from definetti.models.hmm import HMM as HMM
from definetti.models.hmm import TrainedHMM as TrainedHMM
from definetti.models.hmmlearn import FromHmmlearn as FromHmmlearn
from definetti.models.predictors import Marginals as Marginals
from definetti.models.predictors import Predictor as Predictor
from definetti.models.predictors import given_hmm as given_hmm
from definetti.models.selection import Auto as Auto
