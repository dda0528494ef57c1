"""What a person gets: sets of state sequences."""

from definetti.sets.evaluation import Evaluation
from definetti.sets.prediction import PredictionSet

__all__ = ["Evaluation", "PredictionSet"]
