"""What a person gets: sets of state sequences."""

from definetti.sets.bands import StepSets
from definetti.sets.evaluation import Evaluation
from definetti.sets.lattice import LatticeSet
from definetti.sets.prediction import PredictionSet

__all__ = ["Evaluation", "LatticeSet", "PredictionSet", "StepSets"]
