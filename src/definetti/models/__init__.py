"""What stands behind the score: one kind of model a file, one contract."""

from definetti.models.estimate import Estimate
from definetti.models.function import Predictor
from definetti.models.given import given_hmm
from definetti.models.hmm import HMM, Model, TrainedHMM
from definetti.models.hmmlearn import FromHmmlearn

__all__ = ["HMM", "Estimate", "FromHmmlearn", "Model", "Predictor", "TrainedHMM", "given_hmm"]
