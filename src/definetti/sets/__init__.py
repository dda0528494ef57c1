"""What a person gets: sets of state sequences."""

from definetti.sets.evaluation import Evaluation, StateCoverage
from definetti.sets.lattice import LatticeSet
from definetti.sets.listed import PredictionSet
from definetti.sets.many import PredictionSets
from definetti.sets.steps import StepSets

__all__ = [
    "Evaluation",
    "LatticeSet",
    "PredictionSet",
    "PredictionSets",
    "StateCoverage",
    "StepSets",
]
